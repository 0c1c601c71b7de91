"""Sequences of pointers into sets of points, and their quality."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from zoo.data.batch import Spec
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.data.points.constraints import CONSTRAINTS, Distinct
from zoo.data.points.figures import JUDGES
from zoo.decoding.constraint import Constrained
from zoo.errors import ConfigError, alternatives
from zoo.predicting.predicting import Examined, Prediction
from zoo.predicting.writing import WritingPredictions, search_fields

LONGEST: Mapping[str, tuple[float, float]] = {
    "hull": (1.0, 1.0),
    "tour": (1.0, 1.0),
    "order": (1.0, 1.0),
    "triangulation": (6.0, 0.0),
}
"""(a, b) by goal: by default a sequence for n points has at most a n + b tokens, with its end."""


@dataclass(frozen=True)
class Pointed:
    """One sequence of pointers into a set of points."""

    numbers: tuple[int, ...]  # The numbers of the points in the order of the pointers, from 1, without the end
    log_prob: float  # Sum of the log-probabilities, with the end's
    score: float  # The number by which the answers of a set are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    figures: dict[str, float]  # Its quality, as far as the data allow to compute it: see `zoo.data.points.figures`
    attention: tuple[tuple[float, ...], ...] | None
    """(T, 1 + n) weights on the end and on the points, a row for each pointer and the end; None where the network has
    no attention."""


@dataclass(frozen=True)
class PointingPrediction(Prediction):
    """The answers to one set of points: the best first, or in the order in which they were sampled."""

    points: tuple[tuple[float, ...], ...]
    goal: str  # hull, triangulation, tour or order
    answers: tuple[Pointed, ...]

    @property
    def best(self) -> Pointed:
        return self.answers[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`; an undefined figure is None."""
        plain = super().to_dict()
        for answer in plain["answers"]:
            answer["figures"] = {name: None if x != x else x for name, x in answer["figures"].items()}
        return plain


@dataclass(frozen=True)
class ExaminedPointing(Examined):
    """A set of a split, with the predicted and the true pointers."""

    prediction: PointingPrediction
    target: tuple[int, ...] | None
    """The true numbers of points, from 1, in their order; None where the data do not have them."""


class PointingPredictions(WritingPredictions):
    """The pointers that any network for `pointing` writes."""

    name = "pointing"
    view: ClassVar[str] = "zoo.visualize.pointing.PointingView"
    length_penalty = 0.0  # as conf/decoding/beam_pointing.yaml has it
    spec: PointSpec
    constraint: Distinct | None = None  # The pointers that are allowed where the network writes by itself

    def build(self, spec: Spec, encoder: Any) -> None:
        assert isinstance(spec, PointSpec)
        name = self.options.get("constraint", "auto")
        if name == "auto":
            name = "tour" if spec.goal == "tour" else "none"
        if name != "none" and spec.goal not in CONSTRAINTS[name].goals:
            fitting = ["none", *(other for other, kind in CONSTRAINTS.items() if spec.goal in kind.goals)]
            raise ConfigError(
                f"task.constraint={name}: it forbids right answers where the goal is {spec.goal}; "
                f"use task.constraint={alternatives(fitting)}"
            )
        self.constraint = None if name == "none" else CONSTRAINTS[name]()
        super().build(spec, encoder)

    @property
    def writing(self) -> Any:
        return self.network if self.constraint is None else Constrained(self.network, self.constraint)

    def _decoding_options(self) -> dict[str, Any]:
        return {"max_length": LONGEST[self.spec.goal], **super()._decoding_options()}

    def predictions(self, batch: PointBatch, words: list[Any]) -> list[PointingPrediction]:
        """The answers to each set; `words` are the sets in the units of their source."""
        found = self.predict_step(batch)
        written = [[pointers(answer.ids, self.spec) for answer in nbest] for nbest in found]
        ranks = range(max(map(len, written), default=0))
        judged = [self.judged(batch, [row[rank] if rank < len(row) else () for row in written]) for rank in ranks]
        return [
            PointingPrediction(
                points=tuple(tuple(map(float, point)) for point in points),
                goal=self.spec.goal,
                answers=tuple(
                    Pointed(
                        numbers=tuple(number + 1 for number in written[b][rank]),
                        figures=judged[rank][b],
                        **search_fields(hypothesis),
                    )
                    for rank, hypothesis in enumerate(nbest)
                ),
            )
            for b, (points, nbest) in enumerate(zip(words, found, strict=True))
        ]

    def examine(self, batch: PointBatch) -> list[ExaminedPointing]:
        """Examine each set, in the units of its source, with the corner of the unit square as the origin."""
        sets = (batch.points * batch.scale[:, None, None]).cpu().double().numpy()
        shown = [points[:n] for points, n in zip(sets, batch.memory_length.tolist(), strict=True)]
        truths = targets(batch, self.spec)
        numbers = [None if row is None else tuple(pointer + 1 for pointer in row) for row in truths]
        text = [None if row is None else " ".join(map(str, row)) for row in numbers]
        return self.examined(ExaminedPointing, batch, shown, text, numbers)

    def judged(self, batch: PointBatch, written: Sequence[Sequence[int]]) -> list[dict[str, float]]:
        """The figures of the written pointers of each set."""
        judge, truth = JUDGES[self.spec.goal], targets(batch, self.spec)
        sets, lengths = batch.points.cpu().double().numpy(), batch.memory_length.tolist()
        rows = zip(sets, lengths, written, truth, batch.scale.tolist(), strict=True)
        return [judge(points[:n], ours, theirs, scale) for points, n, ours, theirs, scale in rows]


def pointers(ids: Sequence[int], spec: PointSpec) -> list[int]:
    """The numbers of the points, from 0, of the tokens before the end."""
    return [token - spec.first for token in ids if token >= spec.first]


def targets(batch: PointBatch, spec: PointSpec) -> list[list[int] | None]:
    """The true pointers of each example, from 0."""
    if batch.target is None:
        return [None] * len(batch)
    return [pointers(row, spec) for row in batch.target.tolist()]
