"""The loops with attention inside against their equations, row by row and step by step, in value and every gradient."""

import pytest
import torch
from torch import nn

from tests.families import mask_of
from tests.layers.compared import DOUBLE, assert_equal
from zoo.attention import SCORES, MonotonicWindow, PredictedWindow, masked_softmax, score
from zoo.layers.loops.attention import AttendedSource, TimeSteps
from zoo.layers.loops.attention_decoders import AttentionGRU, AttentionLSTM
from zoo.layers.packing import Packing

WIDTH, INNER, LONGEST = 4, 5, 5
SOURCES = [3, 6, 0, 1, 4, 6]  # one is empty, two are longer than LONGEST
TARGETS = [2, 5, 3, 0, 7, 1]
WINDOWS = [None, "local_m", "local_p"]


class Parts(nn.Module):
    """A score, a window, and what else a loop reads, all with gradients; `parts` of them by name."""

    def __init__(self, name, window, sources, targets, parts):
        super().__init__()
        torch.manual_seed(0)
        self.score = score(name, WIDTH, WIDTH, INNER, LONGEST)
        self.local_p = PredictedWindow(WIDTH, 2) if window == "local_p" else None
        self.local_m = MonotonicWindow(1) if window == "local_m" else None
        self.mask, self.packing = mask_of(sources), Packing.of(mask_of(targets))
        for key, shape in parts.items():
            self.register_parameter(key, nn.Parameter(torch.randn(shape)))
        self.double()

    def values_at_words(self):
        return self.values * self.mask[..., None]

    def scene(self):
        keys = self.score.prepare(self.keys) * self.mask[..., None]
        seen = self.mask[self.packing.row]
        if self.local_m is not None:
            equal = torch.zeros(*self.packing.shape, self.mask.shape[1])
            seen = self.packing.pack(self.local_m(equal, self.mask, torch.arange(self.packing.shape[1])) > 0)
        return AttendedSource.of(self.score.form(keys), self.values_at_words(), seen, self.packing, self.local_p)

    def look(self, row, t, query):
        """The weights of a query (H) on its row's source, and the mean of the values."""
        mask = self.mask[row : row + 1]
        scores = self.score(query[None], self.score.prepare(self.keys[row : row + 1]))
        if self.local_p is not None:
            weights = self.local_p(scores, mask, query[None])
        elif self.local_m is not None:
            weights = self.local_m(scores, mask, torch.tensor(t))
        else:
            weights = masked_softmax(scores, mask)
        return weights[0], weights[0] @ self.values_at_words()[row]

    def placed(self, found):
        """{(row, t): (...)} -> packed tensors."""
        width = self.packing.shape[1]
        at = [divmod(cell, width) for cell in self.packing.cell.tolist()]
        return tuple(torch.stack(column) for column in zip(*(found[place] for place in at), strict=True))


def lengths(targets):
    return [(row, length) for row, length in enumerate(targets) if length]


# the GRU


def gru_parts(name, sources=SOURCES, targets=TARGETS, window=None):
    size, steps, rows = len(sources), max(sources), len(targets)
    shapes = {
        "table": (sum(targets), 3 * WIDTH),
        "start": (rows, WIDTH),
        "weight": (3 * WIDTH, WIDTH),
        "keys": (size, steps, WIDTH),
        "values": (size, steps, 3 * WIDTH),
    }
    return Parts(name, window, sources, targets, shapes)


def run_gru(parts):
    start = parts.start.index_select(0, parts.packing.order)
    return AttentionGRU()(parts.table, start, parts.weight, parts.scene())


def slow_gru(parts, targets):
    """Bahdanau et al. 2015, A.1.2: looks with s_{i-1}, resets it before U, mixes in the new candidate with z."""
    table, found = parts.packing.unpack(parts.table), {}
    u_r, u_z, u = parts.weight.chunk(3)
    for row, length in lengths(targets):
        s = parts.start[row]
        for t in range(length):
            weights, mean = parts.look(row, t, s)
            found[row, t] = s, weights
            x_r, x_z, x = (table[row, t] + mean).chunk(3)
            r, z = (x_r + u_r @ s).sigmoid(), (x_z + u_z @ s).sigmoid()
            s = (1 - z) * s + z * (x + u @ (r * s)).tanh()
    return parts.placed(found)


