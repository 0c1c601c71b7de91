"""Where pairs come from: two files line by line, a table, the hub, or a generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from zoo.data.options import SampleOptions
from zoo.data.pairs.samples.pair import Pair
from zoo.data.readers import read_columns
from zoo.data.rows import BadRows, Lines, guarded, line_of
from zoo.data.sources import SPLITS, Source, download, identity, sample_source
from zoo.data.text.tokenization import find
from zoo.errors import DataError

NOUN = "pairs"
TSV_COLUMNS = "a source and a target with one tab between are expected"


class Links(NamedTuple):
    """The alignment of a generated pair, told by letters, so that it holds for tokens of any kind."""

    source: list[tuple[int, int]]
    """Where each word begins and ends in the text."""
    target: list[tuple[int, int]]
    alignment: list[tuple[int, int]]
    """(source word, target word) of each link."""


class PairRow(NamedTuple):
    """One pair as it stands in its file; a side may be blank."""

    source: str
    target: str
    places: tuple[str, str]
    """File and line of each side, for messages."""
    links: Links | None = None


@guarded
def read_two_files(source: Path, target: Path, bad: BadRows) -> Iterator[PairRow]:
    """Two files of which each line of one is the translation of the same line of the other. Raises DataError where they
    have different numbers of lines, with both numbers and the first line that has no partner."""
    with Lines(source, encoding=bad.encoding) as left, Lines(target, encoding=bad.encoding) as right:
        sides = left, right
        while True:
            texts = [next(lines, None) for lines in sides]
            if texts[0] is None or texts[1] is None:
                break
            places = line_of(source, left.number), line_of(target, right.number)
            problem = [(place, lines.undecodable) for place, lines in zip(places, sides, strict=True)]
            for lines in sides:
                lines.mark()
            if broken := next(((place, what) for place, what in problem if what), None):
                bad(broken[0], "not UTF-8", broken[1])
            else:
                yield PairRow(texts[0].rstrip("\r\n"), texts[1].rstrip("\r\n"), places)
        for longer, shorter, text in zip(sides, sides[::-1], texts, strict=True):
            if text is not None:
                place = line_of(longer.path, longer.number)
                for _ in longer:
                    longer.mark()
                raise DataError(
                    f"{place}: this line has no translation: {text.strip()[:60]!r}; {longer.path} has "
                    f"{longer.number:,} lines, {shorter.path} has {shorter.number:,}, and what belongs together is to "
                    "stand in the same line of both"
                )


@guarded
def read_tsv(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """A file without header of lines with a source, a tab and a target; quotes mean nothing in it."""
    with Lines(path, encoding=bad.encoding) as lines:
        for line in lines:
            place, undecodable = line_of(path, lines.number), lines.undecodable
            lines.mark()
            fields = line.rstrip("\r\n").split("\t")
            if undecodable:
                bad(place, "not UTF-8", undecodable)
            elif not line.strip():
                continue
            elif len(fields) != 2:
                bad(place, "wrong number of columns", f"found {len(fields)}; {TSV_COLUMNS}")
            else:
                yield PairRow(fields[0], fields[1], (place, place))


@guarded
def read_pair_table(path: Path, columns: tuple[str, str], hint: str, bad: BadRows) -> Iterator[PairRow]:
    """A csv, tsv, json lines or parquet file with a column of sources and one of targets."""
    for place, *texts in read_columns(path, columns, hint, bad):
        wrong = [(c, text) for c, text in zip(columns, texts, strict=True) if not isinstance(text, str | None)]
        if wrong:
            bad(place, "no text", "column {!r} holds {!r}".format(*wrong[0]))
        else:
            yield PairRow(texts[0] or "", texts[1] or "", (place, place))


def line_source(place: str, files: Mapping[str, tuple[Path, Path]]) -> Source:
    """Two files a split."""
    return Source(
        place=place,
        description=f"path: {place}, {{count}} {NOUN}",
        identity={"files": {name: [identity(part) for part in parts] for name, parts in files.items()}},
        splits={name: partial(read_two_files, *files[name]) for name in SPLITS if name in files},
    )


def hub_pairs(repository: str, splits: Mapping[str, str], columns: tuple[str, str]) -> Source:
    """Pairs on the Hugging Face hub; `splits` gives its name for each of ours."""

    def read(split: str, bad: BadRows) -> Iterator[PairRow]:
        for number, record in enumerate(download(repository, split, columns), 1):
            place = f"{repository}, {split}, row {number}"
            source, target = (record[column] for column in columns)
            yield PairRow(source or "", target or "", (place, place))

    return Source(
        place=repository,
        description=f"hub: {repository}, {{count}} {NOUN} {'-'.join(columns)}",
        identity={"hub": repository, "splits": dict(splits), "columns": list(columns)},
        splits={name: partial(read, split) for name, split in splits.items()},
    )


Join = Callable[[Sequence[str]], str]


def generated_pairs(
    generate: Callable[..., Iterator[Pair]],
    options: SampleOptions,
    noun: str,
    join: tuple[Join, Join],
    /,
    **arguments: Any,
) -> Source:
    """The first pairs of a generator; `join` makes texts of the words of each side. The rest as in `sample_source`."""
    source = sample_source(generate, options, noun, **arguments)

    def rows(read: Callable[[BadRows], Iterator[Any]], bad: BadRows) -> Iterator[PairRow]:
        for number, pair in enumerate(read(bad), 1):
            place = f"{source.place}, pair {number}"
            yield generated_row(pair, join, (place, place))

    return replace(source, splits={name: partial(rows, read) for name, read in source.splits.items()})


def generated_row(pair: Pair, join: tuple[Join, Join], places: tuple[str, str]) -> PairRow:
    """A generated pair as if it stood in a file, with its alignment."""
    texts = join[0](pair.source), join[1](pair.target)
    spans = find(texts[0], pair.source), find(texts[1], pair.target)
    return PairRow(*texts, places, Links(*spans, [(source, target) for source, target in pair.alignment]))
