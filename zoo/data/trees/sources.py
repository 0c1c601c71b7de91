"""Where trees come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from zoo.data.sources import Source


@dataclass(frozen=True)
class TreeSource(Source):
    """Labelled trees: its readers give `Labelled`."""

    classes: Mapping[str, str] | None = None
    """The name of each label's class, in the order of the logits; None where the labels are their names, and are found
    in the trees."""
    polarity: tuple[int, ...] = ()
    """-1, 0 or 1 of each class; empty where they are of another kind."""
    neutral: str | None = None
    """The class of the roots of trees that are left out; None leaves none out."""


@dataclass(frozen=True)
class PairSource(Source):
    """Pairs of trees with a score: its readers give `Pair`."""

    grades: tuple[int, int] = field(default=(1, 5))
    """The lowest and the highest score."""
