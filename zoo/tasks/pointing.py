"""Sets of points to sequences of pointers into them: hulls, triangulations, tours and orders. Each part of the test has
figures of its own."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar, Literal, Unpack

import torch
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.data.points.constraints import CONSTRAINTS, Distinct
from zoo.data.points.goals import GOALS
from zoo.decoding import Hypothesis
from zoo.decoding.constraint import Constrained
from zoo.errors import ConfigError, alternatives, did_you_mean, one_of
from zoo.metrics.pointing import BEST, FIGURES, JUDGES, MOST_FAILURES, figure_text
from zoo.metrics.ratios import GroupMeans
from zoo.objectives.policy_gradient import PolicyGradient
from zoo.tasks.generation import Generation, GenerationArguments, search_fields
from zoo.tasks.task import Examined, Prediction

log = logging.getLogger(__name__)

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
    figures: dict[str, float]  # Its quality, as far as the data allow to compute it: see `zoo.metrics.pointing`
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


class Pointing(Generation):
    """Any network that serves `pointing`. A figure of a test is a mean over the examples of a group, such as
    `accuracy_n5`; without the name of a group it is the mean of the groups."""

    name = "pointing"
    headline = (*dict.fromkeys(name for names in FIGURES.values() for name in names), "perplexity")
    view: ClassVar[str] = "zoo.visualize.pointing.PointingView"
    monitors: ClassVar[Mapping[str, str]] = {**Generation.monitors, **BEST}
    length_penalty = 0.0  # as conf/decoding/beam_pointing.yaml has it
    spec: PointSpec

    def __init__(
        self,
        *,
        constraint: Literal["auto", "none", "distinct", "hull", "tour"] = "auto",
        **rest: Unpack[GenerationArguments],
    ) -> None:
        """Args:
        constraint: the pointers that are allowed when the network writes by itself, and in the samples that it
            learns from (see `zoo.data.points.constraints`). `distinct` allows no point twice, `hull` only corners
            of a convex polygon, `tour` every point once. `auto` is `tour` for tours, else `none`, as in the paper.
        rest: the arguments of `Generation`. By default `max_length` of `decoding` is as large as the goal needs.
        """
        super().__init__(**rest)
        one_of("constraint", constraint, ("auto", "none", *CONSTRAINTS))
        self.constraint: Distinct | None = None
        self.figures: dict[str, dict[str, float]] = {}  # The figures of the last test, by group

    def build(self, spec: Spec, encoder: Any) -> None:
        assert isinstance(spec, PointSpec)
        name = self.hparams["constraint"]
        if name == "auto":
            name = "tour" if spec.goal == "tour" else "none"
        if name != "none" and spec.goal not in CONSTRAINTS[name].goals:
            fitting = ["none", *(other for other, kind in CONSTRAINTS.items() if spec.goal in kind.goals)]
            raise ConfigError(
                f"task.constraint={name}: it forbids right answers where the goal is {spec.goal}; "
                f"use task.constraint={alternatives(fitting)}"
            )
        self.constraint = None if name == "none" else CONSTRAINTS[name]()
        self.on_bar = FIGURES[spec.goal][:1]
        super().build(spec, encoder)

    @property
    def writing(self) -> Any:
        return self.network if self.constraint is None else Constrained(self.network, self.constraint)

    def prepare_training(self) -> None:
        """Raise ConfigError for a monitor that this goal does not have, for sequences that must end too early, and for
        an objective without the targets that it needs."""
        super().prepare_training()
        goal, name = self.spec.goal, self.monitor.removeprefix("val/")
        known = [*Generation.monitors, *FIGURES[goal]]
        if name not in known:
            raise ConfigError(
                f"task.monitor={self.monitor}: {goal} has no such figure; {did_you_mean(name, known, 'val/')}"
            )
        for number in (3, max(self.spec.longest, 3)):
            a, b = bounds = self._rules()["max_length"]
            if a * number + b < (needs := GOALS[goal].longest(number) + 1):
                raise ConfigError(
                    f"decoding.max_length={list(bounds)}: sequences for {number} points may have {a * number + b:g} "
                    f"tokens, and {goal} needs up to {needs}; set decoding.max_length={list(LONGEST[goal])}"
                )
        alone = isinstance(self.objective, PolicyGradient) and self.objective.weight == 1 and not self.regularizers
        if not self.spec.solved and not alone:
            raise ConfigError(
                "data.solve=false: training has no targets, and this objective or a regularizer needs them; use "
                "objective=reinforce_critic or objective=reinforce_tour, with objective.weight=1 and regularizer=null, "
                "or data.solve=true"
            )

    def metrics(self) -> dict[str, Metric]:
        groups = len(self.spec.groups)
        return {**super().metrics(), **{name: GroupMeans(groups) for name in FIGURES[self.spec.goal]}}

    def _decoding_options(self) -> dict[str, Any]:
        return {"max_length": LONGEST[self.spec.goal], **super()._decoding_options()}

    # evaluation

    def evaluate(self, batch: Any, stage: str) -> None:
        if batch.target is None:
            self._written(batch, stage)
        else:
            super().evaluate(batch, stage)

    def score_written(self, stage: str, batch: PointBatch, hypotheses: list[Hypothesis]) -> None:
        """Record the figures of each hypothesis."""
        found = self._judge(batch, [pointers(best.ids, self.spec) for best in hypotheses])
        for name in FIGURES[self.spec.goal]:
            figures = torch.tensor(
                [row.get(name, nan) for row in found], dtype=torch.float64, device=batch.group.device
            )
            defined = ~figures.isnan()  # only a valid tour has a length
            self.metrics_of(stage)[name].update(figures[defined], batch.group[defined])

    def _judge(self, batch: PointBatch, written: Sequence[Sequence[int]]) -> list[dict[str, float]]:
        judge, truth = JUDGES[self.spec.goal], targets(batch, self.spec)
        sets, lengths = batch.points.cpu().double().numpy(), batch.memory_length.tolist()
        rows = zip(sets, lengths, written, truth, batch.scale.tolist(), strict=True)
        return [judge(points[:n], ours, theirs, scale) for points, n, ours, theirs, scale in rows]

    def on_validation_epoch_end(self) -> None:
        self.log_means("val", self.group_means("val", FIGURES[self.spec.goal]))

    def on_test_epoch_end(self) -> None:
        found, groups = self.group_means("test", FIGURES[self.spec.goal]), self.spec.groups
        for name, values in found.items():
            self.log_means("test", {name: values})
            self.log_groups({name: values}, groups)
        self.figures = {
            group: {name: float(values[number]) for name, values in found.items()}
            for number, group in enumerate(groups)
        }
        for group, row in self.shown_figures().items():
            log.info("%s: %s", group, ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.items()))

    def shown_figures(self) -> dict[str, dict[str, str]]:
        """The figures of the last test as text, by group and name."""
        return {group: {name: figure_text(name, row) for name in row} for group, row in self.figures.items()}

    def remarks(self, metrics: Mapping[str, float]) -> dict[str, str]:
        found = {}
        for name in (name for name in metrics if name.startswith("test/area")):
            share = metrics.get(name.replace("area", "non_simple"), 0.0)
            if share > MOST_FAILURES:
                found[name] = f"FAIL: {100 * share:.1f}% of the polygons are not simple"
        return found

    # predicting

    def predictions(self, batch: PointBatch, words: list[Any]) -> list[PointingPrediction]:
        """The answers to each set; `words` are the sets in the units of their source."""
        found = self.predict_step(batch)
        written = [[pointers(answer.ids, self.spec) for answer in nbest] for nbest in found]
        ranks = range(max(map(len, written), default=0))
        judged = [self._judge(batch, [row[rank] if rank < len(row) else () for row in written]) for rank in ranks]
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


def pointers(ids: Sequence[int], spec: PointSpec) -> list[int]:
    """The numbers of the points, from 0, of the tokens before the end."""
    return [token - spec.first for token in ids if token >= spec.first]


def targets(batch: PointBatch, spec: PointSpec) -> list[list[int] | None]:
    """The true pointers of each example, from 0."""
    if batch.target is None:
        return [None] * len(batch)
    return [pointers(row, spec) for row in batch.target.tolist()]
