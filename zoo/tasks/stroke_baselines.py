"""Baselines of handwriting: points that do not depend on each other, and a straight line through the text."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-8  # The least variance of an offset, as in `zoo.layers.mixture.LOWEST`


def independent_points(data: Any) -> dict[str, float]:
    """The test metrics of one normal distribution for all offsets and one probability that a stroke ends, both fitted
    to the training lines."""
    (train, _), (test, lines) = (_points(data, split) for split in ("train", "test"))
    mean, covariance = train[:, :2].mean(0), np.cov(train[:, :2].T) + LEAST * np.eye(2)
    away = test[:, :2] - mean
    squares = (away @ np.linalg.inv(covariance) * away).sum(1)
    normal = log(2 * pi) + np.log(np.linalg.det(covariance)) / 2 + squares / 2
    rate = np.clip(train[:, 2].mean(), 1e-6, 1 - 1e-6)
    ends = -np.where(test[:, 2] > 0.5, np.log(rate), np.log(1 - rate))
    return {"nats": float((normal + ends).sum() / lines), "sse": float(np.square(away).sum(1).mean())}


def straight_line(data: Any) -> dict[str, float]:
    """The test metrics of letters that follow each other at a constant number of points; empty where the letters of
    points are not known."""
    right = near = count = 0
    lag = 0.0
    for batch in _batches(data, "test"):
        if batch.letters is None or batch.text_mask is None:
            return {}
        sizes, letters = batch.point_mask.sum(1), batch.text_mask.sum(1)
        for row, (size, length) in enumerate(zip(sizes.tolist(), letters.tolist(), strict=True)):
            place = (np.arange(size) + 0.5) * length // size
            distance = place - batch.letters[row, :size].numpy()
            right, near = right + int((distance == 0).sum()), near + int((np.abs(distance) <= 1).sum())
            lag, count = lag + float(distance.sum()), count + size
    return {"letter_accuracy": right / count, "within_one": near / count, "lag": lag / count}


def _points(data: Any, split: str) -> tuple[NDArray[np.float64], int]:
    """(N, 3) all points of a split, and the number of its lines."""
    found = [batch.points[batch.point_mask].numpy() for batch in _batches(data, split)]
    return np.concatenate(found).astype(np.float64), len(data.part(split))


def _batches(data: Any, split: str) -> Any:
    part = data.part(split)
    for begin in range(0, len(part), 500):
        numbers = list(range(begin, min(begin + 500, len(part))))
        yield data.encoder.collate(part.__getitems__(numbers))
