"""Prepared data whose examples are rows of a table, declared by their parts.

The way from a source to the disk is the same for every family: rows, splits, subwords, tokens, filters, vocabularies,
ids. A family declares its parts in a `TableEncoder` and defines here how a row of a source becomes a raw example.
"""

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, TypeVar, Unpack

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zoo.data.batch import Encoder
from zoo.data.cache import steps_beside
from zoo.data.notes import repeated
from zoo.data.options import LoaderArguments, SplitOptions
from zoo.data.parts import Part, Words
from zoo.data.prepared import PreparedData
from zoo.data.rows import counted, some
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, draw_splits, map_split, numbers_of, save, values_of, write_rows
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import TokenOptions
from zoo.errors import DataError

FORMAT = 10
"""Raise it with every change of the stored data or of the tokens of a text. Older caches are then not used."""
ENCODER, EXAMPLES = "encoder.json", "examples"
CUTTING = ("max_sentences", "max_words", "max_word_length", "max_source", "max_target")
"""The keys of `data.text` that limit the length of a text."""
SHOWN_LETTERS = 300  # The most letters of a text that `zoo data` shows

P = TypeVar("P", bound=Part)


class TextArguments(LoaderArguments, total=False):
    """The arguments of a family of tables that comes with its splits."""

    text: Mapping[str, Any] | TokenOptions | None


class TableArguments(TextArguments, total=False):
    """The arguments of every other family of tables."""

    split: Mapping[str, Any] | SplitOptions | None


