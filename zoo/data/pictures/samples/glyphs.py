"""The embedded sample: letters and digits whose slant, size, place and thickness are drawn from known distributions.

A picture follows from its character and these factors. There are few enough combinations to draw them all, so that the
probability of each picture is known, and with it the entropy: pictures of several combinations count once, with the sum
of their probabilities. Pictures with colours also have an ink and a paper.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STROKES: dict[str, list[list[list[float]]]] = tomllib.loads(Path(__file__).with_name("strokes.toml").read_text("utf-8"))
CHARACTERS = "".join(STROKES)
NARROW = 0.62  # The width of a character, as a share of its height
SLANTS = {-0.2: 0.25, 0.0: 0.5, 0.2: 0.25}  # Horizontal shift per vertical length, and its probability
HEIGHTS = {7 / 12: 0.25, 8 / 12: 0.5, 9 / 12: 0.25}  # Shares of the picture's height, and so below
SHIFTS = {-1 / 12: 1 / 3, 0.0: 1 / 3, 1 / 12: 1 / 3}
THICKNESS = {0.55 / 12: 0.5, 0.9 / 12: 0.5}  # Half the width of a stroke, as a share of the picture's side
FACTORS = ("slant", "height", "right", "down", "thickness")
INKS = ((0, 0, 0), (255, 0, 0), (0, 0, 255), (255, 0, 255))
PAPERS = ((255, 255, 255), (255, 255, 0), (0, 255, 255))


class Glyph(NamedTuple):
    """A generated picture."""

    pixels: NDArray[np.uint8]  # (H, W, C)
    character: str
    factors: tuple[float, ...]  # As in FACTORS


class Table(NamedTuple):
    """All combinations of one character."""

    ink: NDArray[np.float32]  # (K, H, W) the share of each pixel that is ink
    factors: list[tuple[float, ...]]  # K of them
    probabilities: NDArray[np.float64]  # (K,) their sum is 1


def generate(
    count: int, *, seed: int, side: int = 12, characters: str = CHARACTERS, coloured: bool = False
) -> Iterator[Glyph]:
    """`count` pictures of `side` by `side` pixels. Picture i depends only on `seed` and on i. Each of the `characters`
    is drawn with the same probability; ink is white on black, or with colours an ink on a paper."""
    for number in range(count):
        draw = np.random.default_rng((seed, number))
        character = characters[draw.integers(len(characters))]
        table = combinations(character, side)
        one = int(draw.choice(len(table.factors), p=table.probabilities))
        colours = (INKS[draw.integers(len(INKS))], PAPERS[draw.integers(len(PAPERS))]) if coloured else None
        yield Glyph(painted(table.ink[one], colours), character, table.factors[one])


@lru_cache(len(STROKES))
def combinations(character: str, side: int) -> Table:
    """Draw a character in all its forms."""
    strokes = [np.array(line) for line in STROKES[character]]
    ends = np.concatenate([np.stack([line[:-1], line[1:]], 1) for line in strokes]) - 0.5  # (N, 2, 2)
    centres = np.arange(side) + 0.5
    pixels = np.stack(np.meshgrid(centres, centres), -1)  # (H, W, 2) as (x, y)
    ink, probabilities = [], []
    factors: list[tuple[float, ...]] = []
    for (slant, a), (height, b), (right, c), (down, d) in product(
        SLANTS.items(), HEIGHTS.items(), SHIFTS.items(), SHIFTS.items()
    ):
        x = (ends[..., 0] * NARROW - ends[..., 1] * slant) * height + right
        placed = (np.stack([x, ends[..., 1] * height + down], -1) + 0.5) * side
        far = distance(pixels, placed[:, 0], placed[:, 1])
        for thickness, e in THICKNESS.items():
            ink.append(np.clip(thickness * side - far + 0.5, 0, 1))
            factors.append((slant, height, right, down, thickness))
            probabilities.append(a * b * c * d * e)
    return Table(np.array(ink, np.float32), factors, np.array(probabilities) / sum(probabilities))


def distance(pixels: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """(H, W) the distance of each pixel (H, W, 2) to the nearest of N lines from `begin` to `end`, (N, 2) each."""
    along = end - begin
    offset = pixels - begin[:, None, None]  # (N, H, W, 2)
    share = (offset * along[:, None, None]).sum(-1) / np.square(along).sum(-1)[:, None, None]
    nearest = offset - share.clip(0, 1)[..., None] * along[:, None, None]
    return np.sqrt(np.square(nearest).sum(-1)).min(0)


def painted(ink: NDArray[np.float32], colours: tuple[Sequence[int], Sequence[int]] | None) -> NDArray[np.uint8]:
    """Shares of ink (H, W) as bytes (H, W, 1), or (H, W, 3) with an ink and a paper."""
    if colours is None:
        return np.rint(255 * ink).astype(np.uint8)[..., None]
    dark, light = (np.array(colour, np.float32) for colour in colours)
    return np.rint(light + ink[..., None] * (dark - light)).astype(np.uint8)


@lru_cache(16)
def entropy(side: int, characters: str, coloured: bool, bits: int, given: str | None = None) -> float:
    """The entropy of a picture in nats, where each value has `bits` bits, given its `label`, its `factors` or nothing.

    It is the sum of -p log p(picture | given) over all pictures, each of probability p.
    """
    pairs: list[Any] = list(product(INKS, PAPERS)) if coloured else [None]
    joint: dict[tuple[Any, bytes], float] = {}
    for character in characters:
        table = combinations(character, side)
        for number, colours in product(range(len(table.factors)), pairs):
            known = {"label": character, "factors": table.factors[number]}.get(given or "")
            picture = blake2b((painted(table.ink[number], colours) >> 8 - bits).tobytes()).digest()
            probability = table.probabilities[number] / len(characters) / len(pairs)
            joint[known, picture] = joint.get((known, picture), 0.0) + probability
    of_known: dict[Any, float] = {}
    for (known, _), probability in joint.items():
        of_known[known] = of_known.get(known, 0.0) + probability
    return -sum(p * log(p / of_known[known]) for (known, _), p in joint.items())
