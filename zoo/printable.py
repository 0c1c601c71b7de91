"""Texts fit to be shown: on a terminal, on a page, in a picture, in a table."""

import unicodedata

TURNING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Letters that turn the direction of the text after them, so that the eye reads another text than the file has."""


def shown(text: str) -> str:
    """Return `text` without control characters, which a terminal obeys, TURNING letters and lone surrogates."""
    if text.isprintable():
        return text
    bad = {letter for letter in text if letter in TURNING or unicodedata.category(letter) in ("Cc", "Cs")}
    return "".join("\N{REPLACEMENT CHARACTER}" if letter in bad else letter for letter in text)


def shortened(text: str, longest: int) -> str:
    """Return `text` fit to be shown, of at most `longest` letters: a longer one ends in an ellipsis."""
    text = shown(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"
