"""The neural Turing machine: its step is the paper's, and `forward` is its step in value and every gradient."""

import copy
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.families.algorithmic import FAMILY
from tests.models.equations import assert_equal
from tests.models.machines import assert_compiled_once, assert_trace, filled
from zoo.attention.addressing import CLIP
from zoo.data.bits.batch import BitBatch
from zoo.errors import ConfigError
from zoo.models.ntm import NTM, State

VARIANTS: list[dict[str, Any]] = [
    {"controller": "feedforward", "start": "zero"},
    {"controller_layers": 2, "read_heads": 2, "write_heads": 3, "shift_range": 2, "memory_start": "random"},
    {"controller": "feedforward", "controller_layers": 2, "memory_start": "learned", "first_weighting": "learned"},
]
FORMS: list[dict[str, Any]] = [
    {},
    *VARIANTS,
    {"shift_range": 0},
    {"memory_start": "random", "first_weighting": "uniform"},
    {"memory_size": 3, "memory_width": 1},
]


def network(scale: float = 3.0, **arguments: Any) -> NTM:
    """With weights so much larger than at the start that gates are open or shut and weightings are not flat."""
    torch.manual_seed(0)
    model = NTM(FAMILY.spec, **{"memory_size": 7, "memory_width": 4, "controller_dim": 6, **arguments}).double().eval()
    for parameter in model.parameters():
        parameter.data *= scale
    return model


def by_steps(model: NTM, batch: BitBatch) -> tuple[Tensor, Tensor]:
    """Logits (B, T, O) and weightings (B, H, T, N) of successive calls of `step`."""
    state, found, weightings = model.start(len(batch)), [], []
    for x in batch.inputs.double().unbind(1):
        logits, state = model.step(x, state)
        found.append(logits)
        weightings.append(state.weighting)
    real = batch.step_mask[:, :, None]
    return torch.stack(found, 1) * real, torch.stack(weightings, 2) * real[:, None]


def by_forward(model: NTM, batch: BitBatch) -> tuple[Tensor, Tensor]:
    output = model(batch)
    return output.logits, torch.cat([output.attention["read"], output.attention["write"]], 1)


def loss(logits: Tensor, weightings: Tensor) -> Tensor:
    """One that reads all of both."""
    generator = torch.Generator().manual_seed(5)
    parts = [part * torch.randn(part.shape, generator=generator, dtype=part.dtype) for part in (logits, weightings)]
    return parts[0].sum() + parts[1].sum()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_forward_is_the_steps(form: dict[str, Any]) -> None:
    model, batch = network(**form), FAMILY.batch(1)
    ours, theirs = by_forward(model, batch), by_steps(model, batch)
    assert_equal(ours, theirs)
    names, parameters = zip(*model.named_parameters(), strict=True)
    gradients = [torch.autograd.grad(loss(*parts), parameters) for parts in (ours, theirs)]
    for name, found, expected in zip(names, *gradients, strict=True):
        scale = float(expected.abs().max())
        assert scale > 0, name
        torch.testing.assert_close(
            found / scale, expected / scale, rtol=1e-12, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}"
        )


def test_what_the_heads_are_told_is_kept_within_bounds_and_has_no_gradient_beyond_them() -> None:
    model, batch = network(scale=30.0), FAMILY.batch(1)
    state, beyond = model.start(len(batch)), []
    for x in batch.inputs.double().unbind(1):
        _, state = model.step(x, state)
        beyond.append(model.told(state.hidden[-1]).abs() > CLIP)
    assert 0.05 < torch.stack(beyond).double().mean() < 0.9
    ours, theirs = by_forward(model, batch), by_steps(model, batch)
    assert_equal(ours, theirs, rtol=1e-10, atol=1e-10)
    for parameter in (model.told.weight, model.told.bias):
        found, expected = (
            torch.autograd.grad(loss(*parts), parameter, retain_graph=True)[0] for parts in (ours, theirs)
        )
        torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-8)


def test_the_controller_is_an_lstm() -> None:
    model = network(controller_dim=5)
    cell = nn.LSTMCell(FAMILY.spec.in_width + 4, 5).double()
    with torch.no_grad():
        both = torch.cat([model.input.weight, model.feedback.weight[:, :4]], 1)
        for ours, theirs in (
            (both, cell.weight_ih),
            (model.feedback.weight[:, 4:], cell.weight_hh),
            (model.input.bias, cell.bias_ih),
        ):
            o, i, f, g = ours.chunk(4)
            theirs.copy_(torch.cat([i, f, g, o]))
        cell.bias_hh.zero_()
    state, x = model.start(3), torch.randn(3, FAMILY.spec.in_width, dtype=torch.float64)
    _, after = model.step(x, state)
    h, c = cell(torch.cat([x, state.reads], 1), (state.hidden[0], state.cells[0]))
    assert_equal(after.hidden[0], h)
    assert_equal(after.cells[0], c)


