"""The loop that looks at places before each step against its equations, row by row and step by step, in value and every
gradient."""

import pytest
import torch

from tests.families import mask_of
from tests.layers.compared import DOUBLE, assert_equal
from zoo.layers.loops import additive
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.loops.attention_viewer import AttendedImages, attention_viewer
from zoo.layers.packing import Packing

PLACES, INNER, DEPTH, WIDTH = 6, 5, 3, 4
LENGTHS = [3, 7, 0, 5]
GATES = [0, 1, DEPTH]
NAMES = ("table", "hidden", "cell", "weight", "keys", "values", "v", "asks", "gate_bias")


def case(gate=1, lengths=LENGTHS, dtype=DOUBLE):
    """The packing, and what a loop reads, by name."""
    torch.manual_seed(0)
    packing = Packing.of(mask_of(lengths))
    rows, positions = len(packing.order), len(packing.cell)
    shapes = {
        "table": (positions, 4 * WIDTH),
        "hidden": (rows, WIDTH),
        "cell": (rows, WIDTH),
        "weight": (4 * WIDTH, DEPTH + WIDTH),
        "keys": (rows, PLACES, INNER),
        "values": (rows, PLACES, DEPTH),
        "v": (INNER,),
        "asks": (INNER + gate, WIDTH),
        "gate_bias": (gate,),
    }
    return packing, {name: torch.randn(shape, dtype=dtype, requires_grad=True) for name, shape in shapes.items()}


def run(packing, parts, energy="tanh", look="mean"):
    table, hidden, cell, weight, *view = (parts[name] for name in NAMES)
    return attention_viewer(table, (hidden, cell), weight, AttendedImages(*view), TimeSteps.of(packing), energy, look)


def slow(packing, parts, energy="tanh", place=None):
    """Hidden states, contexts and weights of the packed positions; `place(row, t, weights)` is where a look goes."""
    found = {}
    table = packing.unpack(parts["table"])
    w, w_gate = parts["asks"].split([INNER, len(parts["gate_bias"])])
    z_weight, u = parts["weight"].split([DEPTH, WIDTH], 1)
    for rank, row in enumerate(packing.order.tolist()):
        h, c = parts["hidden"][rank], parts["cell"][rank]
        keys, values = parts["keys"][rank], parts["values"][rank]
        for t in range(int((packing.row == row).sum())):
            sums = [w @ h + key for key in keys]
            scores = [parts["v"] @ (total.tanh() if energy == "tanh" else total.clamp(min=0)) for total in sums]
            a = torch.stack(scores).exp()
            a = a / a.sum()
            z = sum(share * value for share, value in zip(a, values, strict=True))
            if place is not None:
                z = values[place(row, t, a)]
            if len(w_gate):
                z = z / (1 + (-(w_gate @ h) - parts["gate_bias"]).exp())
            i, f, g, o = (table[row, t] + z_weight @ z + u @ h).chunk(4)
            c = c * f.sigmoid() + g.tanh() * i.sigmoid()
            h = o.sigmoid() * c.tanh()
            found[row, t] = h, z, a
    width = packing.shape[1]
    at = [divmod(cell, width) for cell in packing.cell.tolist()]
    return tuple(torch.stack(column) for column in zip(*(found[place] for place in at), strict=True))


@pytest.mark.parametrize("at_once", [1, 2, 100], ids="{} rows".format)
@pytest.mark.parametrize("gate", GATES, ids="gate {}".format)
@pytest.mark.parametrize("energy", ["tanh", "relu"])
def test_equals_the_equations(energy, gate, at_once, monkeypatch):
    """The result does not depend on the number of rows whose sums are in memory at once."""
    monkeypatch.setattr(additive, "ON_CPU", at_once * PLACES * INNER)
    packing, parts = case(gate)
    assert_equal(run(packing, parts, energy)[:3], slow(packing, parts, energy), parts)


@pytest.mark.parametrize("gate", GATES, ids="gate {}".format)
def test_the_likeliest_place_is_looked_at(gate):
    packing, parts = case(gate)
    found = run(packing, parts, look="likeliest")
    assert torch.equal(found.places, found.weights.argmax(-1))
    assert_equal(found[:3], slow(packing, parts, place=lambda row, t, a: int(a.argmax())), parts)


@pytest.mark.parametrize("gate", GATES, ids="gate {}".format)
def test_a_drawn_place_is_looked_at(gate):
    """The value at it goes on, and the weights have the gradient of what reads them alone."""
    packing, parts = case(gate)
    torch.manual_seed(3)
    found = run(packing, parts, look="draw")
    assert not found.places.requires_grad
    assert (found.places != found.weights.argmax(-1)).any()
    drawn = packing.unpack(found.places)
    assert_equal(found[:3], slow(packing, parts, place=lambda row, t, a: int(drawn[row, t])), parts)


def test_draws_follow_the_weights():
    packing, parts = case(lengths=[1] * 4)
    parts = {name: part.detach() for name, part in parts.items()}
    torch.manual_seed(0)
    counted = torch.zeros(4, PLACES)
    draws = 2000
    for _ in range(draws):
        found = run(packing, parts, look="draw")
        counted[torch.arange(4), found.places] += 1
    error = (found.weights * (1 - found.weights) / draws).sqrt()
    assert ((counted / draws - found.weights).abs() < 4 * error + 1e-3).all()


def test_values_without_a_gradient_get_none():
    packing, parts = case()
    parts["values"].requires_grad_(False)
    found = run(packing, parts)
    found.hidden.sum().backward()
    assert parts["values"].grad is None
    assert parts["keys"].grad is not None


def test_long_scores_do_not_overflow():
    packing, parts = case(dtype=torch.float32)
    parts["v"].data.mul_(1000)
    found = run(packing, parts)
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(len(packing.cell)))
    found.hidden.sum().backward()
    assert all(part.grad.isfinite().all() for part in parts.values())
