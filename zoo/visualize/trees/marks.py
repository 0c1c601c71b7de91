"""Marks of classes, equal on every display: a colour, and a short sign that works without colour."""

import re
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from zoo.visualize.drawing import PALETTE, Drawing, mixed

SCALE = ("#b5202f", "#ee9f8c", "#e1e5ea", "#8fbde6", "#1f5fae")
"""Colours from the most negative class to the most positive one; red and blue are easy to distinguish."""
KINDS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8f94")
"""Colours of classes without an order (Okabe and Ito 2008, for all kinds of sight); the ninth repeats the first."""
PALE = "#ffffff"
ROUNDS = ((PALE, 0.0), ("#000000", 0.4), (PALE, 0.5))  # Repetitions of the KINDS: the colour mixed in, and its share
LONGEST_SIGN = 3
SIGN_SIZES = (0.95, 0.8, 0.62)  # Size of a sign of one, two or three letters, as a share of its disc's radius

# whole words, since "Negotiation" and "post" are neither bad nor good
SIDES = {
    -1: re.compile(
        r"\b(neg|negatives?|negatively|bad|badly|worse|worst|poor|poorly|terribl[ey]|awful|awfully"
        r"|unfavou?rabl[ey]|disagree[sd]?|against)\b|^[-\N{MINUS SIGN}]+$"
    ),
    0: re.compile(r"\b(neut?|neutrals?|neutrally|mixed|fair|fairly|average|ok|okay|objective|objectively|none)\b|^0$"),
    1: re.compile(
        r"\b(pos|positives?|positively|good|better|best|great|excellent|excellently|favou?r|favou?rabl[ey]"
        r"|agree[sd]?)\b|\bfor$|^\++$"
    ),
}
"""Names of bad, neutral and good classes."""
STRONG = re.compile(
    r"\b(very|strong|strongly|extreme|extremely|highly|worst|terribl[ey]|awful|awfully|best|excellent|excellently)\b"
    r"|^(--|\+\+)"
)


class Mark(NamedTuple):
    """The sign and colour of a class."""

    sign: str  # At most three letters, or a number; the minus is ASCII
    colour: str
    ink: str  # The colour of the sign

    @property
    def drawn(self) -> str:
        """The sign with a minus as long as the plus is wide."""
        return self.sign.replace("-", "\N{MINUS SIGN}")

    def draw(self, sheet: Drawing, kind: str, x: float, y: float, radius: float) -> None:
        """Draw a disc of this colour, with the sign where the disc is large enough."""
        sheet.disc(kind, x, y, radius, self.colour)
        if radius >= 6:
            size = radius * SIGN_SIZES[min(len(self.sign), len(SIGN_SIZES)) - 1]
            middle = 0.314 if set(self.sign) <= {"+", "-"} else 0.364  # + and − are lower than letters
            sheet.write(x, y + middle * size, self.drawn, size, self.ink, bold=True, side="center")


def marks(classes: Sequence[str]) -> dict[str, Mark]:
    """Return the mark of each class by its name.

    Names with an order from bad to good have colours from red over grey to blue, and the signs --, -, 0, +, ++, or
    are short numbers themselves. The signs of other names are their first letters if these differ, or else numbers.
    """
    ranks = _ranks(classes)
    if ranks is None:
        signs, rounds = _beginnings(classes), [number // len(KINDS) % len(ROUNDS) for number in range(len(classes))]
        colours = [mixed(KINDS[number % len(KINDS)], *ROUNDS[times]) for number, times in enumerate(rounds)]
    else:
        signs, colours = _order_signs(classes, ranks), [blend(rank / (len(classes) - 1)) for rank in ranks]
    inks = [
        max((PALETTE["ink"], PALE), key=lambda ink: abs(_lightness(ink) - _lightness(colour))) for colour in colours
    ]
    return {name: Mark(*parts) for name, *parts in zip(classes, signs, colours, inks, strict=True)}


def neutral(classes: Sequence[str]) -> str | None:
    """Return the class in the middle of an order; None where there is none."""
    ranks = _ranks(classes)
    return None if ranks is None or len(classes) % 2 == 0 else classes[ranks.index(len(classes) // 2)]


def _ranks(classes: Sequence[str]) -> list[int] | None:
    """Return the rank of each class from bad to good; None where the names have no order."""
    for value in (_number, _worth):
        places = [place for place in map(value, classes) if place is not None]
        if len(places) == len(classes):
            distinct = len(set(places)) == len(places) > 1
            return [sorted(places).index(place) for place in places] if distinct else None
    return None


def _number(name: str) -> float | None:
    try:
        return float(name.replace("\N{MINUS SIGN}", "-")) if any(map(str.isdigit, name)) else None  # not nan or inf
    except ValueError:
        return None


def _worth(name: str) -> float | None:
    """Return the worth of a name from -2 to 2; None for a name that is not good, bad or between."""
    words = re.sub(r"[_-]+(?=\w)", " ", name.lower().strip())
    sides = [side for side, kind in SIDES.items() if kind.search(words)]
    return sides[0] * (2.0 if STRONG.search(words) else 1.0) if len(sides) == 1 else None


def _order_signs(classes: Sequence[str], ranks: Sequence[int]) -> list[str]:
    """Return the names themselves if all are short numbers, since 2 drawn as 0 would be another class; else signs."""
    numbers = [name.strip().replace("\N{MINUS SIGN}", "-") for name in classes]
    if all(len(name) <= LONGEST_SIGN and _number(name) is not None for name in numbers):
        return numbers
    half, odd = len(ranks) // 2, len(ranks) % 2  # an even number of classes has no 0
    steps = [rank - half + (0 if odd or rank < half else 1) for rank in ranks]
    return [f"{step:+d}" if abs(step) > 3 else ("+" if step > 0 else "-") * abs(step) or "0" for step in steps]


def _beginnings(classes: Sequence[str]) -> list[str]:
    for length in range(1, LONGEST_SIGN + 1):
        found = [name[:length] for name in classes]
        if len(set(found)) == len(classes) and all(sign.isprintable() and sign.strip() == sign for sign in found):
            return found
    return [str(number) for number in range(1, len(classes) + 1)]


def blend(place: float) -> str:
    """Return the colour at `place` of the SCALE, from 0 to 1."""
    at = place * (len(SCALE) - 1)
    below = min(int(at), len(SCALE) - 2)
    return mixed(SCALE[below], SCALE[below + 1], at - below)


def _lightness(colour: str) -> float:
    """Return the logarithm of the relative luminance, so that a difference is a contrast ratio of WCAG 2."""
    parts = [part / 255 for part in bytes.fromhex(colour[1:])]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return log(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