def test_reads_are_of_the_memory_before_the_step_and_weighted() -> None:
    model = network()
    state = model.start(2)._replace(memory=torch.randn(2, 7, 4, dtype=torch.float64))
    _, after = model.step(torch.ones(2, FAMILY.spec.in_width, dtype=torch.float64), state)
    demands = model.demands(after.hidden[-1])
    for b in range(2):
        read = sum(after.weighting[b, 0, i] * state.memory[b, i] for i in range(7))
        assert_equal(after.reads[b], read)
        for i in range(7):
            w, e, a = after.weighting[b, 1, i], demands.erase[b, 0], demands.add[b, 0]
            expected = state.memory[b, i] * (1 - w * e) + w * a
            assert_equal(after.memory[b, i], expected)


def test_the_start() -> None:
    state = network().start(2)
    assert isinstance(state, State)
    assert (state.memory == torch.tensor(1e-6).double()).all()
    assert state.weighting[..., 0].eq(1).all()
    assert state.weighting[..., 1:].eq(0).all()
    zero = network(start="zero").start(2)
    assert not any(part.any() for part in (zero.reads, *zero.hidden, *zero.cells))
    flat = network(memory_start="random", first_weighting="uniform").start(1).weighting
    torch.testing.assert_close(flat, torch.full_like(flat, 1 / 7))


def test_the_trace_is_what_forward_attends_to() -> None:
    model, batch = network(write_heads=2), FAMILY.batch(1)
    assert_trace(model)
    trace = model.memory_trace(batch)
    assert trace["erase"].shape == trace["add"].shape == (6, 2, batch.step_mask.shape[1], 4)


@settings(max_examples=40, deadline=None)
@given(
    size=st.sampled_from([1e-30, 1.0, 1e3, 1e10, 1e30]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    form=st.sampled_from([0, 1, 2, 3]),
    seed=st.integers(0, 1000),
)
def test_no_finite_weights_give_nan(size: float, dtype: torch.dtype, form: int, seed: int) -> None:
    torch.manual_seed(seed)
    plain = NTM(FAMILY.spec, memory_size=9, controller_dim=6, **FORMS[form])
    model, batch = filled(plain.to(dtype), size), FAMILY.batch(seed)
    output = model(batch)
    assert output.logits.isfinite().all()
    assert output.logits.dtype == dtype
    for weights in output.attention.values():
        assert weights.isfinite().all()
        torch.testing.assert_close(weights.sum(-1), batch.step_mask[:, None].expand(weights.shape[:-1]).float())
    if size <= 1e3:
        FAMILY.loss(output, batch).backward()
        assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_gradients_that_grow_from_step_to_step_stay_finite() -> None:
    """Over 400 steps those of the definition, by autograd, leave float32."""
    torch.manual_seed(0)
    model = NTM(FAMILY.spec, memory_size=9, controller="feedforward", controller_dim=32, read_heads=4, write_heads=4)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    inputs, every = (torch.rand(2, 400, FAMILY.spec.in_width) > 0.5).float(), torch.ones(2, 400, dtype=torch.bool)

    def largest(model: NTM, logits: Tensor) -> Tensor:
        gradients = torch.autograd.grad(logits.square().sum(), list(model.parameters()))
        return torch.stack([gradient.abs().max() for gradient in gradients]).max()

    exact = copy.deepcopy(model).double()
    state, logits = exact.start(2), []
    for x in inputs.double().unbind(1):
        step, state = exact.step(x, state)
        logits.append(step)
    assert largest(exact, torch.stack(logits, 1)) > torch.finfo(torch.float32).max
    assert largest(model, model(BitBatch(inputs, every, every)).logits).isfinite()


@pytest.mark.slow
def test_compiled_it_is_the_same_and_is_compiled_once_for_all_batches() -> None:
    assert_compiled_once(network, by_forward)


def test_a_compiled_cell_that_leaves_out_gradients_trains() -> None:
    """torch's compiler gives None for outputs that the loss does not read."""
    torch.compiler.reset()
    model, plain, batch = network(), network(), FAMILY.part(FAMILY.batch(1), [1, 4])
    model.compile(backend="aot_eager")
    ours, theirs = (
        torch.autograd.grad(net(batch).logits.square().sum(), list(net.parameters())) for net in (model, plain)
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory_size": 4, "shift_range": 2}, r"shift_range=2: .* memory of 5 at least, memory_size is 4"),
        ({"memory_size": 2}, r"shift_range=1: .* set memory_size=3 or more, or shift_range=0"),
        ({"first_weighting": "uniform"}, "equal weights on equal rows stay equal for ever"),
    ],
)
def test_what_cannot_be_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        network(**arguments)
