"""Fonts that have the letters of a text: the one that is always there, then installed ones that hold the others."""

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
PACKAGES = {
    "CJK": ("Chinese", "fonts-noto-cjk"),
    "IDEOGRAPHIC": ("Chinese", "fonts-noto-cjk"),
    "FULLWIDTH": ("Chinese", "fonts-noto-cjk"),
    "HIRAGANA": ("Japanese", "fonts-noto-cjk"),
    "KATAKANA": ("Japanese", "fonts-noto-cjk"),
    "HANGUL": ("Korean", "fonts-noto-cjk"),
}
"""The first word of a letter's name in Unicode -> its script, and the Debian package of a font."""
LETTERS, SYMBOLS = "fonts-noto-core", "fonts-symbola"
"""The packages for letters of all other scripts, and for symbols."""

log = logging.getLogger(__name__)
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it names each weight that a family lacks
_said: set[str] = set()


def families(texts: Iterable[str]) -> tuple[str, ...]:
    """The font families to draw `texts` with, to be tried in turn for each letter.

    Logs one line for a script that no installed font has, once: its letters are drawn as boxes.
    """
    letters = {letter for text in texts for letter in text} - _held(_first())
    found = {letter: _family(letter) for letter in sorted(letters) if unicodedata.category(letter)[0] not in "CZ"}
    for letter, family in found.items():
        if family is None:
            _say(letter)
    return FIRST, *dict.fromkeys(family for family in found.values() if family)


def _say(letter: str) -> None:
    name = unicodedata.name(letter, "UNNAMED").split()[0]
    is_letter = unicodedata.category(letter)[0] in "LMN"
    script, package = PACKAGES.get(name, (name.title(), LETTERS) if is_letter else ("symbols", SYMBOLS))
    if script not in _said:
        _said.add(script)
        what = script if script == "symbols" else f"{script} letters"
        log.warning(
            "pictures: no installed font has %s such as %s, drawn as boxes; install one, as by: apt install %s",
            what,
            letter,
            package,
        )


@cache
def _family(letter: str) -> str | None:
    """The family of the first installed font that has a letter."""
    for path in installed():
        if letter in _held(path):
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
def _held(path: str) -> frozenset[str]:
    """The letters that a font has as outlines."""
    try:
        font = FT2Font(path)
        return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
    except (RuntimeError, OSError):  # no font, or of a kind that matplotlib does not read
        return frozenset()


@cache
def _first() -> str:
    return str(fontManager.findfont(FontProperties(family=FIRST)))
