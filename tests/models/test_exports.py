"""`from zoo.models import HAN` finds every network, and a file needs no entry in a list for it."""

import subprocess
import sys

import pytest

import zoo.models
from tests.catalogue import MODELS


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_network_is_imported_by_its_name(model):
    assert getattr(zoo.models, model.cls.__name__) is model.cls


@pytest.mark.parametrize("name", ["Hann", "han_", "a.b", "Luong "])
def test_there_is_no_other(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(zoo.models, name)


def test_importing_a_network_does_not_import_the_compiler():
    """torch._dynamo takes as long to import as all of torch."""
    program = "import sys, zoo.models; zoo.models.HAN; print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
