"""Bits that were written, to be shown."""

from dataclasses import replace
from typing import Any

import numpy as np

from zoo.predicting.algorithmic import BitPrediction

COPY = BitPrediction(
    given="10 01",
    written=("11", "01"),
    truth=("10", "01"),
    separator=" ",
    inputs=np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    scored=np.array([False, False, False, True, True]),
    probabilities=np.array([[0.9, 0.75], [0.125, 0.6]]),
    targets=np.array([[1, 0], [0, 1]]),
)
"""One of four bits is wrong."""
MEMORY = {
    "write": np.eye(5)[None] * 0.75,
    "read": np.stack([np.eye(5), np.eye(5)[::-1]]),
    "erase": np.full((1, 5, 2), 0.25),
    "add": np.array([[[-2, 1], [0, 0], [0, 0], [0, 0], [0, 0]]]),
    "memory": np.arange(10.0).reshape(5, 2),
}
"""One head that writes and two that read, over five rows of two numbers."""


def prediction(**changes: Any) -> BitPrediction:
    """COPY with changes."""
    return replace(COPY, **changes)


def wide(rows: int) -> BitPrediction:
    """A memory of many rows; rows 7 to 9 are in use."""
    weights = np.full((1, 5, rows), 0.01)
    weights[0, :, 7] = weights[0, 2, 9] = 0.5
    return prediction(memory={"write": weights, "read": weights, "memory": np.zeros((rows, 2))})
