"""Sets of points on the disk, and how some of them become a batch."""

from __future__ import annotations

from collections.abc import Sequence

import datasets
import numpy as np
import pyarrow as pa
import torch

from zoo.data.points.batch import PointBatch
from zoo.data.points.encoding import padded
from zoo.data.stored import Rows, StoredSplit, numbers_of

Part = tuple[int, int]
"""The least and the most points of the sets that are a part of the test."""


class EncodedSets(StoredSplit):
    """Sets of a prepared split; those of the test belong to `parts` of it."""

    def __init__(self, sets: datasets.Dataset, parts: Sequence[Part] = ()) -> None:
        counts = numbers_of(sets, "count")
        super().__init__(sets, ("points", "count", "scale", "target"), counts)
        self.groups = np.zeros(len(counts), np.int64)
        for number, (low, high) in enumerate(parts):
            self.groups[(low <= counts) & (counts <= high)] = number

    def __getitems__(self, index: list[int]) -> Rows:
        rows = super().__getitems__(index)
        return Rows(rows.table.append_column("group", pa.array(self.groups[index])), rows.numbers)


def collate(rows: Rows) -> PointBatch:
    """Sets from the disk as a batch."""
    counts = rows.table["count"].to_numpy()
    flat = rows.table["points"].combine_chunks().flatten().to_numpy()
    width = len(flat) // int(counts.sum())
    sets = np.split(flat.reshape(-1, width), np.cumsum(counts)[:-1])
    return padded(
        sets,
        width,
        rows.table["target"].to_pylist(),
        scale=torch.from_numpy(rows.table["scale"].to_numpy().copy()),
        index=torch.tensor(rows.numbers),
        group=torch.from_numpy(rows.table["group"].to_numpy().copy()),
    )
