"""The networks of these families keep the contract, and it is found where one does not."""

from functools import partial
from importlib import import_module

import pytest
from torch import nn

from tests.contract import FOR_ALL, FOR_CLASSES, FOR_STREAMS, Case, nothing_later_is_read, windows_are_one_long_pass
from tests.contract_generation import FOR_GENERATION

pytestmark = pytest.mark.usefixtures("own_folder")

NETWORKS = {
    "tiny_tagging.LooksBack": ("Sequences", {"embedding_dim": 16}, (*FOR_ALL, *FOR_CLASSES)),
    "tiny_pair.Pair": ("RandomPoints", {"hidden_dim": 16}, FOR_ALL),
    "tiny_stream.CharLSTM": ("RandomWindows", {"hidden_dim": 16}, (*FOR_ALL, *FOR_CLASSES, *FOR_STREAMS)),
    "tiny_listening.Listener": ("Sounds", {"hidden_dim": 16}, (*FOR_ALL, *FOR_GENERATION)),
    "tiny_listening.TwoLevels": ("Sounds", {"hidden_dim": 16}, (*FOR_ALL, *FOR_GENERATION)),
}
"""The batches of each network, its size, and the clauses that it keeps."""


def case(name, wrap=None):
    module, _, cls = name.rpartition(".")
    batches, size, _ = NETWORKS[name]
    family = getattr(import_module("tests.outside.batches"), batches)()
    build = partial(getattr(import_module(module), cls), family.spec, **size)
    return Case(build if wrap is None else lambda: wrap(build()), family)


@pytest.mark.parametrize(
    ("name", "clause"),
    [pytest.param(name, one, id=f"{name}-{one.__name__}") for name, (*_, every) in NETWORKS.items() for one in every],
)
def test_the_contract(name, clause):
    clause(case(name))


class Wrapped(nn.Module):
    """A sound network with one fault."""

    carries = True

    def __init__(self, network):
        super().__init__()
        self.network = network


class Forgets(Wrapped):
    def forward(self, batch, carried=None):
        return self.network(batch)


class ReadsAhead(Wrapped):
    def forward(self, batch, carried=None):
        output = self.network(batch, carried)
        return type(output)(output.logits + output.logits.roll(-1, 1), carried=output.carried)


@pytest.mark.parametrize(
    ("fault", "clause"), [(Forgets, windows_are_one_long_pass), (ReadsAhead, nothing_later_is_read)]
)
def test_a_broken_stream_is_found(fault, clause):
    with pytest.raises(AssertionError):
        clause(case("tiny_stream.CharLSTM", fault))
