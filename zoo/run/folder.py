"""Folders of runs: writing files whole, finding the runs of a model on some data, removing empty folders."""

import os
import re
import shutil
import socket
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

import yaml

from zoo.errors import CheckpointError

RESULT, FAILED = "result.json", "failed.json"
"""The files that a run writes at its end: its result, or why it was stopped or failed."""
BEGUN = {".hydra", "hparams.yaml", "multirun.yaml"}
"""Files that Hydra and a logger write before the run begins, besides their log."""
AROUND = {"ckpt_path", "train", "test", "tags", "trainer", "logger", "callbacks", "hydra"}
"""Keys for the start, the length and the files of a run, not for what is trained."""
LOG = re.compile(r"train(_ddp_process_\d+)?\.log")  # A log that a job writes. Other logs belong to the user.


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a text or bytes to a temporary name and rename it, so that no reader sees half a file."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    temporary.replace(path)


def temporary(path: Path) -> Path:
    """Return a name beside `path` for an unfinished file. It contains the machine and the process."""
    return path.with_name(f".{path.name}.{socket.gethostname()}-{os.getpid()}.tmp")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes of this machine have left in a folder."""
    for path in folder.glob(".*.tmp"):
        found = re.fullmatch(rf"\..+\.(?:{re.escape(socket.gethostname())}-)?(\d+)\.tmp", path.name)
        if found and not _runs(int(found[1])):
            path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def is_empty(folder: Path, besides: Set[str] = frozenset()) -> bool:
    """Whether `folder` holds only files that exist before a run begins, and `besides`."""
    return all(
        path.name in BEGUN | besides or LOG.fullmatch(path.name) or (path.is_dir() and not any(path.iterdir()))
        for path in folder.iterdir()
    )


def remove_run(folder: Path) -> None:
    """Remove `folder` if no run has written into it, and then the folders above it, up to logs, that are empty."""
    folder = folder.resolve()
    if folder.is_dir() and is_empty(folder):
        shutil.rmtree(folder, ignore_errors=True)
    above = folder.parent
    while not folder.exists() and above.is_relative_to(Path("logs").resolve()) and not any(above.iterdir()):
        above.rmdir()
        folder, above = above, above.parent


def find_last(model: str, data: str, own_run: Path, overrides: Sequence[str]) -> Path:
    """The newest last.ckpt of `model` on `data`, under logs or in or beside the folder of this run.

    A job of another sweep counts only if its `overrides` train the same. The other jobs of this run's own sweep are not
    earlier runs. Raises CheckpointError where there is none.
    """
    logs, beside = Path("logs").resolve(), own_run.resolve().parent
    for path in _newest_first({*_last_under(logs, levels=4), *_last_under(beside, levels=2)}):
        folder = path.parent.parent
        in_a_sweep, again = (folder.parent / "multirun.yaml").is_file(), folder == own_run
        if (
            in_a_sweep
            and not again
            and (folder.parent == own_run.parent or _trained(folder) != _training_keys(overrides))
        ):
            continue
        if _ran(folder, model, data):
            return path
    raise CheckpointError(
        f"last: no earlier run of model={model} data={data} under "
        f"{' or '.join(sorted({str(logs), str(beside)}))} has a checkpoints/last.ckpt "
        "(a job of a sweep counts only if its overrides train the same); give the path of a checkpoint, or remove the "
        "key to start a new run"
    )


def _trained(folder: Path) -> set[str] | None:
    """The overrides of a folder's run that change what is trained."""
    try:
        return _training_keys(yaml.safe_load((folder / ".hydra" / "overrides.yaml").read_text(encoding="utf-8")))
    except (OSError, TypeError, yaml.YAMLError):
        return None


def _training_keys(overrides: Iterable[str]) -> set[str]:
    return {word for word in overrides if re.split("[=./@]", word.lstrip("+~"))[0] not in AROUND}


def _last_under(folder: Path, levels: int = 4) -> set[Path]:
    """The last.ckpt of all runs in `folder`, at most `levels` - 1 folders deep."""
    return {path for depth in range(levels) for path in folder.glob("*/" * depth + "checkpoints/last.ckpt")}


def _newest_first(found: Set[Path]) -> list[Path]:
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _ran(folder: Path, model: str, data: str) -> bool:
    try:
        hydra = yaml.safe_load((folder / ".hydra" / "hydra.yaml").read_text(encoding="utf-8"))["hydra"]
        choices = hydra["runtime"]["choices"]
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        return folder.parent.name == f"{model}_{data}"
    return (choices.get("model"), choices.get("data")) == (model, data)


def resolve(path: str | os.PathLike[str], prefer: str = "best") -> Path:
    """The checkpoint for `path`: a file, the folder of a run, or `last` for the newest run under logs.

    best.ckpt or last.ckpt is chosen as `prefer` says. Raises CheckpointError.
    """
    path = Path(path)
    if str(path) == "last" and not path.exists():
        newest = _newest_first(_last_under(Path("logs").resolve()))
        if not newest:
            raise CheckpointError("last: no run under logs has a checkpoints/last.ckpt; give the path of a checkpoint")
        path = newest[0].parent
    if not path.is_dir():
        return path
    folder = path / "checkpoints" if (path / "checkpoints").is_dir() else path
    for name in (prefer, "best", "last"):
        if (folder / f"{name}.ckpt").is_file():
            return folder / f"{name}.ckpt"
    raise CheckpointError(
        f"{path}: a folder without checkpoints/best.ckpt or last.ckpt; give that of one run, {_runs_under(path)}"
    )


def _runs_under(folder: Path) -> str:
    """The newest run under `folder`, or the form of a run's folder where there is none."""
    newest = _newest_first(_last_under(folder))
    return f"such as {newest[0].parent.parent}" if newest else "logs/<model>_<data>/<time>, or last"
