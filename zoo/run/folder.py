"""Folders of runs: writing files whole, finding the runs of a model on some data, removing empty folders."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

import yaml

from zoo.errors import CheckpointError

BEGUN = {".hydra", "hparams.yaml", "multirun.yaml"}
"""Files that Hydra and a logger write before anything has happened, besides their log."""
AROUND = {"ckpt_path", "train", "test", "tags", "trainer", "logger", "callbacks", "hydra"}
"""Keys that say where a run starts, how far it goes and what is kept of it, not what is trained."""
LOG = re.compile(r"train(_ddp_process_\d+)?\.log")
"""A job's own; every other one is somebody's."""


def write_whole(path: Path, text: str) -> None:
    """Writes `text` to a temporary name and renames it, so that no reader ever sees half a file."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def temporary(path: Path) -> Path:
    """Return a name beside `path` for a file that is not yet whole: it has the machine and the process in it."""
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
    except OSError:  # it belongs to someone else
        return True
    return True


def is_empty(folder: Path, besides: Set[str] = frozenset()) -> bool:
    """Whether nothing in `folder` is of use to anyone: only what is there before a run does anything, and
    `besides`."""
    return all(
        path.name in BEGUN | besides or LOG.fullmatch(path.name) or (path.is_dir() and not any(path.iterdir()))
        for path in folder.iterdir()
    )


def remove_run(folder: Path) -> None:
    """Removes `folder` if it holds nothing of use, and of the folders above it those under logs that it leaves
    empty."""
    folder = folder.resolve()
    if folder.is_dir() and is_empty(folder):
        shutil.rmtree(folder, ignore_errors=True)
    above = folder.parent
    while not folder.exists() and above.is_relative_to(Path("logs").resolve()) and not any(above.iterdir()):
        above.rmdir()
        folder, above = above, above.parent


def find_last(model: str, data: str, own_run: Path, overrides: Sequence[str]) -> Path:
    """The newest last.ckpt of `model` on `data`: in the folder of this run itself, anywhere under logs, or in a folder
    right beside this run's where it has another place. Raises CheckpointError where there is none.

    A job of a sweep is taken only for a run whose `overrides` train the same, its own job again: the others had another
    seed or other values. The other jobs of this run's own sweep are not earlier runs.
    """
    logs, beside = Path("logs").resolve(), own_run.resolve().parent
    for path in _newest_first({*_last_under(logs, levels=4), *_last_under(beside, levels=2)}):
        folder = path.parent.parent
        in_a_sweep, again = (folder.parent / "multirun.yaml").is_file(), folder == own_run
        if in_a_sweep and not again and (folder.parent == own_run.parent or _told(folder) != _meant(overrides)):
            continue
        if _ran(folder, model, data):
            return path
    raise CheckpointError(
        f"last: no earlier run of model={model} data={data} under "
        f"{' or '.join(sorted({str(logs), str(beside)}))} has a checkpoints/last.ckpt "
        "(a job of a sweep only where its overrides train the same); give the path of a checkpoint, or leave it out to "
        "start anew"
    )


def _told(folder: Path) -> set[str] | None:
    """The overrides of the run in a folder that say what is trained."""
    try:
        return _meant(yaml.safe_load((folder / ".hydra" / "overrides.yaml").read_text(encoding="utf-8")))
    except (OSError, TypeError, yaml.YAMLError):
        return None


def _meant(overrides: Iterable[str]) -> set[str]:
    return {word for word in overrides if re.split("[=./@]", word.lstrip("+~"))[0] not in AROUND}


def _last_under(folder: Path, levels: int = 4) -> set[Path]:
    """Every last.ckpt of a run in `folder` or so many levels of folders below it, itself counted."""
    return {path for depth in range(levels) for path in folder.glob("*/" * depth + "checkpoints/last.ckpt")}


def _newest_first(found: Set[Path]) -> list[Path]:
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _ran(folder: Path, model: str, data: str) -> bool:
    """Whether the run of a folder was of this model and data."""
    try:
        hydra = yaml.safe_load((folder / ".hydra" / "hydra.yaml").read_text(encoding="utf-8"))["hydra"]
        choices = hydra["runtime"]["choices"]
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        return folder.parent.name == f"{model}_{data}"
    return (choices.get("model"), choices.get("data")) == (model, data)


def resolve(path: str | os.PathLike[str], prefer: str = "best") -> Path:
    """The checkpoint that `path` means: itself, the one of a run whose folder it is, or of the newest run under logs
    for `last`; best.ckpt or last.ckpt, as preferred. Raises CheckpointError."""
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
    """The newest run under `folder`; where there is none, how the folder of a run is called."""
    newest = _newest_first(_last_under(folder))
    return f"such as {newest[0].parent.parent}" if newest else "logs/<model>_<data>/<time>, or last"
