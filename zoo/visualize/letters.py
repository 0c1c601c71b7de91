"""Fonts that have the letters of a text, how wide the text is, and which part of it fits.

DejaVu Sans comes with matplotlib and is tried first; other letters are drawn with installed fonts that have them.
The functions import matplotlib themselves, so that answers on the terminal do not wait for it.
"""

from __future__ import annotations

import logging
import unicodedata
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from zoo.printable import shown

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

FIRST = "DejaVu Sans"
CJK = {
    **dict.fromkeys(("CJK", "IDEOGRAPHIC", "FULLWIDTH"), "Chinese"),
    **dict.fromkeys(("HIRAGANA", "KATAKANA"), "Japanese"),
    "HANGUL": "Korean",
}
"""The first word of a letter's name in Unicode -> its script, for the scripts of one Debian package."""
PIXELS, DPI = 96, 150  # Pixels per inch of a drawing, and dots per inch of a picture that is written to a file
LONGEST = 200  # Letters of a text that are measured: no line of a picture holds more

log = logging.getLogger(__name__)
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it names each weight that a family lacks
_logged: set[str] = set()


# Fonts


def families(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the font families to try in turn for each letter. A script without a font is logged once."""
    from matplotlib.font_manager import FontProperties, fontManager

    first = str(fontManager.findfont(FontProperties(family=FIRST)))
    letters = {letter for text in texts for letter in text} - _outlines(first)
    found = {letter: _family(letter) for letter in sorted(letters) if unicodedata.category(letter)[0] not in "CZ"}
    for letter in (letter for letter, family in found.items() if family is None):
        name, script, package = unicodedata.name(letter, "UNNAMED").split()[0], "symbols", "fonts-symbola"
        if name in CJK or unicodedata.category(letter)[0] in "LMN":
            script, package = f"{CJK.get(name, name.title())} letters", f"fonts-noto-{'cjk' if name in CJK else 'core'}"
        if script not in _logged:
            _logged.add(script)
            line = "pictures: no installed font has %s such as %s, drawn as boxes; "
            log.warning(line + "install one, for example: apt install %s", script, letter, package)
    return FIRST, *dict.fromkeys(family for family in found.values() if family)


@cache
def _family(letter: str) -> str | None:
    """The family of the first installed font that has a letter."""
    from matplotlib.font_manager import fontManager

    for path in installed():
        if letter in _outlines(path):
            if not any(entry.fname == path for entry in fontManager.ttflist):  # installed after matplotlib listed them
                fontManager.addfont(path)
            return next(entry.name for entry in fontManager.ttflist if entry.fname == path)
    return None


@cache
def installed() -> tuple[str, ...]:
    """The files of all fonts, upright ones of a common weight before others."""
    from matplotlib.font_manager import findSystemFonts

    def plainness(path: str) -> tuple[bool, bool, str]:
        name = Path(path).stem.lower()
        special = any(word in name for word in ("bold", "italic", "oblique", "light", "thin", "black", "mono"))
        return special, "sans" not in name, path

    return tuple(sorted(map(str, findSystemFonts()), key=plainness))


@cache
def _outlines(path: str) -> frozenset[str]:
    """The letters that a font has as outlines."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
        return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
    except (RuntimeError, OSError):  # not a font, or of a kind that matplotlib does not read
        return frozenset()


@contextmanager
def missing_letters_silent() -> Iterator[None]:
    """Silence matplotlib's warning about letters that no font has: `families` has logged them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


# Widths


@cache
def _renderer() -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

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
        from matplotlib.font_manager import FontProperties

        return FontProperties(family=self.families, size=size * 72 / PIXELS, weight="bold" if bold else "normal")

    def width(self, text: str, size: float, bold: bool = False) -> float:
        """Pixels that a text of letters of `size` pixels takes; each text is measured once."""
        if (found := self._widths.get((text, size, bold))) is not None:
            return found
        drawn, square = text, 0.0
        if self.for_page:
            square = size * sum(cell_len(letter) > 1 for letter in text)  # Chinese, Japanese, Korean: as wide as high
            drawn = "".join(letter for letter in text if cell_len(letter) < 2)
        elif new := set(text) - self._seen:
            self._seen |= new
            self.families = list(dict.fromkeys([*self.families, *families(new)]))
        with missing_letters_silent():
            width = _renderer().get_text_width_height_descent(drawn, self.font(size, bold), False)[0]
        self._widths[text, size, bold] = found = square + float(width) * PIXELS / DPI
        return found

    def space(self, size: float) -> float:
        """Pixels of a blank between two words."""
        return self.width("n n", size) - 2 * self.width("n", size)

    def widest(self, texts: Iterable[str], size: float, bold: bool = False) -> float:
        return max((self.width(text, size, bold) for text in texts), default=0.0)

    def cut(
        self, text: str, most: float, size: float, bold: bool = False, among: Iterable[str] = (), *, end: bool = False
    ) -> str:
        """Return the printable `text`, shortened by an ellipsis to at most `most` pixels.

        The beginning is kept, unless `end` is set or another name `among` those that are shown begins in the same way.
        """
        text = shown(text[-LONGEST:] if end else text[:LONGEST])
        if self.width(text, size, bold) <= most:
            return text

        def part(letters: int) -> str:
            return "…" + text[len(text) - letters :] if end else text[:letters] + "…"

        longer = range(1, len(text))
        fits = bisect_right(longer, most, key=lambda letters: self.width(part(letters), size, bold))
        if any(shown(other) != text and shown(other).startswith(text[:fits]) for other in among):
            return self.cut(text, most, size, bold, end=True)
        return part(fits)
