"""The embedded sample: strings of symbols in sound, each symbol two tones at once, with known borders.

Speakers differ: each sound has a factor of all its frequencies. A third of the symbols are long, so that the place of a
symbol in its string does not give its place in the sound. The noise is 10 to 20 dB below the tones.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE = 8000  # Samples per second, by default
FREQUENCIES = np.geomspace(300, 3400, 8)  # In hertz
PAIRS = list(combinations(range(len(FREQUENCIES)), 2))
STRIDE = 11  # Symbol i has pair STRIDE * i, so that the first symbols already have all frequencies
MOST_SYMBOLS = len(PAIRS)
SHORT = (0.05, 0.25)  # Shortest and longest symbol in seconds
LONG, LONG_SHARE = 2.5, 1 / 3  # Some symbols are so many times as long, and their share
GAP = (0.005, 0.025)  # Shortest and longest gap in seconds, also before the first and after the last symbol
SPEAKERS = 0.08  # Frequencies are up to this share higher or lower
NOISE = (10.0, 20.0)  # Decibels of the tones above the noise
RAMP = 0.005  # Seconds in which a symbol begins and ends
LOUD = (0.3, 0.9)  # The largest sample of a sound, as a share of the full scale


class Tones(NamedTuple):
    """A generated sound."""

    samples: NDArray[np.int16]  # (N,)
    symbols: list[int]
    times: list[tuple[float, float]]  # The begin and the end of each symbol in seconds


def generate(
    count: int, *, seed: int, rate: int = RATE, symbols: int = 20, least: int = 3, most: int = 8
) -> Iterator[Tones]:
    """`count` strings of `least` to `most` of some `symbols`, up to 28. Sound i depends only on `seed` and on i. No
    symbol follows itself."""
    for number in range(count):
        yield _sound(np.random.default_rng((seed, number)), rate, symbols, int(least), int(most))


def _sound(draw: np.random.Generator, rate: int, symbols: int, least: int, most: int) -> Tones:
    length = int(draw.integers(least, most + 1))
    steps = draw.integers(1, symbols, length)
    steps[0] = draw.integers(symbols)
    string = (steps.cumsum() % symbols).tolist()
    long = np.where(draw.random(length) < LONG_SHARE, LONG, 1.0)
    lasting = np.round(draw.uniform(*SHORT, length) * long * rate).astype(int)
    gaps = np.round(draw.uniform(*GAP, length + 1) * rate).astype(int)
    ends = (gaps[:-1] + lasting).cumsum()
    begins = ends - lasting
    found = np.zeros(ends[-1] + gaps[-1])
    speaker = 1 + draw.uniform(-SPEAKERS, SPEAKERS)
    strengths, phases = draw.uniform(0.5, 1, (length, 2)), draw.uniform(0, 2 * np.pi, (length, 2))
    for number, symbol in enumerate(string):
        pitches = FREQUENCIES[list(PAIRS[STRIDE * symbol % len(PAIRS)])] * speaker
        turns = 2 * np.pi * pitches[:, None] * np.arange(lasting[number]) / rate + phases[number][:, None]
        found[begins[number] : ends[number]] = _envelope(lasting[number], rate) * (strengths[number] @ np.sin(turns))
    power = np.square(found).sum() / lasting.sum()
    found += draw.normal(0, np.sqrt(power * 10 ** (-draw.uniform(*NOISE) / 10)), len(found))
    found *= draw.uniform(*LOUD) * (2**15 - 1) / np.abs(found).max()
    times = list(zip((begins / rate).tolist(), (ends / rate).tolist(), strict=True))
    return Tones(np.round(found).astype(np.int16), string, times)


def _envelope(length: int, rate: int) -> NDArray[np.float64]:
    """(length,) 1, with a rise and a fall of RAMP seconds."""
    ramp = np.minimum(1, (np.arange(length) + 0.5) / (RAMP * rate))
    return 0.5 - 0.5 * np.cos(np.pi * np.minimum(ramp, ramp[::-1]))
