"""Imports point one way, and networks know nothing of how they are trained."""

from __future__ import annotations

import ast
import fnmatch
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT: dict[str, set[str]] = {
    home: {name if name == "zoo" else f"zoo.{name}" for name in names.split()}
    for home, names in {
        "zoo": "run visualize",
        "zoo.arguments": "",
        "zoo.errors": "",
        "zoo.precision": "",
        "zoo.linear": "",
        "zoo.memory": "",
        "zoo.signature": "",
        "zoo.printable": "",
        "zoo.files": "errors data.rows",
        "zoo.dotted": "errors",
        "zoo.values": "errors",
        "zoo.attention": "dotted errors linear values",
        "zoo.layers": "errors dotted linear attention",
        "zoo.models": "data.batch errors linear values attention layers data.*.batch",
        "zoo.decoding": "errors linear values attention layers",
        "zoo.objectives": "errors values attention layers decoding models.output metrics.cider",
        "zoo.optimizers": "errors",
        "zoo.data": "errors dotted memory values layers.packing layers.trees.forest",
        "zoo.metrics": "errors",
        "zoo.reranking": "errors",
        "zoo.predicting": "errors dotted values layers.modes models.output decoding data reranking",
        "zoo.tasks": "errors memory dotted values attention layers models decoding objectives data metrics reranking"
        " predicting",
        "zoo.visualize": "errors dotted printable files data metrics.classes predicting tasks",
        "zoo.callbacks": "errors values files layers.modes data tasks visualize",
        "zoo.run": "zoo errors dotted memory signature printable values callbacks data decoding layers.pretrained"
        " models predicting tasks visualize",
        "zoo.export": "zoo errors data.batch data.inputs layers",
        "zoo.explore": "zoo errors printable run visualize",
        "zoo.commands": "zoo errors dotted printable files data explore export run tasks visualize",
        "zoo.cli": "zoo errors commands run",
        "zoo.__main__": "cli run",
        "train": "run cli",
    }.items()
}
"""The modules and packages of zoo that each package, or a single module named in full, may import besides itself."""
EVERYWHERE = ("zoo.arguments", "zoo.precision")
"""Modules below all others: types of constructor arguments, and the precision of sums."""

FLOOR = {
    "text",
    "copying",
    "captions",
    "audio",
}  # Folders of zoo.data that are not a family: every family may import them