# the LSTMs


def lstm_parts(name, layers, sources=SOURCES, targets=TARGETS, window=None):
    size, steps, rows = len(sources), max(sources), len(targets)
    shapes = {
        "table": (sum(targets), 4 * WIDTH),
        "hidden": (layers, rows, WIDTH),
        "cell": (layers, rows, WIDTH),
        "weights": (layers, 4 * WIDTH, 2 * WIDTH),
        "biases": (layers - 1, 4 * WIDTH),
        "readout": (WIDTH, WIDTH),
        "keys": (size, steps, WIDTH),
        "values": (size, steps, WIDTH),
    }
    return Parts(name, window, sources, targets, shapes)


def factors(layers, positions):
    drawn = torch.rand(layers, positions, WIDTH, generator=torch.Generator().manual_seed(1), dtype=DOUBLE)
    return (drawn > 0.3) / 0.7


def run_lstm(parts, drops=None):
    state = tuple(part.index_select(1, parts.packing.order) for part in (parts.hidden, parts.cell))
    decoder = parts.weights, parts.biases, parts.readout
    return AttentionLSTM()(parts.table, state, *decoder, parts.scene(), drops)


def slow_lstm(parts, targets, drops=None):
    """Luong et al. 2015: looks with h_t, and feeds tanh(W_c [c; h]) to the lowest layer's next step."""
    table, found = parts.packing.unpack(parts.table), {}
    layers = len(parts.weights)
    drops = torch.ones(layers, len(parts.table), WIDTH, dtype=DOUBLE) if drops is None else drops
    drops = [parts.packing.unpack(part) for part in drops]
    for row, length in lengths(targets):
        h, c = list(parts.hidden[:, row]), list(parts.cell[:, row])
        fed = torch.zeros(WIDTH, dtype=DOUBLE)
        for t in range(length):
            below = fed
            for k in range(layers):
                sums = parts.weights[k] @ torch.cat([below, h[k]]) + (parts.biases[k - 1] if k else table[row, t])
                i, f, g, o = sums.chunk(4)
                c[k] = f.sigmoid() * c[k] + i.sigmoid() * g.tanh()
                h[k] = o.sigmoid() * c[k].tanh()
                below = h[k] * drops[k][row, t]
            weights, mean = parts.look(row, t, h[-1])
            output = (mean + parts.readout @ h[-1]).tanh()
            found[row, t] = output, weights
            fed = output * drops[-1][row, t]
    return parts.placed(found)


ROWS = [(SOURCES, TARGETS), ([6], [4]), ([4, 2, 5], [3, 3, 3]), ([2], [1])]


@pytest.mark.parametrize(("sources", "targets"), ROWS, ids=str)
@pytest.mark.parametrize("name", SCORES)
def test_the_gru_equals_its_equations(name, sources, targets):
    parts = gru_parts(name, sources, targets)
    assert_equal(run_gru(parts), slow_gru(parts, targets), parts)


STACKS = [(name, layers, dropped, *ROWS[0]) for name in SCORES for layers in (1, 2, 3) for dropped in (False, True)]
STACKS += [(name, 2, False, *rows) for name in ("dot", "concat") for rows in ROWS[1:]]


@pytest.mark.parametrize(("name", "layers", "dropped", "sources", "targets"), STACKS)
def test_the_lstms_equal_their_equations(name, layers, dropped, sources, targets):
    parts = lstm_parts(name, layers, sources, targets)
    drops = factors(layers, sum(targets)) if dropped else None
    assert_equal(run_lstm(parts, drops), slow_lstm(parts, targets, drops), parts)


