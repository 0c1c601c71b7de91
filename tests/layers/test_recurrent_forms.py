"""The GRU's four forms, a row's own context, and single steps: against the equations written as slow loops."""

import itertools

import pytest
import torch

from tests.families import mask_of
from tests.layers.compared import CELLS, DOUBLE, MIX, as_tuple, assert_equal, assert_same, of_rows, run_ours
from tests.models.equations import sigmoid
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM

FORMS = list(itertools.product(["after", "before"], ["keep", "new"]))
OWN_FORMS = [form for form in FORMS if form != ("after", "keep")]


def gru(*sizes, dtype=DOUBLE, **settings):
    torch.manual_seed(0)
    return GRU(*sizes, **settings).to(dtype)


def one_step(module, suffix, x, h, context=None):
    """The equations of Cho et al. 2014 (5)-(8) and Bahdanau et al. 2015, A.1.1; the weights are torch's."""
    w_r, w_z, w_n = getattr(module, f"weight_ih_{suffix}").chunk(3)
    u_r, u_z, u_n = getattr(module, f"weight_hh_{suffix}").chunk(3)
    b_r, b_z, b_n = getattr(module, f"bias_ih_{suffix}").chunk(3)
    k_r, k_z, k_n = (getattr(module, f"bias_hh_{suffix}") + (0 if context is None else context)).chunk(3)
    r = sigmoid(w_r @ x + b_r + u_r @ h + k_r)
    z = sigmoid(w_z @ x + b_z + u_z @ h + k_z)
    if module.reset == "before":
        n = (w_n @ x + b_n + u_n @ (r * h) + k_n).tanh()
    else:
        n = (w_n @ x + b_n + r * (u_n @ h + k_n)).tanh()
    return z * h + (1 - z) * n if module.update == "keep" else (1 - z) * h + z * n


def run_slowly(module, grid, mask, states=None, context=None):
    """The outputs of `run_ours`, row by row and step by step."""
    rows, steps = mask.shape
    sides = ["", "_reverse"][: 1 + module.bidirectional]
    output, finals = grid, []
    for layer in range(module.num_layers):
        read = output
        sides_out = []
        for d, suffix in enumerate(sides):
            number = layer * len(sides) + d
            ends, table = [], []
            for row in range(rows):
                length = int(mask[row].sum())
                h = torch.zeros(module.hidden_size, dtype=DOUBLE) if states is None else states[0][number, row]
                found = [torch.zeros(module.hidden_size, dtype=DOUBLE)] * steps
                for t in range(length)[:: 1 - 2 * d]:
                    h = found[t] = one_step(
                        module, f"l{layer}{suffix}", read[row, t], h, None if context is None else context[row]
                    )
                ends.append(h if length else torch.zeros_like(h))
                table.append(torch.stack(found))
            finals.append(torch.stack(ends))
            sides_out.append(torch.stack(table))
        output = torch.cat(sides_out, -1)
    return output, torch.stack(finals)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_equals_the_equations(form, bidirectional, layers):
    module = gru(3, 4, num_layers=layers, bidirectional=bidirectional, reset=form[0], update=form[1])
    mask = mask_of([3, 0, 1, 6, 5, 5])
    grid = torch.randn(*mask.shape, 3, dtype=DOUBLE)
    states = (torch.randn(layers * (1 + bidirectional), len(mask), 4, dtype=DOUBLE),)
    for start in (states, None):
        assert_same(of_rows(run_ours, module, grid, mask, start), of_rows(run_slowly, module, grid, mask, start))


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_context_stands_with_the_product_with_the_state(form, distinct):
    module = gru(2, 3, reset=form[0], update=form[1])
    mask = mask_of([3, 0, 1, 4])
    packing = Packing.of(mask)
    rows, context = (torch.randn(shape, dtype=DOUBLE, requires_grad=True) for shape in ((3, 2), (4, 9)))
    at = torch.tensor([0, 2, 1, 1, 0, 0, 2, 1])
    output, final = module(rows if distinct else rows[at], packing, at=at if distinct else None, context=context)
    expected = run_slowly(module, packing.unpack(rows[at]), mask, context=context)
    assert_equal((packing.unpack(output), final), expected, rows, context, module)


def test_a_context_that_does_not_fit_is_named():
    packing, x = Packing.of(mask_of([2, 1])), torch.randn(3, 4)
    with pytest.raises(ValueError, match=r"\(2, 15\), got \(3, 15\)"):
        GRU(4, 5)(x, packing, context=torch.zeros(3, 15))
    with pytest.raises(ValueError, match="has no context"):
        GRU(4, 5, kernel="torch")(x, packing, context=torch.zeros(2, 15))
    for settings in ({"num_layers": 2}, {"bidirectional": True}):
        with pytest.raises(ValueError, match="one layer and one direction"):
            GRU(4, 5, **settings)(x, packing, context=torch.zeros(2, 15))


