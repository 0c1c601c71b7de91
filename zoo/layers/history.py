"""The tokens that a decoder has read: a tensor that grows at each step, in place where that is safe."""

from dataclasses import dataclass

import torch
from torch import Tensor

LEAST = 16  # Tokens that there is room for at first


@dataclass
class _Room:
    """A tensor (B, R, C). The first `used` rows of each example are taken."""

    rows: Tensor
    used: int


def appended(history: Tensor, new: Tensor) -> Tensor:
    """Return (B, n + k, C) from (B, n, C) and (B, k, C), as torch.cat does.

    Without gradients the result is a view into a larger tensor with room for later tokens, so that a step copies only
    `new`. Earlier results never change: a second call with the same tensor makes a copy.
    """
    if torch.is_grad_enabled() or torch.compiler.is_compiling():
        return torch.cat([history, new], 1)
    before, after = history.shape[1], history.shape[1] + new.shape[1]
    room: _Room | None = getattr(history, "room", None)
    if room is None or room.used != before or after > room.rows.shape[1]:
        room = _Room(history.new_empty(history.shape[0], max(LEAST, 2 * after), history.shape[2]), before)
        room.rows[:, :before] = history
    room.rows[:, before:after] = new
    room.used = after
    found = room.rows[:, :after]
    found.room = room  # type: ignore[attr-defined]  # it lives as long as this view
    return found
