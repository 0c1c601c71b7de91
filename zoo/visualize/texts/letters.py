"""How wide a text is, and which part of it fits: one measure for pages and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from rich.cells import cell_len

from zoo.visualize.printable import shown
from zoo.visualize.texts.fonts import FIRST, families

PIXELS, DPI = 96, 150
"""Pixels per inch of a drawing, and dots per inch of a picture that is written to a file."""
LONGEST = 200
"""Letters of a text that are measured: no line of a picture holds more."""


@contextmanager
def missing_letters_silent() -> Iterator[None]:
    """Silences matplotlib's warning about letters that no font has: `fonts.families` has logged them in words."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


@cache
def _renderer() -> Any:
    return FigureCanvasAgg(Figure(dpi=DPI)).get_renderer()


class Letters:
    """Measures texts in the fonts that have their letters; `families` grows with the letters that are measured.

    On a page the browser chooses the font, so only DejaVu Sans is used there: it is among the widest fonts.
    """

    def __init__(self, *, for_page: bool = False) -> None:
        self.for_page = for_page
        self.families: list[str] = [FIRST]
        self._seen: set[str] = set()
        self._widths: dict[tuple[str, float, bool], float] = {}

    def font(self, size: float, bold: bool = False) -> FontProperties:
        weight = "bold" if bold else "normal"
        return FontProperties(family=self.families, size=size * 72 / PIXELS, weight=weight)

    def width(self, text: str, size: float, bold: bool = False) -> float:
        """Pixels that a text of letters of `size` pixels takes; each text is measured once."""
        key = (text, size, bold)
        if key not in self._widths:
            self._widths[key] = self._measured(text, size, bold)
        return self._widths[key]

    def widest(self, texts: Iterable[str], size: float, bold: bool = False) -> float:
        return max((self.width(text, size, bold) for text in texts), default=0.0)

    def _measured(self, text: str, size: float, bold: bool) -> float:
        if self.for_page:
            square = sum(cell_len(letter) > 1 for letter in text)  # Chinese, Japanese, Korean: as wide as high
            if square:
                return square * size + self._measured("".join(x for x in text if cell_len(x) < 2), size, bold)
        elif new := set(text) - self._seen:
            self._seen |= new
            self.families = list(dict.fromkeys([*self.families, *families(new)]))
        with missing_letters_silent():
            width = _renderer().get_text_width_height_descent(text, self.font(size, bold), False)[0]
        return float(width) * PIXELS / DPI

    def cut(
        self, text: str, most: float, size: float, bold: bool = False, among: Iterable[str] = (), *, end: bool = False
    ) -> str:
        """Return the printable `text`, shortened by an ellipsis to at most `most` pixels.

        Args:
            text: any text.
            most: the width in pixels.
            size: the size of the letters in pixels.
            bold: whether the letters are bold.
            among: names that must stay different. If one of them begins like the shortened text, the end is kept.
            end: keep the end of the text instead of its beginning.
        """
        text = shown(text[-LONGEST:] if end else text[:LONGEST])
        if self.width(text, size, bold) <= most:
            return text

        def part(letters: int) -> str:
            return "…" + text[len(text) - letters :] if end else text[:letters] + "…"

        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            fits, too_long = (middle, too_long) if self.width(part(middle), size, bold) <= most else (fits, middle)
        if any(shown(other) != text and shown(other).startswith(text[:fits]) for other in among):
            return self.cut(text, most, size, bold, end=True)
        return part(fits)