@pytest.mark.parametrize("form", OWN_FORMS, ids="-".join)
def test_torchs_kernel_is_refused_for_a_form_that_it_does_not_know(form):
    with pytest.raises(ValueError, match="expected after or before, found 'first'"):
        GRU(4, 5, reset="first")
    with pytest.raises(ValueError, match=f"requires reset=after and update=keep, found {form[0]} and {form[1]}"):
        GRU(4, 5, reset=form[0], update=form[1], kernel="torch")


# single steps

STEPPERS = [pytest.param(LSTM, {}, id="LSTM")]
STEPPERS += [
    pytest.param(GRU, {"reset": reset, "update": update}, id=f"GRU-{reset}-{update}") for reset, update in FORMS
]
BY_STEPPER = pytest.mark.parametrize(("cell", "form"), STEPPERS)


def stepper(cell, form, layers=2, **settings):
    torch.manual_seed(0)
    return cell(3, 4, num_layers=layers, **form, **settings).to(DOUBLE)


@BY_STEPPER
def test_steps_equal_the_whole_sequence(cell, form):
    module = stepper(cell, form)
    x = torch.randn(5, 3, 3, dtype=DOUBLE, requires_grad=True)  # (rows, T, input)
    states = tuple(torch.randn(2, 5, 4, dtype=DOUBLE, requires_grad=True) for _ in range(1 + (cell is LSTM)))
    packing = Packing.of(torch.ones(5, 3, dtype=torch.bool))
    output, final = module(packing.pack(x), packing, states if cell is LSTM else states[0])

    state, outputs = states if cell is LSTM else states[0], []
    for x_t in x.unbind(1):
        output_t, state = module.step(x_t, state)
        outputs.append(output_t)
    assert torch.equal(output_t, as_tuple(state)[0][-1])
    found = (torch.stack(outputs, 1), *as_tuple(state))
    expected = (packing.unpack(output), *as_tuple(final))
    assert_equal(found, expected, x, *states, module)


@BY_STEPPER
def test_a_step_is_in_single_precision_under_autocast(cell, form):
    torch.manual_seed(0)
    module = cell(3, 4, **form)
    x, state = torch.randn(2, 3).bfloat16(), torch.randn(1, 2, 4)
    state = (state, state) if cell is LSTM else state
    expected, _ = module.step(x.float(), state)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, after = module.step(x, state)
    assert torch.equal(output, expected)
    assert {part.dtype for part in as_tuple(after)} == {torch.float32}


@pytest.mark.parametrize("cell", CELLS)
def test_dropout_of_a_step_acts_between_layers_and_only_in_training(cell):
    module = stepper(cell, {}, dropout=1.0)  # drops everything: the second layer reads zeros
    x, state = torch.randn(2, 3, dtype=DOUBLE), torch.zeros(2, 2, 4, dtype=DOUBLE)
    state = (state, state) if cell is LSTM else state
    packing = Packing.of(torch.ones(2, 1, dtype=torch.bool))
    found = []
    for training in (True, False):
        module.train(training)
        found.append(module.step(x, state)[0])
        torch.testing.assert_close(found[-1], module(x, packing)[0])
    assert not torch.allclose(*found)


@pytest.mark.parametrize("cell", CELLS)
def test_a_step_refuses_what_does_not_fit(cell):
    def both(state):
        return (state, state) if cell is LSTM else state

    with pytest.raises(ValueError, match="a bidirectional layer has no step"):
        cell(3, 4, bidirectional=True).step(torch.zeros(2, 3), both(torch.zeros(2, 2, 4)))
    with pytest.raises(ValueError, match=r"\(2, 5\) and \(1, 2, 4\)"):
        cell(3, 4).step(torch.zeros(2, 5), both(torch.zeros(1, 2, 4)))
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(1, 3, 4\)"):
        cell(3, 4).step(torch.zeros(2, 3), both(torch.zeros(1, 3, 4)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_cuda_gives_what_the_cpu_gives(form):
    module, x = gru(4, 5, bidirectional=True, reset=form[0], update=form[1]), torch.randn(sum(MIX), 4, dtype=DOUBLE)
    results = []
    for device in ("cpu", "cuda"):
        output, final = module.to(device)(x.to(device), Packing.of(mask_of(MIX).to(device)))
        gradients = torch.autograd.grad(output.square().sum() + final.sum(), module.parameters())
        results.append([part.cpu() for part in (output, final, *gradients)])
    torch.testing.assert_close(*results)
