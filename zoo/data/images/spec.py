"""What images with captions are: the facts that a network for them is built from."""

from __future__ import annotations

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class ImageSpec(Spec):
    """Images, or the features that a frozen encoder made of them, and the captions that are to be written."""

    limits = ("longest_target",)

    channels: int
    """C of what a batch holds of an image: 3 of pixels, else those of the features."""
    height: int
    """H of it."""
    width: int
    """W of it."""
    target_size: int
    """Rows of the word embedding and scores of a target position, the special tokens included."""
    longest_target: int
    """Tokens of the longest caption that the data lets in, its end included."""
    grid: tuple[int, int] = (14, 14)
    """Rows and columns of cells that a network looks at. Cell (i, j) is centred at ((i + 1/2) / rows, (j + 1/2) /
    columns) of the image, whatever encoder fills it."""
    encoded: bool = False
    """A batch holds features in place of pixels: C numbers for each of H = rows by W = columns cells."""
    padding: int = 0
    unknown: int = 1
    begin: int = 2
    """What a decoder reads before the first word; never predicted."""
    end: int = 3
    """The last token of every caption."""

    @property
    def cells(self) -> int:
        """S of the grid."""
        return self.grid[0] * self.grid[1]
