"""Sources of pairs: two files line by line, a table, or a generator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from zoo.data.options import SampleOptions
from zoo.data.pairs.encoding import REFERENCES, SIDES
from zoo.data.pairs.samples import Pair
from zoo.data.readers import read_columns
from zoo.data.rows import BadRows, Lines, guarded, line_of
from zoo.data.sources import SPLITS, Source, identity, sample_source
from zoo.data.text.tokenization import find
from zoo.errors import DataError

NOUN = "pairs"
TSV_COLUMNS = "a source and a target with one tab between are expected"


class PairRow(NamedTuple):
    """One pair as it is in its file; a side may be blank."""

    source: str
    target: str
    places: tuple[str, str]
    """File and line of each side, for messages."""
    links: Mapping[str, Any] = MappingProxyType({})
    """The alignment and the references of a generated pair, by the columns of LINKS and REFERENCES."""


@guarded
def read_two_files(source: Path, target: Path, bad: BadRows) -> Iterator[PairRow]:
    """Two files, in which each line of one is the translation of the same line of the other. Raises DataError for
    different numbers of lines, with both numbers and the first line that has no partner."""
    with Lines(source, encoding=bad.encoding) as left, Lines(target, encoding=bad.encoding) as right:
        sides = left, right
        while True:
            texts = [next(lines, None) for lines in sides]
            if texts[0] is None or texts[1] is None:
                break
            places = line_of(source, left.number), line_of(target, right.number)
            problems = [
                (place, lines.problem, lines.undecodable)
                for place, lines in zip(places, sides, strict=True)
                if lines.undecodable
            ]
            for lines in sides:
                lines.mark()
            if problems:
                bad(*problems[0])
            else:
                yield PairRow(texts[0].rstrip("\r\n"), texts[1].rstrip("\r\n"), places)
        for longer, shorter, text in zip(sides, sides[::-1], texts, strict=True):
            if text is not None:
                place = line_of(longer.path, longer.number)
                for _ in longer:
                    longer.mark()
                raise DataError(
                    f"{place}: this line has no translation: {text.strip()[:60]!r}; {longer.path} has "
                    f"{longer.number:,} lines, {shorter.path} has {shorter.number:,}; a sentence and its translation "
                    "must have the same line number"
                )


@guarded
def read_tsv(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """A file without header whose lines are a source, a tab and a target. Quotes have no meaning."""
    with Lines(path, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            fields = line.split("\t")
            if line.strip() and len(fields) != 2:
                bad(place, "wrong number of columns", f"found {len(fields)}; {TSV_COLUMNS}")
            elif line.strip():
                yield PairRow(fields[0], fields[1], (place, place))


@guarded
def read_pair_table(path: Path, bad: BadRows, *, columns: tuple[str, str], hint: str) -> Iterator[PairRow]:
    """A csv, tsv, json lines or parquet file with a column of sources and one of targets."""
    for place, *texts in read_columns(path, columns, hint, bad):
        wrong = [(c, text) for c, text in zip(columns, texts, strict=True) if not isinstance(text, str | None)]
        if wrong:
            bad(place, "no text", "column {!r} holds {!r}".format(*wrong[0]))
        else:
            yield PairRow(texts[0] or "", texts[1] or "", (place, place))


def line_source(place: str, files: Mapping[str, tuple[Path, Path]]) -> Source:
    """Two files for each split."""
    return Source(
        place=place,
        description=f"path: {place}, {{count}} {NOUN}",
        identity={"files": {name: [identity(part) for part in parts] for name, parts in files.items()}},
        splits={name: partial(read_two_files, *files[name]) for name in SPLITS if name in files},
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
    """The first pairs of a generator; `join` makes a text from the words of each side. The rest as in
    `sample_source`. Each row has its alignment."""
    source = sample_source(generate, options, noun, **arguments)

    def rows(read: Callable[[BadRows], Iterator[Any]], bad: BadRows) -> Iterator[PairRow]:
        for number, pair in enumerate(read(bad), 1):
            place = f"{source.place}, pair {number}"
            texts, links = [], dict[str, Any]()
            for at, side in enumerate(SIDES):
                words = getattr(pair, side)
                texts.append(join[at](words))
                links[f"{side}_spans"] = list(chain.from_iterable(find(texts[-1], words)))
                links[f"linked_{side}"] = [link[at] for link in pair.alignment]
            if pair.references:
                links |= dict(zip(REFERENCES, map(list, zip(*pair.references, strict=True)), strict=True))
            yield PairRow(texts[0], texts[1], (place, place), links)

    return replace(source, splits={name: partial(rows, read) for name, read in source.splits.items()})
