"""Short tours by insertion, 2-opt and or-opt (Croes 1958; Or 1976), many at once."""

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

STARTS = 4  # Tours that are improved for each set; the best of them is kept
TOGETHER = 2**18
"""Approximate number of distances that are read together, so that they stay in the processor's cache."""
SEGMENT = 3  # The most cities that or-opt moves at once
GAIN = 1e-10
"""Smallest saving that counts, as a share of the longest distance; smaller ones are rounding errors."""
CHANGES = 0.12
"""Changes per city until a tour cannot be made shorter, measured on 50 to 400 random cities."""
QUIET = 10.0  # Seconds between two messages of a long search


class SearchProgress:
    """Logs every few seconds how much of a long search is done, and an estimate of the time that is left."""

    def __init__(self, tours: int, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`tours` is the number of tours to improve, `count` the number of cities in each."""
        self.tours, self.count, self.clock = tours, count, clock
        self.done = 0
        self.started = self.said = clock()

    def changed(self, changes: int) -> None:
        """Report `changes` more changes of tours."""
        self.done += changes
        now = self.clock()
        if self.done and now - self.said >= QUIET:
            self.said = now
            expected = max(CHANGES * self.count * self.tours, self.done)
            seconds = (now - self.started) * (expected / self.done - 1)
            left = f"{seconds / 60:,.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
            share = min(self.done / expected, 0.99)
            log.info("tours of %s points: %.0f %% done, about %s left", f"{self.count:,}", 100 * share, left)


def short(distances: NDArray[np.float64], starts: int = STARTS) -> NDArray[np.int64]:
    """Tours (B, n), each beginning with city 0, in either direction; `distances` are (B, n, n), n at least 4. No
    exchange of two edges (2-opt) and no move of up to three cities to another place (or-opt) makes a tour shorter.

    The first start always inserts the city furthest from the tour, the other starts insert cities in random order; each
    city goes where it costs least. The tour of a set does not depend on the other sets.
    """
    size, count = distances.shape[:2]
    orders = np.stack([np.random.default_rng((count, start)).permutation(count) for start in range(starts)])
    together, progress = max(1, TOGETHER // count**2), SearchProgress(size * starts, count)
    tours, length = np.zeros((size * starts, count), np.int64), np.zeros(size * starts)
    for first in range(0, size * starts, together):
        which, start = np.divmod(np.arange(first, min(first + together, size * starts)), starts)
        part, rows = distances[which], slice(first, first + together)
        tours[rows] = improved(inserted(part, orders[start], start == 0), part, progress)
        length[rows] = lengths(tours[rows], part)
    best = tours.reshape(size, starts, count)[np.arange(size), length.reshape(size, starts).argmin(1)]
    begin = (best == 0).argmax(1)
    return np.take_along_axis(best, (begin[:, None] + np.arange(count)) % count, 1)


def lengths(tours: NDArray[np.int64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(B,) of closed tours (B, n)."""
    row = np.arange(len(tours))[:, None]
    return distances[row, tours, np.roll(tours, -1, 1)].sum(1)


def inserted(
    distances: NDArray[np.float64], orders: NDArray[np.int64], furthest: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Tours (B, n) made by inserting the cities in the sequence `orders` (B, n), or, where `furthest` (B,) is True, the
    city furthest from the tour. Each city is inserted where it lengthens the tour least."""
    size, count = orders.shape
    row = np.arange(size)
    city = np.where(furthest, distances.max(2).argmax(1), orders[:, 0])
    tours = np.zeros((size, count), np.int64)
    tours[:, 0] = city
    away = distances[row, city]  # (B, n) from the tour
    away[row, city] = -1.0
    for k in range(1, count):
        city = np.where(furthest, away.argmax(1), orders[:, k])
        tour = tours[:, :k]
        after = np.roll(tour, -1, 1)
        to_city = distances[row[:, None], city[:, None], tour]
        longer = to_city + np.roll(to_city, -1, 1) - distances[row[:, None], tour, after]
        place = longer.argmin(1)[:, None] + 1  # between the cities at `place - 1` and `place`
        step = np.arange(k + 1)
        old = np.take_along_axis(tour, np.clip(step - (step > place), 0, k - 1), 1)
        tours[:, : k + 1] = np.where(step == place, city[:, None], old)
        away = np.minimum(away, distances[row, city])
        away[row, city] = -1.0
    return tours


def improved(
    tours: NDArray[np.int64], distances: NDArray[np.float64], progress: SearchProgress | None = None
) -> NDArray[np.int64]:
    """Apply the best change to each of the tours (B, n), and repeat until no change makes a tour shorter."""
    tours = tours.copy()
    least = GAIN * distances.max((1, 2))
    going = np.arange(len(tours))
    while len(going):
        tour = tours[going]
        apart = distances[going[:, None, None], tour[:, :, None], tour[:, None]]  # (b, n, n) by places in the tour
        changes = [_exchanges(apart), *_moves(apart)]  # each (b, n, n), by two places
        saved = np.stack([change.reshape(len(going), -1).max(1) for change in changes])  # (kinds, b)
        kind = saved.argmax(0)
        better = saved.max(0) > least[going]
        for at in np.flatnonzero(better).tolist():
            i, j = divmod(int(changes[kind[at]][at].argmax()), tours.shape[1])
            tours[going[at]] = _changed(tour[at], int(kind[at]), i, j)
        going = going[better]
        if progress is not None:
            progress.changed(int(better.sum()))
    return tours


def _exchanges(apart: NDArray[np.float64]) -> NDArray[np.float64]:
    """Saving of 2-opt when it goes from place i to j and from i + 1 to j + 1, with the part between reversed."""
    edge = np.diagonal(np.roll(apart, -1, 2), axis1=1, axis2=2)  # (b, n) from each place to the next
    saved = edge[:, :, None] + edge[:, None] - apart - np.roll(apart, -1, (1, 2))
    return np.where(np.tri(apart.shape[1], k=0, dtype=bool), 0.0, saved)


def _moves(apart: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Saving of or-opt when it moves one, two, ... cities from place i on between the places j and j + 1, in both
    directions."""
    count = apart.shape[1]
    place = np.arange(count)
    edge = apart[:, place, (place + 1) % count]
    found = []
    for length in range(1, SEGMENT + 1):
        last, behind = (place + length - 1) % count, (place + length) % count
        freed = edge[:, place - 1] + edge[:, last] - apart[:, place - 1, behind]  # (b, n)
        within = (place[None] - place[:, None] + 1) % count <= length  # j from i - 1 to the last of them
        gained = np.where(within, -np.inf, freed[:, :, None] + edge[:, None])
        first_side, last_side = apart, apart[:, last]  # from the first and from the last of them to place j
        found.append(gained - first_side - np.roll(last_side, -1, 2))
        if length > 1:
            found.append(gained - last_side - np.roll(first_side, -1, 2))
    return found


def _changed(tour: NDArray[np.int64], kind: int, i: int, j: int) -> NDArray[Any]:
    """A tour (n,) after the change of a kind, by its number among those of `improved`, at places i and j."""
    if kind == 0:
        return np.concatenate([tour[: i + 1], tour[j:i:-1], tour[j + 1 :]])
    length, backwards = (1, False) if kind == 1 else (kind // 2 + 1, kind % 2 == 1)
    turned = np.roll(tour, -i)
    moved, rest = turned[:length], turned[length:]
    place = (j - i - length) % len(tour) + 1
    return np.concatenate([rest[:place], moved[::-1] if backwards else moved, rest[place:]])
