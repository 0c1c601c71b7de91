"""Models, data and experiments: the files of conf are the catalogue. No network is imported, for a fast `zoo list`:
docstrings and class attributes are read from source files."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import yaml

import zoo
from zoo.errors import ConfigError, ZooError, did_you_mean
from zoo.run.search_path import folders

T = TypeVar("T")


@dataclass(frozen=True)
class ModelEntry:
    """One file of conf/model."""

    name: str
    title: str
    source: str  # Authors, venue, year and link from the model's file
    tasks: tuple[str, ...]
    file: str  # Its path, relative to the folder of its package


@dataclass(frozen=True)
class DataEntry:
    """One file of conf/data."""

    name: str
    about: str
    tasks: tuple[str, ...]  # The tasks that the data are for. The file chooses one of them.


def conf_dir() -> Path:
    """The configuration: beside the package in a clone, inside it in an installed wheel."""
    package = Path(zoo.__file__).parent
    beside = package.parent / "conf"
    return beside if (beside / "train.yaml").is_file() else package / "conf"


def _groups(group: str) -> list[Path]:
    return [folder / group for folder in (conf_dir(), *folders())]


def _files(group: str) -> list[Path]:
    """The files of a group, ours and the user's. Of files with one name the first counts, as in Hydra.

    A name that begins with an underscore or a dot cannot be chosen: it is a recipe that other files inherit.
    """
    found = {path.stem: path for folder in reversed(_groups(group)) for path in folder.glob("[!._]*.yaml")}
    return sorted(found.values(), key=lambda path: path.stem)


def has_group(name: str) -> bool:
    """Whether there is a group of configuration of that name, ours or the user's."""
    return any(folder.is_dir() for folder in _groups(name))


def groups() -> list[str]:
    """The groups of configuration, ours and the user's."""
    return sorted(
        {path.name for folder in _groups("") if folder.is_dir() for path in folder.iterdir() if path.is_dir()}
    )


def choices(group: str) -> list[str]:
    """The choices of a group of configuration: `model/encoder=NAME`."""
    return [path.stem for path in _files(group)]


