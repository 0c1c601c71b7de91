"""The base of all data that are a text: prepared once as a stream of ids, and read in columns of windows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from zoo.data.batch import Encoder
from zoo.data.cache import steps_beside
from zoo.data.language.batch import LanguageSpec
from zoo.data.language.encoding import LINE_END, LanguageEncoder, LanguageTextOptions
from zoo.data.language.reading import ANY_BYTE, Passage
from zoo.data.language.samples import grammar
from zoo.data.language.windows import EvaluatedColumns, StoredStream, TrainingColumns, WindowOptions, collate
from zoo.data.notes import mostly_unknown
from zoo.data.options import LoaderArguments, SplitOptions
from zoo.data.order import Nouns, Order
from zoo.data.sources import SPLITS, Source
from zoo.data.text.vectored import WordsWithVectors
from zoo.errors import ConfigError, DataError

FORMAT = 1
"""Raise it with every change of the stored data or of the tokens of a text."""
ENCODER = "encoder.json"
MANY_UNKNOWN = 0.4  # The share of unknown tokens of a validation or test from which a note is given
SHOWN_LETTERS = 300  # The letters of the text that `zoo data` shows


class LanguageArguments(LoaderArguments, total=False):
    """The arguments of every text."""

    text: Mapping[str, Any] | LanguageTextOptions | None
    split: Mapping[str, Any] | SplitOptions | None
    window: Mapping[str, Any] | WindowOptions | None
    vectors: str | None


class LanguageData(WordsWithVectors):
    """A text as one stream of tokens. A source gives the text of a split in pieces, as text or, of a sample, as lines
    of its grammar; missing splits are cut from the end of the training text."""

    tasks: ClassVar[tuple[str, ...]] = ("language_modeling",)
    continues: ClassVar[bool] = True
    nouns: ClassVar[Nouns] = Nouns("tokens", "tokens")
    split_options: ClassVar[Any] = SplitOptions
    split: Any
    spec: LanguageSpec
    encoder: LanguageEncoder

    def __init__(
        self,
        *,
        text: Mapping[str, Any] | LanguageTextOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        window: Mapping[str, Any] | WindowOptions | None = None,
        vectors: str | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """Reads no file.

        Args:
            text: how the text becomes tokens, see `LanguageTextOptions`.
            split: shares of the splits that the text does not have, see `SplitOptions`.
            window: how the stream is cut into windows, see `WindowOptions`.
            vectors: a file of word2vec or GloVe vectors.
            rest: `loader`, whose `batch_size` is the number of columns in training.
        """
        super().__init__(vectors=vectors, **rest)
        self.text, self.split = LanguageTextOptions.of(text), self.split_options.of(split)
        self.window = WindowOptions.of(window)
        self._inherited: LanguageEncoder | None = None

    def begin_with(self, encoder: Encoder) -> None:
        """Begin with the tokens of the encoder of a checkpoint, which keep their ids. New words follow them."""
        if isinstance(encoder, LanguageEncoder) and encoder.text_options.tokenizer == self.text.tokenizer:
            self._inherited = encoder

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        facts = {"format": FORMAT, "text": vars(self.text), "split": vars(self.split)}
        return facts if self._inherited is None else facts | {"inherited": self._inherited.state()}

    def _write(self, folder: Path, source: Source) -> dict[str, Any]:
        with steps_beside(folder) as steps:
            return self._prepare(folder, steps, source)

    def _prepare(self, folder: Path, steps: Path, source: Source) -> dict[str, Any]:
        bad, lines = self.bad_rows(), dict[str, list[grammar.Line]]()
        passages: dict[str, Passage] = {}
        for split, read in source.splits.items():
            lines[split] = []
            passages[split] = Passage.written(steps / f"{split}.txt", _texts(read(bad), lines[split]))
        drawn = [split for split in SPLITS if split not in passages]
        if drawn:
            shares = [getattr(self.split, split) for split in drawn]
            parts = passages["train"].cut([1 - sum(shares), *shares], lines=self.text.by_lines)
            passages |= dict(zip(["train", *drawn], parts, strict=True))
        encoder = LanguageEncoder(self.text)
        if self._inherited is not None:
            encoder.learned = self._inherited.learned
        encoder.learn(passages["train"].pieces(), source.place)
        if self._inherited is not None:
            encoder.inherit(self._inherited)
        (folder / ENCODER).write_text(json.dumps(encoder.state(), ensure_ascii=False), "utf-8")
        splits, notes = {}, []
        for split in SPLITS:
            facts = splits[split] = _stored(folder / f"{split}.ids", passages[split], encoder)
            if facts["tokens"] < 2:
                raise DataError(f"{source.place}: the {split} split has {facts['tokens']} tokens; use a longer text")
            if (rate := facts["unknown_rate"]) >= MANY_UNKNOWN and split != "train":
                notes.append(f"{rate:.0%} of the {split} {self.text.unit} are unknown: most of the score is for these")
            if self.text.tokenizer == "whitespace" and lines.get(split):
                _store_truth(folder, split, lines[split], encoder)
        beginning = next(passages["train"].pieces())[:SHOWN_LETTERS].encode(errors=ANY_BYTE).decode(errors="replace")
        tokens = sum(facts["tokens"] for facts in splits.values())
        return {
            "source": source.description.replace("{count}", f"{tokens:,}"),
            "vocabulary_size": encoder.size,
            "skipped": dict(bad.problems),
            "splits": splits,
            "drawn": drawn,
            "notes": [*mostly_unknown(splits["train"]["unknown_rate"]), *notes],
            "examples": [{"text": " ".join(beginning.split())}],
        }

    # Serving

    def _read(self, folder: Path, about: Mapping[str, Any]) -> Any:
        self.encoder = self._stored_encoder(folder)
        self.spec = self.encoder.spec()
        found = {}
        for split, facts in about["splits"].items():
            stored = {file.suffix[1:]: file for file in folder.glob(f"{split}.*")}
            types = {name: facts["type"] if name == "ids" else TRUTH[name] for name in stored}
            parts = {name: np.memmap(file, types[name], "r") for name, file in stored.items()}
            usual = self.window.length if split == "train" and self.window.random else None
            found[split] = StoredStream(split, parts, facts["bytes"] / facts["tokens"], usual)
        return found

    def _stored_encoder(self, folder: Path) -> LanguageEncoder:
        return LanguageEncoder.from_state(json.loads((folder / ENCODER).read_text("utf-8")))

    def stored_words(self, folder: Path) -> list[str]:
        return self._stored_encoder(folder).vocabulary.words

    def _in_order(self, part: Any) -> Order:  # type: ignore[override]
        if part.split == "train":
            seed = self.loader.seed
            return TrainingColumns(len(part), self.loader.batch_size, self.window, seed=seed, **self.ranks)
        return EvaluatedColumns(len(part), self.window.columns, self.window.length, **self.ranks)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    def describe(self) -> dict[str, Any]:
        about = super().describe()
        return about | {"contents": [f"vocabulary {about['vocabulary_size']:,} {self.text.unit}"]}

    def _summary(self, about: Mapping[str, Any]) -> list[str]:
        splits, unit = about["splits"], self.text.unit
        sizes = ", ".join(f"{name} {facts['tokens']:,}" for name, facts in splits.items())
        unknown = f"; unknown in test {splits['test']['unknown_rate']:.1%}" if unit == "words" else ""
        found = [about["source"], f"{sizes} {unit}; vocabulary {about['vocabulary_size']:,}{unknown}"]
        if about["drawn"]:
            found.append(f"{' and '.join(about['drawn'])}: cut from the end of the text (data.split)")
        with suppress(ConfigError):  # too short a text, which is refused where the training begins
            found.append(TrainingColumns(splits["train"]["tokens"], self.loader.batch_size, self.window).summary(unit))
        return found


TRUTH: dict[str, Any] = {"distance": np.uint8, "rival": np.int32, "least": np.float32}
"""The facts about each token of a sample, and their types on the disk."""


def _texts(rows: Iterator[Any], lines: list[grammar.Line]) -> Iterator[Any]:
    """Pieces of text or bytes as they are. Lines of a grammar become text, and are added to `lines`."""
    for row in rows:
        if isinstance(row, grammar.Line):
            lines.append(row)
            yield f"{' '.join(row.words)}\n"
        else:
            yield row


def _stored(file: Path, passage: Passage, encoder: LanguageEncoder) -> dict[str, Any]:
    """Write the ids of a text, in as few bytes as they need; returns the facts about it."""
    dtype = np.dtype(next(kind for kind in (np.uint8, np.uint16, np.int32) if encoder.size <= np.iinfo(kind).max + 1))
    tokens = unknown = 0
    with file.open("wb") as sink:
        for piece in passage.pieces():
            ids = encoder.ids(piece)
            tokens, unknown = tokens + len(ids), unknown + int((ids == 0).sum())
            ids.astype(dtype).tofile(sink)
    known = encoder.text_options.tokenizer == "bytes"
    rate = 0.0 if known else unknown / max(1, tokens)
    return {"tokens": tokens, "bytes": passage.size, "unknown_rate": rate, "type": dtype.name}


def _store_truth(folder: Path, split: str, lines: Sequence[grammar.Line], encoder: LanguageEncoder) -> None:
    """Write the facts that a grammar knows about each token of its lines."""
    words = [word for line in lines for word in (*line.words, LINE_END)]
    starts = np.cumsum([0, *(len(line.words) + 1 for line in lines)])
    distance, rival = np.zeros(len(words), np.uint8), np.zeros(len(words), np.int32)
    rivals = dict(zip(grammar.RIVALS, encoder.ids(" ".join(grammar.RIVALS.values())).tolist(), strict=True))
    for start, line in zip(starts, lines, strict=False):
        for place, far in line.verbs:
            distance[start + place], rival[start + place] = far, rivals[words[start + place]]
    parts: dict[str, NDArray[Any]] = {"distance": distance, "rival": rival}
    parts["least"] = grammar.Grammar().surprisal(words, LINE_END)
    for name, values in parts.items():
        values.astype(TRUTH[name]).tofile(folder / f"{split}.{name}")
