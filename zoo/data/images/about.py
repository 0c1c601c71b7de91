"""What is known of an image beside its pixels, for metrics, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class About:
    """One image of a split, or one that a user gives."""

    name: str
    """Its file, or the number of a generated one."""
    captions: tuple[str, ...] = ()
    """All its captions as they stood in their file."""
    facts: Any = None
    """What is true of it as plain data (see `zoo.data.images.truth`); only where the data knows it (the scenes)."""
    file: str | None = None
    """Where its pixels can be read; only where a batch has features in their place, and the image is a file."""
