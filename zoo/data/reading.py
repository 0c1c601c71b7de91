"""The reading of one split: its unusable rows, and the labels that exist."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from zoo.data.rows import BadRows
from zoo.errors import or_nearest

SHOWN_LABELS = 8
"""The most labels that a message names."""


@dataclass(frozen=True)
class Reading:
    """The reading of one split, and the rows that it leaves out."""

    split: str
    bad: BadRows
    dropped: Counter[str]
    """The numbers of examples that are left out, by reason."""
    labels: dict[str, None]
    """The labels of the training examples so far, in the order in which they first occur."""

    @property
    def training(self) -> bool:
        """Whether this is the training split."""
        return self.split == "train"

    def knows(self, label: str, place: str, noun: str) -> bool:
        """Whether a label may occur. Every label of the training split may; another one of a later split is reported as
        a bad row."""
        if self.training:
            self.labels[label] = None
        elif label not in self.labels:
            there = list(self.labels)
            some = ", ".join(map(repr, there[:SHOWN_LABELS])) + ", ..." * (len(there) > SHOWN_LABELS)
            hint = or_nearest(label, there)
            self.bad(
                place, "unknown label", f"{label!r} does not occur in the training {noun}, which have {some}{hint}"
            )
            return False
        return True
