"""Trained networks as folders of plain files: those that come with the package, and those of the Hugging Face hub.

A folder has `config.json` (the task, the hyperparameters and the spec), `vocabulary.json` (the encoder of the data),
`model.safetensors` (the weights in half precision) and `README.md` (the model card). Nothing in it is code.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import zoo
from zoo.errors import CheckpointError, nearest
from zoo.run.catalogue import models
from zoo.run.folder import resolve, write_whole

CONFIG, VOCABULARY, TENSORS, CARD = "config.json", "vocabulary.json", "model.safetensors", "README.md"
EXAMPLES = "examples.json"  # Inputs as values of the form of `zoo explore`; only in the included folders
HUB = "hub:"


def weights_dir() -> Path:
    """The folder of the included networks: beside the package in a clone, inside it in an installed wheel."""
    package = Path(zoo.__file__).parent
    beside = package.parent / "weights"
    return beside if (beside / "make.py").is_file() else package / "weights"


@cache
def included() -> dict[str, Path]:
    """The folders of the included networks, by name."""
    return {path.parent.name: path.parent for path in sorted(weights_dir().glob(f"*/{CONFIG}"))}


def folder_of(name: str | os.PathLike[str]) -> Path | None:
    """The folder for `hub:user/repo`, for a path to such a folder, or for the name of an included network.

    None for anything else. Raises CheckpointError for a repository that cannot be read, and for a mistyped name.
    """
    word, path = str(name), Path(name)
    if word.startswith(HUB):
        return download(word.removeprefix(HUB))
    if (path / CONFIG).is_file():
        return path
    if word in included() and not path.is_file() and not any(path.glob("**/*.ckpt")):
        return included()[word]
    if re.fullmatch(r"\w+", word) and not path.exists() and word != "last":
        near = nearest(word, included())
        others = f"did you mean {near}?" if near else f"the included networks are {', '.join(included())}"
        raise CheckpointError(f"{word}: no such file, folder or included network; {others}")
    return None


def locate(name: str | os.PathLike[str], prefer: str = "best") -> Path:
    """The file or folder of a network, see `zoo.load`; of a run, its best or last checkpoint, as `prefer` says.

    Raises CheckpointError where there is none.
    """
    return folder_of(name) or resolve(name, prefer)


def download(repo: str) -> Path:
    """Download the files of `user/repo` or `user/repo@revision` once. Raises CheckpointError where that fails."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    name, _, revision = repo.partition("@")
    try:
        folder = Path(
            snapshot_download(name, revision=revision or None, allow_patterns=[CONFIG, VOCABULARY, TENSORS, CARD])
        )
    except HFValidationError as error:
        raise CheckpointError(f"{HUB}{repo}: expected hub:USER/REPO, or hub:USER/REPO@REVISION") from error
    except RepositoryNotFoundError as error:
        raise CheckpointError(f"{HUB}{repo}: no such repository on the hub, or a private one: hf auth login") from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise CheckpointError(
            f"{HUB}{repo}: the hub cannot be reached, and no copy is stored here; connect to the network, or give the "
            "path of a checkpoint"
        ) from error
    if not (folder / CONFIG).is_file():
        raise CheckpointError(f"{HUB}{repo}: it has no {CONFIG}; expected a repository that `zoo push` wrote")
    return folder


def read_folder(folder: Path) -> dict[str, Any]:
    """Return what a checkpoint of the same network has: `zoo`, `hyper_parameters` and `state_dict`, in float32.

    Raises CheckpointError for a missing or damaged file.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config, encoder = (json.loads((folder / name).read_text(encoding="utf-8")) for name in (CONFIG, VOCABULARY))
        weights = load_file(folder / TENSORS)
        config["zoo"] |= {"spec": _with_tuples(config["zoo"]["spec"]), "encoder": encoder}
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise CheckpointError(f"{folder}: its files cannot be read ({error}): damaged?") from error
    return config | {
        "state_dict": {name: one.float() if one.is_floating_point() else one for name, one in weights.items()}
    }


def _with_tuples(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec in which lists, also inside lists, are tuples again."""

    def frozen(value: Any) -> Any:
        return tuple(map(frozen, value)) if isinstance(value, list) else value

    return {key: frozen(value) for key, value in spec.items()}


def write_folder(folder: Path, content: Mapping[str, Any], card: str) -> None:
    """Write the network of a checkpoint's content. Raises CheckpointError for weights beyond half precision."""
    from safetensors.torch import save

    weights = {name: one for name, one in content["state_dict"].items() if name.startswith("network.")}
    halves = {name: one.half().contiguous() if one.is_floating_point() else one for name, one in weights.items()}
    for name, one in halves.items():
        if one.is_floating_point() and not (one.isfinite() | ~weights[name].isfinite()).all():
            raise CheckpointError(f"{name}: a weight is too large for half precision: {weights[name].abs().max():g}")
    about = {key: value for key, value in content["zoo"].items() if key not in ("encoder", "remembered")}
    config = {"zoo": about, "hyper_parameters": content["hyper_parameters"]}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / CONFIG, json.dumps(config, ensure_ascii=False, indent=1) + "\n")
    write_whole(folder / VOCABULARY, json.dumps(content["zoo"]["encoder"], ensure_ascii=False) + "\n")
    write_whole(folder / CARD, card)
    (folder / TENSORS).write_bytes(save(halves))


def result_of(checkpoint: Path) -> dict[str, Any] | None:
    """The content of the result.json of the run that a checkpoint is in; None where there is none."""
    try:
        return json.loads((checkpoint.parent.parent / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def model_card(content: Mapping[str, Any], result: Mapping[str, Any] | None, name: str) -> str:
    """The README of a folder: what the network is, how it was trained and scored, and how to use it.

    Args:
        content: that of the checkpoint.
        result: the content of the run's result.json, where there is one.
        name: what `zoo.load` takes, such as `han` or `hub:user/repo`.
    """
    target = content["hyper_parameters"]["model"]["_target_"]
    file = target.rpartition(".")[0].replace(".", "/") + ".py"
    entry = next((one for one in models().values() if one.file == file), None)
    task = content["zoo"]["task"].rpartition(".")[2]
    lines = ["---", "library_name: attention-zoo", "tags:", "- attention", f"- {task.lower()}", "---", f"# {name}", ""]
    lines += [f"{entry.title}. {entry.source}" if entry else f"A network of {target}.", ""]
    if result:
        command = shlex.join(["python", "train.py", *result["overrides"]])
        commit = result["git_commit"] or "not known"
        lines += [
            f"Trained on {result['data']}, {result['source']}, with seed {result['seed']}:",
            *("", "```sh", command, "```", ""),
            f"{result['parameters']:,} parameters, stored in half precision. Commit {commit}.",
            *("", "| test metric | value |", "| --- | --- |"),
            *(
                f"| {key.removeprefix('test/')} | {value:.4f} |"
                for key, value in result["metrics"].items()
                if value is not None
            ),
            "",
        ]
    lines += ["```python", "import zoo", "", f"zoo.load({json.dumps(name)})([...])", "```"]
    return "\n".join(lines) + "\n"
