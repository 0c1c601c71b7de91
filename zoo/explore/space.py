"""Write the explorer as a Hugging Face Space: a folder that holds the package, the networks and the page's program."""

import shutil
from collections.abc import Sequence
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement

import zoo
from zoo.run.catalogue import conf_dir
from zoo.run.checkpoint import read_checkpoint
from zoo.run.weights import EXAMPLES, included, locate, model_card, result_of, write_folder

APP = '''"""The explorer of attention-zoo."""

from zoo.explore.server import serve
from zoo.run.weights import included

serve(list(included()), host="0.0.0.0", port=7860)
'''
README = """---
title: {title}
sdk: gradio
sdk_version: {gradio}
app_file: app.py
---
# {title}

Type an input, and see what a network answers and what it attended to: {names}.
"""


def write_space(folder: Path, names: Sequence[str]) -> None:
    """Write a Space that serves the networks `names`.

    The package is copied, so that the Space shows the same as `zoo explore` here. Included networks keep their names;
    another one gets the name of its model, such as `luong`. Raises CheckpointError for a network that cannot be read.
    """
    contents = [(name, locate(name)) for name in dict.fromkeys(names)]
    weights, package = folder / "zoo" / "weights", Path(zoo.__file__).parent
    shutil.copytree(package, folder / "zoo", ignore=shutil.ignore_patterns("__pycache__", "weights", "conf"))
    shutil.copytree(conf_dir(), folder / "zoo" / "conf")
    for name, path in contents:
        if name in included():
            shutil.copytree(path, weights / name)
            continue
        content = read_checkpoint(path)
        title = _free(content["hyper_parameters"]["model"]["_target_"].split(".")[-2], weights)
        write_folder(weights / title, content, model_card(content, result_of(path), title))
        if path.is_dir() and (path / EXAMPLES).is_file():
            shutil.copy(path / EXAMPLES, weights / title)
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / "requirements.txt").write_text("\n".join(_requirements()) + "\n", encoding="utf-8")
    facts = {"title": "attention-zoo", "gradio": version("gradio"), "names": ", ".join(sorted(_names(weights)))}
    (folder / "README.md").write_text(README.format(**facts), encoding="utf-8")


def _names(weights: Path) -> list[str]:
    return [path.name for path in weights.glob("*")]


def _free(name: str, weights: Path) -> str:
    """Return a name that no network in the folder has."""
    number, free = 1, name
    while free in _names(weights):
        number += 1
        free = f"{name}_{number}"
    return free


def _requirements() -> list[str]:
    """Return what the package and its explorer need; gradio itself comes with the Space."""
    needed = [Requirement(line) for line in requires("attention-zoo") or ()]
    return [
        f"{one.name}{one.specifier}"
        for one in needed
        if one.name != "gradio" and (one.marker is None or one.marker.evaluate({"extra": "explore"}))
    ]
