"""GRU and LSTM over packed rows against torch's; precision, compilation, memory, refusals."""

import gc
import weakref

import pytest
import torch
from torch import nn

from tests.families import mask_of
from tests.layers.compared import (
    CELLS,
    DOUBLE,
    MIX,
    REFERENCE,
    Written,
    as_tuple,
    assert_equal,
    assert_same,
    of_rows,
    pair,
    run_ours,
    run_torch,
)
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM, RESETS, UPDATES


@pytest.fixture(params=CELLS)
def cell(request):
    return request.param


@pytest.mark.parametrize(("kernel", "layers"), [("loop", 1), ("loop", 2), ("loop", 3), ("torch", 2)])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_equals_torch_with_states(cell, bidirectional, kernel, layers):
    ours, theirs = pair(cell, 4, 5, num_layers=layers, bidirectional=bidirectional, kernel=kernel)
    mask = mask_of(MIX)
    grid = torch.randn(*mask.shape, 4, dtype=DOUBLE)
    shape = (layers * (1 + bidirectional), len(MIX), 5)
    states = tuple(torch.randn(shape, dtype=DOUBLE) for _ in range(1 + (cell is LSTM)))
    assert_same(of_rows(run_ours, ours, grid, mask, states), of_rows(run_torch, theirs, grid, mask, states))


@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [4, 4], [0, 2], [1000, 1, 37, 500, 0, 999]], ids=str)
def test_equals_torch_from_zero_at_every_length(cell, lengths):
    ours, theirs = pair(cell, 3, 4, bidirectional=True)
    mask = mask_of(lengths)
    grid = torch.randn(*mask.shape, 3, dtype=DOUBLE)
    assert_same(of_rows(run_ours, ours, grid, mask), of_rows(run_torch, theirs, grid, mask))


FORMS = [(LSTM, {}), *((GRU, {"reset": reset, "update": update}) for reset in RESETS for update in UPDATES)]
LIBRARY = [(cell, {"kernel": "torch"}) for cell in CELLS]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("cell", "form"), [*FORMS, *LIBRARY], ids=str)
def test_distinct_rows_give_what_repeated_rows_give(cell, form, bidirectional):
    module = cell(4, 5, num_layers=2, bidirectional=bidirectional, **form).to(DOUBLE)
    packing = Packing.of(mask_of(MIX))
    at = torch.randint(0, 6, (len(packing.cell),), generator=torch.Generator().manual_seed(0))  # row 6 is never read
    distinct = torch.randn(7, 4, dtype=DOUBLE, requires_grad=True)
    runs = module(distinct, packing, at=at), module(distinct[at], packing)
    sides = [(output, *as_tuple(final)) for output, final in runs]
    assert_equal(*sides, distinct, module)
    (gradient,) = torch.autograd.grad(sides[0][0].sum(), distinct)
    assert (gradient[6] == 0).all()


def test_the_cpu_takes_the_loop_and_a_key_takes_torchs_kernel():
    packing = Packing.of(mask_of([2, 1]))

    def loops(kernel):
        output, _ = GRU(4, 5, kernel=kernel)(torch.randn(3, 4), packing)
        last = output.grad_fn
        return "_LoopFunctionBackward" in {last.name(), *(before.name() for before, _ in last.next_functions if before)}

    assert [loops(kernel) for kernel in ("auto", "loop", "torch")] == [True, True, False]
    with pytest.raises(ValueError, match="expected auto, loop or torch"):
        GRU(4, 5, kernel="cudnn")


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
        assert all((weight.grad == 0).all() for weight in module.parameters())  # present, as DDP requires


def test_a_kept_graph_gives_the_same_gradients_again(cell):
    module, packing = cell(4, 5, bidirectional=True), Packing.of(mask_of([4, 2]))
    loss = module(torch.randn(6, 4), packing)[0].square().sum()
    first = torch.autograd.grad(loss, list(module.parameters()), retain_graph=True)
    second = torch.autograd.grad(loss, list(module.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_output_changed_in_place_leaves_the_gradients_right(cell, bidirectional):
    module, packing, x = cell(4, 5, bidirectional=bidirectional), Packing.of(mask_of([4, 2])), torch.randn(6, 4)
    changed = torch.autograd.grad(module(x, packing)[0].mul_(2).sum(), list(module.parameters()))
    plain = torch.autograd.grad(module(x, packing)[0].mul(2).sum(), list(module.parameters()))
    torch.testing.assert_close(changed, plain)


def test_a_second_derivative_is_an_error_and_not_a_wrong_number(cell):
    x = torch.randn(3, 4, requires_grad=True)
    output, _ = cell(4, 5)(x, Packing.of(mask_of([2, 1])))
    (gradient,) = torch.autograd.grad(output.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_frozen_weights_and_inputs_get_no_gradient(cell):
    module, packing = cell(4, 5), Packing.of(mask_of([2, 1]))
    module.weight_hh_l0.requires_grad_(False)
    module(torch.randn(3, 4), packing)[0].sum().backward()
    assert module.weight_hh_l0.grad is None
    assert module.weight_ih_l0.grad.abs().sum() > 0
    module.requires_grad_(False)
    assert not module(torch.randn(3, 4), packing)[0].requires_grad


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


def test_the_loop_runs_in_single_precision_under_half_precision_weights(cell):
    module, packing, x = with_exact_projection(cell)
    expected, _ = module(x, packing)
    output, final = module.bfloat16()(x.bfloat16(), packing)
    output.sum().backward()
    assert torch.equal(output, expected.bfloat16())
    assert {state.dtype for state in as_tuple(final)} == {torch.bfloat16}
    assert module.weight_hh_l0.grad.dtype == torch.bfloat16


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


def written_by_backward(module, steps):
    packing = Packing.of(torch.ones(2, steps, dtype=torch.bool))
    output, _ = module(torch.randn(2 * steps, 8), packing)
    with Written() as written:
        output.sum().backward()
    return written.count


@pytest.mark.parametrize(("cell", "form"), [(LSTM, {}), (GRU, {}), (GRU, {"reset": "before"})])
def test_the_memory_of_backward_grows_with_the_length_and_not_with_its_square(cell, form):
    module = cell(8, 8, bidirectional=True, kernel="loop", **form)
    assert written_by_backward(module, 400) < 4.5 * written_by_backward(module, 100)


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
