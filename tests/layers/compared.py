"""Two computations compared in values and every gradient, and our recurrent networks beside those of torch."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM

CELLS = [GRU, LSTM]
REFERENCE = {GRU: nn.GRU, LSTM: nn.LSTM}
DOUBLE = torch.float64
MIX = [3, 0, 1, 17, 5, 5, 0, 60, 2]


def pair(cell, *sizes, dtype=DOUBLE, kernel="auto", **settings):
    """Ours and torch's with the same weights."""
    torch.manual_seed(0)
    theirs = REFERENCE[cell](*sizes, **settings).to(dtype)
    ours = cell(*sizes, kernel=kernel, **settings).to(dtype)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


class Written(TorchDispatchMode):
    """Counts the numbers that operations write."""

    count = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        found = function(*arguments, **(options or {}))
        if not any(result.alias_info for result in function._schema.returns):  # a view writes nothing
            self.count += sum(part.numel() for part in tree_leaves(found) if isinstance(part, torch.Tensor))
        return found


def as_tuple(state):
    return state if isinstance(state, tuple) else (state,)


def run_ours(module, grid, mask, states=None, **kwargs):
    """(padded output, final states...) of our module on a padded grid (rows, T, input)."""
    packing = Packing.of(mask)
    if states is not None:
        states = states if isinstance(module, LSTM) else states[0]
    output, final = module(packing.pack(grid), packing, states, **kwargs)
    return packing.unpack(output), *as_tuple(final)


def run_torch(module, grid, mask, states=None):
    """`run_ours` for torch's module, which refuses empty rows: they are left out and put back as zeros."""
    lengths = mask.sum(1)
    real = lengths.nonzero().flatten()
    if states is not None:
        states = tuple(state[:, real] for state in states)
        states = states if isinstance(module, nn.LSTM) else states[0]
    packed = pack_padded_sequence(grid[real], lengths[real], batch_first=True, enforce_sorted=False)
    output, final = module(packed, states)
    output, _ = pad_packed_sequence(output, batch_first=True, total_length=grid.shape[1])

    def put_back(values, dim):
        shape = list(values.shape)
        shape[dim] = len(mask)
        return values.new_zeros(shape).index_copy(dim, real, values)

    return put_back(output, 0), *(put_back(state, 1) for state in as_tuple(final))


def of_rows(run, module, grid, mask, states=None):
    """`values_and_gradients` of a run, by the grid, the initial states and the weights."""
    grid = grid.clone().requires_grad_()
    states = None if states is None else tuple(state.clone().requires_grad_() for state in states)
    inputs = {"x": grid, **{f"state {i}": state for i, state in enumerate(states or ())}}
    return values_and_gradients(run(module, grid, mask, states), inputs | dict(module.named_parameters()))


def values_and_gradients(outputs, inputs):
    """The outputs, and the gradients of a random sum of them by the inputs, by name."""
    generator = torch.Generator().manual_seed(7)
    weights = [torch.randn(output.shape, dtype=output.dtype, generator=generator) for output in outputs]
    loss = sum((output * weight).sum() for output, weight in zip(outputs, weights, strict=True))
    gradients = torch.autograd.grad(loss, list(inputs.values()), retain_graph=True, materialize_grads=True)
    values = {f"output {i}": output.detach() for i, output in enumerate(outputs)}
    return values | {f"gradient of {name}": gradient for name, gradient in zip(inputs, gradients, strict=True)}


def assert_same(ours, theirs, **tolerance):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance)


def assert_equal(found, expected, *inputs, tolerance=1e-10):
    """Two tuples of outputs are equal, and so are their gradients by the inputs: tensors, dictionaries, modules."""
    named = {}
    for number, one in enumerate(inputs):
        parts = dict(one.named_parameters()) if isinstance(one, nn.Module) else one
        named |= parts if isinstance(parts, dict) else {f"input {number}": parts}
    sides = (values_and_gradients(outputs, named) for outputs in (found, expected))
    assert_same(*sides, rtol=tolerance, atol=tolerance)
