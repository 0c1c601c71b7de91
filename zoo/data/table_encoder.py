"""The encoder of a family that declares its parts: one way from raw examples to batches, for training and predicting.

Training data are prepared by the same `tokens`, `ids` and `collate` that later read what a user types, so that the two
cannot differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pyarrow as pa
import torch
from torch import Tensor

from zoo.data.batch import Encoder
from zoo.data.parts import Known, Part, Words
from zoo.data.stored import Rows, count_words, values_of
from zoo.data.text.options import DEFAULT_SUBWORDS, check_language
from zoo.data.text.tokenization import SubwordTokenizer, Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import BEGIN, END, PADDING, WRITTEN_SPECIAL, Spelling, Vocabulary
from zoo.errors import DataError

if TYPE_CHECKING:
    import datasets

SHARED_STATE = ("text", "vocabularies", "vocabulary", "words", "learned")
"""The keys that the state of every family may have, in old and new checkpoints."""


class TableEncoder(Encoder):
    """Turns raw examples into batches, by the vocabularies and the rules of the training data.

    A family declares `raw` and `parts` and writes `typed`, `batch` and, where a text has to be cut, `tokens`.
    """

    raw: ClassVar[pa.Schema]
    """The columns that an example may have before its texts are cut."""
    given: ClassVar[tuple[str, ...]]
    """The columns of an input that a user gives."""
    parts: ClassVar[tuple[Part, ...]]
    options: ClassVar[Any]
    """The class of the options by which text becomes tokens."""
    cuts: ClassVar[bool] = True
    """Whether raw examples have texts, which are cut and stored before their tokens are counted. Otherwise they have
    words already, and `tokens` is applied together with `ids`."""
    treebank_marks: ClassVar[bool] = False
    """Whether the training texts may have the brackets and quotation marks of the Penn Treebank. Typed words are then
    spelled as in the vocabulary."""
    texts: ClassVar[str] = "text"
    """The column of text that subwords are learned from; `{}` is replaced by the name of a part."""

    text_options: Any

    def __init__(self, text: Any, vocabularies: Sequence[Vocabulary] = (), subwords: Sequence[str | None] = ()) -> None:
        """`vocabularies` and `subwords`, the states of learned tokenizers, have the order of `vocabulary_names`, and
        are empty until they are learned. Raises ConfigError for a tokenizer without rules for the language."""
        self.text_options, self.classes = text, list[str]()
        self.inherited: dict[str, list[str]] = {}  # The words of the checkpoint that a training starts from
        for part in self.word_parts:
            check_language(text.tokenizer, self.language(part))
        names = self.vocabulary_names
        self.subwords = dict(zip(names, subwords or [None] * len(names), strict=True))
        self.by_name = dict(zip(names, vocabularies, strict=False))
        self.tokenizers = {} if text.subwords and not subwords else self._tokenizers()

    # What a family defines

    def typed(self, one: Any) -> dict[str, Any]:
        """The raw columns of an input that a user gives. By default it is a mapping of them. Raises UnusableInput or
        DataError for an unusable one."""
        return dict(one)

    def tokens(self, table: pa.Table) -> pa.Table:
        """Cut the texts of a table of raw examples into tokens."""
        return table

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> Any:
        """The family's batch of collated parts, by default a dictionary. Parts without a column are missing. `index` is
        (B,)."""
        return {**parts, "index": index}

    def language(self, part: Words) -> str:
        """The language whose rules cut the text of a part."""
        return str(getattr(self.text_options, "language", "en"))

    def vocabulary_name(self, part: Words) -> str:
        """The name of the vocabulary of a part."""
        return part.vocabulary

    def extra_state(self) -> dict[str, Any]:
        """Further arguments of the constructor of a subclass, as plain data."""
        return {}

    # What follows

    @property
    def word_parts(self) -> list[Words]:
        """The parts that are tokens."""
        return [part for part in self.parts if isinstance(part, Words)]

    @property
    def vocabulary_names(self) -> list[str]:
        """Each vocabulary once, in the order of the parts."""
        return list(dict.fromkeys(map(self.vocabulary_name, self.word_parts)))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of a family that has only one."""
        (found,) = self.by_name.values()
        return found

    @property
    def known(self) -> Known:
        """The vocabularies and classes, which turn names into numbers."""
        return Known({part.name: self.by_name[self.vocabulary_name(part)] for part in self.word_parts}, self.classes)

    def entries(self, field: str) -> Sequence[str] | None:
        name, size, _ = field.partition("_size")
        name = getattr(self, "target", name) if name == "target" else name
        found = [*self.by_name.values()] if name == "vocabulary" else [self.known.vocabularies.get(name)]
        return found[0].words if size and len(found) == 1 and found[0] is not None else None

    def ids(self, table: pa.Table, evaluated: bool = True) -> pa.Table:
        """Turn a table of tokens into ids and the counts that describe a split. `evaluated` keeps the parts that
        training does not need."""
        columns = {name: table[name] for name in ("cut", "key") if name in table.column_names}
        for part in self.parts:
            if part.name in table.column_names and part.stored(evaluated):
                columns |= part.encoded(table[part.name].combine_chunks(), self.known)
        return pa.table(columns)

    def numbered(self, table: pa.Table, evaluated: bool) -> pa.Table:
        """Turn tokens, or raw examples of words, into ids."""
        return self.ids(table if self.cuts else self.tokens(table), evaluated)

    def collate(self, rows: Rows) -> Any:
        """A batch of stored examples."""
        return self.batch(self.collated(rows.table), torch.tensor(rows.numbers, dtype=torch.int64))

    def collated(self, table: pa.Table) -> dict[str, Any]:
        """The parts of stored examples as tensors."""
        found: dict[str, Any] = {}
        names = table.column_names
        for part in self.parts:
            if part.name in names and part.read(True):
                found[part.name] = part.collated(table[part.name].combine_chunks(), found)
        return found

    def __call__(self, inputs: Sequence[Any]) -> Any:
        """A batch of inputs, or of one text, in order, without targets."""
        return self.encode([self.typed(one) for one in ([inputs] if isinstance(inputs, str) else inputs)])

    def encode(self, rows: Sequence[Mapping[str, Any]], numbers: Sequence[int] | None = None) -> Any:
        """A batch of raw examples that all have the same columns; `numbers` are their numbers in their split."""
        table = self.tokens(self.table(rows))
        if self.treebank_marks:
            table = self._spelled(table)
        return self.collate(Rows(self.ids(table), list(range(len(rows)) if numbers is None else numbers)))

    def _spelled(self, table: pa.Table) -> pa.Table:
        for part in self.word_parts:
            if part.name in table.column_names:
                spelling = Spelling(self.known.vocabularies[part.name])
                rows = table[part.name].to_pylist()
                words = [[spelling(one) for one in row] if part.levels > 1 else spelling(row) for row in rows]
                at = table.column_names.index(part.name)
                table = table.set_column(at, part.name, pa.array(words, table[part.name].type))
        return table

    def table(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        """Raw examples as a table."""
        columns = rows[0] if rows else self.given
        return pa.Table.from_pylist([dict(row) for row in rows], pa.schema([self.raw.field(name) for name in columns]))

    # Learning from the training split

    def learn_subwords(self, train: datasets.Dataset) -> None:
        """Learn subwords from the raw training examples, if the tokenizer is learned. Raises DataError if the
        vocabulary is too small for them."""
        if not self.text_options.subwords:
            return
        if any(self.subwords.values()):  # those of a checkpoint
            self.tokenizers = self._tokenizers()
            return
        for name in self.vocabulary_names:
            parts = self._sharing(name)
            texts = partial(self.learned_from, train, [self.texts.format(part.name) for part in parts])
            pieces = (self.size(name) or DEFAULT_SUBWORDS) - len(parts[0].special) + 1  # it has the unknown one, too
            options = {"vocabulary_size": pieces, "lower": self.text_options.lower}
            self.subwords[name] = SubwordTokenizer.learn(self.text_options.tokenizer, texts, **options).state()
        self.tokenizers = self._tokenizers()

    def learned_from(self, train: datasets.Dataset, columns: Sequence[str]) -> Iterable[str]:
        """The texts from which subwords are learned."""
        return values_of(train, *columns)

    def learn_vocabularies(self, splits: Sequence[datasets.Dataset], where: str, examples: str) -> None:
        """Count the tokens of some splits, or take the pieces of learned subwords. Raises DataError if no token is
        frequent enough; `where` and `examples` name the data in its message."""
        least = self.minimum_frequency(sum(map(len, splits)))
        for name in self.vocabulary_names:
            parts = self._sharing(name)
            tokenizer, special = self.tokenizers[parts[0].name], parts[0].special
            if isinstance(tokenizer, SubwordTokenizer):
                self.by_name[name] = Vocabulary(tokenizer.pieces, special)
                continue
            learned = Vocabulary.of_counts(self._counts(splits, parts), least, special, self.size(name))
            self.by_name[name] = self.continued(name, learned)
            if not self.by_name[name].state():
                raise DataError(
                    f"{where}: no token occurs {least} times in {examples}; data.text.minimum_frequency=1 keeps every "
                    "token"
                )

    def known_words(self) -> dict[str, list[str]]:
        """The words of each vocabulary, without the special ones."""
        return {name: one.state() for name, one in self.by_name.items()}

    def inherit(self, other: Self) -> None:
        """Begin with the words, and the learned subwords, of another encoder with the same vocabularies."""
        self.inherited, self.subwords = other.known_words(), dict(other.subwords)

    def continued(self, name: str, learned: Vocabulary) -> Vocabulary:
        """The inherited words of a vocabulary, with their ids, and after them the `learned` ones that are new."""
        before = dict.fromkeys(self.inherited.get(name, ()))
        return Vocabulary([*before, *(word for word in learned.state() if word not in before)], learned.special)

    def minimum_frequency(self, count: int) -> int:
        """How often a token must occur in `count` training examples."""
        return self.text_options.minimum_frequency

    def size(self, name: str) -> int | None:
        """The most tokens of a vocabulary."""
        return self.text_options.vocabulary_size

    def _sharing(self, name: str) -> list[Words]:
        return [part for part in self.word_parts if self.vocabulary_name(part) == name]

    def _counts(self, splits: Iterable[datasets.Dataset], parts: Sequence[Words]) -> dict[str, int]:
        names, own = [part.name for part in parts], set(chain.from_iterable(part.spelled for part in parts))
        found = sum((count_words(split, *names) for split in splits), Counter[str]())
        for word in own:
            found.pop(word, None)
        if not self.cuts and self.text_options.lower:
            words, found = found, Counter[str]()
            for word, count in words.items():
                found[word.lower()] += count
        return found

    def _tokenizers(self) -> dict[str, Tokenizer]:
        return {
            part.name: tokenizer_of(self.text_options, self.language(part), self.subwords[self.vocabulary_name(part)])
            for part in self.word_parts
        }

    # In a checkpoint

    def state(self) -> dict[str, Any]:
        return {
            "text": asdict(self.text_options),
            "vocabularies": [self.by_name[name].state() for name in self.vocabulary_names],
            "learned": list(self.subwords.values()),
            **self.extra_state(),
        }

    def files(self) -> dict[str, str]:
        """For each vocabulary NAME: NAME.json with its tokens in the order of their ids and the rules that cut a text,
        and for learned subwords NAME.tokenizer.json, which Hugging Face's tokenizers read."""
        found = {}
        for name, vocabulary in self.by_name.items():
            part = self._sharing(name)[0]
            about = {
                "tokens": vocabulary.words,
                "language": self.language(part),
                "ends_with": WRITTEN_SPECIAL[END] if part.written else None,
                "text": {"tokenizer": self.text_options.tokenizer, **asdict(self.text_options)},
            }
            found[f"{name}.json"] = json.dumps(about, ensure_ascii=False, indent=1)
            tokenizer = self.tokenizers[part.name]
            if isinstance(tokenizer, SubwordTokenizer):
                found[f"{name}.tokenizer.json"] = tokenizer.numbered(part.special)
        return found

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        # Checkpoints of version 0.1 have one vocabulary under a name of its own, and no tokenizers to choose from.
        words = state.get("vocabularies") or [state.get("words") or state["vocabulary"]]
        subwords = state.get("learned")
        special = next(part.special for part in cls.parts if isinstance(part, Words))
        return cls(
            cls.options.of(state["text"]),
            [Vocabulary(one, special) for one in words],
            subwords if isinstance(subwords, list) else [subwords],
            **{name: value for name, value in state.items() if name not in SHARED_STATE},
        )


class WritingEncoder(TableEncoder):
    """The encoder of a family whose networks write one of the parts."""

    target: ClassVar[str]  # The name of the part that networks write

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The vocabulary of `target`."""
        return self.known.vocabularies[self.target]

    @property
    def target_tokenizer(self) -> Tokenizer:
        """The tokenizer of `target`."""
        return self.tokenizers[self.target]

    def decode(self, ids: Sequence[int] | Tensor) -> list[str]:
        """The tokens of a sequence of ids (T,) up to its end, without begin and padding."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        ids = ids[: ids.index(END)] if END in ids else ids
        return self.target_vocabulary.decode(number for number in ids if number not in (PADDING, BEGIN))

    def text(self, tokens: Sequence[int] | Sequence[str] | Tensor) -> str:
        """The plain text of tokens or ids. Unknown tokens stay `<unk>`."""
        if isinstance(tokens, Tensor) or (len(tokens) and not isinstance(tokens[0], str)):
            tokens = self.decode(tokens)  # type: ignore[arg-type]
        return self.target_tokenizer.join([str(token) for token in tokens])
