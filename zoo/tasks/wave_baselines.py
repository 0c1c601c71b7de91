"""Baselines for the likelihood of sounds: counted tables of each level, given one other number.

The number is the level before, or the level that a linear prediction from the last ORDER samples has (Atal and Hanauer
1971, https://doi.org/10.1121/1.1912679). A row of a table that was seldom seen is drawn towards the shares of all
levels.
"""

import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from zoo.data.rows import some
from zoo.data.waves.mu_law import LEVELS, SILENCE, decode, encode

ORDER = 32
WEIGHTS = (1.0, 10.0, 100.0, 1000.0)  # Counts that the shares of all levels are worth; the validation chooses
MOST = 500_000  # Samples from which the linear prediction is fitted

log = logging.getLogger(__name__)


def tables(data: Any) -> dict[str, float]:
    """The nats of a test sample by each table, by its name."""
    log.info("baselines: tables are counted over %s", some(data.sizes["train"], "sound"))
    splits = {split: levels_of(data, split) for split in ("train", "val", "test")}
    weights = linear_prediction(splits["train"])
    return {
        "table of the level before": _nats(splits, before),
        f"table of a linear prediction from {ORDER} samples": _nats(splits, lambda levels: predicted(levels, weights)),
    }


def levels_of(data: Any, split: str) -> list[Tensor]:
    """(N,) the levels of each sound of a split, whole."""
    part, sounds = data.part(split), data.part("val").sounds
    places = part._place.tolist()
    return [encode(sounds.samples(*place)) for place in places]


def before(levels: Tensor) -> Tensor:
    """(N,) the level before each sample; silence before the first."""
    return torch.cat([levels.new_full((1,), SILENCE), levels[:-1]])


def linear_prediction(sounds: list[Tensor]) -> Tensor:
    """(ORDER,) the weights of the last samples, the oldest first, with the least squared error on the first sounds."""
    rows = [_windows(decode(one).double()) for one in sounds[: max(1, MOST // max(1, len(sounds[0])))]]
    read, wanted = torch.cat([one[:, :-1] for one in rows]), torch.cat([one[:, -1] for one in rows])
    square = read.T @ read
    square += torch.eye(ORDER, dtype=square.dtype) * 1e-9 * square.trace()
    return torch.linalg.solve(square, read.T @ wanted)


def predicted(levels: Tensor, weights: Tensor) -> Tensor:
    """(N,) the level of the linear prediction of each sample."""
    return encode((_windows(decode(levels).double())[:, :-1] @ weights).float())


def _windows(samples: Tensor) -> Tensor:
    """(N, ORDER + 1) each sample with those before it, 0 before the first."""
    return torch.nn.functional.pad(samples, (ORDER, 0)).unfold(0, ORDER + 1, 1)


def _nats(splits: dict[str, list[Tensor]], given: Callable[[Tensor], Tensor]) -> float:
    counts = {split: _counts(sounds, given) for split, sounds in splits.items()}
    shares = counts["train"].sum(0) + 1
    shares = shares / shares.sum()
    found = []
    for weight in WEIGHTS:
        table = counts["train"] + weight * shares
        surprise = -(table / table.sum(1, keepdim=True)).log()
        found.append([float((counts[split] * surprise).sum() / counts[split].sum()) for split in ("val", "test")])
    return min(found)[1]


def _counts(sounds: list[Tensor], given: Callable[[Tensor], Tensor]) -> Tensor:
    """(L, L) how often each level follows each number."""
    counts = torch.zeros(LEVELS * LEVELS, dtype=torch.float64)
    for levels in sounds:
        counts += torch.bincount(given(levels).long() * LEVELS + levels.long(), minlength=LEVELS**2)
    return counts.view(LEVELS, LEVELS)
