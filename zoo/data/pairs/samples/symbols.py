"""The embedded samples of symbol sequences: copy, reverse and sort them.

A symbol is a number of two digits or more, so that the words sort as the numbers do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from zoo.data.pairs.samples.pair import Pair


def generate_copy(count: int, *, seed: int, symbols: int = 30, shortest: int = 3, longest: int = 12) -> Iterator[Pair]:
    """`count` sequences of `shortest` to `longest` symbols, with the same sequence as target.

    `symbols` is the number of different symbols. Pair i depends on the arguments and i alone.
    """
    return _generate("copy", count, seed, symbols, shortest, longest, _as_it_is)


def generate_reverse(
    count: int, *, seed: int, symbols: int = 30, shortest: int = 3, longest: int = 12
) -> Iterator[Pair]:
    """As `generate_copy`, with the reversed sequence as target."""
    return _generate("reverse", count, seed, symbols, shortest, longest, _backwards)


def generate_sort(count: int, *, seed: int, symbols: int = 30, shortest: int = 3, longest: int = 12) -> Iterator[Pair]:
    """As `generate_copy`, with the sorted sequence as target; the sort is stable."""
    return _generate("sort", count, seed, symbols, shortest, longest, _rising)


def _generate(
    name: str, count: int, seed: int, symbols: int, shortest: int, longest: int, order: Callable[[list[str]], list[int]]
) -> Iterator[Pair]:
    """`order` gives the source position of each target position."""
    if symbols < 1 or not 1 <= shortest <= longest:
        raise ValueError(
            f"a sequence has at least one symbol, and no fewer than its shortest; got symbols={symbols}, "
            f"shortest={shortest}, longest={longest}"
        )
    digits = max(len(str(symbols - 1)), 2)
    for index in range(count):
        draw = random.Random(f"{name} {seed} {index}")
        source = [f"{draw.randrange(symbols):0{digits}d}" for _ in range(draw.randint(shortest, longest))]
        positions = order(source)
        yield Pair(source, [source[s] for s in positions], sorted((s, t) for t, s in enumerate(positions)))


def _as_it_is(words: list[str]) -> list[int]:
    return list(range(len(words)))


def _backwards(words: list[str]) -> list[int]:
    return list(range(len(words)))[::-1]


def _rising(words: list[str]) -> list[int]:
    return sorted(range(len(words)), key=words.__getitem__)
