"""Sets of points of your own: files of text, tables, and instances of TSPLIB."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.corpus import OwnFiles
from zoo.data.notes import key
from zoo.data.options import LoaderArguments, OwnSplitOptions, SplitOptions
from zoo.data.order import Nouns
from zoo.data.points.batch import PointSpec
from zoo.data.points.encoding import PointEncoder
from zoo.data.points.goals import GOALS, TOUR, GoalName
from zoo.data.points.goals.tour import EXACT
from zoo.data.points.readers import KINDS, TSPLIB, best_tour, read_sets
from zoo.data.points.sets import IMPROVABLE, PointSet, facts, into_unit_square, shown, tour_length
from zoo.data.readers import kind_of
from zoo.data.rows import some, visible
from zoo.data.sources import SPLITS, Reading, Source, existing, file_source, identity, split_of
from zoo.data.stored import StoredSplit, numbers_of
from zoo.data.table_data import TableData
from zoo.data.table_encoder import TableEncoder
from zoo.errors import DataError, one_of

LAYOUT = (
    "a file of sets (.txt: x1 y1 ... xn yn output i1 ... im, one set per line; .csv, .tsv: one point per row), a "
    "folder with such files called train, test and perhaps val, or a .tsp of TSPLIB or a folder of those, which are a "
    "test"
)
MOST_PARTS = 10
"""If the sets of a test have more different sizes than this, its parts are ranges of sizes."""
Part = tuple[int, int]
"""A part of the test: the smallest and the largest number of points of its sets."""


class OwnPointArguments(LoaderArguments, total=False):
    """The arguments of `OwnPoints` besides its goal."""

    path: str
    split: Mapping[str, Any] | SplitOptions | None


class OwnPoints(OwnFiles, TableData):
    """Sets from `path`; `split.seed` draws splits without a file.

    If a file has no targets, they are computed. Sets outside the unit square are moved and scaled into it.
    """

    name = "points"
    layout = LAYOUT
    tasks: ClassVar[tuple[str, ...]] = ("pointing",)
    nouns: ClassVar[Nouns] = Nouns("sets", "points")
    encoding = PointEncoder
    split_options = OwnSplitOptions
    split: OwnSplitOptions
    spec: PointSpec
    encoder: PointEncoder

    def __init__(self, *, goal: GoalName = "hull", **rest: Unpack[OwnPointArguments]) -> None:
        """`goal` names the kind of target, e.g. hull; `loader.max_tokens` counts points."""
        super().__init__(**rest)
        self.goal = GOALS[one_of("data.goal", goal, GOALS)]

    # Preparing

    def open_files(self, path: Path) -> Source | None:
        files = self._files(path)
        if not files.keys() & {"train", "test"}:
            return None
        for split, other in self.split.named().items():
            expected = "a share between 0 and 1, a file of sets, or a folder of .tsp"
            files[split] = self._part(existing(other, f"data.split.{split}", expected))
        files = {split: files[split] for split in SPLITS if split in files}
        goal = self.goal.name
        source = file_source(path, files, lambda file, bad: read_sets(file, goal, bad), self.row_noun)
        tours = [beside for part in files.values() for file in part if (beside := best_tour(file)).exists()]
        return replace(source, identity={**source.identity, "tours": [identity(file) for file in tours]})

    def _files(self, path: Path) -> dict[str, list[Path]]:
        if not path.is_dir():
            return {"test" if kind_of(path) == TSPLIB else "train": self._part(path)}
        files: dict[str, list[Path]] = {}
        for file in (file for file in visible(path) if file.is_file() and kind_of(file) in KINDS):
            split = "test" if kind_of(file) == TSPLIB else split_of(file.name)
            if split is not None:
                files.setdefault(split, []).append(file)
        return files

    @staticmethod
    def _part(path: Path) -> list[Path]:
        if path.is_dir():
            if not (files := [file for file in visible(path) if file.is_file() and kind_of(file) == TSPLIB]):
                raise DataError(f"{path}: no {TSPLIB} in this folder; expected: {LAYOUT}")
            return files
        if kind_of(path) not in KINDS:
            raise DataError(f"{path}: unknown kind of file {kind_of(path)!r}; expected: {LAYOUT}")
        return [path]

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"goal": self.goal.name}

    def new_encoder(self) -> PointEncoder:
        return PointEncoder(self.goal.name)

    def examples(self, rows: Iterator[PointSet], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for one in rows:
            placed, _ = into_unit_square(one.points)
            yield {"points": one.points.ravel(), "target": one.target, "key": key(placed.tolist())}

    def draw(self, raw: dict[str, datasets.Dataset], source: Source) -> dict[str, datasets.Dataset]:
        return super().draw(raw, source) if "train" in raw else raw

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        self._parts = parts_of(self.lengths(splits["test"]))

    def numbering(self, encoder: TableEncoder, split: str) -> Callable[[pa.Table], pa.Table]:
        assert isinstance(encoder, PointEncoder)
        return partial(_numbered, encoder, [low for low, _ in self._parts] if split == "test" else [0])

    # Describing

    def lengths(self, split: datasets.Dataset) -> NDArray[Any]:
        return self.new_encoder().counts(_list_lengths(split, "points"))

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        assert isinstance(encoder, PointEncoder)
        tours: list[float] = []
        if self.goal is TOUR:
            for table in split.with_format("arrow").iter(batch_size=1000):
                scales = table["scale"].to_pylist()
                tours += [tour_length(one) * side for one, side in zip(encoder.sets(table), scales, strict=True)]
        return facts(self.lengths(split), _list_lengths(split, "target"), tours)

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        points = {name: self.lengths(split) for name, split in splits.items()}
        improvable = {
            name: int((numbers_of(split, "found") & (points[name] > EXACT)).sum()) for name, split in splits.items()
        }
        return {
            "longest": max(int(counts.max()) for counts in points.values()),
            "longest_target": max(int(_list_lengths(split, "target").max()) for split in splits.values()) + 1,
            "parts": self._parts,
            "notes": [
                f"{name}: the files have no tour for {some(count, 'set')} of more than {EXACT} points; the tours were "
                f"found by {IMPROVABLE}"
                for name, count in improvable.items()
                if count and self.goal is TOUR
            ],
        }

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        return shown(PointSet(np.reshape(row["points"], (-1, self.goal.width)), row["target"]), self.goal)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        return [f"up to {about['longest']} points, targets of up to {about['longest_target'] - 1} pointers"]

    # Serving

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = PointSpec(
            width=self.goal.width,
            longest=about["longest"],
            longest_target=max(about["longest_target"], self.goal.longest(about["longest"]) + 1),
            goal=self.goal.name,
            groups=tuple(map(name_of_part, about["parts"])),
        )

    def part(self, split: str) -> StoredSplit:
        self._prepared()
        if split not in self._splits:
            raise DataError(
                f"{self.path}: found only a test, no sets to train on; test a trained network with train=false "
                "ckpt_path=CHECKPOINT, or set data.path to sets to train on and data.split.test to these"
            )
        return super().part(split)


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
    """The name of a part in metrics, such as `n5` or `n8_to_15`."""
    low, high = part
    return f"n{low}" if low == high else f"n{low}_to_{high}"


def _numbered(encoder: PointEncoder, least: Sequence[int], table: pa.Table) -> pa.Table:
    """The sets, each with the number of its part of the test; `least` are the fewest points of each part."""
    counts = encoder.counts(pc.list_value_length(table["points"]))
    groups = np.searchsorted(least, counts, "right") - 1
    return encoder.ids(table.append_column("group", pa.array(groups)))


def _list_lengths(split: datasets.Dataset, column: str) -> NDArray[Any]:
    return np.asarray(pc.list_value_length(split.data.column(column)))
