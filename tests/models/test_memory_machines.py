"""The neural Turing machine, the differentiable neural computer and the LSTM beside them: cells by the papers'
equations, and `forward` as the steps of these cells."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.families.algorithmic import FAMILY
from tests.models.equations import assert_equal
from tests.models.variants import VARIANTS
from zoo.attention.addressing import CLIP, allocation, by_content, linked, usage
from zoo.data.bits.batch import BitBatch
from zoo.errors import ConfigError
from zoo.models import DNC, NTM, StackedLSTM

FORMS = [(NTM, form) for form in ({}, *VARIANTS["ntm"])]
FORMS += [
    (NTM, {"shift_range": 0}),
    (NTM, {"memory_start": "random", "first_weighting": "uniform"}),
    (NTM, {"memory_size": 3, "memory_width": 1}),
]
FORMS += [(DNC, form) for form in ({}, *VARIANTS["dnc"], {"read_heads": 2, "memory_size": 9})]
IN, ONE = FAMILY.spec.in_width, FAMILY.part(FAMILY.batch(1), [1])


def network(cls: Any = NTM, scale: float = 3.0, **arguments: Any) -> Any:
    """With weights so much larger than at the start that gates are open or shut and weightings are not flat."""
    torch.manual_seed(0)
    model = cls(FAMILY.spec, **{"memory_size": 7, "memory_width": 4, "controller_dim": 6, **arguments}).double().eval()
    for parameter in model.parameters():
        parameter.data *= scale
    return model


def by_steps(model: Any, batch: BitBatch) -> tuple[Tensor, Tensor]:
    """Logits (B, T, O) and weightings (B, H, T, N) of successive calls of `step`."""
    state, found, weightings = model.start(len(batch)), [], []
    for x in batch.inputs.double().unbind(1):
        logits, state = model.step(x, state)
        found.append(logits)
        weightings.append(state.weighting if isinstance(model, NTM) else torch.cat([state.read, state.write], 1))
    real = batch.step_mask[:, :, None]
    return torch.stack(found, 1) * real, torch.stack(weightings, 2) * real[:, None]


def by_forward(model: Any, batch: BitBatch) -> tuple[Tensor, Tensor]:
    output = model(batch)
    return output.logits, torch.cat([output.attention["read"], output.attention["write"]], 1)


def loss(logits: Tensor, weightings: Tensor) -> Tensor:
    """One that reads all of both."""
    generator = torch.Generator().manual_seed(5)
    parts = [part * torch.randn(part.shape, generator=generator, dtype=part.dtype) for part in (logits, weightings)]
    return parts[0].sum() + parts[1].sum()


def assert_same_gradients(ours: Any, theirs: Any, results: Any, tolerance: float) -> None:
    """The gradients of `loss` by each parameter, beside its largest, of two networks with a result of each."""
    sides = [
        torch.autograd.grad(loss(*found), list(net.parameters()))
        for net, found in zip((ours, theirs), results, strict=True)
    ]
    for (name, _), found, expected in zip(ours.named_parameters(), *sides, strict=True):
        scale = float(expected.abs().max())
        assert scale > 0, name
        assert_equal(found / scale, expected / scale, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("cls", "form"), FORMS, ids=str)
def test_forward_is_the_steps(cls: Any, form: dict[str, Any]) -> None:
    """In value and in each gradient. The record of the heads is what `forward` attends to, and its memory that of the
    last step of each sequence."""
    model, batch = network(cls, **form), FAMILY.batch(1)
    results = by_forward(model, batch), by_steps(model, batch)
    assert_equal(*results)
    assert_same_gradients(model, model, results, 1e-12 if cls is NTM else 1e-10)
    trace = model.memory_trace(batch)
    assert_equal(torch.cat([trace["read"], trace["write"]], 1), results[0][1])
    for row in range(len(batch)):
        state = model.start(1)
        for x in batch.inputs[row, batch.step_mask[row]].double():
            _, state = model.step(x[None], state)
        assert_equal(trace["memory"][row], state.memory[0])


def test_the_trace_has_what_each_head_of_an_ntm_erases_and_adds() -> None:
    batch = FAMILY.batch(1)
    trace = network(write_heads=2).memory_trace(batch)
    assert trace["erase"].shape == trace["add"].shape == (6, 2, batch.step_mask.shape[1], 4)


def test_what_the_heads_are_told_is_kept_within_bounds_and_has_no_gradient_beyond_them() -> None:
    model, batch = network(scale=30.0), FAMILY.batch(1)
    state, beyond = model.start(len(batch)), []
    for x in batch.inputs.double().unbind(1):
        _, state = model.step(x, state)
        beyond.append(model.told(state.hidden[-1]).abs() > CLIP)
    assert 0.05 < torch.stack(beyond).double().mean() < 0.9
    results = by_forward(model, batch), by_steps(model, batch)
    assert_equal(*results, rtol=1e-10, atol=1e-10)
    for parameter in (model.told.weight, model.told.bias):
        sides = (torch.autograd.grad(loss(*parts), parameter, retain_graph=True)[0] for parts in results)
        assert_equal(*sides, rtol=1e-8, atol=1e-8)


def test_the_controller_of_an_ntm_is_an_lstm() -> None:
    model = network(controller_dim=5)
    cell = nn.LSTMCell(IN + 4, 5).double()
    both = torch.cat([model.input.weight, model.feedback.weight[:, :4]], 1)
    ours = both, model.feedback.weight[:, 4:], model.input.bias
    with torch.no_grad():
        for one, theirs in zip(ours, (cell.weight_ih, cell.weight_hh, cell.bias_ih), strict=True):
            o, i, f, g = one.chunk(4)
            theirs.copy_(torch.cat([i, f, g, o]))
        cell.bias_hh.zero_()
    state, x = model.start(3), torch.randn(3, IN, dtype=torch.float64)
    _, after = model.step(x, state)
    h, c = cell(torch.cat([x, state.reads], 1), (state.hidden[0], state.cells[0]))
    assert_equal([after.hidden[0], after.cells[0]], [h, c])


def test_an_ntm_reads_the_memory_before_it_writes() -> None:
    model = network()
    state = model.start(2)._replace(memory=torch.randn(2, 7, 4, dtype=torch.float64))
    _, after = model.step(torch.ones(2, IN, dtype=torch.float64), state)
    demands = model.demands(after.hidden[-1])
    assert_equal(after.reads, torch.einsum("bi,biw->bw", after.weighting[:, 0], state.memory))
    w = after.weighting[:, 1, :, None]
    assert_equal(after.memory, state.memory * (1 - w * demands.erase) + w * demands.add)


def test_the_start_of_an_ntm() -> None:
    state = network().start(2)
    assert (state.memory == torch.tensor(1e-6).double()).all()
    assert torch.equal(state.weighting, torch.eye(7).double()[0].expand(2, 2, 7))
    zero = network(start="zero").start(2)
    assert not any(part.any() for part in (zero.reads, *zero.hidden, *zero.cells))
    flat = network(memory_start="random", first_weighting="uniform").start(1).weighting
    assert_equal(flat, torch.full_like(flat, 1 / 7))


def test_a_step_of_the_dnc_is_the_papers() -> None:
    """Usage, write weighting, memory, links, the three modes of reading, in this order."""
    model = network(DNC, memory_size=5, memory_width=3, read_heads=2)
    before, x = model.start(2), torch.randn(4, 2, IN, dtype=torch.float64)
    for x_t in x[:3]:  # so that nothing is 0
        _, before = model.step(x_t, before)
    logits, after = model.step(x[3], before)
    parts = model.interface(after.hidden).split([2 * 3, 2, 3, 1, 3, 3, 2, 1, 1, 2 * 3], 1)
    keys, strengths, key, strength, erase, add, free, allocated, gate, modes = parts
    free, allocated, gate, erase = (part.sigmoid() for part in (free, allocated, gate, erase))
    strength, strengths = (1 + (1 + part.exp()).log()[:, :, None] for part in (strength, strengths))

    assert_equal(after.used, used := usage(before.used, before.write[:, 0], before.read, free[:, :, None]))
    found = by_content(key[:, None], strength, before.memory)[:, 0]
    write = gate * (allocated * allocation(used) + (1 - allocated) * found)
    assert_equal(after.write[:, 0], write)
    w = write[:, :, None]
    assert_equal(after.memory, before.memory * (1 - w * erase[:, None]) + w * add[:, None])
    link, _ = linked(before.link, before.precedence, write)
    found = by_content(keys.view(2, 2, 3), strengths, after.memory)
    modes = modes.view(2, 2, 3).softmax(2)
    for head in range(2):
        back, at, on = modes[:, head, :, None].unbind(1)
        last = before.read[:, head]
        backward, forward = (torch.einsum(form, link, last) for form in ("bji,bj->bi", "bij,bj->bi"))
        assert_equal(after.read[:, head], back * backward + at * found[:, head] + on * forward)
    reads = torch.einsum("bhi,biw->bhw", after.read, after.memory)
    assert_equal(after.reads, reads.flatten(1))
    assert_equal(logits, model.output(torch.cat([after.hidden, after.reads], 1)))


@settings(max_examples=60, deadline=None)
@given(
    size=st.sampled_from([1e-30, 1.0, 1e3, 1e10, 1e30]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    form=st.sampled_from([*FORMS[:4], (DNC, {"read_heads": 2})]),
    seed=st.integers(0, 1000),
)
def test_no_finite_weights_give_nan(size: float, dtype: torch.dtype, form: tuple[Any, Any], seed: int) -> None:
    torch.manual_seed(seed)
    model = form[0](FAMILY.spec, memory_size=9, controller_dim=6, **form[1]).to(dtype)
    for parameter in model.parameters():
        parameter.data.copy_(torch.randn(parameter.shape) * size)
    batch = FAMILY.batch(seed)
    output = model(batch)
    assert output.logits.isfinite().all() and output.logits.dtype == dtype
    for weights in output.attention.values():
        assert weights.isfinite().all()
        most = batch.step_mask[:, None].expand(weights.shape[:-1]).float()
        assert (weights.sum(-1) <= most + 1e-4).all()
        assert form[0] is DNC or (weights.sum(-1) >= most - 1e-4).all()
    if size <= 1e3 and form[0] is NTM:
        FAMILY.loss(output, batch).backward()
        assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_gradients_that_grow_from_step_to_step_stay_finite() -> None:
    """Over 400 steps those of the definition, by autograd, leave float32."""
    torch.manual_seed(0)
    model = NTM(FAMILY.spec, memory_size=9, controller="feedforward", controller_dim=32, read_heads=4, write_heads=4)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    inputs, every = (torch.rand(2, 400, IN) > 0.5).float(), torch.ones(2, 400, dtype=torch.bool)
    batch, exact = BitBatch(inputs, every, every), copy.deepcopy(model).double()

    def largest(model: NTM, logits: Tensor) -> Tensor:
        gradients = torch.autograd.grad(logits.square().sum(), list(model.parameters()))
        return torch.stack([gradient.abs().max() for gradient in gradients]).max()

    assert largest(exact, by_steps(exact, batch)[0]) > torch.finfo(torch.float32).max
    assert largest(model, model(batch).logits).isfinite()


@pytest.mark.slow
@pytest.mark.parametrize("cls", [NTM, DNC])
def test_a_compiled_cell_is_the_same_and_is_compiled_twice_for_all_batches(cls: Any) -> None:
    """Once for several sequences and once for a single one, whatever their length."""
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    model, plain = network(cls), network(cls)
    model.compile(backend=backend)
    for batch in (FAMILY.batch(1), FAMILY.part(FAMILY.batch(1), [4, 1, 4]), ONE):
        results = by_forward(model, batch), by_forward(plain, batch)
        assert_equal(*results)
        assert_same_gradients(model, plain, results, 1e-10)
    assert len(graphs) == 2
    assert model.state_dict().keys() == plain.state_dict().keys()


def test_a_compiled_cell_that_leaves_out_gradients_trains() -> None:
    """torch's compiler gives None for outputs that the loss does not read."""
    torch.compiler.reset()
    model, plain, batch = network(), network(), FAMILY.part(FAMILY.batch(1), [1, 4])
    model.compile(backend="aot_eager")
    sides = (torch.autograd.grad(net(batch).logits.square().sum(), list(net.parameters())) for net in (model, plain))
    assert_equal(*sides, rtol=1e-10, atol=1e-10)


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


def test_the_baseline_is_torchs_lstm_sequence_by_sequence() -> None:
    torch.manual_seed(0)
    model, batch = StackedLSTM(FAMILY.spec, hidden_dim=7, num_layers=3).double().eval(), FAMILY.batch(1)
    theirs = nn.LSTM(IN, 7, 3, batch_first=True).double()
    theirs.load_state_dict(model.lstm.state_dict())
    logits = model(batch).logits
    for row, number in enumerate(batch.step_mask.sum(1).tolist()):
        inputs = batch.inputs[row, :number].double()
        expected = model.output(theirs(inputs[None])[0][0]) if number else logits[row, :0]
        assert_equal(logits[row], F.pad(expected, (0, 0, 0, logits.shape[1] - number)))


def test_forget_gates_of_the_baseline_begin_open() -> None:
    model = StackedLSTM(FAMILY.spec, hidden_dim=4, num_layers=2)
    for layer in range(2):
        total = getattr(model.lstm, f"bias_ih_l{layer}") + getattr(model.lstm, f"bias_hh_l{layer}")
        assert total[4:8].eq(1).all()
