"""How the heads of a neural Turing machine find their place in its memory (Graves, Wayne, Danihelka 2014, section 3.3),
and which rows of a differentiable neural computer are free and in which order they were written (Graves et al. 2016).

All heads are addressed at once, in float32 at least. Finite inputs never give NaN: lengths have a floor, and powers are
computed from logarithms. The equations' numbers are those of the paper.

Notation: B sequences, H heads, R of them that read and H - R that write (one in a differentiable neural computer), N
rows of the memory, W their width, and S = 2 r + 1 shifts of a range r.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.errors import ConfigError
from zoo.precision import precise

LENGTH_FLOOR = 1e-6
"""Added to the square of a length before it divides: a row of zeros has a cosine of 0 with
every key, and the gradient of a cosine is at most 1 / sqrt(LENGTH_FLOOR)."""

CLIP = 20.0
"""The numbers that a controller gives its heads are clamped to [-CLIP, CLIP] before strengths and gates are computed
(Collier and Beel 2018)."""

USAGE_FLOOR = 1e-6  # No row is less used than this, so that the products of usages have a gradient


class Demands(NamedTuple):
    """The parameters of all heads at a step, first those of the reading heads."""

    key: Tensor  # (B, H, W)
    strength: Tensor  # (B, H, 1) >= 0, beta
    gate: Tensor  # (B, H, 1) in [0, 1], the share of the weighting by content; the rest is the last weighting
    shift: Tensor
    """(B, H, S) a distribution over shifts by -r ... r rows."""
    sharpness: Tensor  # (B, H, 1) >= 1, gamma
    erase: Tensor  # (B, H - R, W) in [0, 1]
    add: Tensor  # (B, H - R, W)


class Heads(NamedTuple):
    """The number of heads, and the sizes of their parameters."""

    read: int
    write: int
    width: int  # W of the memory
    shift_range: int  # The most rows by which a step can move a weighting, in either direction

    @property
    def number(self) -> int:
        return self.read + self.write

    @property
    def shifts(self) -> int:
        return 2 * self.shift_range + 1

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """Sizes of a head's parameters: key, strength and sharpness, gate, shift."""
        return self.width, 2, 1, self.shifts

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the `parts` of all heads, and of the vectors to erase and to add."""
        return self.number * sum(self.parts), self.write * 2 * self.width

    def check(self, rows: int) -> None:
        """Raises ConfigError if a memory of `rows` rows is too small for these heads."""
        if self.shifts > rows:
            raise ConfigError(
                f"shift_range={self.shift_range}: heads that move by up to {self.shift_range} rows either way need a "
                f"memory of {self.shifts} at least, memory_size is {rows}; set memory_size={self.shifts} or more, or "
                f"shift_range={(rows - 1) // 2}"
            )

    def demands(self, raw: Tensor) -> Demands:
        """The parameters of the heads, from a linear map of the controller's state (B, sum of `sizes`)."""
        places, changes = precise(raw).clamp(-CLIP, CLIP).split(self.sizes, -1)
        key, scales, gate, shift = places.unflatten(-1, (self.number, -1)).split(self.parts, -1)
        strength, sharpness = F.softplus(scales).split(1, -1)
        erase, add = changes.unflatten(-1, (self.write, 2, -1)).unbind(-2)
        return Demands(key, strength, gate.sigmoid(), shift.softmax(-1), 1 + sharpness, erase.sigmoid(), add)


def addressed(demands: Demands, memory: Tensor, previous: Tensor) -> Tensor:
    """The weightings (B, H, N) of all heads, from the memory (B, N, W) and their last weightings (B, H, N)."""
    content = by_content(demands.key, demands.strength, memory)
    gated = torch.lerp(precise(previous), content, demands.gate)  # (7)
    return sharpened(shifted(gated, demands.shift), demands.sharpness)


def by_content(key: Tensor, strength: Tensor, memory: Tensor) -> Tensor:
    """Keys (B, H, W), strengths (B, H, 1) and the memory (B, N, W) -> weightings (B, H, N), the softmax over the rows
    of strength times cosine (5), (6)."""
    key, memory = precise(key), precise(memory)
    cosine = (key * inverse_length(key)[..., None]) @ memory.mT * inverse_length(memory)[:, None]
    return (precise(strength) * cosine).softmax(-1)


def inverse_length(vectors: Tensor) -> Tensor:
    """1 / length of each vector (..., W), with LENGTH_FLOOR; numbers of 1e18 and more are too large to be squared."""
    return (torch.linalg.vecdot(vectors, vectors) + LENGTH_FLOOR).rsqrt()


def shifted(weights: Tensor, shift: Tensor) -> Tensor:
    """Weightings (..., N) and distributions over shifts (..., S) -> their circular convolution (8): the first of S
    takes each weight from row j to row j - r, the middle one leaves it, the last takes it to j + r; row N is row 0."""
    weights, reach = precise(weights), shift.shape[-1] // 2
    shares = precise(shift).split(1, -1)
    total = weights * shares[reach]
    for by in (*range(-reach, 0), *range(1, reach + 1)):
        total = torch.addcmul(total, weights.roll(by, -1), shares[reach + by])
    return total


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
    memory, weights = precise(memory), precise(weights)
    for head in (weights[..., None] * precise(erase)[:, :, None]).unbind(1):  # (B, N, W) each
        memory = torch.addcmul(memory, memory, head, value=-1)
    return torch.baddbmm(memory, weights.mT, precise(add))


def precise_linear(layer: nn.Linear, x: Tensor) -> Tensor:
    """The layer of x, in float32 at least."""
    weight = precise(layer.weight)
    bias: Tensor | None = layer.bias
    return F.linear(x.to(weight.dtype), weight, None if bias is None else precise(bias))


def usage(previous: Tensor, written: Tensor, read: Tensor, free: Tensor) -> Tensor:
    """How much each row is in use (B, N), from the usage, the write weighting (B, N) and the read weightings (B, R, N)
    of the step before, and how far each reading head frees what it read, (B, R, 1) in [0, 1].

    No gradient goes to the write weighting, as in the authors' code.
    """
    written = precise(written).detach()
    retained = (1 - precise(free) * precise(read)).prod(1)
    return (previous + written - previous * written) * retained


def allocation(used: Tensor) -> Tensor:
    """The allocation weighting (B, N) from the usage (B, N): the least used row gets most, the next one a share of the
    rest, and so on. Sums to at most 1."""
    rows = used.shape[1]
    order, by_use = (USAGE_FLOOR + (1 - USAGE_FLOOR) * precise(used)).sort(dim=1, stable=True)
    before = torch.cat([order.new_ones(order.shape[0], 1), order[:, : rows - 1]], 1).cumprod(1)
    return torch.zeros_like(order).scatter(1, by_use, (1 - order) * before)


def linked(link: Tensor, precedence: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
    """The links (B, N, N) and the precedence (B, N) after a step with the write weighting (B, N): the degrees to which
    row i was written right after row j, and a row was the last one written. Rows and columns of the links sum to at
    most 1."""
    written = precise(written)
    row, column = written[:, :, None], written[:, None]
    new = link * (1 - row - column) + row * precedence[:, None]
    diagonal = torch.eye(link.shape[1], dtype=torch.bool, device=link.device)
    return new.masked_fill(diagonal, 0.0), (1 - written.sum(1, keepdim=True)) * precedence + written


def followed(link: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
    """The weightings (B, R, N) of the reading heads, moved one row back and one row forward in the order of
    writing."""
    return precise(read) @ link, precise(read) @ link.mT
