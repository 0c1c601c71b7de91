"""The levels of pictures: inputs of a network, and its scores.

Notation: B pictures, C colours, H rows, W columns, L levels.
"""

from torch import Tensor


def scaled(image: Tensor, levels: int, like: Tensor) -> Tensor:
    """Levels 0 to L - 1 of any shape as numbers from -1 to 1, in the type of `like`."""
    return image.to(like.dtype) * (2 / (levels - 1)) - 1


def by_level(scores: Tensor, colours: int) -> Tensor:
    """(B, C L, ...), all levels of the first colour first -> (B, L, C, ...)."""
    return scores.unflatten(1, (colours, -1)).transpose(1, 2)
