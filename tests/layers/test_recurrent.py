"""GRU and LSTM over packed rows against torch.nn.GRU and torch.nn.LSTM."""

import copy
import gc
import pickle
import weakref

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.utils._python_dispatch import TorchDispatchMode

from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM

CELLS = [GRU, LSTM]
REFERENCE = {GRU: nn.GRU, LSTM: nn.LSTM}
DOUBLE = torch.float64
MIX = [3, 0, 1, 17, 5, 5, 0, 60, 2]


def mask_of(lengths):
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def pair(cell, *sizes, dtype=DOUBLE, kernel="auto", **settings):
    """Ours and torch's with the same weights."""
    torch.manual_seed(0)
    theirs = REFERENCE[cell](*sizes, **settings).to(dtype)
    ours = cell(*sizes, kernel=kernel, **settings).to(dtype)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


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
    """The same of torch's module, which takes no empty rows: they are left out and put back as zeros."""
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


def values_and_gradients(run, module, grid, mask, states=None):
    """Outputs, and the gradients of a random sum of them by the grid, the initial states and the weights."""
    grid = grid.clone().requires_grad_()
    states = None if states is None else tuple(state.clone().requires_grad_() for state in states)
    outputs = run(module, grid, mask, states)
    generator = torch.Generator().manual_seed(7)
    weights = [torch.randn(output.shape, dtype=output.dtype, generator=generator) for output in outputs]
    loss = sum((output * weight).sum() for output, weight in zip(outputs, weights, strict=True))
    inputs = {"x": grid, **{f"state {i}": state for i, state in enumerate(states or ())}}
    inputs |= dict(module.named_parameters())
    gradients = torch.autograd.grad(loss, list(inputs.values()))
    values = {f"output {i}": output.detach() for i, output in enumerate(outputs)}
    return values | {f"gradient of {name}": gradient for name, gradient in zip(inputs, gradients, strict=True)}


def assert_same(ours, theirs, **tolerance):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, theirs[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_equals_torch_with_states(cell, bidirectional, layers):
    ours, theirs = pair(cell, 4, 5, num_layers=layers, bidirectional=bidirectional)
    mask = mask_of(MIX)
    grid = torch.randn(*mask.shape, 4, dtype=DOUBLE)
    shape = (layers * (1 + bidirectional), len(MIX), 5)
    states = tuple(torch.randn(shape, dtype=DOUBLE) for _ in range(1 + (cell is LSTM)))
    assert_same(
        values_and_gradients(run_ours, ours, grid, mask, states),
        values_and_gradients(run_torch, theirs, grid, mask, states),
    )


@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [4, 4], [0, 2], [1000, 1, 37, 500, 0, 999]], ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_equals_torch_from_zero_at_every_length(cell, lengths):
    ours, theirs = pair(cell, 3, 4, bidirectional=True)
    mask = mask_of(lengths)
    grid = torch.randn(*mask.shape, 3, dtype=DOUBLE)
    assert_same(values_and_gradients(run_ours, ours, grid, mask), values_and_gradients(run_torch, theirs, grid, mask))