class TableData(PreparedData):
    """Examples that are declared by their parts, prepared once and served from the disk."""

    encoding: ClassVar[type[TableEncoder]]
    encoder: TableEncoder
    text_options: ClassVar[Any] = None
    """The class of the options by which text becomes tokens; None: the one of `encoding`."""
    text: Any
    split_options: ClassVar[Any] = SplitOptions
    split: Any
    length_parts: ClassVar[tuple[str, ...]] = ()
    """The parts whose numbers of tokens decide which examples share a batch, unless `lengths` is overridden."""
    filter_keys: ClassVar[str] = ""
    """The keys by which training examples are left out, for messages."""

    def __init__(
        self,
        *,
        text: Mapping[str, Any] | TokenOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """Reads no file.

        Args:
            text: how text becomes tokens, see the family's options.
            split: shares of the splits that the corpus does not have, see `SplitOptions`.
            rest: `loader`, how batches are made, see `LoaderOptions`.
        """
        super().__init__(**rest)
        self.text = (self.text_options or self.encoding.options).of(text)
        self.split = self.split_options.of(split)
        self._inherited: TableEncoder | None = None  # The encoder whose vocabulary is continued

    def begin_with(self, encoder: Encoder) -> None:
        """Begin with the words of the encoder of a checkpoint, which keep their ids. New words follow them."""
        if not isinstance(encoder, TableEncoder) or encoder.vocabulary_names != self.new_encoder().vocabulary_names:
            return
        folder, state = self._folder(self.open_source()), json.loads(json.dumps(encoder.state()))
        if not (folder / ENCODER).is_file() or self.encoder_state(folder) != state:  # else they are these words
            self._inherited = encoder

    # What a family defines

    @abstractmethod
    def examples(self, rows: Iterator[Any], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        """The raw examples of one split, with columns of `TableEncoder.raw`. Unusable rows are reported to
        `reading.bad` or counted in `reading.dropped`."""

    @abstractmethod
    def set_spec(self, about: Mapping[str, Any]) -> None:
        """Set `spec` from the encoder and from the description of the prepared data."""

    def new_encoder(self) -> TableEncoder:
        """An encoder that has not learned anything. Raises ConfigError for options that do not fit the data."""
        return self.encoding(self.text)

    # Hooks for a family that stores more than its table

    @property
    def row_noun(self) -> str:
        """The plural noun for a row of the source."""
        return self.nouns.examples

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        """Open a file that `examples` fills beside the table, such as one of pixels."""
        yield

    def store(
        self,
        folder: Path,
        raw: dict[str, datasets.Dataset],
        tokens: Mapping[str, datasets.Dataset],
        readings: Mapping[str, Reading],
    ) -> None:
        """Store further data beside the table of examples. `raw` has the rows of the splits and may be changed."""

    def draw(self, raw: dict[str, datasets.Dataset], source: Source) -> dict[str, datasets.Dataset]:
        """Draw the splits that are missing from the training rows."""
        return draw_splits(raw, self.split, source.place, self.row_noun, self.strata(raw["train"]))

    def shown_rows(self, raw: datasets.Dataset, tokens: datasets.Dataset) -> datasets.Dataset:
        """The training rows whose first ones `zoo data` shows by `example`."""
        return tokens

    # Hooks of the way to ids

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        """Learn the vocabularies from `splits`, which hold tokens. A family may leave out examples of `splits` here."""
        counted_in = [splits[name] for name in self.counted_splits()]
        total = f"{sum(map(len, counted_in)):,} {'training ' if len(counted_in) == 1 else ''}{self.nouns.examples}"
        encoder.learn_vocabularies(counted_in, source.place, total)

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        """Set the attributes of the encoder besides vocabularies, such as `classes` in the order of the logits.
        `splits` have tokens."""

    def strata(self, train: datasets.Dataset) -> NDArray[Any] | None:
        """The class of each training example, so that drawn splits get their share of every class."""
        return None

    def left_out(self, train: datasets.Dataset, lengths: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        """The training examples to leave out, (N,) for each reason; `lengths` are those of the parts."""
        return {}

    def counted_splits(self) -> tuple[str, ...]:
        """The splits whose tokens get ids."""
        return ("train",)

    def numbering(self, encoder: TableEncoder, split: str) -> Callable[[pa.Table], pa.Table]:
        """The function from tokens of one split to ids. Other processes get a copy, so that it refers to the encoder
        and not to the data module, whose files they would open again."""
        return partial(encoder.numbered, evaluated=split != "train")

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        """Facts about a stored split besides those of its parts."""
        return {}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Facts about all prepared data besides those of its splits; `notes` are added to those of the parts."""
        return {}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        """A training example of tokens, as `zoo data` shows it."""
        return {part.name: shortened(row[part.name]) for part in self.encoding.parts if part.name in row}

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        facts = {"format": FORMAT, "tasks": self.tasks, "text": vars(self.text), "split": vars(self.split)}
        inherited = self._inherited
        return (
            facts if inherited is None else facts | {"words": inherited.known_words(), "subwords": inherited.subwords}
        )

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return self._prepare(folder, steps, source)

    def _prepare(self, folder: Path, steps: Path, source: Source) -> dict[str, Any]:
        noun = self.row_noun
        encoder, bad = self.new_encoder(), self.bad_rows()
        if self._inherited is not None:
            encoder.inherit(self._inherited)
        labels: dict[str, None] = {}
        readings = {name: Reading(name, bad, Counter(), labels) for name in source.splits}
        with self.storing(folder):
            raw = {name: self._raw(steps, source, reading) for name, reading in readings.items()}
        drawn = self.draw(raw, source)
        first_split = next(iter(drawn))  # the training split, unless there is only a test
        encoder.learn_subwords(drawn[first_split])
        tokens = dict(drawn)
        if encoder.cuts:
            tokens = self._mapped(drawn, steps, "tokens", "cutting into tokens", lambda name: encoder.tokens)
        tokens[first_split] = self._kept(tokens[first_split], readings[first_split].dropped, source.place)
        self.store(folder, drawn, tokens, readings)
        self.learn(encoder, source, tokens)
        self.finish(encoder, source, tokens)
        stored = self._mapped(tokens, steps, "ids", "numbering the tokens", partial(self.numbering, encoder))
        save(stored, folder / EXAMPLES)
        (folder / ENCODER).write_text(json.dumps(encoder.state(), ensure_ascii=False), "utf-8")
        facts = {name: self._described(split, encoder) for name, split in stored.items()}
        for name, reading in readings.items():
            if reading.dropped:
                facts[name]["dropped"] = dict(reading.dropped)
        own, text = self.about(stored, facts), encoder.text_options
        names = encoder.vocabulary_names
        sizes = [f"{name}_size" for name in names] if len(names) > 1 else ["vocabulary_size"] * len(names)
        with_keys = stored if "key" in stored[first_split].column_names else drawn
        keys = {name: keys_of(split) for name, split in with_keys.items()}
        notes = [part.notes(facts[first_split], text, noun) for part in encoder.parts]
        first = self.shown_rows(drawn[first_split], tokens[first_split]).with_format(None)
        return {
            "source": source.description.replace("{count}", f"{sum(map(len, drawn.values())):,}"),
            "classes": encoder.classes,
            **{size: len(encoder.by_name[name]) for size, name in zip(sizes, names, strict=True)},
            "skipped": dict(bad.problems),
            "splits": facts,
            **own,
            "drawn": [name for name in stored if name not in source.splits],
            "notes": list(dict.fromkeys([*repeated(keys, noun), *chain.from_iterable(notes), *own.get("notes", ())])),
            "examples": [self.example(row) for row in first.select(range(min(3, len(first))))],
        }

    def _raw(self, steps: Path, source: Source, reading: Reading) -> datasets.Dataset:
        """The raw examples of one split. Raises DataError for an empty one."""
        file, before = steps / f"{reading.split}.arrow", reading.bad.problems + reading.dropped
        rows = self.examples(source.splits[reading.split](reading.bad), source, reading)
        if not write_rows(file, self.encoding.raw, rows, self.row_noun):
            gone = reading.bad.problems + reading.dropped - before
            left_out = f"; left out: {counted(gone)}" if gone else ""
            raise DataError(f"{source.place}: no {self.row_noun} in the {reading.split} split{left_out}")
        return datasets.Dataset.from_file(str(file))

    @staticmethod
    def _mapped(
        splits: Mapping[str, datasets.Dataset], steps: Path, step: str, doing: str, function: Callable[[str], Any]
    ) -> dict[str, datasets.Dataset]:
        return {
            name: map_split(split, function(name), steps / f"{name}-{step}.arrow", f"{name}: {doing}")
            for name, split in splits.items()
        }

    def _kept(self, train: datasets.Dataset, dropped: Counter[str], where: str) -> datasets.Dataset:
        """The training examples without those that are left out, which are counted. Raises DataError if none
        remains."""
        parts = _inside(_words(self.encoding), train)
        lengths = {part.name: np.asarray(_lengths(train, part)) for part in parts}
        keep = np.ones(len(train), bool)
        for reason, wrong in self.left_out(train, lengths).items():
            if count := int((keep & wrong).sum()):
                dropped[reason] += count
            keep &= ~wrong
        if not keep.any():
            keys = f" ({self.filter_keys})" if self.filter_keys else ""
            noun = self.nouns.examples
            raise DataError(f"{where}: no {noun} are left to train on; left out: {counted(dropped)}{keys}")
        return train if keep.all() else train.select(np.flatnonzero(keep))

    def _described(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        facts: dict[str, Any] = {self.nouns.examples: len(split)}
        for part in _inside(encoder.parts, split):
            facts |= part.facts(split, encoder.known)
        totals: dict[str, list[int]] = {}
        for part in _inside(_words(self.encoding), split):
            total = totals.setdefault(part.unknown, [0, 0])
            total[0] += int(numbers_of(split, f"unknown_{part.name}").sum())
            total[1] += int(numbers_of(split, f"num_{part.name}").sum())
        facts |= {name: unknown / max(1, every) for name, (unknown, every) in totals.items()}
        if "cut" in split.column_names:
            facts["truncated"] = int(numbers_of(split, "cut").sum())
        return facts | self.facts(split, encoder)

    # Serving

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self.encoder = self._stored_encoder(folder)
        self.set_spec(about)
        found = datasets.load_from_disk(folder / EXAMPLES)
        return {name: self.stored_split(split, name != "train" or self.overfitting) for name, split in found.items()}

    def _stored_encoder(self, folder: Path) -> TableEncoder:
        return self.encoding.from_state(self.encoder_state(folder))

    @staticmethod
    def encoder_state(folder: Path) -> dict[str, Any]:
        """The state of the encoder of a prepared folder."""
        state: dict[str, Any] = json.loads((folder / ENCODER).read_text("utf-8"))
        return state

    def stored_split(self, split: datasets.Dataset, evaluated: bool) -> StoredSplit:
        """The rows of a split, with the columns of its batches."""
        columns = [part.name for part in self.encoding.parts if part.read(evaluated)]
        return StoredSplit(split, columns, self.lengths(split))

    def lengths(self, split: datasets.Dataset) -> NDArray[Any]:
        """(N,) or (N, number of parts) lengths for making batches, ends included."""
        parts = {part.name: part for part in _words(self.encoding)}
        every = [numbers_of(split, f"num_{name}") + parts[name].written for name in self.length_parts]
        return every[0] if len(every) == 1 else np.stack(every, 1)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return self.encoder.collate

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        """The contents of all splits together, in a line or more."""
        classes = f", {len(about['classes'])} classes" if about["classes"] else ""
        return [f"vocabulary {about['vocabulary_size']:,} words{classes}"]

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        return about | {"contents": self.contents(about)}

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits, noun = about["splits"], self.nouns.examples
        sizes = ", ".join(f"{name} {split[noun]:,}" for name, split in splits.items())
        rates = {name: rate for name, rate in splits["test"].items() if name.endswith("unknown_rate")}
        unknown = " and ".join(f"{rate:.1%}" for rate in rates.values())
        found = [f"{sizes} {noun}", *self.contents(about), *([f"unknown in test {unknown}"] if rates else [])]
        lines = [about["source"], "; ".join(found)]
        if drawn := about["drawn"]:
            lines.append(f"{' and '.join(drawn)}: drawn from the training {noun} (data.split)")
        for name, split in splits.items():
            if dropped := split.get("dropped"):
                lines.append(f"{name}: left out {counted(dropped)}")
        if cut := sum(split.get("truncated", 0) for split in splits.values()):
            keys = [key for key in CUTTING if hasattr(self.text, key)]
            lines.append(f"{cut:,} {noun} were cut (data.text.{', '.join(keys)})")
        if skipped := about["skipped"]:
            lines.append(f"left out {some(sum(skipped.values()), 'row')}: {counted(skipped)}")
        return lines


def keys_of(split: datasets.Dataset) -> NDArray[np.int64]:
    """(N,) a number for each example, which is the same for equal ones."""
    return np.fromiter(values_of(split, "key"), np.int64, len(split))


def _words(encoding: type[TableEncoder]) -> list[Words]:
    return [part for part in encoding.parts if isinstance(part, Words)]


def _inside(parts: Iterable[P], split: datasets.Dataset) -> list[P]:
    return [part for part in parts if part.name in split.column_names]


def _lengths(split: datasets.Dataset, part: Words) -> NDArray[np.int64]:
    found: list[Any] = []
    for table in split.with_format("arrow").iter(batch_size=10_000):
        found.append(pc.list_value_length(table[part.name]))
    return np.concatenate([np.asarray(one) for one in found])


def shortened(value: Any) -> str:
    """A text, or words, or sentences of words, as `zoo data` shows them."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = " ".join(map(shortened, value))
    text = str(value)
    return text if len(text) <= SHOWN_LETTERS else text[:SHOWN_LETTERS] + " ..."
