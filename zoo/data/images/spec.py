"""The facts about images with captions that a network is built from."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class ImageSpec(Spec):
    """Images, or the features of a frozen encoder, and the captions to write."""

    limits = ("longest_target",)

    channels: int
    """C of an image in a batch: 3 for pixels, else the width of the features."""
    height: int
    """H of an image in a batch."""
    width: int
    """W of an image in a batch."""
    target_size: int
    """Rows of the word embedding and scores per target position, with the special tokens."""
    longest_target: int
    """Tokens of the longest caption, with its end."""
    grid: tuple[int, int] = (14, 14)
    """Rows and columns of cells that can be attended. Cell (i, j) is centred at ((i + 1/2) / rows, (j + 1/2) / columns)
    of the image, for any encoder."""
    encoded: bool = False
    """Whether a batch holds features instead of pixels: C numbers for each of H = rows by W = columns cells."""
    padding: int = 0
    unknown: int = 1
    begin: int = 2
    """The input of a decoder before the first word; never predicted."""
    end: int = 3
    """The last token of every caption."""

    @property
    def cells(self) -> int:
        """S, the number of cells of the grid."""
        return self.grid[0] * self.grid[1]
