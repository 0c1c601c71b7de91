"""Decoding with packed matrices finds what decoding without them finds, for every network that writes."""

import pytest
import torch

import zoo.linear
from tests.contract import Case
from tests.test_contract import CASES
from zoo.decoding import BeamSearch, Greedy

WRITING = [case for case in CASES if case.values[0].family.generates]
EVERY, NONE = 1, 2**60
"""The number of entries from which a matrix is packed."""


@pytest.mark.parametrize("case", WRITING)
def test_packed_matrices_change_no_hypothesis(case: Case, monkeypatch):
    """With n-best, coverage, n-grams that must not repeat, and after an update of the weights."""
    family, network = case.family, case.network().eval()
    batch = family.without_targets(family.batch(1))
    coverage = 0.1 if "source" in getattr(network, "attends", ()) else 0.0
    rules = {"max_length": (0.0, 6.0), "no_repeat_ngram": 2}
    methods = BeamSearch(beam_size=4, nbest=3, coverage_penalty=coverage, **rules), Greedy(**rules)
    for _ in range(2):
        for method in methods:
            found = {}
            for large in (EVERY, NONE):
                monkeypatch.setattr(zoo.linear, "LARGE", large)
                found[large] = method(network, batch, family.spec)
            for packed, plain in zip(found[EVERY], found[NONE], strict=True):
                assert [h.ids for h in packed] == [h.ids for h in plain]
                for one, other in zip(packed, plain, strict=True):
                    assert one.log_prob == pytest.approx(other.log_prob, rel=1e-6, abs=1e-6)
                    assert one.score == pytest.approx(other.score, rel=1e-6, abs=1e-6)
                    torch.testing.assert_close(one.attention, other.attention, rtol=1e-5, atol=1e-6)
        packed_ones = [name for name, part in network.named_parameters() if part in zoo.linear._kept]
        assert packed_ones or not zoo.linear._available()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter += 0.1 * torch.randn_like(parameter)


def test_what_decoding_leaves_can_be_trained_with():
    """Decoding runs in inference mode, and leaves none of its tensors in a batch, or in its result."""
    for case in WRITING:
        case = case.values[0]
        batch, network = case.family.batch(1), case.network()
        for method in (BeamSearch(beam_size=2, max_length=(0.0, 4.0)), Greedy(max_length=(0.0, 4.0))):
            found = method(network.eval(), batch, case.family.spec)
            assert not any(part.is_inference() for row in found for h in row for part in h.attention.values())
        loss = case.family.loss(network.train()(batch), batch)
        loss.backward()
        assert loss.isfinite()
