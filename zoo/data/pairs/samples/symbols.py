"""The embedded samples of symbol sequences: copy, reverse and sort them.

A symbol is a number of two digits or more, so that the words sort as the numbers do.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from zoo.data.pairs.samples import Pair

ORDERS: Mapping[str, Callable[[list[str]], list[int]]] = {
    "copy": lambda words: list(range(len(words))),
    "reverse": lambda words: list(range(len(words)))[::-1],
    "sort": lambda words: sorted(range(len(words)), key=words.__getitem__),
}
"""The source position of each target position; the sort is stable."""


def generate(
    count: int, *, seed: int, order: str = "copy", symbols: int = 30, shortest: int = 3, longest: int = 12
) -> Iterator[Pair]:
    """`count` sequences of `shortest` to `longest` symbols, out of `symbols` different ones, as sources. The targets
    have them in one of ORDERS. Pair i depends only on the arguments and on i."""
    if symbols < 1 or not 1 <= shortest <= longest:
        raise ValueError(
            f"expected symbols >= 1 and 1 <= shortest <= longest; got symbols={symbols}, "
            f"shortest={shortest}, longest={longest}"
        )
    digits = max(len(str(symbols - 1)), 2)
    for index in range(count):
        draw = random.Random(f"{order} {seed} {index}")
        source = [f"{draw.randrange(symbols):0{digits}d}" for _ in range(draw.randint(shortest, longest))]
        positions = ORDERS[order](source)
        yield Pair(source, [source[s] for s in positions], sorted((s, t) for t, s in enumerate(positions)))
