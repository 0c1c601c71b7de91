"""Runs that several files look at, trained once, and what `zoo` answers."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.run.programs import TINY, TINY_PAIRS, Program, launch, train
from zoo.cli import main


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, program_env: dict[str, str]) -> tuple[Path, Program]:
    """The folder of one finished run on documents with everything on, started as a user does, and the program."""
    where = tmp_path_factory.mktemp("finished")
    settings = ["trainer.max_epochs=2", "hydra.run.dir=run", "tags=[a test]", "model.dropout=0.5"]
    program = train([*TINY, *settings, "data.text.minimum_frequency=1"], where, program_env)
    return where / "run", program


@pytest.fixture(scope="session")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one finished run on pairs with everything on."""
    where = tmp_path_factory.mktemp("translation")
    words = [*TINY_PAIRS, "trainer.max_epochs=2", "regularizer=[coverage,entropy]", "hydra.run.dir=run"]
    assert launch(words, where) == 0
    return where / "run"


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command of `zoo`, which ends with code 2; returns its output and errors."""

    def run(*words: object) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*map(str, words)])
        assert ended.value.code == 2
        return capsys.readouterr()

    return run


class Answers(NamedTuple):
    """The output of `zoo predict`. Pictures are look.png, or look-1.png, look-2.png, ... in the test's folder."""

    json: list[Any]
    page: str
    rows: list[dict[str, str]]
    err: str


@pytest.fixture
def predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refusal: Callable[..., Any]
) -> Callable[..., Answers]:
    """Runs `zoo predict RUN WORDS...` with every kind of output; `refused` where some inputs cannot be used."""

    def run(folder: Path, *words: object, refused: bool = False) -> Answers:
        page, table = tmp_path / "new/folder/page.html", tmp_path / "new/table.csv"
        files = ["--html", page, "--csv", table, "--attention", tmp_path / "look.png"]
        command = ["predict", folder, *words, "--json", *files]
        capsys.readouterr()
        if refused:
            said = refusal(*command)
        else:
            main([*map(str, command)])
            said = capsys.readouterr()
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return Answers([json.loads(line) for line in said.out.splitlines()], page.read_text("utf-8"), rows, said.err)

    return run
