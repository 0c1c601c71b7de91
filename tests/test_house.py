"""The house rules, held for every file and every model, and shown to fail where one is broken."""

import csv
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.catalogue import MODELS, ROOT, Model

LONGEST_FILE = 400
POSSESSIVE = re.compile(r"\)[*+?]\+")
EMPTY_NAMES = re.compile(r"(utils?|helpers?|common|misc)", re.IGNORECASE)
CODE = ("zoo", "tests", "benchmarks", "results", "notebooks", "docs")
PARTS = ("Equations", "What differs from the paper", "Notation")


def code_files() -> list[Path]:
    found = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    return sorted([*ROOT.glob("*.py"), *found])


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


# files


def file_problems(path: Path) -> list[str]:
    """Problems with the length or the name of a file of code."""
    found, lines = [], len(path.read_text(encoding="utf-8").splitlines())
    if lines > LONGEST_FILE:
        found.append(f"{relative(path)}: {lines} lines, more than {LONGEST_FILE}: split it where its parts come apart")
    inside = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
    if any(EMPTY_NAMES.fullmatch(Path(part).stem) for part in inside.parts):
        found.append(f"{relative(path)}: the name says nothing; name it after what it holds")
    return found


@pytest.mark.parametrize("path", code_files(), ids=relative)
def test_file(path: Path) -> None:
    assert file_problems(path) == []


def test_no_group_of_a_pattern_is_possessive() -> None:
    """Python 3.11.2 cuts the matches of some of them short, such as those of brackets."""
    assert POSSESSIVE.search("(?:a++|b)++")
    found = [relative(path) for path in (ROOT / "zoo").rglob("*.py") if POSSESSIVE.search(path.read_text("utf-8"))]
    assert found == []


def test_a_long_file_or_an_empty_name_is_found(tmp_path: Path) -> None:
    for name, lines, problems in (("gate.py", 400, 0), ("gate.py", 401, 1), ("utils.py", 1, 1), ("Helper.py", 401, 2)):
        path = tmp_path / name
        path.write_text("x = 1\n" * lines)
        assert len(file_problems(path)) == problems, name


# models


def header_problems(docstring: str | None) -> list[str]:
    """Parts that are missing in the header of a model's file."""
    if not docstring:
        return ["no header: the file must begin with a docstring that names the paper"]
    paragraphs = [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(docstring).split("\n\n")]
    found = []
    if "\n" in inspect.cleandoc(docstring).split("\n\n")[0]:
        found.append("the title of the paper stands alone on the first line")
    source = paragraphs[1] if len(paragraphs) > 1 else ""
    if not re.match(r"\w[\w.\-' ]+\w", source):
        found.append("the second paragraph begins with the authors")
    if not re.search(r"\b(19|20)\d\d\b", source):
        found.append("the second paragraph gives the year")
    if not re.search(r"https?://\S+", source):
        found.append("the second paragraph gives a link to the paper")
    found += [f"no part '{part}'" for part in PARTS if not any(text.startswith(part) for text in paragraphs)]
    return found


BY_NAME = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@BY_NAME
def test_header(model: Model) -> None:
    module = inspect.getmodule(model.cls)
    assert header_problems(module and module.__doc__) == [], inspect.getsourcefile(model.cls)


def test_every_paper_is_in_the_catalogue() -> None:
    """A file of zoo/models with a class that serves a task is reached from conf/model."""
    reached = {inspect.getsourcefile(model.cls) for model in MODELS.values()}
    for path in sorted((ROOT / "zoo" / "models").glob("*.py")):
        if re.search(r"^    tasks = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert str(path) in reached, f"{relative(path)}: no file of conf/model builds it"


HEADER = """Neural Turing Machines.

Alex Graves, Greg Wayne, Ivo Danihelka. 2014. https://arxiv.org/abs/1410.5401

Equations: addressing (5)-(9).

What differs from the paper: nothing.

Notation: N rows of memory, M their width.
"""


@pytest.mark.parametrize(
    ("header", "problems"),
    [
        (HEADER, 0),
        (None, 1),
        ("", 1),
        (HEADER.replace("2014", "once"), 1),
        (HEADER.replace("https://arxiv.org/abs/1410.5401", "arXiv"), 1),
        (HEADER.replace("Alex Graves, Greg Wayne, Ivo Danihelka. ", "("), 1),
        (HEADER.replace("Equations", "Some"), 1),
        (HEADER.replace("What differs", "What is the same"), 1),
        (HEADER.replace("Notation", "Letters"), 1),
        (HEADER.replace("Machines.\n", "Machines.\nA paper.\n"), 1),
        ("Neural Turing Machines.", 6),
    ],
)
def test_a_missing_part_of_a_header_is_found(header: str | None, problems: int) -> None:
    assert len(header_problems(header)) == problems


# experiments and results


def experiment_models(folder: Path) -> Iterator[str]:
    """The models that the experiments of a folder choose."""
    for path in folder.glob("*.yaml"):
        for entry in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("defaults", []):
            if isinstance(entry, dict):
                yield from (str(name) for key, name in entry.items() if key.split()[-1].strip("/") == "model")


def result_models(folder: Path) -> Iterator[str]:
    """The models that have a row in the results of a folder."""
    for path in folder.glob("*.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            yield from (row["model"] for row in csv.DictReader(file))


@BY_NAME
def test_experiment_and_results(model: Model) -> None:
    assert model.name in set(experiment_models(ROOT / "conf" / "experiment")), "no experiment names this model"
    assert model.name in set(result_models(ROOT / "results")), "no row of results/*.csv is of this model"


def test_a_missing_experiment_or_result_is_found(tmp_path: Path) -> None:
    (tmp_path / "ntm_copy.yaml").write_text("defaults:\n  - override /model: ntm\n  - override /data: copy\n")
    (tmp_path / "ntm.csv").write_text("model,data,ours\nntm,copy,1.0\n")
    assert set(experiment_models(tmp_path)) == set(result_models(tmp_path)) == {"ntm"}


def test_the_declared_version_is_the_packages(program_env: dict[str, str]) -> None:
    from importlib.metadata import PackageNotFoundError, version

    import zoo

    try:
        installed = version("attention-zoo")
    except PackageNotFoundError:
        pytest.skip("not installed: run pip install -e '.[test]' first")
    assert installed == zoo.__version__, f"reinstall: {sys.executable} -m pip install -e '.[test]'"