@pytest.mark.parametrize("cell", CELLS)
def test_equals_torch_in_single_precision(cell):
    ours, theirs = pair(cell, 30, 50, bidirectional=True, dtype=torch.float32)
    lengths = torch.randint(0, 26, (80,), generator=torch.Generator().manual_seed(0)).tolist()
    mask = mask_of(lengths)
    grid = torch.randn(*mask.shape, 30)
    assert_same(
        values_and_gradients(run_ours, ours, grid, mask),
        values_and_gradients(run_torch, theirs, grid, mask),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("kernel", ["loop", "torch"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_distinct_rows_give_what_repeated_rows_give(cell, bidirectional, kernel):
    module, _ = pair(cell, 4, 5, num_layers=2, bidirectional=bidirectional, kernel=kernel)
    packing = Packing.of(mask_of(MIX))
    at = torch.randint(0, 6, (len(packing.cell),), generator=torch.Generator().manual_seed(0))  # row 6 is never read
    results = []
    for repeated in (False, True):
        distinct = torch.randn(7, 4, dtype=DOUBLE, generator=torch.Generator().manual_seed(1)).requires_grad_()
        output, final = module(distinct[at], packing) if repeated else module(distinct, packing, at=at)
        loss = output.square().sum() + sum(state.sum() for state in as_tuple(final))
        gradients = torch.autograd.grad(loss, [distinct, *module.parameters()])
        results.append({"output": output.detach(), **{str(i): gradient for i, gradient in enumerate(gradients)}})
    assert_same(*results)
    assert (results[0]["0"][6] == 0).all()


@pytest.mark.parametrize("cell", CELLS)
def test_torchs_kernel_gives_what_the_loop_gives(cell):
    loop, _ = pair(cell, 4, 5, num_layers=2, bidirectional=True, kernel="loop")
    library, _ = pair(cell, 4, 5, num_layers=2, bidirectional=True, kernel="torch")
    mask = mask_of(MIX)
    grid = torch.randn(*mask.shape, 4, dtype=DOUBLE)
    states = tuple(torch.randn(4, len(MIX), 5, dtype=DOUBLE) for _ in range(2))[: 1 + (cell is LSTM)]
    assert_same(
        values_and_gradients(run_ours, loop, grid, mask, states),
        values_and_gradients(run_ours, library, grid, mask, states),
    )


def test_the_cpu_takes_the_loop_and_a_key_takes_torchs_kernel():
    packing = Packing.of(mask_of([2, 1]))

    def loops(kernel):
        output, _ = GRU(4, 5, kernel=kernel)(torch.randn(3, 4), packing)
        last = output.grad_fn
        return "_GRULoopBackward" in {last.name(), *(before.name() for before, _ in last.next_functions if before)}

    assert [loops(kernel) for kernel in ("auto", "loop", "torch")] == [True, True, False]
    with pytest.raises(ValueError, match="auto, loop, torch"):
        GRU(4, 5, kernel="cudnn")


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_gradcheck(cell, bidirectional):
    module, _ = pair(cell, 2, 3, bidirectional=bidirectional)
    packing = Packing.of(mask_of([3, 0, 1]))
    directions, names = 1 + bidirectional, [name for name, _ in module.named_parameters()]
    at = torch.tensor([1, 0, 1, 1])
    states = torch.randn(1 + (cell is LSTM), directions, 3, 3, dtype=DOUBLE, requires_grad=True)
    x = torch.randn(2, 2, dtype=DOUBLE, requires_grad=True)

    def function(x, states, *weights):
        state = tuple(states) if cell is LSTM else states[0]
        parameters = dict(zip(names, weights, strict=True))
        output, final = torch.func.functional_call(module, parameters, (x, packing, state), {"at": at})
        return output, *as_tuple(final)

    assert torch.autograd.gradcheck(function, (x, states, *module.parameters()))


@pytest.mark.parametrize("cell", CELLS)
def test_state_dicts_load_both_ways_and_the_start_is_torchs(cell):
    settings = {"num_layers": 2, "bidirectional": True}
    torch.manual_seed(3)
    ours = cell(4, 5, **settings)
    torch.manual_seed(3)
    theirs = REFERENCE[cell](4, 5, **settings)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in ours.state_dict().items():
        assert torch.equal(value, theirs.state_dict()[name]), name
    ours.load_state_dict(theirs.state_dict(), strict=True)
    theirs.load_state_dict(ours.state_dict(), strict=True)


@pytest.mark.parametrize("cell", CELLS)
def test_copies_and_pickles_work_on_their_own_weights(cell):
    module, packing, x = cell(4, 5), Packing.of(mask_of([2, 1])), torch.randn(3, 4)
    expected = module(x, packing)[0]
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(other(x, packing)[0], expected)
        nn.init.zeros_(other.weight_hh_l0)
        assert not torch.equal(other(x, packing)[0], expected)
    assert torch.equal(module(x, packing)[0], expected)


@pytest.mark.parametrize("cell", CELLS)
def test_dropout_acts_between_layers_and_only_in_training(cell):
    ours, theirs = pair(cell, 4, 5, num_layers=3, dropout=1.0)  # drops everything, so there is nothing random
    mask = mask_of([3, 2])
    grid = torch.randn(2, 3, 4, dtype=DOUBLE)
    for training in (True, False):
        ours.train(training)
        theirs.train(training)
        torch.testing.assert_close(run_ours(ours, grid, mask), run_torch(theirs, grid, mask))


@pytest.mark.parametrize("kernel", ["loop", "torch"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_no_positions_at_all(cell, bidirectional, kernel):
    module = cell(4, 5, num_layers=2, bidirectional=bidirectional, kernel=kernel)
    for packing in (Packing.of(torch.zeros(3, 2, 6, dtype=torch.bool)), Packing.of(torch.zeros(3, 2, 0).bool())):
        x = torch.zeros(0, 4, requires_grad=True)
        output, final = module(x, packing)
        assert output.shape == (0, 5 * (1 + bidirectional))
        for state in as_tuple(final):
            assert state.shape == (2 * (1 + bidirectional), 6, 5)
            assert (state == 0).all()
        (output.sum() + sum(state.sum() for state in as_tuple(final))).backward()
        assert all((weight.grad == 0).all() for weight in module.parameters())  # present, as DDP wants them


@pytest.mark.parametrize("cell", CELLS)
def test_only_the_final_state_or_only_the_output_in_the_loss(cell):
    module, theirs = pair(cell, 4, 5, bidirectional=True)
    mask = mask_of(MIX)
    grid = torch.randn(*mask.shape, 4, dtype=DOUBLE)
    for part in (0, 1):
        ours_gradients = torch.autograd.grad(run_ours(module, grid, mask)[part].square().sum(), module.parameters())
        their_gradients = torch.autograd.grad(run_torch(theirs, grid, mask)[part].square().sum(), theirs.parameters())
        torch.testing.assert_close(ours_gradients, their_gradients)


@pytest.mark.parametrize("cell", CELLS)
def test_a_kept_graph_gives_the_same_gradients_again(cell):
    module, packing = cell(4, 5, bidirectional=True), Packing.of(mask_of([4, 2]))
    loss = module(torch.randn(6, 4), packing)[0].square().sum()
    first = torch.autograd.grad(loss, list(module.parameters()), retain_graph=True)
    second = torch.autograd.grad(loss, list(module.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_output_changed_in_place_leaves_the_gradients_right(cell, bidirectional):
    module, packing, x = cell(4, 5, bidirectional=bidirectional), Packing.of(mask_of([4, 2])), torch.randn(6, 4)
    changed = torch.autograd.grad(module(x, packing)[0].mul_(2).sum(), list(module.parameters()))
    plain = torch.autograd.grad(module(x, packing)[0].mul(2).sum(), list(module.parameters()))
    torch.testing.assert_close(changed, plain)


@pytest.mark.parametrize("cell", CELLS)
def test_a_second_derivative_is_an_error_and_not_a_wrong_number(cell):
    x = torch.randn(3, 4, requires_grad=True)
    output, _ = cell(4, 5)(x, Packing.of(mask_of([2, 1])))
    (gradient,) = torch.autograd.grad(output.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("cell", CELLS)
def test_frozen_weights_and_inputs_get_no_gradient(cell):
    module, packing = cell(4, 5), Packing.of(mask_of([2, 1]))
    module.weight_hh_l0.requires_grad_(False)
    module(torch.randn(3, 4), packing)[0].sum().backward()
    assert module.weight_hh_l0.grad is None
    assert module.weight_ih_l0.grad.abs().sum() > 0
    module.requires_grad_(False)
    assert not module(torch.randn(3, 4), packing)[0].requires_grad


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_bf16_autocast_stays_near_single_precision(cell, inside):
    module, packing = cell(16, 32, num_layers=2, bidirectional=True), Packing.of(mask_of(MIX))
    x = torch.randn(len(packing.cell), 16, requires_grad=True)
    expected, final = module(x, packing)
    inputs = [x, *module.parameters()]
    gradients = torch.autograd.grad(expected.square().sum(), inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, half_final = module(x, packing)
        if inside:
            half_gradients = torch.autograd.grad(output.square().sum(), inputs)
    if not inside:
        half_gradients = torch.autograd.grad(output.square().sum(), inputs)
    assert output.dtype == torch.float32
    torch.testing.assert_close(output, expected, rtol=0, atol=0.02)
    torch.testing.assert_close(as_tuple(half_final), as_tuple(final), rtol=0, atol=0.02)
    for half, single in zip(half_gradients, gradients, strict=True):
        assert half.dtype == torch.float32
        assert (half - single).norm() < 0.02 * single.norm()


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


@pytest.mark.parametrize("cell", CELLS)
def test_the_loop_runs_in_single_precision_under_autocast(cell):
    module, packing, x = with_exact_projection(cell)
    expected, _ = module(x, packing)
    (gradient,) = torch.autograd.grad(expected.square().sum(), module.weight_hh_l0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, _ = module(x, packing)
        (half_gradient,) = torch.autograd.grad(output.square().sum(), module.weight_hh_l0)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(half_gradient, gradient)


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
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = cell(4, 5, bidirectional=True)
            self.head = nn.Linear(10, 2)

        def forward(self, x, packing):
            return self.head(self.encoder(x.sin(), packing)[0]).cos()

    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    model = Model()
    compiled = torch.compile(model, backend=backend)
    for lengths in ([2, 1], [5, 3, 3], [9]):
        packing = Packing.of(mask_of(lengths))
        x = torch.randn(sum(lengths), 4)
        expected, output = model(x, packing), compiled(x, packing)
        torch.testing.assert_close(output, expected)
        torch.testing.assert_close(
            torch.autograd.grad(output.sum(), list(model.parameters())),
            torch.autograd.grad(expected.sum(), list(model.parameters())),
        )
    assert any("cos" in target for target in seen)  # what stands around it is compiled
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


@pytest.mark.parametrize("cell", CELLS)
def test_the_memory_of_backward_grows_with_the_length_and_not_with_its_square(cell):
    module = cell(8, 8, bidirectional=True, kernel="loop")
    assert backward_bytes(module, 400) < 4.5 * backward_bytes(module, 100)


def test_this_measure_finds_the_square_in_torchs_kernel():
    module = GRU(8, 8, bidirectional=True, kernel="torch")
    assert backward_bytes(module, 400) > 8 * backward_bytes(module, 100)


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


@pytest.mark.parametrize("cell", CELLS)
def test_the_buffers_go_with_the_output(cell):
    module, packing = cell(4, 5), Packing.of(mask_of([2, 1]))
    kept = []

    def remember(tensor):
        kept.append(weakref.ref(tensor))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(remember, lambda tensor: tensor):
        output, final = module(torch.randn(3, 4), packing)
    assert len(kept) > 4
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


def test_packed_sequence_and_packing_agree_position_by_position():
    ours, theirs = pair(GRU, 4, 5)
    lengths = torch.tensor([4, 3, 1])
    packing = Packing.of(mask_of(lengths.tolist()))
    x = torch.randn(8, 4, dtype=DOUBLE)
    expected, _ = theirs(PackedSequence(x, torch.tensor(packing.batch_sizes)))
    torch.testing.assert_close(ours(x, packing)[0], expected.data)
