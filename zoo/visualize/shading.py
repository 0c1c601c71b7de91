"""What stands behind words and numbers on the terminal: the stronger, the deeper."""

from __future__ import annotations

from rich.style import Style

PALE, DEEP = (222, 235, 252), (91, 155, 240)  # behind near-black letters, readable on light and dark terminals


def shade(strength: float) -> Style:
    """The style of a text of `strength` from 0 to 1."""
    red, green, blue = (round(a + (b - a) * strength) for a, b in zip(PALE, DEEP, strict=True))
    return Style(color="#10151f", bgcolor=f"rgb({red},{green},{blue})")
