"""Splits on the disk: streamed into Arrow files, changed batch by batch, mapped into memory, read by rows.

Every step has at most one batch of examples in memory, so that 650,000 examples need no more memory than 650. The
functions that need the library `datasets` import it themselves, since an encoder reads what a user types without it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray
from torch.utils.data import Dataset

from zoo.data.options import SplitOptions
from zoo.data.sources import SPLITS
from zoo.errors import DataError

if TYPE_CHECKING:
    import datasets

ROWS = 1000  # Examples in one Arrow batch
PARALLEL = 5000
"""Examples for each process that is used, and the least number for which progress is shown."""


# Writing


def write_rows(file: Path, columns: pa.Schema, rows: Iterator[dict[str, Any]], noun: str) -> int:
    """Stream rows into an Arrow file. Returns their number. The file has those `columns` that the first row has;
    without a row it is not written."""
    import datasets

    first = next(rows, None)
    if first is None:
        return 0
    schema, rows, count = pa.schema([columns.field(name) for name in first]), chain([first], rows), 0
    bar = datasets.utils.tqdm(desc="reading", unit=f" {noun}", delay=2)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer, bar:
        while batch := list(islice(rows, ROWS)):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema))
            count += len(batch)
            bar.update(len(batch))
    return count


def map_split(part: datasets.Dataset, function: Any, file: Path, description: str) -> datasets.Dataset:
    """Call `part.map` on Arrow tables and write one file, in parallel for many examples, without a second cache."""
    processes = min(os.cpu_count() or 1, len(part) // PARALLEL)
    with progress(part):
        return part.with_format("arrow").map(
            function,
            batched=True,
            batch_size=ROWS,
            num_proc=processes if processes > 1 else None,
            remove_columns=part.column_names,
            cache_file_name=str(file),
            load_from_cache_file=False,
            new_fingerprint=file.stem,
            desc=description,
        )


def save(splits: dict[str, datasets.Dataset], folder: Path) -> None:
    """Write the splits from which batches are served."""
    import datasets

    with progress(next(iter(splits.values()))):
        datasets.DatasetDict(splits).save_to_disk(folder)


@contextmanager
def progress(part: datasets.Dataset) -> Iterator[None]:
    """Show progress bars only for a split that takes more than a few seconds."""
    import datasets

    hide = len(part) < PARALLEL and not datasets.are_progress_bars_disabled()
    if hide:
        datasets.disable_progress_bars()
    try:
        yield
    finally:
        if hide:
            datasets.enable_progress_bars()


def hide_bars_in_files() -> None:
    """Hide progress bars of libraries if the output is a file or a pipe."""
    import datasets

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()


def draw_splits(
    given: dict[str, datasets.Dataset],
    split: SplitOptions,
    where: str,
    noun: str,
    classes: NDArray[Any] | None = None,
    *,
    groups: NDArray[Any] | None = None,
    last: bool = False,
) -> dict[str, datasets.Dataset]:
    """Train, val and test. Missing splits are drawn from train by the seed; the order within a split stays.

    Args:
        given: the splits that exist, `train` among them.
        split: the shares and the seed.
        where: the place of the data, for messages.
        noun: the plural of an example, or of a group of examples, for messages.
        classes: (N,) the class of each example of train: each split gets its share of every class, and train some of
            each.
        groups: (N,) a number for each example of train: examples with the same number stay in one split.
        last: the last examples are taken, without a draw.

    Raises:
        DataError: there are too few examples.
    """
    missing, whole = [name for name in SPLITS if name not in given], given["train"]
    if not missing:
        return {name: given[name] for name in SPLITS}
    units, unit_of = np.unique(np.arange(len(whole)) if groups is None else groups, return_inverse=True)
    sizes = [max(1, round(float(getattr(split, name)) * len(units))) for name in missing]
    least = 1 if classes is None else len(np.unique(classes))
    if sum(sizes) + least > len(units):
        of_each = "" if least == 1 else f" and to train on each of {least} classes"
        raise DataError(
            f"{where}: too few {noun} ({len(units)}) to draw {' and '.join(missing)} from them{of_each}; "
            + split.advice(missing, noun)
        )
    drawn = np.arange(len(units))[::-1] if last else np.random.default_rng(split.seed).permutation(len(units))
    if classes is not None:
        drawn = drawn[np.argsort(_places(classes[drawn]), kind="stable")]
    parts = zip([*missing, "train"], np.split(drawn, np.cumsum(sizes)), strict=True)
    found = given | {name: whole.select(np.flatnonzero(np.isin(unit_of, part))) for name, part in parts}
    return {name: found[name] for name in SPLITS}


def _places(classes: NDArray[Any]) -> NDArray[np.float64]:
    """The share of its class that is complete after each example (N,), in (0, 1]. In this order every stretch has each
    class by its share, and the last examples have one of each."""
    _, number, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    place = np.empty(len(classes))
    place[np.argsort(number, kind="stable")] = np.concatenate([np.arange(1, size + 1) / size for size in sizes])
    return place


# Counting


def count_words(part: datasets.Dataset, *columns: str) -> Counter[str]:
    """How often each word occurs in columns of nested lists of words."""
    counts: Counter[str] = Counter()
    for table in part.with_format("arrow").iter(batch_size=10 * ROWS):
        for words in (table[column].combine_chunks() for column in columns):
            while pa.types.is_list(words.type):
                words = words.flatten()
            values, found = pc.value_counts(words).flatten()
            counts.update(dict(zip(values.to_pylist(), found.to_pylist(), strict=True)))
    return counts


def numbers_of(part: datasets.Dataset, column: str) -> NDArray[Any]:
    """A column of numbers (N,) of a split that `map_split` wrote or that was saved."""
    return np.asarray(part.data.column(column))


def values_of(part: datasets.Dataset, *columns: str) -> Iterator[Any]:
    """The values of the columns in sequence, with at most one batch of them in memory."""
    for column in columns:
        for table in part.with_format("arrow").iter(batch_size=ROWS):
            yield from table[column].to_pylist()


def histogram(lengths: NDArray[Any]) -> dict[str, Any]:
    """The mean, median and maximum of some lengths, and their numbers in the bins 0, 1, 2-3, 4-7, ... The bins begin
    with the first that is not empty."""
    bins = np.bincount(np.ceil(np.log2(lengths + 1)).astype(int))
    names = ["0", "1", *(f"{2**n}-{2 ** (n + 1) - 1}" for n in range(1, len(bins) - 1))]
    return {
        "mean": round(float(lengths.mean()), 2),
        "median": float(np.median(lengths)),
        "max": int(lengths.max()),
        "bins": {name: int(count) for name, count in list(zip(names, bins, strict=False))[np.flatnonzero(bins)[0] :]},
    }


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """The offsets of runs with these lengths, and the end of the last one."""
    total = np.zeros(np.size(lengths) + 1, np.int64)
    np.cumsum(lengths, out=total[1:])
    return total


def spread(begin: NDArray[Any], count: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers begin, begin + 1, ... of each run, `count` for each run, in sequence."""
    ends = np.cumsum(count)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + count, count)


def list_array(values: pa.Array, lengths: ArrayLike) -> pa.ListArray:
    """Cut `values` into lists of these lengths."""
    return pa.ListArray.from_arrays(pa.array(offsets(lengths), pa.int32()), values)


# Reading


class Rows(NamedTuple):
    """Some examples of a prepared split."""

    table: pa.Table
    numbers: list[int]  # Their numbers in the split


class StoredSplit(Dataset[Rows]):
    """A prepared split, mapped into memory. A DataLoader reads whole batches, which a collate function turns into
    tensors."""

    def __init__(self, examples: datasets.Dataset, columns: Sequence[str], lengths: ArrayLike) -> None:
        """Reads those of the `columns` that the split has. `lengths` (N,), or (N, 2) for pairs, are in words."""
        self.stored = examples
        self._examples = examples.with_format("arrow", columns=[c for c in columns if c in examples.column_names])
        self.lengths: NDArray[np.int64] = np.asarray(lengths).astype(np.int64)

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, index: int) -> Rows:
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> Rows:
        return Rows(self._examples[index], index)
