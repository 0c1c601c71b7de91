"""Handwriting: scores worked by hand, shuffled texts, and lines that are written until the stop rule ends them."""

from dataclasses import replace
from math import log, pi
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.families import family_of, mask_of
from tests.tasks.running import figures
from zoo.data.strokes.batch import StrokeBatch
from zoo.decoding.strokes import write_lines
from zoo.models.network import Network
from zoo.models.output import Output
from zoo.tasks.handwriting import Handwriting, shuffled

LETTERS = torch.tensor([[0, 0, 1, 1], [0, 1, 2, -1]])


class State(NamedTuple):
    """The weights of the letters, and the number of steps."""

    phi: Tensor
    step: int


class Clock(Network):
    """Expects offsets (1, 0) with deviation `sd` and half a chance of an end; looks at a letter for two points each."""

    tasks = ("handwriting",)
    attends: ClassVar[dict[str, str]] = {"window": "text_mask"}
    unnormalised = ("window",)

    def __init__(self, spec: Any, *, sd: float = 1.0, late: int = 0):
        super().__init__()
        self.log_sd, self.late, self.unused = log(sd), late, nn.Parameter(torch.zeros(1))

    def outputs(self, *shape: int) -> Tensor:
        found = torch.zeros(*shape, 7)
        found[..., 2], found[..., 4:6] = 1, self.log_sd
        return found

    def weights(self, count: int, step: int) -> Tensor:
        return (-0.5 * (torch.arange(count) - max(0, step - self.late) // 2) ** 2).exp()

    def forward(self, batch: StrokeBatch) -> Output:
        rows, points = batch.point_mask.shape
        window = torch.stack([self.weights(batch.text_mask.shape[1], step) for step in range(points)])
        return Output(self.outputs(rows, points), {"window": window.expand(rows, -1, -1) * batch.text_mask[:, None]})

    def symbols(self, batch: StrokeBatch) -> Tensor:
        return torch.zeros(len(batch), batch.text.shape[1] + 1, 1)

    def begin(self, batch: StrokeBatch) -> State:
        return State(torch.zeros(len(batch), batch.text.shape[1] + 1), 0)

    def step(self, points: Tensor, pen: State, symbols: Tensor) -> tuple[Tensor, State]:
        phi = self.weights(symbols.shape[1], pen.step).expand(len(points), -1)
        return self.outputs(len(points)), State(phi, pen.step + 1)


def batch() -> StrokeBatch:
    """Two lines, of 4 points with 2 letters and of 3 points with 3 letters."""
    points = torch.zeros(2, 4, 3)
    points[:, :, 0] = torch.tensor([[1.0, 1, 3, 1], [1, 2, 1, 0]])
    mask, text_mask = mask_of([4, 3]), mask_of([2, 3])
    return StrokeBatch(points, mask, text=torch.tensor([[2, 3, 0], [4, 5, 6]]), text_mask=text_mask, letters=LETTERS)


def task(**network: Any) -> Handwriting:
    found = Handwriting(
        model={"_target_": "tests.tasks.test_handwriting.Clock", **network}, monitor="val/nats", mode="min"
    )
    family = family_of("handwriting")
    found.build(family.spec, family.encoder)
    return found


def test_scores_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    found = figures(task(), monkeypatch, batch())
    each = log(2 * pi) + log(2)
    assert found["nats"] == pytest.approx((4 * each + 4 / 2 + 3 * each + 1 / 2) / 2)
    assert found["sse"] == pytest.approx((4 + 1) / 7)
    # looked at: 0 0 1 1 and 0 0 1, letters: 0 0 1 1 and 0 1 2
    assert found["letter_accuracy"] == pytest.approx(5 / 7) and found["within_one"] == 1
    assert found["lag"] == pytest.approx(-2 / 7) and found["monotone"] == 1
    # the window is after the last letter when two points per letter are written: 4 and 6 of 4 and 3 points
    assert found["stop_error"] == pytest.approx((0 + 1) / 2)
    assert found["nats_shuffled"] == pytest.approx(found["nats"])  # this network does not read the letters


def test_likelihoods_of_other_units_differ_by_a_constant_per_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offsets half as long under a density half as wide: 2 ln 2 less per point, the scale trap."""
    whole = figures(task(), monkeypatch, batch())["nats"]
    points = batch().points.clone()
    points[..., 0] = 1 + (points[..., 0] - 1) / 2
    half = figures(task(sd=0.5), monkeypatch, replace(batch(), points=points))["nats"]
    assert half == pytest.approx(whole - 3.5 * 2 * log(2))


def test_shuffled_texts_have_the_same_letters_and_do_not_depend_on_the_batch() -> None:
    given = family_of("handwriting").batch(3)
    found = shuffled(given)
    assert torch.equal(found.text.sort(1).values, given.text.sort(1).values)
    assert not torch.equal(found.text, given.text)
    assert torch.equal(found.text.where(given.text_mask, 0), found.text)
    for row in range(len(given)):
        alone = shuffled(family_of("handwriting").part(given, [row]))
        assert torch.equal(alone.text[0], found.text[row, : alone.text.shape[1]])


def test_a_line_ends_when_the_window_has_passed_its_letters() -> None:
    """Each line at its own length, at its largest number of points if that comes first, and after its given points."""
    network, given = Clock(None), batch()
    blank = replace(given, points=given.points[:, :0], point_mask=given.point_mask[:, :0], letters=None)
    lines = write_lines(network, blank, most=[50, 5], bias=[0.0, 0.0], seed=1)
    assert [len(line.points) for line in lines] == [4, 5] and [line.finished for line in lines] == [True, False]
    assert [line.weights.shape for line in lines] == [(4, 2), (5, 3)]
    assert all(line.points[-1, 2] == 1 for line in lines)
    again = write_lines(network, blank, most=[50, 50], bias=[0.0, 0.0], seed=1)
    np.testing.assert_array_equal(again[0].points, lines[0].points)
    np.testing.assert_array_equal(again[1].points[:4], lines[1].points[:4])
    other = write_lines(network, blank, most=[50, 5], bias=[3.0, 0.0], seed=1)
    assert np.abs(other[0].points[:, :2] - [1, 0]).max() < 0.3 < np.abs(lines[0].points[:, :2] - [1, 0]).max()
    np.testing.assert_array_equal(other[1].points, lines[1].points)
    forced = write_lines(network, given, most=[50, 50], bias=[0.0, 0.0], seed=1)
    assert [len(line.points) for line in forced] == [4, 6]
    np.testing.assert_array_equal(forced[1].points[:3], given.points[1, :3].numpy())
    late = write_lines(Clock(None, late=4), given, most=[50, 50], bias=[0.0, 0.0], seed=1)
    assert [len(line.points) for line in late] == [8, 10]


def test_given_points_leave_the_state_that_reading_them_leaves() -> None:
    """A line goes on as if the network had drawn its given points itself."""
    torch.manual_seed(0)
    from zoo.models.handwriting import HandwritingSynthesis

    network = HandwritingSynthesis(family_of("handwriting").spec, hidden_dim=8, num_layers=2, mixtures=2).eval()
    text, mask = torch.tensor([[2, 3, 4]]), mask_of([3])
    blank = StrokeBatch(torch.zeros(1, 0, 3), torch.zeros(1, 0, dtype=torch.bool), text=text, text_mask=mask)
    (drawn,) = write_lines(network, blank, most=[20], bias=[0.0], seed=1)
    points = torch.from_numpy(drawn.points[None, :12])
    given = replace(blank, points=points, point_mask=mask_of([12]), packing=None)
    (line,) = write_lines(network, given, most=[20], bias=[0.0], seed=1)
    np.testing.assert_allclose(line.points, drawn.points, atol=1e-5)
    np.testing.assert_allclose(line.weights, drawn.weights, atol=1e-6)
