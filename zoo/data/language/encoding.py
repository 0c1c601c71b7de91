"""From text to the ids of a stream, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from zoo.data.batch import Encoder
from zoo.data.language.batch import LanguageSpec, StreamBatch, Unit
from zoo.data.language.reading import ANY_BYTE
from zoo.data.text.options import DEFAULT_SUBWORDS, Language, TokenOptions, check_language
from zoo.data.text.tokenization import SubwordTokenizer, Tokenizer, tokenizer_of
from zoo.data.text.vocabulary import UNKNOWN_WORD, Vocabulary
from zoo.errors import DataError, UnusableInput

LINE_END = "<eos>"
UNITS: dict[str, Unit] = {"characters": "characters", "bytes": "bytes", "bpe": "pieces", "unigram": "pieces"}
"""The unit of the tokenizers whose tokens are not words."""
LEARNED_FROM = 2**25  # The most letters that subwords are learned from, since the library holds them in memory
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class LanguageTextOptions(TokenOptions):
    """How a text becomes a stream of tokens. With words and subwords every line ends with a token of its own."""

    tokenizer: Literal["whitespace", "words", "characters", "bytes", "bpe", "unigram"] = "whitespace"  # type: ignore[assignment]
    """`whitespace`: words as they are between blanks; `words` by rules for the language, which are a hundred times
    slower; `characters`; `bytes` in UTF-8; or subwords that are learned from the training text: `bpe`, `unigram`."""
    language: Language = "en"
    """The language of the rules of `words`."""
    lower: bool = False

    @property
    def unit(self) -> Unit:
        """The name of the tokens."""
        return UNITS.get(self.tokenizer, "words")

    @property
    def by_lines(self) -> bool:
        """Whether a line ends with a token of its own. Otherwise its end is a character."""
        return self.unit in ("words", "pieces")

    @property
    def special(self) -> tuple[str, ...]:
        """The tokens that the vocabulary has besides those of the text."""
        return (UNKNOWN_WORD, LINE_END) if self.by_lines else (UNKNOWN_WORD,)


class WholeText(str):
    """A text that is not to be continued: its own tokens are to be scored."""


class LanguageEncoder(Encoder):
    """Texts to prompts, by the vocabulary of the training text."""

    takes = "the beginning of a text, which the network continues"

    def __init__(self, text: LanguageTextOptions, words: Sequence[str] = (), learned: str | None = None) -> None:
        """`words` are the vocabulary without special tokens, and `learned` is the state of a learned tokenizer. Both
        are empty until they are learned."""
        check_language(text.tokenizer, text.language)
        self.text_options, self.learned = text, learned
        self.vocabulary = Vocabulary(words, text.special)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The rules or the learned pieces that cut a line. Characters, bytes and `whitespace` need none."""
        return tokenizer_of(self.text_options, self.text_options.language, self.learned)

    @property
    def line_end(self) -> int | None:
        """The token that ends a line, if there is one."""
        return self.text_options.special.index(LINE_END) if self.text_options.by_lines else None

    @property
    def size(self) -> int:
        """The number of tokens of the vocabulary."""
        return 256 if self.text_options.tokenizer == "bytes" else len(self.vocabulary)

    # Learning

    def learn(self, texts: Iterable[str], where: str) -> None:
        """Learn the vocabulary of the training text, which comes in pieces of whole lines or words. Raises DataError
        where no token is frequent enough; `where` names the text in its message."""
        options = self.text_options
        if options.tokenizer == "bytes" or self.learned is not None:
            return
        if options.subwords:
            pieces = (options.vocabulary_size or DEFAULT_SUBWORDS) - len(options.special) + 1  # with the unknown one
            lines = _beginning(chain.from_iterable(text.split("\n") for text in texts), LEARNED_FROM)
            kind, lower = options.tokenizer, options.lower
            tokenizer = SubwordTokenizer.learn(kind, lambda: lines, vocabulary_size=pieces, lower=lower)
            self.learned, self.vocabulary = tokenizer.state(), Vocabulary(tokenizer.pieces, options.special)
            return
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(self.tokens(text))
        for special in options.special:
            counts.pop(special, None)
        least, size = options.minimum_frequency, options.vocabulary_size
        self.vocabulary = Vocabulary.of_counts(counts, least, options.special, size)
        if not self.vocabulary.state():
            blank = "the training text is blank; use another text"
            rare = f"no token occurs {least} times in training; data.text.minimum_frequency=1 keeps every token"
            raise DataError(f"{where}: {rare if counts else blank}")

    def inherit(self, other: LanguageEncoder) -> None:
        """Put the words of another encoder first, with the ids that they have there."""
        before = dict.fromkeys(other.vocabulary.state())
        new = (word for word in self.vocabulary.state() if word not in before)
        self.vocabulary = Vocabulary([*before, *new], self.text_options.special)

    # From text to ids and back

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text. Bytes are not cut here."""
        options = self.text_options
        if options.tokenizer == "characters":
            return list(text.lower() if options.lower else text)
        if options.tokenizer == "whitespace":
            return (text.lower() if options.lower else text).replace("\n", f" {LINE_END} ").split()
        lines, tokenizer = text.split("\n"), self.tokenizer
        cut = [token for line in lines for token in (*tokenizer.split(line).forms, LINE_END)]
        return cut[:-1]  # the text after the last line end is not a line yet

    def ids(self, text: str) -> Ids:
        """(T,) the ids of the tokens of a text."""
        if self.text_options.tokenizer == "bytes":
            return np.frombuffer(text.encode(errors=ANY_BYTE), np.uint8).astype(np.int64)
        tokens = self.tokens(text)
        return np.fromiter(map(self._numbers.get, tokens, repeat(self.vocabulary.unknown)), np.int64, len(tokens))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The ids of all tokens. A text may hold `<unk>` and `<eos>` as words, as that of the Penn Treebank does."""
        return {word: number for number, word in enumerate(self.vocabulary.words)}

    def shown(self, ids: Iterable[int]) -> list[str]:
        """Each token as it is shown: with the blank before it that the text has, and a line end as such."""
        options = self.text_options
        if options.tokenizer == "bytes":
            return [bytes([number]).decode("ascii", "replace") for number in ids]
        return ["\n" if word == LINE_END else word for word in self.vocabulary.decode(ids)]

    def shown_text(self, text: str) -> list[str]:
        """Each token of a text as it is shown. Unknown ones are as they are written, unlike those of their ids."""
        if self.text_options.tokenizer == "bytes":
            return self.shown(self.ids(text))
        return ["\n" if token == LINE_END else token for token in self.tokens(text)]

    def text(self, ids: Sequence[int]) -> str:
        """The text of a stream of ids."""
        options = self.text_options
        if options.tokenizer == "bytes":
            return bytes(ids).decode(errors="replace")
        if options.tokenizer == "characters":
            return "".join(self.vocabulary.decode(ids))
        lines: list[list[str]] = [[]]
        for token in self.vocabulary.decode(ids):
            lines.append([]) if token == LINE_END else lines[-1].append(token)
        join = " ".join if options.tokenizer == "whitespace" else self.tokenizer.join
        return "\n".join(join(line) for line in lines)

    def is_unknown(self, token: int) -> bool:
        """Whether an id is that of unknown tokens."""
        return token == LanguageSpec.unknown and self.text_options.tokenizer != "bytes"

    def unknown(self, text: str) -> list[str]:
        """The tokens of a text that are not in the vocabulary."""
        if self.text_options.tokenizer == "bytes":
            return []
        return [token for token, number in zip(self.tokens(text), self.ids(text), strict=True) if not number]

    def __call__(self, inputs: Sequence[str | WholeText]) -> StreamBatch:
        """A batch of prompts, or of whole texts whose tokens are to be scored."""
        given = [self.prompt(str(text)) for text in inputs]
        return StreamBatch.of_texts(given) if isinstance(inputs[0], WholeText) else StreamBatch.of_prompts(given)

    def prompt(self, text: str) -> list[int]:
        """The ids to continue. A text of lines begins after the end of a line. Raises UnusableInput for a text without
        a token."""
        ids = self.ids(text).tolist()
        if self.line_end is not None:
            ids = [self.line_end, *ids]
        if not ids:
            raise UnusableInput("an empty text has nothing to continue: give at least one letter")
        return ids

    def display(self, one: str) -> str:
        self.prompt(one)
        return one

    # In a checkpoint

    def entries(self, field: str) -> Sequence[str] | None:
        bytes_alone = self.text_options.tokenizer == "bytes"
        return self.vocabulary.words if field == "vocabulary_size" and not bytes_alone else None

    def spec(self) -> LanguageSpec:
        """The facts that a network is built from."""
        return LanguageSpec(vocabulary_size=self.size, unit=self.text_options.unit)

    def state(self) -> dict[str, Any]:
        return {"text": asdict(self.text_options), "words": self.vocabulary.state(), "learned": self.learned}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        return cls(LanguageTextOptions.of(state["text"]), state["words"], state["learned"])


def _beginning(lines: Iterable[str], letters: int) -> list[str]:
    """The first lines, with about so many letters together."""
    found: list[str] = []
    for line in lines:
        found.append(line)
        letters -= len(line)
        if letters < 0:
            break
    return found
