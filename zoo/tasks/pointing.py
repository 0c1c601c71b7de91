"""Sets of points to sequences of pointers into them: hulls, triangulations, tours and orders. Each part of the test has
figures of its own."""

import logging
from collections.abc import Mapping
from math import nan
from typing import Any, ClassVar, Literal, Unpack

import torch
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.points.batch import PointBatch
from zoo.data.points.constraints import CONSTRAINTS
from zoo.data.points.figures import BEST, FIGURES, MOST_FAILURES, figure_text
from zoo.data.points.goals import GOALS
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError, did_you_mean, one_of
from zoo.metrics.ratios import GroupMeans
from zoo.objectives.policy_gradient import PolicyGradient
from zoo.predicting.pointing import LONGEST, PointingPredictions, pointers
from zoo.tasks.generation import Generation, GenerationArguments

log = logging.getLogger(__name__)


class Pointing(PointingPredictions, Generation):
    """Any network that serves `pointing`. A figure of a test is a mean over the examples of a group, such as
    `accuracy_n5`; without the name of a group it is the mean of the groups."""

    headline = (*dict.fromkeys(name for names in FIGURES.values() for name in names), "perplexity")
    monitors: ClassVar[Mapping[str, str]] = {**Generation.monitors, **BEST}

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
        self.figures: dict[str, dict[str, float]] = {}  # The figures of the last test, by group

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.on_bar = FIGURES[self.spec.goal][:1]

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

    # evaluation

    def evaluate(self, batch: Any, stage: str) -> None:
        if batch.target is None:
            self._written(batch, stage)
        else:
            super().evaluate(batch, stage)

    def score_written(self, stage: str, batch: PointBatch, hypotheses: list[Hypothesis]) -> None:
        """Record the figures of each hypothesis."""
        found = self.judged(batch, [pointers(best.ids, self.spec) for best in hypotheses])
        for name in FIGURES[self.spec.goal]:
            figures = torch.tensor(
                [row.get(name, nan) for row in found], dtype=torch.float64, device=batch.group.device
            )
            defined = ~figures.isnan()  # only a valid tour has a length
            self.metrics_of(stage)[name].update(figures[defined], batch.group[defined])

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
