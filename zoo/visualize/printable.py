"""Texts fit to be shown: on a terminal, on a page, in a picture, in a table."""

from __future__ import annotations

import unicodedata

TURNING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Letters that turn the direction of the text after them, so that the eye reads another text than the file has."""


def shown(text: str) -> str:
    """`text` without control characters, which a terminal obeys, TURNING ones, and lone surrogates, which no file
    holds."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _obeyed(letter) else letter for letter in text)


def _obeyed(letter: str) -> bool:
    return letter in TURNING or unicodedata.category(letter) in ("Cc", "Cs")


def shortened(text: str, longest: int) -> str:
    """`text` fit to be shown, of at most `longest` letters: what is longer ends in an ellipsis."""
    text = shown(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"
