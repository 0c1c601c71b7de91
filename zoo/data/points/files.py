"""Sets of points of your own: files of text, tables, and instances of TSPLIB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Unpack

import datasets
from pydantic import Field

from zoo.data.cache import steps_beside
from zoo.data.corpus import OwnFiles
from zoo.data.options import LoaderArguments, Part, SplitOptions
from zoo.data.order import Nouns
from zoo.data.points.encoding import PointEncoder
from zoo.data.points.goals import GOALS, GoalName
from zoo.data.points.prepare import FORMAT, NOUN, SETS, name_of_part, prepare
from zoo.data.points.readers import KINDS, TSPLIB, best_tour, read_sets
from zoo.data.points.sets import PointSet
from zoo.data.points.spec import PointSpec
from zoo.data.points.stored import EncodedSets, collate
from zoo.data.readers import kind_of
from zoo.data.rows import BadRows, counted, visible
from zoo.data.sources import SPLITS, Source, existing, file_source, identity, split_of
from zoo.data.stored import StoredSplit
from zoo.errors import DataError, one_of

LAYOUT = (
    "a file of sets (.txt: x1 y1 ... xn yn output i1 ... im, a set a line; .csv, .tsv: a point a row), a folder with "
    "such files called train, test and perhaps val, or a .tsp of TSPLIB or a folder of those, which are a test"
)
FileName = Annotated[str, Field(pattern=r"\S", description="a file of sets or a folder of .tsp")]


@dataclass(frozen=True)
class OwnSetSplitOptions(SplitOptions):
    """Shares for sets of your own; `val` and `test` may also be the path of a second file, or of a folder of .tsp."""

    val: Part | FileName = 0.1  # type: ignore[assignment]
    test: Part | FileName = 0.1  # type: ignore[assignment]

    def named(self) -> dict[str, str]:
        """The splits that are given by a path."""
        return {key: value for key in ("val", "test") if isinstance(value := getattr(self, key), str)}


class OwnPointArguments(LoaderArguments):
    """The arguments of `OwnPoints` besides those of its own."""

    path: str


class OwnPoints(OwnFiles):
    """Sets from `path`; `split.seed` draws splits without a file.

    If a file has no targets, they are computed. Sets outside the unit square are moved and scaled into it.
    """

    name = "points"
    layout = LAYOUT
    tasks: ClassVar[tuple[str, ...]] = ("pointing",)
    nouns: ClassVar[Nouns] = Nouns(NOUN, "points")
    spec: PointSpec
    encoder: PointEncoder

    def __init__(
        self,
        *,
        goal: GoalName = "hull",
        split: Mapping[str, Any] | OwnSetSplitOptions | None = None,
        **rest: Unpack[OwnPointArguments],
    ) -> None:
        """`goal` is what is pointed out; `loader.max_tokens` counts points."""
        super().__init__(**rest)
        self.goal = GOALS[one_of("data.goal", goal, GOALS)]
        self.split = OwnSetSplitOptions.of(split)

    # Preparing

    def open_files(self, path: Path) -> Source | None:
        files = self._files(path)
        if not files.keys() & {"train", "test"}:
            return None
        for split, other in self.split.named().items():
            expected = "a share between 0 and 1, a file of sets, or a folder of .tsp"
            files[split] = self._part(existing(other, f"data.split.{split}", expected))
        files = {split: files[split] for split in SPLITS if split in files}
        source = file_source(path, files, partial(_read, self.goal.name), NOUN)
        tours = [beside for part in files.values() for file in part if (beside := best_tour(file)).exists()]
        return replace(source, identity={**source.identity, "tours": [identity(file) for file in tours]})

    def _files(self, path: Path) -> dict[str, list[Path]]:
        """The files of each split."""
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
        """The files that one path stands for."""
        if path.is_dir():
            if not (files := [file for file in visible(path) if file.is_file() and kind_of(file) == TSPLIB]):
                raise DataError(f"{path}: no {TSPLIB} in this folder; expected: {LAYOUT}")
            return files
        if kind_of(path) not in KINDS:
            raise DataError(f"{path}: unknown kind of file {kind_of(path)!r}; expected: {LAYOUT}")
        return [path]

    def _facts(self, source: Source) -> dict[str, Any]:
        return {"family": "points", "format": FORMAT, "goal": self.goal.name, "split": vars(self.split)}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return prepare(folder, steps, source, self.goal, self.split, self.bad_rows())

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = PointEncoder(self.goal.name)
        self.spec = PointSpec(
            width=self.goal.width,
            longest=about["longest"],
            longest_target=max(about["longest_target"], self.goal.longest(about["longest"]) + 1),
            goal=self.goal.name,
            groups=tuple(map(name_of_part, about["parts"])),
        )
        stored = datasets.load_from_disk(folder / SETS)
        return {name: EncodedSets(part, about["parts"] if name == "test" else ()) for name, part in stored.items()}

    # Serving

    def part(self, split: str) -> StoredSplit:
        self._prepared()
        if split not in self._splits:
            raise DataError(
                f"{self.path}: there is a test alone, no sets to train on; test a trained network on it by train=false "
                "ckpt_path=CHECKPOINT, or give sets to train on as data.path and these as data.split.test"
            )
        return super().part(split)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits = about["splits"].items()
        sizes = ", ".join(f"{name} {part[NOUN]:,}" for name, part in splits)
        lines = [
            about["source"],
            f"{sizes} sets of up to {about['longest']} points, targets of up to {about['longest_target'] - 1} pointers",
        ]
        if skipped := about["skipped"]:
            lines.append(f"left out {sum(skipped.values()):,} sets: {counted(skipped)}")
        return lines


def _read(goal: str, file: Path, bad: BadRows) -> Iterator[PointSet]:
    return read_sets(file, goal, bad)
