"""Words and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Self

import pyarrow as pa

PADDING, UNKNOWN, BEGIN, END = 0, 1, 2, 3
READ_SPECIAL = ("<pad>", "<unk>")
"""Of text that is only read."""
WRITTEN_SPECIAL = (*READ_SPECIAL, "<s>", "</s>")
"""Of text that is written too, and so begins and ends."""


class Vocabulary:
    """The words of the training split: first the special ones, 0 padding and 1 any unknown word among them, then the
    most frequent first."""

    def __init__(self, words: Sequence[str], special: tuple[str, ...] = READ_SPECIAL) -> None:
        """`words` without the special ones; the n-th gets id n + len(special). Raises ValueError where one stands
        twice."""
        self.special = special
        self.words = [*special, *words]
        # A text that contains "<pad>" must not become padding: the special words have ids, but no word has theirs.
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
        """The words that occur at least `minimum_frequency` times, most frequent first, equally frequent ones by
        alphabet; of these the first, so that with the special ones there are `size` at most."""
        kept = [word for word, count in counts.items() if count >= minimum_frequency]
        words = sorted(kept, key=lambda word: (-counts[word], word))
        return cls(words if size is None else words[: max(0, size - len(special))], special)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def arrow(self) -> pa.Array:
        """The words without the special ones, for look-ups of whole columns."""
        return pa.array(self.state(), pa.string())

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def encode(self, words: Iterable[str]) -> list[int]:
        """The id of each word, 1 where it is unknown."""
        return [self._ids.get(word, UNKNOWN) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The word of each id."""
        return [self.words[number] for number in ids]

    def state(self) -> list[str]:
        """All words but the special ones, for a checkpoint."""
        return self.words[len(self.special) :]

    @classmethod
    def from_state(cls, state: Sequence[str], special: tuple[str, ...] = READ_SPECIAL) -> Self:
        """The vocabulary that `state` came from."""
        return cls(state, special)
