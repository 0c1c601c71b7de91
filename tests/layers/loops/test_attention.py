"""The loops with attention inside against the readable steps of their networks, in value and every gradient. Tests of
the networks compare both with the papers' equations."""

from dataclasses import replace

import pytest
import torch

from tests.families import family_of, mask_of
from tests.models import cells
from tests.models.equations import assert_the_loop_is_the_steps, exactly, halve
from tests.models.test_equations import model_of, show_attend_tell
from zoo.attention import SCORES
from zoo.data.pairs.batch import PairBatch
from zoo.layers.loops import additive
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.packing import Packing
from zoo.models import Luong, RNNSearch

PAIRS = family_of("translation")
SPEC = replace(PAIRS.spec, longest_source=4)
"""Some sources are longer than what the score of the location knows."""
FULL, ONE = ([5, 2, 7, 1, 4, 0], [6, 1, 3, 2, 7, 0]), ([2], [1])


def batch_of(lengths=FULL):
    return PAIRS.of_sizes(list(zip(*lengths, strict=True)), 3)


def rnnsearch(**settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 6, "maxout_dim": 3}
    return exactly(RNNSearch(SPEC, **sizes | settings), biases=True)


def luong(**settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "num_layers": 1, "window": 1, "init_range": 0.7}
    return exactly(Luong(SPEC, **sizes | settings), biases=True)


NETWORKS = [(rnnsearch, {"score": score}) for score in SCORES]
NETWORKS += [
    (luong, {"score": score, "attention": kind}) for score in SCORES for kind in ("global", "local_m", "local_p")
]
NETWORKS += [(luong, {"score": score, "num_layers": layers}) for score in ("dot", "concat") for layers in (2, 3)]


@pytest.mark.parametrize(("network", "settings"), NETWORKS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_the_loop_is_the_steps(network, settings):
    """Some windows of local_m hold no position that the score of the location knows."""
    for lengths in (FULL, ONE):
        batch = batch_of(lengths)
        assert_the_loop_is_the_steps(network(**settings), batch, PAIRS.without_targets(batch))


def test_the_loop_is_the_steps_in_training(monkeypatch):
    """Dropout between layers and on the fed vector has its place in the gradient, too."""
    halve(monkeypatch)
    model, batch = luong(num_layers=3, dropout=0.5).train(), batch_of()
    assert_the_loop_is_the_steps(model, batch, PAIRS.without_targets(batch))


def test_a_predicted_window_beyond_what_the_location_score_knows_is_empty():
    model, batch = luong(score="location", attention="local_p"), batch_of(([12, 3, 12], [6, 2, 5]))
    with torch.no_grad():
        model.window.v.mul_(30)  # p is at one end or the other
    empty = (assert_the_loop_is_the_steps(model, batch, PAIRS.without_targets(batch)) == 0).all(1)
    assert empty.any() and not empty.all()


def test_a_query_too_short_to_have_a_direction():
    """Its attention is uniform, and the gradient of its direction is zero instead of huge."""
    model, batch = rnnsearch(score="cosine"), batch_of()
    with torch.no_grad():
        model.initial_state.weight.mul_(1e-8)
    weights = assert_the_loop_is_the_steps(model, batch, PAIRS.without_targets(batch))
    real = batch.source_mask[batch.target_packing.order]
    torch.testing.assert_close(weights[: len(real)], real / real.sum(1, keepdim=True).clamp_min(1).double())


BOTH = pytest.mark.parametrize(
    ("make", "reads"),
    [(rnnsearch, "output_state"), (lambda: luong(attention="local_p"), "vocabulary")],
    ids=["gru", "lstm"],
)


@BOTH
def test_output_changed_in_place_leaves_the_gradients_right(make, reads):
    """The layer after the loop doubles its input, in place or not."""
    found = []
    for double in (lambda _, inputs: inputs[0].mul_(2), lambda _, inputs: inputs[0].mul(2)):
        model = make()
        getattr(model, reads).register_forward_pre_hook(double)
        logits = model(batch_of()).logits
        found.append(torch.autograd.grad(logits.square().sum(), list(model.parameters()), allow_unused=True))
    torch.testing.assert_close(*found, rtol=0, atol=0)


@BOTH
def test_no_positions_at_all(make, reads):
    model, batch = make(), batch_of()
    empty = {"target": batch.target, "target_mask": torch.zeros_like(batch.target_mask)}
    output = model(PairBatch(batch.source, batch.source_mask, **empty))
    assert output.logits.shape == (0, SPEC.target_size)
    output.logits.sum().backward()
    assert all(part.grad is not None and (part.grad == 0).all() for part in model.parameters())


def test_a_grid_of_packed_rows_and_the_state_before():
    packing = Packing.of(mask_of([2, 0, 3]))  # in time: rows 2 and 0, rows 2 and 0, row 2
    time_steps, packed = TimeSteps.of(packing), torch.arange(1.0, 6.0)[:, None]
    assert time_steps.grid(packed)[..., 0].tolist() == [[1, 3, 5], [2, 4, 0]]
    assert time_steps.previous(torch.tensor([[-1.0], [-2.0]]), packed)[:, 0].tolist() == [-1, -2, 1, 2, 3]
    assert [tuple(part.shape) for (part,) in time_steps.steps(packed)] == [(2, 1), (2, 1), (1, 1)]


@pytest.mark.parametrize("at_once", [1, 2, 100], ids="{} rows".format)
@pytest.mark.parametrize("gate", ["none", "scalar", "vector"])
@pytest.mark.parametrize("energy", ["tanh", "relu"])
def test_the_loop_over_images_is_the_steps(energy, gate, at_once, monkeypatch):
    """The result does not depend on the number of rows whose sums are in memory at once. The encoder is trained."""
    monkeypatch.setattr(additive, "ON_CPU", at_once * 6 * 3)
    model, batch = (
        model_of(show_attend_tell, cells.PIXELS, encoder=cells.SMALL, energy=energy, gate=gate),
        cells.batch_of(cells.pixels()),
    )
    assert_the_loop_is_the_steps(model, batch, replace(batch, target=None, target_mask=None))


def test_long_scores_do_not_overflow():
    model, batch = model_of(show_attend_tell).float(), cells.batch_of(cells.batch_of().image.float())
    model.v.data.mul_(1000)
    output = model(batch)
    weights = batch.target_packing.pack(output.attention["source"])
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    output.logits.sum().backward()
    assert all(part.grad.isfinite().all() for part in model.parameters() if part.grad is not None)
