"""How the heads of a neural Turing machine find their place in its memory (Graves, Wayne, Danihelka 2014, section 3.3).

All heads are addressed at once, in float32 at least. Nothing here becomes NaN while what it is given is finite: lengths
have a floor, powers are taken of logarithms. The equations' numbers are those of the paper.

Notation: B sequences, H heads, R of them that read and H - R that write, N rows of the memory, W their width, and
S = 2 r + 1 shifts of a range r.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.errors import ConfigError
from zoo.precision import precise

LENGTH_FLOOR = 1e-6
"""Added to the square of a length before it divides: a row of zeros is like nothing, and near it the gradient of a
cosine is at most the square root of one over this."""

CLIP = 20.0
"""A controller's demands on its heads are kept within this, before strengths and gates are made of them (Collier and
Beel 2018)."""


class Demands(NamedTuple):
    """What all heads ask for at a step, the reading ones first."""

    key: Tensor
    """(B, H, W)."""
    strength: Tensor
    """(B, H, 1) >= 0, beta."""
    gate: Tensor
    """(B, H, 1) in [0, 1], how far the content decides and not the last weighting."""
    shift: Tensor
    """(B, H, S) a distribution over shifts by -r ... r rows."""
    sharpness: Tensor
    """(B, H, 1) >= 1, gamma."""
    erase: Tensor
    """(B, H - R, W) in [0, 1]."""
    add: Tensor
    """(B, H - R, W)."""


class Heads(NamedTuple):
    """How many heads there are, and what each of them asks for."""

    read: int
    write: int
    width: int
    """W of the memory."""
    shift_range: int
    """How many rows a step can move a weighting by, in either direction."""

    @property
    def number(self) -> int:
        return self.read + self.write

    @property
    def shifts(self) -> int:
        return 2 * self.shift_range + 1

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """Numbers a head and step of its key, strength and sharpness, gate, and shift."""
        return self.width, 2, 1, self.shifts

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers a step of all that is asked for, `parts` of each head, and of what is erased and added."""
        return self.number * sum(self.parts), self.write * 2 * self.width

    def check(self, rows: int) -> None:
        """Raises ConfigError where a memory of so many rows is too small for these heads."""
        if self.shifts > rows:
            raise ConfigError(
                f"shift_range={self.shift_range}: heads that move by up to {self.shift_range} rows either way need a "
                f"memory of {self.shifts} at least, memory_size is {rows}; set memory_size={self.shifts} or more, or "
                f"shift_range={(rows - 1) // 2}"
            )

    def demands(self, raw: Tensor) -> Demands:
        """What a controller asks for, of a product with its state, (B, sum of `sizes`)."""
        places, changes = precise(raw).clamp(-CLIP, CLIP).split(self.sizes, -1)
        key, scales, gate, shift = places.unflatten(-1, (self.number, -1)).split(self.parts, -1)
        strength, sharpness = F.softplus(scales).split(1, -1)
        erase, add = changes.unflatten(-1, (self.write, 2, -1)).unbind(-2)
        return Demands(key, strength, gate.sigmoid(), shift.softmax(-1), 1 + sharpness, erase.sigmoid(), add)


def addressed(demands: Demands, memory: Tensor, previous: Tensor) -> Tensor:
    """The weightings (B, H, N) of all heads, from the memory (B, N, W) and their last weightings (B, H, N)."""
    content = by_content(demands.key, demands.strength, memory)
    gated = interpolated(content, previous, demands.gate)
    return sharpened(shifted(gated, demands.shift), demands.sharpness)


def by_content(key: Tensor, strength: Tensor, memory: Tensor) -> Tensor:
    """Keys (B, H, W), strengths (B, H, 1) and the memory (B, N, W) -> weightings (B, H, N), the softmax over the rows
    of strength times cosine (5), (6)."""
    cosine = unit(key) @ unit(memory).mT
    return (precise(strength) * cosine).softmax(-1)


def unit(vectors: Tensor) -> Tensor:
    """Each vector (..., W) by its length, with LENGTH_FLOOR; numbers of 1e18 and more are too large to be squared."""
    vectors = precise(vectors)
    return vectors * (vectors.square().sum(-1, keepdim=True) + LENGTH_FLOOR).rsqrt()


def interpolated(content: Tensor, previous: Tensor, gate: Tensor) -> Tensor:
    """Weightings by content and of the step before (B, H, N), gates (B, H, 1) -> a mixture (7)."""
    return torch.lerp(precise(previous), precise(content), precise(gate))


def shifted(weights: Tensor, shift: Tensor) -> Tensor:
    """Weightings (..., N) and distributions over shifts (..., S) -> their circular convolution (8): the first of S
    takes each weight from row j to row j - r, the middle one leaves it, the last takes it to j + r; row N is row 0."""
    reach = shift.shape[-1] // 2
    moved = [precise(weights).roll(by, -1) for by in range(-reach, reach + 1)]
    return (torch.stack(moved, -1) @ precise(shift)[..., None])[..., 0]


def sharpened(weights: Tensor, sharpness: Tensor) -> Tensor:
    """Weightings (..., N) to the power of sharpness (..., 1), and again a distribution (9).

    It is the softmax of sharpness times the logarithm: a power of 20 of a flat weighting over 128 rows is 0 in float32.
    """
    weights = precise(weights)
    logarithm = weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
    return (precise(sharpness) * (logarithm - logarithm.amax(-1, keepdim=True).detach())).softmax(-1)


def written(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """The memory (B, N, W) after all heads that write, with weightings (B, H, N), have erased (3) and then added (4)
    their vectors (B, H, W)."""
    memory, erased = precise(memory), precise(weights)[..., None] * precise(erase)[:, :, None]  # (B, H, N, W)
    return memory * (1 - erased).prod(1) + precise(weights).mT @ precise(add)


def precise_linear(layer: nn.Linear, x: Tensor) -> Tensor:
    """The layer of x, in float32 at least."""
    weight = precise(layer.weight)
    bias: Tensor | None = layer.bias
    return F.linear(x.to(weight.dtype), weight, None if bias is None else precise(bias))
