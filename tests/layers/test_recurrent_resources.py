"""GRU and LSTM over packed rows: precision, compilation, memory, refusals."""

import gc
import weakref

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.families import mask_of
from tests.layers.compared import CELLS, MIX, as_tuple
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM


def with_exact_projection(cell):
    """A module, a packing and an input whose projection is exact in bf16: what differs after it is the loop's doing."""
    torch.manual_seed(0)
    module, packing = cell(16, 32, bidirectional=True), Packing.of(mask_of(MIX))
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.startswith("bias"):
                weight.fill_(0.25)
            weight.copy_(weight.bfloat16())
    return module, packing, torch.zeros(len(packing.cell), 16)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_the_loop_runs_in_single_precision_under_autocast(cell, inside):
    module, packing, x = with_exact_projection(cell)
    expected, _ = module(x, packing)
    (gradient,) = torch.autograd.grad(expected.square().sum(), module.weight_hh_l0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, final = module(x, packing)
        with torch.autocast("cpu", enabled=inside):
            (half_gradient,) = torch.autograd.grad(output.square().sum(), module.weight_hh_l0)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(half_gradient, gradient)
    assert {state.dtype for state in as_tuple(final)} == {torch.float32}


@pytest.mark.parametrize("cell", CELLS)
def test_the_loop_runs_in_single_precision_under_half_precision_weights(cell):
    module, packing, x = with_exact_projection(cell)
    expected, _ = module(x, packing)
    output, final = module.bfloat16()(x.bfloat16(), packing)
    output.sum().backward()
    assert torch.equal(output, expected.bfloat16())
    assert {state.dtype for state in as_tuple(final)} == {torch.bfloat16}
    assert module.weight_hh_l0.grad.dtype == torch.bfloat16


@pytest.mark.parametrize("cell", CELLS)
def test_torch_compile_leaves_the_loop_alone(cell):
    encoder, head = cell(4, 5, bidirectional=True), nn.Linear(10, 2)

    def model(x, packing):
        return head(encoder(x.sin(), packing)[0]).cos()

    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    compiled = torch.compile(model, backend=backend)
    for lengths in ([2, 1], [5, 3, 3], [9]):
        packing = Packing.of(mask_of(lengths))
        x = torch.randn(sum(lengths), 4)
        expected, output = model(x, packing), compiled(x, packing)
        torch.testing.assert_close(output, expected)
        weights = [*encoder.parameters(), *head.parameters()]
        torch.testing.assert_close(*(torch.autograd.grad(side.sum(), weights) for side in (output, expected)))
    assert any("cos" in target for target in seen)  # the code around it is compiled
    assert not any("index_select" in target or "addmm" in target for target in seen)


class CountedBytes(TorchDispatchMode):
    """Adds up the bytes of every new tensor."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if all(value.alias_info is None for value in function._schema.returns):
            tensors = result if isinstance(result, (tuple, list)) else (result,)
            self.total += sum(t.numel() * t.element_size() for t in tensors if isinstance(t, torch.Tensor))
        return result


def backward_bytes(module, steps):
    packing = Packing.of(torch.ones(2, steps, dtype=torch.bool))
    output, _ = module(torch.randn(2 * steps, 8), packing)
    with CountedBytes() as counted:
        output.sum().backward()
    return counted.total


@pytest.mark.parametrize(("cell", "form"), [(LSTM, {}), (GRU, {}), (GRU, {"reset": "before"})])
def test_the_memory_of_backward_grows_with_the_length_and_not_with_its_square(cell, form):
    module = cell(8, 8, bidirectional=True, kernel="loop", **form)
    assert backward_bytes(module, 400) < 4.5 * backward_bytes(module, 100)


@pytest.mark.parametrize("cell", CELLS)
def test_nothing_is_kept_without_gradients(cell):
    module, packing = cell(4, 5, bidirectional=True), Packing.of(mask_of([2, 1]))
    kept = []
    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(kept.append, lambda tensor: tensor):
        output, final = module(torch.randn(3, 4), packing)
    gc.collect()
    assert not kept
    assert output.grad_fn is None
    assert all(state.grad_fn is None for state in as_tuple(final))


@pytest.mark.parametrize("by_backward", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_the_buffers_go_with_the_output_or_by_backward(cell, by_backward):
    module, packing = cell(4, 5), Packing.of(mask_of([2, 1]))
    kept = []

    def remember(tensor):
        kept.append(weakref.ref(tensor))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(remember, lambda tensor: tensor):
        output, final = module(torch.randn(3, 4), packing)
    assert len(kept) > 4
    if by_backward:
        output.sum().backward()
    else:
        del output, final
    gc.collect()
    alive = [tensor for reference in kept if (tensor := reference()) is not None and tensor.is_floating_point()]
    assert all(tensor.requires_grad for tensor in alive)  # the weights


@pytest.mark.parametrize("cell", CELLS)
def test_shapes_that_do_not_fit_are_named(cell):
    module, packing = cell(4, 5), Packing.of(mask_of([2, 1]))
    with pytest.raises(ValueError, match=r"\(positions, 4\).*\(3, 6\)"):
        module(torch.randn(3, 6), packing)
    with pytest.raises(ValueError, match=r"2 rows.*3 positions"):
        module(torch.randn(2, 4), packing)
    with pytest.raises(ValueError, match=r"`at`.*3 packed positions.*\(2,\)"):
        module(torch.randn(2, 4), packing, at=torch.tensor([0, 1]))
    state = torch.zeros(1, 3, 5)
    with pytest.raises(ValueError, match=r"\(1, 2, 5\).*\(1, 3, 5\)"):
        module(torch.randn(3, 4), packing, state if cell is GRU else (state, state))
