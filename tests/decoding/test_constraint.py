"""Constraints on pointing: what a constrained network can write is just what the definition says, all sequences
enumerated, and with the probabilities of its own scores scaled to sum to 1."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from tests.tasks.points import exactly, spec_of
from zoo.data.points import constraints
from zoo.data.points.constraints import CONSTRAINTS, Distinct, Hull, Tour
from zoo.data.points.geometry import area, is_simple, orientation
from zoo.decoding import BeamSearch, Greedy, Sampling
from zoo.decoding.constraint import Constrained
from zoo.layers.state import State, Step
from zoo.models import PointerNet

SPEC = spec_of("hull")
INSIDE = [[0.1, 0.2], [0.9, 0.1], [0.5, 0.4], [0.8, 0.9], [0.2, 0.7]]
GRID = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
"""Three on each of two lines."""
END = SPEC.end


def network(dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    return PointerNet(SPEC, embedding_dim=16, hidden_dim=16, init_range=None).to(dtype).eval()


def arrangements(count, least=0):
    """All sequences of different numbers below `count`, of at least `least`."""
    return [row for length in range(least, count + 1) for row in permutations(range(count), length)]


def convex(points, row):
    """Whether these are the corners of a strictly convex polygon, in their order counter-clockwise; by the edges: every
    other corner is strictly to the left of each."""
    if len(row) < 3:
        return False
    corners = np.array([points[number] for number in row])
    return all(
        orientation(corners[i], corners[(i + 1) % len(row)], corners[k]) > 0
        for i, k in product(range(len(row)), repeat=2)
        if k not in (i, (i + 1) % len(row))
    )


RIGHT = {
    "distinct": lambda points: arrangements(len(points)),
    "tour": lambda points: arrangements(len(points), len(points)),
    "hull": lambda points: [row for row in arrangements(len(points)) if convex(points, row)],
}


@torch.no_grad()
def written(made, batch):
    """Every sequence of pointers that a network can write for the first set, with its log-probability."""

    def go(row, token, state, total):
        log_probs, after, _ = made.step(torch.tensor([[token]]), state)
        for following in log_probs[0, 0].isfinite().nonzero().squeeze(1).tolist():
            sum = total + log_probs[0, 0, following].item()
            if following == END:
                yield row, sum
            else:
                yield from go((*row, following - SPEC.first), following, after, sum)

    return dict(go((), SPEC.begin, made.start(batch), 0.0))


@pytest.mark.parametrize("points", [INSIDE, GRID, INSIDE[:3], INSIDE[:1] + GRID[2:]], ids=["inside", "grid", "3", "4"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_what_can_be_written_is_what_the_definition_allows(name, points):
    found = written(Constrained(network(), CONSTRAINTS[name]()), exactly(points))
    assert sorted(found) == sorted(RIGHT[name](points))
    assert sum(np.exp(list(found.values()))) == pytest.approx(1, abs=1e-12)


def test_turns_are_looked_at_in_parts(monkeypatch):
    """All turns of many points at once would not fit into memory."""
    batch = exactly(INSIDE, GRID, GRID[1:])

    def second():
        hull = Hull()
        memory = hull.memory(batch)
        begun = hull.read(torch.full((3, 1), SPEC.begin), memory, hull.begin(memory))
        return hull.may_follow(memory, hull.read(torch.tensor([[3], [5], [4]]), memory, begun))[0]

    whole = second()
    monkeypatch.setattr(constraints, "AT_ONCE", 2 * whole.numel())
    assert torch.equal(second(), whole) and whole.any() and not whole.all()


def test_the_right_hulls_are_polygons():
    for row in RIGHT["hull"](GRID):
        corners = np.array([GRID[number] for number in row])
        assert is_simple(corners) and area(corners) > 0
    assert (0, 2, 4) in RIGHT["hull"](GRID) and (0, 1, 2, 4) not in RIGHT["hull"](GRID)


@torch.no_grad()
def test_the_probabilities_are_the_networks_scaled_to_those_that_may_follow():
    bare, batch = network(), exactly(INSIDE)
    made = Constrained(bare, Tour())
    state, own = made.start(batch), bare.start(batch)
    visited = []
    for token in (SPEC.begin, 5, 3, 7):
        visited.append(token)
        (scores, state, looked), (log_probs, own, seen) = (
            made.step(torch.tensor([[token]]), state),
            bare.step(torch.tensor([[token]]), own),
        )
        left = [v for v in range(3, 8) if v not in visited]
        expected = torch.full((8,), -torch.inf, dtype=torch.float64)
        expected[left] = (log_probs[0, 0, left].exp() / log_probs[0, 0, left].exp().sum()).log()
        torch.testing.assert_close(scores[0, 0], expected)
        assert torch.equal(looked["source"], seen["source"])


def test_gradients_pass_through_the_scaled_probabilities():
    """d log(p_i / sum of allowed p) = d log p_i - sum of the shares d log p_j, by autograd of the bare network."""
    bare, batch = network(), exactly(INSIDE)
    begin = torch.tensor([[SPEC.begin]])
    made = Constrained(bare, Distinct())
    for rows, right in ((made, None), (bare, [2, 4, 5, 6, 7])):
        log_probs, state, _ = rows.step(begin, rows.start(batch))
        log_probs = rows.step(torch.tensor([[3]]), state).log_probs[0, 0]
        total = log_probs[5] if right is None else log_probs[5] - log_probs[right].logsumexp(0)
        found = torch.autograd.grad(total, list(bare.parameters()), allow_unused=True)
        if right is None:
            kept = found
        else:
            for one, other in zip(kept, found, strict=True):
                torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_every_way_of_decoding_obeys_in_batches_of_unequal_exactly(name):
    torch.manual_seed(0)
    made, batch = Constrained(network(), CONSTRAINTS[name]()), exactly(INSIDE[:3], INSIDE, GRID, GRID[1:])
    rules = {"max_length": (1.0, 1.0)}
    for decode in (
        Greedy(**rules),
        BeamSearch(beam_size=3, nbest=3, **rules),
        Sampling(samples=6, temperature=2.0, **rules),
    ):
        for b, hypotheses in enumerate(decode(made, batch, SPEC)):
            points = batch.points[b][batch.point_mask[b]].tolist()
            assert hypotheses
            for hypothesis in hypotheses:
                assert hypothesis.finished
                assert tuple(id - 3 for id in hypothesis.ids[:-1]) in RIGHT[name](points)


def test_a_wide_beam_finds_what_is_likeliest_of_all():
    made, batch = Constrained(network(), Hull()), exactly(INSIDE)
    every = written(made, batch)
    found = BeamSearch(beam_size=60, nbest=5, max_length=(1.0, 1.0))(made, batch, SPEC)[0]
    right = sorted(every.values(), reverse=True)[:5]
    assert [hypothesis.log_prob for hypothesis in found] == pytest.approx(right)
    assert tuple(id - 3 for id in found[0].ids[:-1]) == max(every, key=every.get)


def test_points_in_a_line_leave_nothing_but_the_end():
    line = exactly([[0.1, 0.1], [0.2, 0.2], [0.4, 0.4]])
    assert {len(row) for row in written(Constrained(network(), Hull()), line)} == {1}


class Wide:
    """Scores for a vocabulary of 20, where some points do not exist; `ruled_out` are -inf."""

    def __init__(self, *ruled_out):
        self.scores = torch.linspace(0, 1, 20, dtype=torch.float64, requires_grad=True)
        self.out = torch.zeros(20, dtype=torch.bool)
        self.out[list(ruled_out)] = True

    def start(self, batch):
        return State({"mask": batch.memory_mask}, {"hidden": torch.zeros(len(batch), 1, 1)})

    def step(self, tokens, state):
        log_probs = self.scores.masked_fill(self.out, -torch.inf).log_softmax(0)
        after = {name: part for name, part in state.hypotheses.items() if name == "hidden"}
        assert set(state.hypotheses) == {"hidden"} and set(state.memory) == {"mask"}  # the constraint's are kept apart
        return Step(log_probs.expand(*tokens.shape, 20), State(state.memory, after), {})


def test_a_vocabulary_may_be_wider_than_the_set():
    found = written(Constrained(Wide(), Distinct()), exactly(INSIDE[:3]))
    assert sorted(found) == sorted(arrangements(3))


def test_where_the_network_rules_out_what_must_follow_it_stops_without_nan():
    made, batch = Constrained(wide := Wide(4, 5), Tour()), exactly(INSIDE[:3])
    drawn = Sampling(samples=2, max_length=(1.0, 1.0)).draw(made, batch, SPEC)
    assert drawn.tokens[0, :, 0].tolist() == [3, 3] and drawn.mask.sum() == 2
    drawn.log_probs.sum().backward()
    assert wide.scores.grad.isfinite().all()
    (hypotheses,) = BeamSearch(beam_size=2, max_length=(1.0, 1.0))(made, batch, SPEC)
    assert [hypothesis.finished for hypothesis in hypotheses] == [False]


def test_a_distribution_in_place_of_a_token_raises():
    made, batch = Constrained(network(), Tour()), exactly(INSIDE)
    with pytest.raises(ValueError, match="a constraint reads tokens"):
        made.step(torch.ones(1, 1, 8), made.start(batch))