def group_file(group: str, name: str) -> Path | None:
    """The file of a choice, the user's or ours, a recipe that cannot be chosen included; None if there is none.

    A name that begins with a slash is in the group that it names: `/model/han`.
    """
    folders = _groups("") if name.startswith("/") else _groups(group)
    paths = (folder / f"{name.removeprefix('/')}.yaml" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def model_file(name: str) -> Path:
    """The file of a model. Raises ConfigError, with the nearest name, if there is none."""
    if name not in choices("model") or (path := group_file("model", name)) is None:
        raise ConfigError(f"{name}: unknown model; {did_you_mean(name, choices('model'))}; zoo list models prints all")
    return path


def has_sample(name: str) -> bool:
    """Whether data have a sample that they use unless `data.source` says otherwise."""
    path = group_file("data", name)
    return (
        path is not None and re.search(r"^source: sample\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None
    )


def header(name: str) -> list[str]:
    """The paragraphs of the docstring of the module in which a model is defined."""
    doc = ast.get_docstring(_tree(_target(model_file(name)).module)) or ""
    return [part for part in doc.split("\n\n") if part.strip()]


def first_comment(path: Path) -> str:
    """The first comment line of a configuration file, without `# @package`."""
    lines = (
        line.lstrip("# ").strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    )
    return next((line for line in lines if line and not line.startswith("@package")), "")


def _once_per_folders(read: Callable[[], dict[str, T]]) -> Callable[[], dict[str, T]]:
    """Cache what `read` returns for each choice of the user's folders of configuration."""
    cached = cache(lambda beside: read())
    return lambda: cached(folders())


@_once_per_folders
def models() -> dict[str, ModelEntry]:
    """Every model by the name that `model=` takes."""
    entries = {}
    for path in _files("model"):
        cls = _target(path)
        doc = (ast.get_docstring(_tree(cls.module)) or "").split("\n\n")
        file = cls.module.replace(".", "/") + ".py"
        title, source = doc[0].rstrip("."), " ".join(doc[1].split()) if len(doc) > 1 else ""
        entries[path.stem] = ModelEntry(path.stem, title, source, tuple(cls.value("tasks")), file)
    return entries


@_once_per_folders
def datasets() -> dict[str, DataEntry]:
    """Every data module by the name that `data=` takes."""
    files = _files("data")
    return {path.stem: DataEntry(path.stem, first_comment(path), tuple(_target(path).value("tasks"))) for path in files}


@_once_per_folders
def experiments() -> dict[str, str]:
    """The first comment of every experiment by the name that `experiment=` takes."""
    return {path.stem: first_comment(path) for path in _files("experiment")}


def tasks_of(group: str, name: str) -> tuple[str, ...]:
    """Return the tasks of one model or one data set, or nothing for a missing file or an unreadable class."""
    path = group_file(group, name)
    try:
        return () if path is None else tuple(_target(path).value("tasks"))
    except ZooError:  # reported when it is built
        return ()


def data_of_family(name: str) -> list[str]:
    """The data whose classes are in the folder of a family, such as `images`."""
    return [path.stem for path in _files("data") if _target(path).module.startswith(f"zoo.data.{name}.")]


def data_for(tasks: tuple[str, ...]) -> list[str]:
    """The data that fit a model serving `tasks`."""
    return [entry.name for entry in datasets().values() if set(entry.tasks) & set(tasks)]


def models_for(tasks: tuple[str, ...]) -> list[str]:
    """The models that serve one of `tasks`."""
    return [entry.name for entry in models().values() if set(entry.tasks) & set(tasks)]


def list_models(filter: str = "", task: str | None = None) -> list[str]:
    """The names of the models, which `create_model` and `train` take.

    Args:
        filter: a part of the name, or a pattern such as `*lstm*`.
        task: only models that serve this task.

    Raises:
        ConfigError: the task is unknown.
    """
    return _listed(models(), filter, task)


def list_data(filter: str = "", task: str | None = None) -> list[str]:
    """The names of the data sets, which `load_data` and `train` take.

    Args:
        filter: a part of the name, or a pattern such as `*hull*`.
        task: only data that are for this task.

    Raises:
        ConfigError: the task is unknown.
    """
    return _listed(datasets(), filter, task)


def _listed(entries: Mapping[str, ModelEntry] | Mapping[str, DataEntry], filter: str, task: str | None) -> list[str]:
    tasks = {one for entry in entries.values() for one in entry.tasks}
    if task is not None and task not in tasks:
        raise ConfigError(f"task={task!r}: unknown task; {did_you_mean(task, tasks)}")
    pattern = filter if any(letter in filter for letter in "*?[") else f"*{filter}*"
    fitting = [name for name, entry in entries.items() if task is None or task in entry.tasks]
    return fnmatch.filter(fitting, pattern)


# classes that are not imported


def _target(path: Path) -> Declared:
    """The class that a file of conf builds, perhaps named in a file that it inherits."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from error
    if "_target_" in content:
        return Declared(content["_target_"])
    for parent in (entry.partition("@")[0] for entry in content.get("defaults", []) if isinstance(entry, str)):
        group = path.parent.name  # of han; /model/han names its own
        if found := group_file(group, parent):
            return _target(found)
    raise ConfigError(f"{path}: it has no _target_, nor has a file that its defaults inherit; expected _target_: CLASS")


class Declared:
    """The source of a class, found by its dotted name. Raises ConfigError where there is none."""

    def __init__(self, dotted: str) -> None:
        self.module, self.node = _find(dotted)

    def value(self, name: str) -> Any:
        """The class attribute `name`, a literal, of the class or a base class. Raises ConfigError where none has it."""
        found = self._value(name)
        if found is None:
            raise ConfigError(
                f"{self.module}.{self.node.name} has no `{name}`; add it as a class attribute with a plain value"
            )
        return found

    def _value(self, name: str) -> Any:
        for statement in self.node.body:
            given = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            value = getattr(statement, "value", None)
            if value is not None and any(isinstance(target, ast.Name) and target.id == name for target in given):
                try:
                    return ast.literal_eval(value)
                except ValueError as error:
                    where = f"{_file(self.module)}, line {value.lineno}"
                    raise ConfigError(
                        f"{where}: {name} is {ast.unparse(value)}; write it out as a plain value"
                    ) from error
        for base in map(ast.unparse, (b.value if isinstance(b, ast.Subscript) else b for b in self.node.bases)):
            try:
                above = Declared(f"{self.module}.{base}" if "." not in base else base)
            except ConfigError:  # a class of a library, which has no such attribute
                continue
            if (found := above._value(name)) is not None:
                return found
        return None


def _find(dotted: str) -> tuple[str, ast.ClassDef]:
    """The module that defines a class, and the definition. `dotted` may name a package that only imports the class."""
    module, _, name = dotted.rpartition(".")
    nodes = list(_statements(_tree(module)))
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if name == (alias.asname or alias.name) and node.module != module:
                    return _find(f"{node.module}.{alias.name}")
    raise ConfigError(f"{dotted}: there is no class {name} in {_file(module)}")


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements of a module, also those under a condition, without what is inside of classes and functions."""
    for part in ast.iter_child_nodes(node):
        yield part
        if isinstance(part, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            yield from _statements(part)


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise ConfigError(f"{path}, line {error.lineno}: {error.msg}") from error


def _file(module: str) -> Path:
    """The file of a module. The packages above it are searched, not run."""
    name, *rest = module.split(".")
    try:
        spec = find_spec(name)
    except ValueError:  # a program that is run, such as __main__
        spec = None
    for part in rest:
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, spec.submodule_search_locations) if spec else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ConfigError(f"{module}: module not found; is its folder on the PYTHONPATH?")
    return Path(spec.origin)
