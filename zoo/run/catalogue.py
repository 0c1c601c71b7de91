"""What there is: models, data, experiments. conf/*/*.yaml is the catalogue; nothing else registers anything.

Nothing is imported to say so: `zoo list` answers at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

import zoo
from zoo.run.declared import Declared


@dataclass(frozen=True)
class ModelEntry:
    """One file of conf/model."""

    name: str
    title: str
    source: str
    """Authors, venue, year and link, as the model's file gives them."""
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class DataEntry:
    """One file of conf/data."""

    name: str
    about: str
    task: str


@dataclass(frozen=True)
class ExperimentEntry:
    """One file of conf/experiment: a whole run, a paper's or one beside public numbers."""

    name: str
    about: str


def conf_dir() -> Path:
    """The configuration: beside the package in a clone, inside it in an installed wheel."""
    package = Path(zoo.__file__).parent
    beside = package.parent / "conf"
    return beside if (beside / "train.yaml").is_file() else package / "conf"


def _files(group: str) -> list[Path]:
    return sorted((conf_dir() / group).glob("*.yaml"))


def _target(path: Path) -> Declared:
    """The class a file of conf builds; a preset has it from the file it inherits."""
    content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if "_target_" in content:
        return Declared(content["_target_"])
    for parent in content.get("defaults", []):
        if isinstance(parent, str) and (path.parent / f"{parent}.yaml").is_file():
            return _target(path.parent / f"{parent}.yaml")
    raise LookupError(f"{path} has no _target_, nor has a file it inherits")


def first_comment(path: Path) -> str:
    """The first comment line of a configuration file, without `# @package`."""
    lines = (
        line.lstrip("# ").strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    )
    return next((line for line in lines if line and not line.startswith("@package")), "")


@cache
def models() -> dict[str, ModelEntry]:
    """Every model by the name that `model=` takes."""
    entries = {}
    for path in _files("model"):
        cls = _target(path)
        doc = cls.document.split("\n\n")
        title, source = doc[0].rstrip("."), " ".join(doc[1].split()) if len(doc) > 1 else ""
        entries[path.stem] = ModelEntry(path.stem, title, source, tuple(cls.value("tasks")))
    return entries


@cache
def datasets() -> dict[str, DataEntry]:
    """Every data module by the name that `data=` takes."""
    return {
        path.stem: DataEntry(path.stem, first_comment(path), _target(path).value("task")) for path in _files("data")
    }


@cache
def experiments() -> dict[str, ExperimentEntry]:
    """Every experiment by the name that `experiment=` takes."""
    return {path.stem: ExperimentEntry(path.stem, first_comment(path)) for path in _files("experiment")}


def data_for(tasks: tuple[str, ...]) -> list[str]:
    """The data that fit a model serving `tasks`."""
    return [entry.name for entry in datasets().values() if entry.task in tasks]


def models_for(task: str) -> list[str]:
    """The models that serve `task`."""
    return [entry.name for entry in models().values() if task in entry.tasks]
