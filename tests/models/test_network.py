"""Facts about every network of the catalogue, beside the contract: its name, the bounds of its arguments, dropout."""

import subprocess
import sys

import pytest
import torch

import zoo.models
from tests.catalogue import MODELS
from tests.contract import equal
from tests.families import family_of
from tests.test_contract import small
from zoo.errors import ConfigError
from zoo.models.network import WritingNetwork
from zoo.signature import signature

BY_NAME = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
DROPPING = {name: model for name, model in MODELS.items() if "dropout" in model.arguments}
SUMMED_IN_FLOAT32 = {"NeuralCombinatorial", "PointerGenerator", "PointerNet", "PositionAttention", "ReadProcessWrite"}
"""Networks whose scores are those of an additive attention, or log-probabilities."""
WRITING = {name: model for name, model in MODELS.items() if issubclass(model.cls, WritingNetwork)}


@BY_NAME
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


@BY_NAME
def test_an_argument_outside_its_bounds_is_named(model):
    """No argument may be -1, neither a width, nor a share, nor the name of a choice."""
    spec = family_of(model.cls.tasks[0]).spec
    for name, parameter in signature(model.cls).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            with pytest.raises(ConfigError, match=rf"^{name}=-1: expected .*, found -1"):
                model.cls(spec, **model.arguments | {name: -1})


def built(model, **changed):
    torch.manual_seed(0)
    family = family_of(model.cls.tasks[0])
    return model.cls(family.spec, **small(model.arguments) | changed), family.batch(1)


@pytest.mark.parametrize("model", DROPPING.values(), ids=DROPPING)
def test_dropout_drops_in_training_alone(model):
    network, batch = built(model, dropout=0.5)
    assert not torch.equal(network(batch).logits, network(batch).logits)
    network.eval()
    assert torch.equal(network(batch).logits, network(batch).logits)


@pytest.mark.parametrize("model", WRITING.values(), ids=WRITING)
def test_the_scores_do_not_depend_on_whether_weights_are_returned(model):
    network, batch = built(model)
    network.double().eval()
    equal(network(batch, need_weights=False).logits, network(batch).logits)


@pytest.mark.parametrize("model", WRITING.values(), ids=WRITING)
def test_half_precision_weights_run(model):
    network, batch = built(model)
    exact = network.double().eval()(batch)
    output = network.bfloat16()(batch)
    assert output.logits.dtype == (torch.float32 if model.cls.__name__ in SUMMED_IN_FLOAT32 else torch.bfloat16)
    real = exact.logits.isfinite()
    torch.testing.assert_close(output.logits[real].double(), exact.logits[real], rtol=0.1, atol=0.1)
    for name, weights in output.attention.items():
        sums = exact.attention[name].sum(-1)
        torch.testing.assert_close(weights.double().sum(-1), sums, rtol=0.02, atol=0.02)
