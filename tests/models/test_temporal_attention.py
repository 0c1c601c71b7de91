"""Networks over the frames of clips, against their equations as slow loops over one clip without padding; the mask of
the loop."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from tests.models.cells import DOUBLE, ENCODER, PICTURE, captions
from tests.models.equations import (
    EXACT,
    assert_drops,
    assert_equals_the_equations,
    assert_the_loop_is_the_steps,
    exactly,
    halve,
    layers,
    linear,
)
from tests.models.test_equations import show_attend_tell
from zoo.data.clips.batch import ClipBatch, ClipSpec
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.loops.attention_viewer import AttendedImages, attention_viewer
from zoo.layers.packing import Packing
from zoo.models import MeanFrames, TemporalAttention

LENGTHS = (3, 1, 4)
SPEC = ClipSpec(channels=3, height=1, width=2, target_size=11, longest_target=9, grid=(1, 2), encoded=True, frames=4)
SIZES = {"encoder": ENCODER, "embedding_dim": 4, "hidden_dim": 5}


def batch_of(targets=True):
    """Five captions of three clips of 3, 1 and 4 frames; their stored features, and other numbers at padding."""
    generator = torch.Generator().manual_seed(0)
    frames = torch.randn(3, 4, 3, 1, 2, generator=generator, dtype=DOUBLE)
    mask = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
    ids, real = captions() if targets else (None, None)
    return ClipBatch(frames, mask, target=ids, target_mask=real, picture=torch.tensor(PICTURE))


def frames_of(batch, picture):
    """The vectors of the frames of a clip, as they are in the batch: the numbers of both cells in sequence."""
    return [frame.flatten(1).T.flatten() for frame in batch.frames[picture, : LENGTHS[picture]]]


def timed(model, batch, picture):
    """The vectors v_i of a clip, with its motion and, where they have them, with their times."""
    found = moving(model, batch, picture)
    if not model.frames.times:
        return found
    phases = [[math.pi * 2**k * (i + 0.5) / len(found) for k in range(4)] for i in range(len(found))]
    waves = [[*map(math.sin, some), *map(math.cos, some)] for some in phases]
    return [torch.cat([one, torch.tensor(some, dtype=DOUBLE)]) for one, some in zip(found, waves, strict=True)]


def moving(model, batch, picture):
    """The vectors v_i of a clip with its motion."""
    seen = frames_of(batch, picture)
    if model.frames.motion == "differences":
        changes = [one - seen[max(0, i - 1)] for i, one in enumerate(seen)]
        return [torch.cat([one, d.clamp(min=0), (-d).clamp(min=0)]) for one, d in zip(seen, changes, strict=True)]
    if model.frames.motion == "none":
        return seen
    weight, bias = model.frames.convolution.weight, model.frames.convolution.bias
    found = []
    for i, one in enumerate(seen):
        moved = torch.zeros_like(bias)
        for cell in (0, 1):  # the kernel (M, C, 3, 3, 3) sees the cells beside it in three frames
            total = bias.clone()
            for step in (-1, 0, 1):
                for aside in (-1, 0, 1):
                    if 0 <= i + step < len(seen) and 0 <= cell + aside <= 1:
                        features = batch.frames[picture, i + step, :, 0, cell + aside]
                        total = total + weight[:, :, step + 1, 1, aside + 1] @ features
            moved = moved + total.clamp(min=0) / 2
        found.append(torch.cat([one, moved]))
    return found


def mean_frames(model, vectors, read, keep=1.0):
    v = vectors[0] if model.only_first else sum(vectors) / len(vectors)
    clip, zero = linear(model.clip, v), torch.zeros(5, dtype=DOUBLE)
    states, scores = [(zero, zero)] * model.lstm.num_layers, []
    for token in read:
        x = keep * torch.cat([model.embedding.weight[token], clip])
        top, states = layers(model.lstm, x, states, keep)
        scores.append(linear(model.vocabulary, keep * top))
    return torch.stack(scores), None


def model_of(cls, **settings):
    torch.manual_seed(0)
    return exactly(cls(SPEC, **SIZES | settings), biases=True)


def rows(slow, model, batch, keep=1.0):
    """The results of `slow` for each caption, from its clip without padding."""
    vectors = timed if slow is show_attend_tell else lambda model, batch, picture: frames_of(batch, picture)
    read = batch.target_input
    return [
        slow(model, vectors(model, batch, picture), read[row, : int(batch.target_mask[row].sum())].tolist(), keep)
        for row, picture in enumerate(PICTURE)
    ]


TEMPORAL = {"attention_dim": 3, "motion_dim": 6}
WAYS = [
    (show_attend_tell, TemporalAttention, TEMPORAL),
    (show_attend_tell, TemporalAttention, TEMPORAL | {"motion": "differences", "gate": "vector", "times": True}),
    (show_attend_tell, TemporalAttention, TEMPORAL | {"motion": "conv3d", "gate": "none", "deep_output": False}),
    (mean_frames, MeanFrames, {}),
    (mean_frames, MeanFrames, {"frames": "first", "layers": 1}),
]
BY_WAY = pytest.mark.parametrize(("slow", "cls", "way"), WAYS)


@BY_WAY
def test_equals_the_equations_of_each_clip_without_its_padding(slow, cls, way):
    model, batch = model_of(cls, **way), batch_of()
    assert_equals_the_equations(model, batch, rows(slow, model, batch))


@pytest.mark.parametrize(("slow", "cls", "way"), WAYS[1:4])
def test_dropout_acts_in_training_alone(slow, cls, way, monkeypatch):
    halve(monkeypatch)
    model, plain = (model_of(cls, dropout=rate, **way) for rate in (0.5, 0.0))
    batch = batch_of()
    assert_drops(model, plain, batch, rows(slow, model, batch, keep=0.5), batch_of(targets=False))


def test_the_loop_is_the_steps_and_gives_padding_no_weight():
    weights = assert_the_loop_is_the_steps(model_of(TemporalAttention, **TEMPORAL), batch_of(), batch_of(False))
    batch = batch_of()
    padding = ~batch.memory_mask[batch.target_packing.row]
    assert padding.any() and (weights[padding] == 0).all() and torch.allclose(weights.sum(1), torch.ones(1).double())


def test_a_clip_without_frames_has_no_weights_and_finite_gradients():
    model, batch = model_of(TemporalAttention, **TEMPORAL), batch_of()
    mask = batch.frame_mask.clone()
    mask[2] = False
    empty = replace(batch, frame_mask=mask, frame_packing=None)
    output = model(empty)
    assert (output.attention["source"][torch.tensor(PICTURE) == 2] == 0).all()
    output.logits.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    one = torch.tensor(PICTURE) != 2
    same = model(batch).attention["source"][one]
    torch.testing.assert_close(output.attention["source"][one], same)


# the mask of the loop


def loop_of(exists, energy="tanh", gate=1):
    """Inputs of the loop for captions of 3, 2 and 1 words that attend to four places."""
    generator = torch.Generator().manual_seed(4)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator, dtype=DOUBLE, requires_grad=True)

    packing = Packing.of(torch.arange(3) < torch.tensor([3, 2, 1])[:, None])
    view = AttendedImages(drawn(3, 4, 2), drawn(3, 4, 3), drawn(2), drawn(2 + gate, 5), drawn(gate), exists)
    inputs = drawn(6, 20), (drawn(3, 5), drawn(3, 5)), drawn(20, 8)
    return inputs, view, TimeSteps.of(packing), energy


def run(inputs, view, steps, energy, weight_of):
    """The gradients of a sum over all outputs, by the tensors of the view and the inputs."""
    found = attention_viewer(*inputs, view, steps, energy)
    total = (found.hidden * 0.3).sum() + (found.context * 0.7).sum() + (found.weights * weight_of).sum()
    leaves = [inputs[0], *inputs[1], inputs[2], *view[:5]]
    return found, torch.autograd.grad(total, leaves)


@pytest.mark.parametrize("energy", ["tanh", "relu"])
def test_a_masked_place_is_a_place_that_is_not_there(energy):
    """Weights, states and gradients are those of rows without these places, and the gradients by what they hold are
    0."""
    exists = torch.tensor([[True, True, False, False]] * 3)
    inputs, view, steps, energy = loop_of(exists, energy)
    weight_of = torch.arange(4, dtype=DOUBLE)
    found, gradients = run(inputs, view, steps, energy, weight_of)
    short = AttendedImages(view.keys[:, :2], view.values[:, :2], *view[2:5])
    expected, others = run(inputs, short, steps, energy, weight_of[:2])
    torch.testing.assert_close(found.hidden, expected.hidden, **EXACT)
    torch.testing.assert_close(found.weights, F.pad(expected.weights, (0, 2)), **EXACT)
    for ours, theirs in zip(gradients, others, strict=True):
        if ours.shape != theirs.shape:
            assert (ours[:, 2:] == 0).all()
            ours = ours[:, :2]
        torch.testing.assert_close(ours, theirs, **EXACT)


def test_a_mask_that_is_all_true_changes_nothing():
    inputs, view, steps, energy = loop_of(torch.ones(3, 4, dtype=torch.bool))
    weight_of = torch.arange(4, dtype=DOUBLE)
    found, gradients = run(inputs, view, steps, energy, weight_of)
    expected, others = run(inputs, view._replace(exists=None), steps, energy, weight_of)
    assert torch.equal(found.weights, expected.weights)
    assert all(torch.equal(one, other) for one, other in zip(gradients, others, strict=True))


def test_the_gradient_of_the_masked_loop_is_numerically_right():
    exists = torch.tensor([[True, False, True, True], [False, True, False, False], [True, True, True, False]])
    inputs, view, steps, energy = loop_of(exists)

    def outputs(table, h, c, weight, *parts):
        return attention_viewer(table, (h, c), weight, AttendedImages(*parts, exists), steps, energy)[:3]

    assert torch.autograd.gradcheck(outputs, (inputs[0], *inputs[1], inputs[2], *view[:5]))


def test_without_times_the_order_of_still_frames_is_not_seen():
    """Frames in another order have their weights in that order, and give the same scores; with times they do not."""
    batch, order = batch_of(), torch.tensor([2, 0, 1])
    turned = replace(batch, frames=torch.cat([batch.frames[:1, order], batch.frames[:1, 3:]], 1).repeat(3, 1, 1, 1, 1))
    same = replace(batch, frames=batch.frames[:1].repeat(3, 1, 1, 1, 1))
    mask = batch.frame_mask[:1].repeat(3, 1)
    turned, same = (replace(one, frame_mask=mask, frame_packing=None) for one in (turned, same))
    for times, equal in ((False, True), (True, False)):
        model = model_of(TemporalAttention, times=times, **TEMPORAL)
        one, other = model(same), model(turned)
        assert torch.allclose(one.logits, other.logits, atol=1e-10) == equal
        if equal:
            weights = one.attention["source"][..., order]
            torch.testing.assert_close(other.attention["source"][..., :3], weights, rtol=1e-10, atol=1e-12)
