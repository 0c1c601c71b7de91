"""From files of sets to sets on the disk that can be served: read, checked, solved where there is no target, moved into
the unit square, split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zoo.data.notes import key, repeated
from zoo.data.options import SplitOptions
from zoo.data.points.description import facts, shown, tour_length
from zoo.data.points.goals import TOUR, Goal
from zoo.data.points.goals.tour import EXACT
from zoo.data.points.sets import PointSet, into_unit_square, near_the_origin
from zoo.data.points.stored import Part
from zoo.data.rows import BadRows, counted
from zoo.data.sources import Source
from zoo.data.stored import draw_splits, numbers_of, progress, write_rows
from zoo.errors import DataError

FORMAT = 1
"""Raise it with every change of what is written, so that older folders are left alone."""
SETS = "sets"
NOUN = "sets"
TOGETHER = 256
"""Sets that are solved together."""
EXAMPLES = 2
MOST_PARTS = 10
"""Where a test has sets of more different sizes, its parts are ranges of them."""
SCHEMA = pa.schema(
    {
        "points": pa.list_(pa.float32()),  # (n * W,) in the unit square
        "count": pa.int32(),
        "scale": pa.float32(),
        "target": pa.list_(pa.int32()),
        "found": pa.bool_(),  # the target is ours, and not the file's
        "tour_length": pa.float64(),  # in the units of the file
        "key": pa.int64(),
    }
)


def prepare(
    folder: Path,
    steps: Path,
    source: Source,
    goal: Goal,
    split: SplitOptions,
    bad: BadRows,
) -> dict[str, Any]:
    """Write the sets of `source` into an empty folder, and what is needed on the way alone into another; their
    description. Raises DataError for what cannot be used."""
    splits = {}
    for name, read in source.splits.items():
        file = steps / f"{name}.arrow"
        if not write_rows(file, SCHEMA, rows(read(bad), goal), NOUN):
            left_out = f"; left out: {counted(bad.problems)}" if bad.problems else ""
            raise DataError(f"{source.place}: no set of points in the {name} split{left_out}")
        splits[name] = datasets.Dataset.from_file(str(file))
    if "train" in splits:
        splits = draw_splits(splits, split, source.place, NOUN)
    with progress(splits["test"]):
        datasets.DatasetDict(splits).save_to_disk(folder / SETS)
    splits = datasets.load_from_disk(folder / SETS)  # each then has its own rows alone
    counts = {name: numbers_of(part, "count") for name, part in splits.items()}
    return {
        "source": source.description.replace("{count}", f"{sum(map(len, splits.values())):,}"),
        "longest": max(int(each.max()) for each in counts.values()),
        "longest_target": max(int(lengths_of(part).max()) for part in splits.values()) + 1,
        "parts": parts_of(counts["test"]),
        "skipped": dict(bad.problems),
        "splits": {name: _facts(part, goal) for name, part in splits.items()},
        "notes": [*_repeated(splits), *_improvable(splits, goal)],
        "examples": shown(_first(splits["test"], goal), goal),
    }


def rows(sets: Iterable[PointSet], goal: Goal) -> Iterator[dict[str, Any]]:
    """The sets as they are stored, each with a target: where its file gives none, the one that the goal finds."""
    sets = iter(sets)
    while some := list(islice(sets, TOGETHER)):
        found = iter(goal.targets([near_the_origin(one.points) for one in some if one.target is None]))
        for one in some:
            target = next(found) if one.target is None else one.target
            placed, scale = into_unit_square(one.points)
            yield {
                "points": placed.ravel(),
                "count": len(placed),
                "scale": scale,
                "target": target,
                "found": one.target is None,
                "tour_length": tour_length(one.points, target) if goal is TOUR else None,
                "key": key(placed.tolist()),
            }


# Describing


def parts_of(counts: NDArray[Any]) -> list[Part]:
    """The parts of a test of sets of `counts` (N,) points.

    There is one part per size, or, for many sizes, one per range from a power of two to the next.
    """
    sizes = np.unique(counts).tolist()
    if len(sizes) <= MOST_PARTS:
        return [(size, size) for size in sizes]
    powers = dict.fromkeys(1 << (size.bit_length() - 1) for size in sizes)
    return [(power, 2 * power - 1) for power in powers]


def name_of_part(part: Sequence[int]) -> str:
    """`n5`, `n8_to_15`."""
    low, high = part
    return f"n{low}" if low == high else f"n{low}_to_{high}"


def lengths_of(part: datasets.Dataset) -> NDArray[Any]:
    """(N,) of the targets."""
    return np.asarray(pa.compute.list_value_length(part.data.column("target")))


def _facts(part: datasets.Dataset, goal: Goal) -> dict[str, Any]:
    tours = numbers_of(part, "tour_length") if goal is TOUR else ()
    return {NOUN: len(part), **facts(numbers_of(part, "count"), lengths_of(part), tours)}


def _first(part: datasets.Dataset, goal: Goal) -> list[PointSet]:
    some = part.with_format("numpy")[:EXAMPLES]
    pairs = zip(some["points"], some["target"], strict=True)
    return [PointSet(np.reshape(points, (-1, goal.width)), target.tolist()) for points, target in pairs]


def _repeated(splits: Mapping[str, datasets.Dataset]) -> list[str]:
    keys = {name: numbers_of(part, "key") for name, part in splits.items()}
    return repeated(keys, NOUN) if "train" in keys else []


def _improvable(splits: Mapping[str, datasets.Dataset], goal: Goal) -> list[str]:
    """Tours that are none of the file and need not be the shortest."""
    if goal is not TOUR:
        return []
    counts = {
        name: int((numbers_of(p, "found") & (numbers_of(p, "count") > EXACT)).sum()) for name, p in splits.items()
    }
    return [
        f"{name}: the files have no tour of {count:,} sets of more than {EXACT} points; those were found by insertion, "
        "2-opt and or-opt, and there may be shorter ones"
        for name, count in counts.items()
        if count
    ]
