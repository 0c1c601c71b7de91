"""The embedded samples of arithmetic on symbols: the parity of bits, and the sum of two numbers.

A source of `addition` has the digits of both numbers with a plus between them, and the target those of the sum.
Numbers begin with the most significant digit, as people write them, and have no leading zeros.
"""

import random
from collections.abc import Iterator

from zoo.data.pairs.samples import Pair

PLUS = "+"
NAMES = ("even", "odd")
"""The parity of a number of ones, modulo 2."""


def parity(count: int, *, seed: int, shortest: int = 1, longest: int = 20) -> Iterator[Pair]:
    """`count` strings of `shortest` to `longest` bits, all lengths equally often. The target says whether the number of
    ones is even or odd, which depends on every bit. Pair i depends only on the arguments and on i."""
    for index in range(count):
        draw = random.Random(f"parity {seed} {index}")
        bits = [str(draw.randrange(2)) for _ in range(draw.randint(shortest, longest))]
        yield Pair(bits, [NAMES[bits.count("1") % 2]], [(place, 0) for place in range(len(bits))])


def addition(count: int, *, seed: int, shortest: int = 1, digits: int = 3) -> Iterator[Pair]:
    """`count` sums of two numbers of `shortest` to `digits` digits, all lengths equally often. Pair i depends only on
    the arguments and on i.

    A digit of the sum depends on the digits of its own place and, by the carry, on all digits of lower places.
    """
    for index in range(count):
        draw = random.Random(f"addition {seed} {index}")
        numbers = [_number(draw, draw.randint(shortest, digits)) for _ in range(2)]
        words = [list(str(number)) for number in numbers]
        source, target = [*words[0], PLUS, *words[1]], list(str(sum(numbers)))
        links = []
        for first, own in ((0, words[0]), (len(words[0]) + 1, words[1])):
            for place in range(len(own)):
                power = len(own) - 1 - place  # 0 for the units
                links += [(first + place, t) for t in range(len(target)) if len(target) - 1 - t >= power]
        yield Pair(source, target, sorted(links))


def _number(draw: random.Random, digits: int) -> int:
    """A number of so many digits; the first one is 0 only in 0 itself."""
    return draw.randrange(10 ** (digits - 1) if digits > 1 else 0, 10**digits)
