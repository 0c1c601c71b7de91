"""The embedded sample: tones and chords that are struck and fade, in noise of a known entropy.

A sound has the notes of its class. They are struck one to three times. Each stroke has a loudness and a decay of its
own, and ends the one before. All of this is drawn from small sets, so that it has few bits. Gaussian noise is added to
the samples, and each sum becomes a level of the mu-law. Given the strokes the levels are independent, and their entropy
is exact. The entropy of the sound itself lies between that and the same plus the entropy of its strokes.
"""

from collections.abc import Iterator
from math import comb, log
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from zoo.data.waves.mu_law import LEVELS, borders

RATE = 8000  # Samples per second, by default
SEMITONE = 2 ** (1 / 12)
A4 = 440.0  # In hertz
CLASSES: dict[str, tuple[int, ...]] = {
    "A": (0,),
    "C": (3,),
    "E": (7,),
    "A minor": (0, 3, 7),
    "C major": (3, 7, 10),
    "D minor": (-7, -4, 0),
    "F major": (-4, 0, 3),
    "G major": (-2, 2, 5),
}
"""The semitones of the notes of each class, seen from A4."""
OVERTONES = (1.0, 0.4)  # The strengths of the frequency of a note and of its double
LOUDNESS = (0.25, 0.5, 0.8)
DECAYS = (0.05, 0.12, 0.3)  # Seconds in which a stroke falls to 1 / e
PHASES = 8  # Each note of a stroke begins at one of so many phases
GRID = 20  # Strokes begin at multiples of this share of a sound
STROKES = (1, 2, 3)
ATTACK = 0.004  # Seconds in which a stroke rises
NOISE = 0.002  # The standard deviation of the noise
AT_ONCE = 2**20  # Probabilities that are computed at once


class Chord(NamedTuple):
    """A generated sound."""

    levels: NDArray[np.uint8]
    """(N,) of the mu-law."""
    name: str
    """The class."""
    clean: NDArray[np.float64]
    """(N,) the samples without noise."""


def generate(count: int, *, seed: int, rate: int = RATE, seconds: float = 0.5, noise: float = NOISE) -> Iterator[Chord]:
    """`count` sounds. Sound i depends only on `seed` and on i; all classes have the same probability."""
    limits, names = borders(), list(CLASSES)
    for number in range(count):
        draw = np.random.default_rng((seed, number))
        name = names[draw.integers(len(names))]
        clean = _strokes(draw, CLASSES[name], rate, seconds)
        levels = np.searchsorted(limits, clean + draw.normal(0, noise, len(clean)), side="right")
        yield Chord(levels.astype(np.uint8), name, clean)


def _strokes(draw: np.random.Generator, notes: tuple[int, ...], rate: int, seconds: float) -> NDArray[np.float64]:
    length = round(rate * seconds)
    begins = np.sort(draw.choice(GRID, int(draw.choice(STROKES)), replace=False)) * length // GRID
    found = np.zeros(length)
    pitches = A4 * SEMITONE ** np.array(notes, float)
    for begin in begins.tolist():
        time = np.arange(length - begin) / rate
        loudness, decay = draw.choice(LOUDNESS), draw.choice(DECAYS)
        phases = draw.integers(PHASES, size=len(notes)) * (2 * np.pi / PHASES)
        envelope = loudness * np.minimum(1, time / ATTACK) * np.exp(-time / decay)
        turns = 2 * np.pi * pitches[:, None] * time + phases[:, None]
        tones = sum(strength * np.sin((1 + over) * turns).sum(0) for over, strength in enumerate(OVERTONES))
        found[begin:] = envelope * tones / (len(notes) * sum(OVERTONES))
    return found


def entropies(clean: NDArray[np.float64], noise: float = NOISE) -> NDArray[np.float64]:
    """(N,) the entropy in nats of the level of each sample, given the samples (N,) without noise."""
    limits = torch.from_numpy(borders())
    parts = []
    for some in torch.from_numpy(clean).split(AT_ONCE // LEVELS):
        below = torch.special.ndtr((limits - some[:, None]) / noise)
        above = torch.special.ndtr((some[:, None] - limits) / noise)  # exact where `below` is near 1
        inner = torch.where(below[:, 1:] < 0.5, below.diff(dim=1), -above.diff(dim=1))
        each = torch.cat([below[:, :1], inner, above[:, -1:]], 1).clamp(min=0)
        parts.append(torch.special.entr(each).sum(1))
    return torch.cat(parts).numpy()


def entropy_of_strokes(name: str | None = None) -> float:
    """The entropy of the class, the strokes and their begins, loudness, decays and phases in nats: the mean over all
    classes, or the one given the class `name`."""
    count = log(len(STROKES)) + np.mean([log(comb(GRID, one)) for one in STROKES])
    each = log(len(LOUDNESS)) + log(len(DECAYS))
    notes = np.mean([len(CLASSES[one]) for one in ([name] if name else CLASSES)])
    own = 0.0 if name else log(len(CLASSES))
    return float(own + count + np.mean(STROKES) * (each + notes * log(PHASES)))
