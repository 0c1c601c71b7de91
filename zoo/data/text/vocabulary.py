"""Words and their numbers, and the spelling of marks in the Penn Treebank."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import cycle
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

PADDING, UNKNOWN, BEGIN, END = 0, 1, 2, 3
UNKNOWN_WORD = "<unk>"
READ_SPECIAL = ("<pad>", UNKNOWN_WORD)  # The special tokens of text that is only read
WRITTEN_SPECIAL = (*READ_SPECIAL, "<s>", "</s>")
"""The special tokens of text that networks write, which has a begin and an end."""
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
QUOTES = ("``", "''")  # The opening and the closing quotation mark of the treebank
PLAIN = {
    **{name: mark for mark, name in BRACKETS.items()},
    **{name.lower(): mark for mark, name in BRACKETS.items()},
    **dict.fromkeys(QUOTES, '"'),
}
"""The ordinary mark for each mark of the treebank."""


class Vocabulary:
    """The words of the training split, the most frequent first, after the special ones. One of these is `<unk>`, for
    any unknown word."""

    def __init__(self, words: Sequence[str], special: tuple[str, ...] = READ_SPECIAL) -> None:
        """`words` are without the special ones; the n-th gets id n + len(special). Raises ValueError for a repeated
        word."""
        self.special = special
        self.words = [*special, *words]
        self.unknown = special.index(UNKNOWN_WORD)
        # A text that contains "<pad>" must not become padding: special words have ids, but are not found by their name.
        self._ids = {word: number for number, word in enumerate(words, len(special))}
        if len(self._ids) != len(words):
            raise ValueError("a vocabulary holds each word once")

    @classmethod
    def of_counts(
        cls,
        counts: Mapping[str, int],
        minimum_frequency: int = 1,
        special: tuple[str, ...] = READ_SPECIAL,
        size: int | None = None,
    ) -> Self:
        """The words that occur at least `minimum_frequency` times, the most frequent first, equally frequent ones by
        alphabet; at most `size` with the special ones."""
        kept = [word for word, count in counts.items() if count >= minimum_frequency]
        words = sorted(kept, key=lambda word: (-counts[word], word))
        return cls(words if size is None else words[: max(0, size - len(special))], special)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def encode(self, words: Iterable[str]) -> list[int]:
        """The id of each word, `unknown` for an unknown one."""
        return [self._ids.get(word, self.unknown) for word in words]

    def ids(self, words: pa.Array) -> pa.Array:
        """(N,) int32, the ids of a column of N words as in `encode`."""
        return pc.fill_null(pc.add(pc.index_in(words, self._arrow), len(self.special)), self.unknown).cast(pa.int32())

    @cached_property
    def _arrow(self) -> pa.Array:
        return pa.array(self.state(), pa.string())

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The word of each id."""
        return [self.words[number] for number in ids]

    def state(self) -> list[str]:
        """The words without the special ones, from which the constructor makes this vocabulary again."""
        return self.words[len(self.special) :]


class Spelling:
    """Replaces marks that a vocabulary has only in the other form."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs = [*PLAIN.items(), *((mark, name) for name, mark in PLAIN.items() if name not in QUOTES)]
        self._known = {form: other for form, other in pairs if form not in vocabulary and other in vocabulary}
        self._quotes = '"' not in vocabulary and all(quote in vocabulary for quote in QUOTES)

    def __call__(self, forms: Sequence[str]) -> list[str]:
        """The words in the spelling of the vocabulary. A `"` becomes the opening and the closing mark alternately."""
        turn = cycle(QUOTES)
        found = (next(turn) if self._quotes and form == '"' else form for form in forms)
        return [self._known.get(form, form) for form in found]
