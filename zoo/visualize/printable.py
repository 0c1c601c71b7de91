"""Texts fit to be shown: on a terminal, on a page, in a picture, in a table."""

from __future__ import annotations

import unicodedata


def shown(text: str) -> str:
    """`text` without control characters, which a terminal obeys, and lone surrogates, which no file holds."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)


def shortened(text: str, longest: int) -> str:
    """`text` fit to be shown, of at most `longest` letters: what is longer ends in an ellipsis."""
    text = shown(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"
