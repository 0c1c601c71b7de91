"""Facts about an image besides its pixels, for metrics, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class About:
    """An image of a split, or an image that a user gives."""

    name: str
    """File name, or the number of a generated image."""
    captions: tuple[str, ...] = ()
    """All captions, as written in their file."""
    facts: Any = None
    """Known facts of the scene as plain data (see `zoo.data.images.truth`); only generated scenes have them."""
    file: str | None = None
    """Path to the pixels, if a batch has features instead of pixels and the image is a file."""
