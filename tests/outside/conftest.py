"""The folder of these families on the search path, and what a command adds to it removed after each test."""

import pytest

from tests.commands import forgotten
from tests.run.programs import ROOT
from zoo.run import search_path

CONF = ROOT / "tests" / "outside" / "conf"


@pytest.fixture(autouse=True)
def _forgotten():
    with forgotten():
        yield


@pytest.fixture
def own_folder(_forgotten):
    """The packages of this folder can be imported."""
    search_path.add(CONF)