@pytest.mark.parametrize("window", WINDOWS[1:])
@pytest.mark.parametrize("name", SCORES)
def test_the_lstms_look_through_a_window(name, window):
    """Some windows of local-m hold no position that the score of the location knows."""
    parts = lstm_parts(name, 1, sources=[3, 9, 0, 1, 9, 6], window=window)
    ours = run_lstm(parts)
    assert_equal(ours, slow_lstm(parts, TARGETS), parts)
    weights = ours[1]
    assert (weights == 0).sum() > (~parts.mask[parts.packing.row]).sum()  # more than the padding is out of sight
    assert (weights.sum(1) < 1 - 1e-3).all() or window == "local_m"


def test_a_predicted_window_beyond_what_the_location_score_knows_is_empty():
    parts = lstm_parts("location", 1, sources=[12, 3, 12], targets=[6, 2, 5], window="local_p")
    with torch.no_grad():
        parts.local_p.v.mul_(30)  # p is at one end or the other
    ours = run_lstm(parts)
    assert_equal(ours, slow_lstm(parts, [6, 2, 5]), parts)
    empty = (ours[1] == 0).all(1)
    assert empty.any()
    assert not empty.all()


BOTH = pytest.mark.parametrize(
    ("make", "run"),
    [(lambda: gru_parts("additive"), run_gru), (lambda: lstm_parts("cosine", 2, window="local_p"), run_lstm)],
    ids=["gru", "lstm"],
)


@BOTH
def test_output_changed_in_place_leaves_the_gradients_right(make, run):
    parts = make()
    for number in range(2):
        changed = torch.autograd.grad(run(parts)[number].mul_(2).sum(), list(parts.parameters()), allow_unused=True)
        plain = torch.autograd.grad(run(parts)[number].mul(2).sum(), list(parts.parameters()), allow_unused=True)
        torch.testing.assert_close(changed, plain, rtol=0, atol=0)


@BOTH
def test_autocast_changes_nothing(make, run):
    parts = make().float()
    plain = run(parts)
    with torch.autocast("cpu", torch.bfloat16):
        scene = parts.scene()
        assert scene.keys.dtype == scene.values.dtype == torch.float32
        states, weights = run(parts)
    assert states.dtype == weights.dtype == torch.float32
    torch.testing.assert_close((states, weights), plain, rtol=0.05, atol=0.05)
    (states.sum() + weights.square().sum()).backward()
    assert all(part.grad.isfinite().all() and part.grad.dtype == torch.float32 for part in parts.parameters())


@pytest.mark.parametrize("name", ["additive", "dot"])
def test_no_positions_at_all(name):
    for parts, run in ((gru_parts(name, [2, 3], [0, 0]), run_gru), (lstm_parts(name, 2, [2, 3], [0, 0]), run_lstm)):
        outputs = run(parts)
        assert [tuple(part.shape) for part in outputs] == [(0, WIDTH), (0, 3)]
        sum(part.sum() for part in outputs).backward()
        assert all(part.grad is not None and (part.grad == 0).all() for part in parts.parameters())


def test_a_grid_of_packed_rows_and_the_state_before():
    packing = Packing.of(mask_of([2, 0, 3]))  # in time: rows 2 and 0, rows 2 and 0, row 2
    time_steps, packed = TimeSteps.of(packing), torch.arange(1.0, 6.0)[:, None]
    assert time_steps.grid(packed)[..., 0].tolist() == [[1, 3, 5], [2, 4, 0]]
    assert time_steps.previous(torch.tensor([[-1.0], [-2.0]]), packed)[:, 0].tolist() == [-1, -2, 1, 2, 3]
    assert [tuple(part.shape) for (part,) in time_steps.steps(packed)] == [(2, 1), (2, 1), (1, 1)]


def test_a_query_too_short_to_have_a_direction():
    """Its attention is uniform, and the gradient of its direction is zero instead of huge."""
    parts = gru_parts("cosine")
    with torch.no_grad():
        parts.start.mul_(1e-8)
    ours = run_gru(parts)
    assert_equal(ours, slow_gru(parts, TARGETS), parts)
    first, real = ours[1][: len(parts.packing.order)], parts.mask[parts.packing.order]
    torch.testing.assert_close(first, real / real.sum(1, keepdim=True).clamp_min(1).double())
