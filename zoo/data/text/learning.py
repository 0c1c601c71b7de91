"""What is learned of the training texts, subwords and the vocabulary, and texts as ids of it: for every family that
reads or writes text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from zoo.data.text.options import DEFAULT_SUBWORDS, TokenOptions
from zoo.data.text.tokenization import SubwordTokenizer, Tokenizer
from zoo.data.text.vocabulary import UNKNOWN, Vocabulary
from zoo.errors import DataError


def learned(
    text: TokenOptions, texts: Callable[[], Iterable[str]], special: tuple[str, ...], size: int | None
) -> SubwordTokenizer:
    """The subwords of the training texts, with the `special` tokens `size` at most. Raises DataError where that is too
    few for them."""
    pieces = (size or DEFAULT_SUBWORDS) - len(special) + 1  # the unknown piece is among its own
    return SubwordTokenizer.learn(text.tokenizer, texts, vocabulary_size=pieces, lower=text.lower)


def vocabulary_of(
    tokenizer: Tokenizer,
    counts: Callable[[], Mapping[str, int]],
    special: tuple[str, ...],
    *,
    minimum_frequency: int,
    size: int | None,
    where: str,
    examples: str,
) -> Vocabulary:
    """The pieces of a tokenizer for subwords; of any other the tokens that `counts` says to occur in the training texts
    at least `minimum_frequency` times, with the `special` ones `size` at most. Raises DataError where there are none;
    `where` and `examples` say of what data, and how many examples they are."""
    if isinstance(tokenizer, SubwordTokenizer):
        return Vocabulary(tokenizer.pieces, special)
    found = Vocabulary.of_counts(counts(), minimum_frequency, special, size)
    if not found.state():
        raise DataError(
            f"{where}: no token occurs {minimum_frequency} times in {examples}; "
            "data.text.minimum_frequency=1 keeps every token"
        )
    return found


def ids_of(tokens: pa.Array, known: pa.Array, special: tuple[str, ...]) -> pa.Array:
    """(N,) int32 ids of N tokens, in a vocabulary of the `known` ones behind the `special`; of unknown ones
    UNKNOWN."""
    ids = pc.add(pc.index_in(tokens, known), len(special))
    return pc.fill_null(ids, UNKNOWN).cast(pa.int32())
