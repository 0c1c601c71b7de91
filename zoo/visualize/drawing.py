"""What all pictures share: their colours, their resolution, and how they are written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
"""Dots an inch."""
INK, SOFT, FAINT, LINE = "#14181f", "#5b6472", "#7d8795", "#e3e7ed"
"""Of letters, from the strongest, and of lines and frames."""
BLUE, ORANGE = "#4a90f0", "#d97706"
"""Blue is what the network attended to, orange where it should have."""
ATTENTION = ("#f5f7fa", BLUE, "#123a75")
"""Of cells from no attention to all of it."""
RIGHT, WRONG = "#14713d", "#b3261e"
"""Of an answer beside the true one."""


def save_picture(figure: Figure, path: Path | str) -> Path:
    """Writes `figure` to `path`, in the format of its ending, making its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with missing_letters_unsaid():
        quick: dict[str, Any] = {"pil_kwargs": {"compress_level": 2}} if path.suffix == ".png" else {}
        figure.savefig(path, dpi=figure.dpi, **quick)
    return path


@contextmanager
def missing_letters_unsaid() -> Iterator[None]:
    """Within it matplotlib does not warn of letters that no font has: `fonts.families` said which, in words."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
