"""The differentiable neural computer: its cell number by number, and `forward` as steps."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.families.algorithmic import FAMILY
from tests.models.equations import assert_equal
from tests.models.machines import assert_compiled_once, assert_trace, filled
from zoo.attention.addressing import LENGTH_FLOOR, allocation, linked, usage
from zoo.layers.packing import Packing
from zoo.models.dnc import DNC, State

VARIANTS: list[dict[str, Any]] = [{"read_heads": 3, "memory_size": 5}]


def network(**arguments: Any) -> DNC:
    torch.manual_seed(0)
    model = DNC(FAMILY.spec, **{"memory_size": 5, "memory_width": 3, "controller_dim": 6, **arguments}).double().eval()
    for parameter in model.parameters():
        parameter.data *= 3
    return model


def later_state(model: DNC) -> State:
    """After some steps, so that nothing is 0."""
    state = model.start(2)
    for x in torch.randn(3, 2, FAMILY.spec.in_width, dtype=torch.float64):
        _, state = model.step(x, state)
    return state


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def content(key: list[float], strength: float, memory: Tensor) -> list[float]:
    def length(vector: list[float]) -> float:
        return math.sqrt(sum(x * x for x in vector) + LENGTH_FLOOR)

    rows = memory.tolist()
    return softmax(
        [strength * sum(x * y for x, y in zip(key, row, strict=True)) / (length(key) * length(row)) for row in rows]
    )


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def oneplus(x: float) -> float:
    return 1 + math.log1p(math.exp(x))


def test_a_step_is_the_papers() -> None:
    """Usage, write weighting, memory, links, the three modes of reading, in this order."""
    model = network(read_heads=2)
    before, x = later_state(model), torch.randn(2, FAMILY.spec.in_width, dtype=torch.float64)
    logits, after = model.step(x, before)
    told = model.interface(after.hidden)
    rows, width = 5, 3
    for b in range(2):
        numbers = iter(told[b].tolist())

        def take(count: int, numbers: Any = numbers) -> list[float]:
            return [next(numbers) for _ in range(count)]

        keys, strengths = [take(width), take(width)], [oneplus(each) for each in take(2)]
        key, strength = take(width), oneplus(take(1)[0])
        erase, add = [logistic(each) for each in take(width)], take(width)
        free, (allocated,), (gate,) = [logistic(each) for each in take(2)], take(1), take(1)
        modes = [softmax(take(3)), softmax(take(3))]
        allocated, gate = logistic(allocated), logistic(gate)

        freed = torch.tensor(free, dtype=torch.float64)[None, :, None]
        used = usage(before.used[b, None], before.write[b], before.read[b, None], freed)
        assert_equal(after.used[b], used[0])
        new, found = allocation(used)[0].tolist(), content(key, strength, before.memory[b])
        write = [gate * (allocated * new[i] + (1 - allocated) * found[i]) for i in range(rows)]
        assert after.write[b, 0].tolist() == pytest.approx(write, rel=1e-11)
        for i in range(rows):
            row = before.memory[b, i].tolist()
            expected = [row[k] * (1 - write[i] * erase[k]) + write[i] * add[k] for k in range(width)]
            assert after.memory[b, i].tolist() == pytest.approx(expected, rel=1e-11)
        link, _ = linked(before.link[b, None], before.precedence[b, None], after.write[b])
        for head in range(2):
            at, last = content(keys[head], strengths[head], after.memory[b]), before.read[b, head].tolist()
            back = [sum(link[0, j, i].item() * last[j] for j in range(rows)) for i in range(rows)]
            forward = [sum(link[0, i, j].item() * last[j] for j in range(rows)) for i in range(rows)]
            weights = [
                modes[head][0] * back[i] + modes[head][1] * at[i] + modes[head][2] * forward[i] for i in range(rows)
            ]
            assert after.read[b, head].tolist() == pytest.approx(weights, rel=1e-10)
            reads = sum(weights[i] * after.memory[b, i] for i in range(rows))
            assert after.reads[b].view(2, width)[head].tolist() == pytest.approx(reads.tolist(), rel=1e-10)  # type: ignore[union-attr]
    torch.testing.assert_close(logits, model.output(torch.cat([after.hidden, after.reads], 1)))


@pytest.mark.parametrize("form", [{}, *VARIANTS], ids=str)
def test_forward_is_the_steps(form: dict[str, Any]) -> None:
    model, batch = network(**form), FAMILY.batch(1)
    output = model(batch)
    for row in range(len(batch)):
        state = model.start(1)
        for t, x in enumerate(batch.inputs[row, batch.step_mask[row]].double()):
            logits, state = model.step(x[None], state)
            assert_equal(output.logits[row, t], logits[0])
            assert_equal(output.attention["read"][row, :, t], state.read[0])
            assert_equal(output.attention["write"][row, :, t], state.write[0])
    assert_trace(model)


@pytest.mark.parametrize("form", [{}, {"read_heads": 3}, {"read_heads": 2, "memory_size": 9}], ids=str)
def test_the_loop_has_the_gradients_of_the_cell(form: dict[str, Any]) -> None:
    """Autograd through `cell`, step after step, against the loop: for the output and for all weightings."""
    model, batch = network(**form), FAMILY.batch(1)
    packing = Packing.of(batch.step_mask)
    x = model.input(packing.pack(batch.inputs).double())
    state, states = model.start(len(packing.order)), []
    for x_t in x.split(packing.batch_sizes):
        state = model.cell(x_t, State(*(part[: len(x_t)] for part in state)))
        states.append(state)
    expected = (
        torch.cat([torch.cat([state.hidden, state.reads], 1) for state in states]),
        torch.cat([state.read for state in states]),
        torch.cat([state.write for state in states]),
    )
    found = model.run(x, packing.batch_sizes)
    factors = [torch.randn_like(part) for part in expected]
    parameters = [part for name, part in model.named_parameters() if not name.startswith("output")]
    gradients = [
        torch.autograd.grad(
            sum((a * b).sum() for a, b in zip(factors, parts, strict=True)), parameters, retain_graph=True
        )
        for parts in (found, expected)
    ]
    assert_equal(found, expected)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-10, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    size=st.sampled_from([1e-30, 1.0, 1e3, 1e10, 1e30]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    seed=st.integers(0, 1000),
)
def test_no_finite_weights_give_nan(size: float, dtype: torch.dtype, seed: int) -> None:
    torch.manual_seed(seed)
    plain = DNC(FAMILY.spec, memory_size=9, controller_dim=6, read_heads=2)
    model, batch = filled(plain.to(dtype), size), FAMILY.batch(seed)
    output = model(batch)
    assert output.logits.isfinite().all()
    for weights in output.attention.values():
        assert weights.isfinite().all()
        assert (weights.sum(-1) <= 1 + 1e-4).all()


@pytest.mark.slow
def test_compiled_it_is_the_same_and_is_compiled_once_for_all_batches() -> None:
    def results(model: DNC, batch: Any) -> tuple[Tensor, Tensor]:
        output = model(batch)
        return output.logits, torch.cat([output.attention["read"], output.attention["write"]], 1)

    assert_compiled_once(network, results)
