"""Articles as json lines, or without a path the sample: `data=passages`."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

import datasets
import numpy as np

from zoo.data.copying.module import CopyData
from zoo.data.corpus import OwnFiles
from zoo.data.options import OwnSplitOptions, SampleOptions
from zoo.data.order import Nouns
from zoo.data.passages.encoding import BETWEEN, PassageEncoder
from zoo.data.passages.extraction import extracted
from zoo.data.passages.options import PassageTextOptions
from zoo.data.passages.samples import towns
from zoo.data.readers import kind_of, read_columns
from zoo.data.rows import BadRows, beginning
from zoo.data.sources import Reading, Source, existing, file_source, find_splits, sample_source
from zoo.data.stored import values_of
from zoo.data.table_data import TableArguments
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.tokenization import find

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
LAYOUT = (
    f"a file ({', '.join(SUFFIXES)}, .gz or not) whose rows have `title`, `paragraphs` (a list of texts) and "
    "`summary`, or a folder with such files called train, test and perhaps val"
)
COLUMNS = ("title", "paragraphs", "summary")


class PassageRow(NamedTuple):
    """An article as it is in its file, or a generated one."""

    title: str
    paragraphs: list[str]
    summary: str
    place: str  # For messages
    known: towns.Article | None = None


class Passages(OwnFiles, CopyData):
    """Articles from `path`, or the sample without one. `split.seed` draws the splits without a file."""

    name = "passages"
    tasks: ClassVar[tuple[str, ...]] = ("summarization",)
    nouns: ClassVar[Nouns] = Nouns("articles", "tokens")
    layout = LAYOUT
    between = f" {BETWEEN} "
    encoding = PassageEncoder
    split_options = OwnSplitOptions
    split: OwnSplitOptions
    text: PassageTextOptions

    def __init__(
        self,
        *,
        path: str | None = None,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[TableArguments],
    ) -> None:
        """`path` is a file or a folder, `sample` the size of the sample; the rest as in `TableData`."""
        super().__init__(path=path or "", **rest)
        self.sample = SampleOptions.of(sample)

    def open_sample(self) -> Source:
        source = sample_source(towns.generate, self.sample, self.nouns.examples)
        return replace(source, splits={name: partial(_written, read) for name, read in source.splits.items()})

    def open_files(self, path: Path) -> Source | None:
        files = find_splits(path, SUFFIXES) if path.is_dir() else {"train": [path]} if kind_of(path) in SUFFIXES else {}
        if not files:
            return None
        for split, other in self.split.named().items():
            files[split] = [existing(other, f"data.split.{split}", "a share between 0 and 1, or a file of articles")]
        return file_source(path, files, _read, self.nouns.examples)

    def examples(self, rows: Iterator[PassageRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        for row in rows:
            texts = row.title, *row.paragraphs, row.summary
            if "\0" in "".join(texts):
                reading.bad(row.place, "NUL byte", "the file is binary or damaged")
            elif not row.summary.strip():
                reading.bad(row.place, "no summary", "the summary is empty; write one, or remove the row")
            elif not any(text.strip() for text in row.paragraphs):
                reading.bad(row.place, "no paragraphs", "the article is empty; add paragraphs, or remove the row")
            else:
                method, most = self.text.extraction, self.text.max_source
                order = extracted(method, row.title, row.paragraphs, row.summary, most)
                found = {"source_texts": [row.title, *(row.paragraphs[number] for number in order)]}
                known = {} if row.known is None else _links(row, order)
                yield {**found, "target_texts": [row.summary], **known}

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        """`recall`: of the tokens of the summaries, the share that the kept part of their sources has."""
        pairs = zip(values_of(split, "source"), values_of(split, "target"), strict=True)
        shares = [np.isin(target, source).mean() for source, target in pairs if len(target)]
        return super().facts(split, encoder) | {"recall": float(np.mean(shares)) if shares else 0.0}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        recall = next(iter(facts.values()))["recall"]
        kept = "" if self.text.max_source is None else f", the first {self.text.max_source:,} tokens kept"
        note = (
            f"data.text.extraction={self.text.extraction}{kept}: {recall:.1%} of a summary's tokens are in its source"
        )
        return super().about(splits, facts) | {"notes": [note]}


def _read(path: Path, bad: BadRows) -> Iterator[PassageRow]:
    for place, title, paragraphs, summary in read_columns(path, COLUMNS, f"; expected: {LAYOUT}", bad):
        wrong = next((one for one in (title, summary) if not isinstance(one, str)), None)
        if wrong is not None or title is None or summary is None:
            bad(place, "no text", f"title and summary are texts, found {beginning(str(wrong))}")
        elif not isinstance(paragraphs, list) or not all(isinstance(one, str) for one in paragraphs):
            bad(place, "no list", f"paragraphs is a list of texts, found {beginning(str(paragraphs))}")
        else:
            yield PassageRow(title, paragraphs, summary, place)


def _written(read: Any, bad: BadRows) -> Iterator[PassageRow]:
    for number, one in enumerate(read(bad), 1):
        title, *paragraphs, summary = map(_text, [one.title, *one.paragraphs, one.summary])
        yield PassageRow(title, paragraphs, summary, f"the sample, article {number}", one)


def _text(words: list[str]) -> str:
    return " ".join(words).replace(" .", ".").replace(" ,", ",")


def _links(row: PassageRow, order: list[int]) -> dict[str, list[int]]:
    """The facts of a generated article whose paragraphs are read in an `order`, in the columns of LINKS."""
    known = row.known
    assert known is not None
    parts = [(row.title, known.title), *((row.paragraphs[n], known.paragraphs[n]) for n in order)]
    begins = accumulate((len(text) + 1 for text, _ in parts), initial=0)
    spans = [
        (begin + one, begin + other) for begin, part in zip(begins, parts, strict=False) for one, other in find(*part)
    ]
    first = dict(zip([-1, *order], accumulate((len(words) for _, words in parts), initial=0), strict=False))
    links = [(first[paragraph] + word, target) for paragraph, word, target in known.links if paragraph in first]
    return {
        "source_spans": list(chain.from_iterable(spans)),
        "target_spans": list(chain.from_iterable(find(row.summary, known.summary))),
        "linked_source": [one for one, _ in links],
        "linked_target": [other for _, other in links],
        "stating": known.values,
        "distances": [1] * len(known.values),
    }
