"""A confusion matrix as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zoo.visualize.blocks import Grid, Head
from zoo.visualize.renderers.figure import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NUMBERED = 25
"""The cells of at most so many classes have their counts."""


def confusion_figure(matrix: Any, classes: Sequence[str]) -> Figure:
    """Return the picture of `matrix` (C, C), counts by true class (row) and predicted class (column).

    Cells are shaded by their share of the true class, so that rare classes are visible. A class without examples has a
    white row.
    """
    counts = np.asarray(matrix)
    if counts.shape != (len(classes), len(classes)):
        raise ValueError(f"a confusion matrix of {len(classes)} classes is square of that size, got {counts.shape}")
    total, right = int(counts.sum()), int(np.trace(counts))
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    head = Head(
        f"{right:,} of {total:,} right" + (f" ({right / total:.1%})" if total else ""),
        above="rows: the true class; columns: the predicted class",
        under="shaded by the share of the true class",
    )
    texts = [[f"{int(count)}" for count in row] for row in counts] if len(classes) <= MOST_NUMBERED else None
    return draw([head, Grid(classes, classes, shares.tolist(), texts=texts, axes=("classes", "classes"))])