PACKAGE_OF = {
    "absl": "absl-py",
    "annotated_types": "annotated-types",
    "fontTools": "fonttools",
    "jupyter_client": "jupyter-client",
    "PIL": "pillow",
    "pydantic_core": "pydantic",
    "huggingface_hub": "huggingface-hub",
    "hydra": "hydra-core",
    "rouge_score": "rouge-score",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages that go by another name than what they hold."""

PLAIN = ("zoo.attention", "zoo.layers", "zoo.models", "zoo.decoding", "zoo.objectives", "zoo.optimizers")
FOREIGN = {"lightning", "lightning_fabric", "pytorch_lightning", "hydra", "omegaconf", "wandb"}


def sources() -> dict[str, str]:
    """Dotted name -> source text of every module."""
    paths = [ROOT / "train.py", *sorted((ROOT / "zoo").rglob("*.py"))]
    return {module_name(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths if path.is_file()}


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module: str, source: str, modules: set[str]) -> Iterator[tuple[int, str]]:
    """(line, dotted module) of every import, those inside functions and `if TYPE_CHECKING` too.

    `from zoo import x` is zoo.x where there is such a module.
    """
    is_package = any(name.startswith(f"{module}.") for name in modules)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")[: len(module.split(".")) - node.level + is_package]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield node.lineno, full if full in modules else base


def family(module: str, modules: set[str]) -> str | None:
    """The family that a module of zoo.data belongs to, if any."""
    parts = module.split(".")
    if parts[:2] != ["zoo", "data"] or len(parts) < 3 or parts[2] in FLOOR:
        return None
    return parts[2] if any(name.startswith(f"zoo.data.{parts[2]}.") for name in modules) else None


def package(module: str) -> str:
    """The key of MAY_IMPORT that a module falls under."""
    return ".".join(module.split(".")[:2])


def violations(module: str, source: str, modules: set[str]) -> list[str]:
    """Every import of `source`, the text of `module`, that points the wrong way."""
    home = package(module)
    if home not in MAY_IMPORT:
        return [f"{module}: say in MAY_IMPORT (tests/test_imports.py) what {home} may import"]
    found = []
    for line, name in imported(module, source, modules):
        where = f"{module}:{line} imports {name}"
        if home in PLAIN and name.split(".")[0] in FOREIGN:
            found.append(f"{where}: a network must not know how it is configured, trained or logged")
        other = family(name, modules)
        if home == "zoo.data" and other is not None and other != family(module, modules):
            found.append(f"{where}: no family imports another, and the floor imports none")
        if name.split(".")[0] != "zoo" or package(name) in (home, *EVERYWHERE):
            continue
        if not any(covers(allowed, name) for allowed in MAY_IMPORT[home]):
            found.append(f"{where}: {home} may import {', '.join(sorted(MAY_IMPORT[home])) or 'nothing'}")
        elif home == "zoo.data" and name == "zoo.layers.packing" and module.split(".")[-1] != "batch":
            found.append(f"{where}: only a batch may")
    return found


def covers(allowed: str, name: str) -> bool:
    """Whether leave to import `allowed`, a pattern or a package with all in it, is leave to import `name`; leave
    for zoo itself is not leave for all of it."""
    if "*" in allowed:
        return fnmatch.fnmatchcase(name, allowed)
    return name == allowed or (allowed != "zoo" and name.startswith(f"{allowed}."))


SOURCES = sources()


@pytest.mark.parametrize("module", SOURCES)
def test_imports_point_one_way(module: str) -> None:
    assert violations(module, SOURCES[module], set(SOURCES)) == []


WRONG = [
    ("zoo.attention.scores", "from zoo.layers.packing import Packing"),
    ("zoo.layers.pooling", "def f():\n    from zoo.models import HAN"),
    ("zoo.models.han", "from zoo.tasks import Classification"),
    ("zoo.models.han", "from zoo.data.documents.yelp import Yelp"),
    ("zoo.models.han", "from zoo import load"),
    ("zoo.models.han", "from ..tasks import Classification"),
    ("zoo.models.han", "import lightning as L"),
    ("zoo.layers.packing", "if TYPE_CHECKING:\n    import wandb"),
    ("zoo.objectives.regularizers", "from zoo.data.pairs.batch import PairBatch"),
    ("zoo.data.documents.yelp", "from zoo.layers.packing import Packing"),
    ("zoo.data.batch", "from zoo.layers.recurrent import GRU"),
    ("zoo.data.documents.yelp", "from zoo.data.pairs.options import PairTextOptions"),
    ("zoo.data.prepared", "from zoo.data.documents.batch import DocumentSpec"),
    ("zoo.tasks.task", "from zoo.run.build import build"),
    ("zoo.run.build", "from zoo.cli import main"),
    ("zoo.arguments", "from zoo.errors import ZooError"),
    ("zoo.rooms.new", "import torch"),
]
RIGHT = [
    ("zoo.attention.scores", "from zoo.arguments import Count"),
    (
        "zoo.models.han",
        "import torch\nfrom zoo.data.documents.batch import DocumentBatch\nfrom zoo.layers import recurrent",
    ),
    ("zoo.models.han", "from .output import Output\nfrom zoo.attention import masked_softmax"),
    ("zoo.data.batch", "from zoo.layers.packing import Packing"),
    ("zoo.tasks.task", "from lightning import LightningModule\nfrom zoo.data.batch import Spec"),
    ("zoo.run.build", "from zoo import __version__\nimport zoo\nimport hydra"),
    ("train", "from zoo.run.launch import main"),
]


@pytest.mark.parametrize(("module", "source", "count"), [*((*row, 1) for row in WRONG), *((*row, 0) for row in RIGHT)])
def test_a_wrong_import_is_found_and_a_right_one_is_not(module: str, source: str, count: int) -> None:
    modules = {*SOURCES, "zoo.tasks", "zoo.data", "zoo.layers", "zoo.models", module}
    assert len(violations(module, source, modules)) == count


def circles(sources: dict[str, str]) -> list[list[str]]:
    """Modules of one package that import each other, however far round, imports inside functions counted too; a
    package's own `__init__` gathers what its modules hold and counts for none."""
    modules = set(sources)
    above = {name for name in modules if any(other.startswith(f"{name}.") for other in modules)}
    graph = {
        module: {name for _, name in imported(module, source, modules) if name in modules - above - {module}}
        for module, source in sources.items()
        if module not in above
    }
    for module in graph:
        graph[module] = {name for name in graph[module] if name.rpartition(".")[0] == module.rpartition(".")[0]}
    found, done = [], set[str]()

    def walk(module: str, way: list[str]) -> None:
        if module in way:
            found.append([*way[way.index(module) :], module])
        elif module not in done:
            for name in sorted(graph[module]):
                walk(name, [*way, module])
            done.add(module)

    for module in sorted(graph):
        walk(module, [])
    return found


def test_no_modules_import_each_other() -> None:
    assert circles(SOURCES) == []


def test_a_circle_is_found() -> None:
    sources = {
        "zoo.run": "",
        "zoo.run.build": "from zoo.run.launch import main",
        "zoo.run.launch": "from zoo.run.messages import explain",
        "zoo.run.messages": "def explain():\n    from zoo.run.build import compose",
        "zoo.run.train": "from zoo.run.build import build",
    }
    assert circles(sources) == [["zoo.run.build", "zoo.run.launch", "zoo.run.messages", "zoo.run.build"]]
    assert circles(sources | {"zoo.run.messages": "import re"}) == []


def distributions(requirements: list[str]) -> set[str]:
    """The names of required packages, without versions and extras."""
    return {re.split(r"[\[<>=!~; ]", requirement)[0].lower() for requirement in requirements}


def undeclared(sources: dict[str, str], declared: set[str]) -> set[str]:
    """Imports of `sources` from packages that are not declared."""
    imports = {name.split(".")[0] for module, text in sources.items() for _, name in imported(module, text, set())}
    own = {"docs", "notebooks", "results", "tests", "weights", "train", "zoo", *sys.stdlib_module_names}
    return {name for name in imports - own if PACKAGE_OF.get(name, name).lower() not in declared}


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = distributions(project["dependencies"])
    explore = {module: source for module, source in SOURCES.items() if module.startswith("zoo.explore")}
    assert undeclared(explore, runtime | distributions(project["optional-dependencies"]["explore"])) == set()
    assert undeclared({module: SOURCES[module] for module in SOURCES.keys() - explore.keys()}, runtime) == set()
    extras = distributions([text for texts in project["optional-dependencies"].values() for text in texts])
    paths = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "docs").rglob("*.py")]
    others = {str(path): path.read_text(encoding="utf-8") for path in paths}
    ours = {name for path in (ROOT / "tests").rglob("*.py") for name in (path.stem, path.parent.name)}
    assert undeclared(others, runtime | extras) - ours == set()


def test_an_undeclared_import_is_found() -> None:
    assert undeclared({"zoo.x": "import json\nimport torch\nimport sklearn.svm"}, {"torch"}) == {"sklearn"}
    assert undeclared({"zoo.x": "from sklearn import svm"}, distributions(["scikit-learn>=1.5"])) == set()


def test_a_network_loads_without_the_training_libraries(program_env: dict[str, str]) -> None:
    code = f"import sys, zoo.models; print(sorted({FOREIGN!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=program_env, capture_output=True, text=True, timeout=120, check=True
    )
    assert run.stdout.strip() == "[]"
