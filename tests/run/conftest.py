"""Runs that several files look at, trained once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.programs import TINY, TINY_PAIRS, Program, launch, train


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
