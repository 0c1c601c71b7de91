"""Fonts that have the letters of a text: DejaVu Sans, which is always there, and installed ones for other letters."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from matplotlib.font_manager import FontProperties, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font

FIRST = "DejaVu Sans"
"""Comes with matplotlib."""
CJK = {
    "CJK": "Chinese",
    "IDEOGRAPHIC": "Chinese",
    "FULLWIDTH": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
}
"""The first word of a letter's name in Unicode -> its script, for the scripts of one Debian package."""

log = logging.getLogger(__name__)
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it names each weight that a family lacks
_logged: set[str] = set()


def families(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the font families to draw `texts` with, to be tried in turn for each letter.

    Logs one line for a script that no installed font has, once: its letters are drawn as boxes.
    """
    first = str(fontManager.findfont(FontProperties(family=FIRST)))
    letters = {letter for text in texts for letter in text} - _outlines(first)
    found = {letter: _family(letter) for letter in sorted(letters) if unicodedata.category(letter)[0] not in "CZ"}
    for letter, family in found.items():
        if family is None:
            _log_missing(letter)
    return FIRST, *dict.fromkeys(family for family in found.values() if family)


def _log_missing(letter: str) -> None:
    name = unicodedata.name(letter, "UNNAMED").split()[0]
    if name in CJK:
        script, package = f"{CJK[name]} letters", "fonts-noto-cjk"
    elif unicodedata.category(letter)[0] in "LMN":
        script, package = f"{name.title()} letters", "fonts-noto-core"
    else:
        script, package = "symbols", "fonts-symbola"
    if script not in _logged:
        _logged.add(script)
        line = "pictures: no installed font has %s such as %s, drawn as boxes; install one, for example: apt install %s"
        log.warning(line, script, letter, package)


@cache
def _family(letter: str) -> str | None:
    """The family of the first installed font that has a letter."""
    for path in installed():
        if letter in _outlines(path):
            if not any(entry.fname == path for entry in fontManager.ttflist):  # installed after matplotlib listed them
                fontManager.addfont(path)
            return next(entry.name for entry in fontManager.ttflist if entry.fname == path)
    return None


@cache
def installed() -> tuple[str, ...]:
    """The files of all fonts, upright ones of a common weight before others."""

    def plainness(path: str) -> tuple[bool, bool, str]:
        name = Path(path).stem.lower()
        special = any(word in name for word in ("bold", "italic", "oblique", "light", "thin", "black", "mono"))
        return special, "sans" not in name, path

    return tuple(sorted(map(str, findSystemFonts()), key=plainness))


@cache
def _outlines(path: str) -> frozenset[str]:
    """The letters that a font has as outlines."""
    try:
        font = FT2Font(path)
        return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
    except (RuntimeError, OSError):  # not a font, or of a kind that matplotlib does not read
        return frozenset()
