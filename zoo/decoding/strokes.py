"""Writes lines point by point: each point is drawn from the network's distribution after all points before it.

Notation: B lines, C symbols, U letters, M components, n points of a line.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.layers.mixture import Mixture

BLOCK = 64  # Steps for which random numbers are drawn at once


class WritesPoints(Protocol):
    """A network that predicts point by point, see `zoo.models.stroke_network`."""

    def begin(self, batch: Any) -> Any:
        """The state before the first point."""

    def symbols(self, batch: Any) -> Tensor:
        """(B, U + 1, C) the letters to write, and a position after the last one; (B, 0, 0) without a text."""

    def step(self, points: Tensor, pen: Any, symbols: Tensor) -> tuple[Tensor, Any]:
        """Outputs (B, 1 + 6M) after a point (B, 3) of each line, and the state, which has the weights `phi`."""


class Line(NamedTuple):
    """A line that was written."""

    points: NDArray[np.float32]  # (n, 3), the given ones included
    weights: NDArray[np.float32]  # (n, U) phi when each point was predicted
    finished: bool  # Whether the stop rule ended the line


def surprisals(outputs: Tensor, points: Tensor) -> Tensor:
    """(...) -log p in nats of points (..., 3), from the outputs (..., 1 + 6M) that describe their distributions."""
    return -Mixture.of(outputs).log_prob(points.to(outputs.dtype))


@torch.no_grad()
def write_lines(network: WritesPoints, batch: Any, *, most: list[int], bias: list[float], seed: int) -> list[Line]:
    """The points of a batch, and after them drawn ones.

    A line ends before the step at which phi(U + 1) is larger than the weight of each letter, or at its `most` points.

    Args:
        network: in evaluation mode.
        batch: `points` are given, and may be none.
        most: the largest number of points of each line, the given ones included.
        bias: of each line, see `Mixture.of`.
        seed: with the number of a line in `batch.index` it decides all that is drawn.
    """
    pen, symbols = network.begin(batch), network.symbols(batch)
    device, given = batch.points.device, batch.point_mask.sum(1)
    lengths = None if batch.text_mask is None or not symbols.shape[1] else batch.text_mask.sum(1)
    random = [np.random.default_rng((seed, number)) for number in batch.index.tolist()]
    limit = torch.tensor(most, device=device)
    biases = sorted(set(bias))
    same_bias = [torch.tensor([one == other for one in bias], device=device) for other in biases]
    x = symbols.new_zeros(len(batch), 3)
    ended, finished = torch.zeros_like(given, dtype=torch.bool), torch.zeros_like(given, dtype=torch.bool)
    points, weights, sizes = [], [], torch.zeros_like(given)
    for t in range(max(most, default=0)):
        if t % BLOCK == 0:
            uniform, normal = (
                torch.from_numpy(np.stack([draw(one) for one in random]).astype(np.float32)).to(x)
                for draw in (lambda one: one.random((BLOCK, 2)), lambda one: one.standard_normal((BLOCK, 2)))
            )
        outputs, pen = network.step(x, pen, symbols)
        forced = t < given
        if lengths is not None:
            stops = _stops(pen.phi, lengths) & ~forced & (t > 0)
            finished |= stops & ~ended
            ended |= stops
        ended |= (t >= limit) & ~forced
        if bool(ended.all()):
            break
        x = torch.zeros_like(x)
        for value, rows in zip(biases, same_bias, strict=True):
            drawn = Mixture.of(outputs, value).draw(uniform[:, t % BLOCK], normal[:, t % BLOCK])
            x = torch.where(rows[:, None], drawn.to(x.dtype), x)
        if t < batch.points.shape[1]:
            x = torch.where(forced[:, None], batch.points[:, t].to(x.dtype), x)
        points.append(x)
        weights.append(pen.phi)
        sizes += ~ended
    whole = torch.stack(points, 1).float().cpu().numpy() if points else np.zeros((len(batch), 0, 3), np.float32)
    seen = torch.stack(weights, 1).float().cpu().numpy() if weights else np.zeros((len(batch), 0, 1), np.float32)
    ends = [seen.shape[2]] * len(batch) if lengths is None else lengths.tolist()
    every = zip(whole, seen, sizes.tolist(), ends, finished.tolist(), strict=True)
    return [Line(_lifted(line[:size]), phi[:size, :end], stop) for line, phi, size, end, stop in every]


def _stops(phi: Tensor, lengths: Tensor) -> Tensor:
    """(B,) whether the weight of position U + 1 is larger than that of each letter, by phi (B, longest U + 1)."""
    after = phi.gather(1, lengths[:, None])
    place = torch.arange(phi.shape[1], device=phi.device)
    return ((phi < after) | (place >= lengths[:, None])).all(1)


def _lifted(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """The points of a line, whose last one ends a stroke."""
    found = points.copy()
    found[-1:, 2] = 1
    return found
