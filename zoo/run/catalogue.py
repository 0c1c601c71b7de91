"""Models, data and experiments: the files of conf are the catalogue. No network is imported, for a fast `zoo list`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

import zoo
from zoo.errors import ConfigError
from zoo.run.declared import Declared
from zoo.run.search_path import folders


@dataclass(frozen=True)
class ModelEntry:
    """One file of conf/model."""

    name: str
    title: str
    source: str
    """Authors, venue, year and link from the model's file."""
    tasks: tuple[str, ...]
    file: str
    """Its path, relative to the folder of its package."""


@dataclass(frozen=True)
class DataEntry:
    """One file of conf/data."""

    name: str
    about: str
    tasks: tuple[str, ...]
    """The tasks that the data are for. The file chooses one of them."""


@dataclass(frozen=True)
class ExperimentEntry:
    """One file of conf/experiment: a whole run, e.g. of a paper."""

    name: str
    about: str


def conf_dir() -> Path:
    """The configuration: beside the package in a clone, inside it in an installed wheel."""
    package = Path(zoo.__file__).parent
    beside = package.parent / "conf"
    return beside if (beside / "train.yaml").is_file() else package / "conf"


def _files(group: str, beside: tuple[Path, ...]) -> list[Path]:
    """The files of a group, ours and the user's. Of files with one name the first counts, as in Hydra.

    A name that begins with an underscore or a dot cannot be chosen: it is a recipe that other files inherit.
    """
    found = {path.stem: path for folder in reversed(_groups(group, beside)) for path in folder.glob("[!._]*.yaml")}
    return sorted(found.values(), key=lambda path: path.stem)


def has_group(name: str) -> bool:
    """Whether there is a group of configuration of that name, ours or the user's."""
    return any(folder.is_dir() for folder in _groups(name, folders()))


def choices(group: str) -> list[str]:
    """The choices of a group of configuration: `model/encoder=NAME`."""
    return [path.stem for path in _files(group, folders())]


def _groups(group: str, beside: tuple[Path, ...]) -> list[Path]:
    return [folder / group for folder in (conf_dir(), *beside)]


def _target(path: Path, beside: tuple[Path, ...]) -> Declared:
    """The class that a file of conf builds, perhaps named in a file that it inherits."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from error
    if "_target_" in content:
        return Declared(content["_target_"])
    for parent in (entry.partition("@")[0] for entry in content.get("defaults", []) if isinstance(entry, str)):
        group = "" if parent.startswith("/") else path.parent.name  # /model/han, or han from the same group
        for folder in _groups(group, beside):
            if (found := folder / f"{parent.removeprefix('/')}.yaml").is_file():
                return _target(found, beside)
    raise ConfigError(f"{path}: it has no _target_, nor has a file that its defaults inherit; expected _target_: CLASS")


def first_comment(path: Path) -> str:
    """The first comment line of a configuration file, without `# @package`."""
    lines = (
        line.lstrip("# ").strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    )
    return next((line for line in lines if line and not line.startswith("@package")), "")


def models() -> dict[str, ModelEntry]:
    """Every model by the name that `model=` takes."""
    return _models(folders())


@cache
def _models(beside: tuple[Path, ...]) -> dict[str, ModelEntry]:
    entries = {}
    for path in _files("model", beside):
        cls = _target(path, beside)
        doc = cls.document.split("\n\n")
        file = cls.module.replace(".", "/") + ".py"
        title, source = doc[0].rstrip("."), " ".join(doc[1].split()) if len(doc) > 1 else ""
        entries[path.stem] = ModelEntry(path.stem, title, source, tuple(cls.value("tasks")), file)
    return entries


def datasets() -> dict[str, DataEntry]:
    """Every data module by the name that `data=` takes."""
    return _datasets(folders())


@cache
def _datasets(beside: tuple[Path, ...]) -> dict[str, DataEntry]:
    return {
        path.stem: DataEntry(path.stem, first_comment(path), tuple(_target(path, beside).value("tasks")))
        for path in _files("data", beside)
    }


def experiments() -> dict[str, ExperimentEntry]:
    """Every experiment by the name that `experiment=` takes."""
    return _experiments(folders())


@cache
def _experiments(beside: tuple[Path, ...]) -> dict[str, ExperimentEntry]:
    return {path.stem: ExperimentEntry(path.stem, first_comment(path)) for path in _files("experiment", beside)}


def data_for(tasks: tuple[str, ...]) -> list[str]:
    """The data that fit a model serving `tasks`."""
    return [entry.name for entry in datasets().values() if set(entry.tasks) & set(tasks)]


def models_for(tasks: tuple[str, ...]) -> list[str]:
    """The models that serve one of `tasks`."""
    return [entry.name for entry in models().values() if set(entry.tasks) & set(tasks)]
