"""Small sounds for tests, and files of them."""

from pathlib import Path

import numpy as np
import soundfile


def tone(hertz=440.0, seconds=0.3, rate=8000, loud=0.5):
    """(N,) a sine."""
    return loud * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def saved(path: Path, samples=None, rate=8000, **options) -> Path:
    """A file of samples, by default of a tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, tone(rate=rate) if samples is None else samples, rate, **options)
    return path


def pitch(samples, rate) -> float:
    """The strongest frequency of samples, in hertz."""
    found = np.abs(np.fft.rfft(np.asarray(samples) * np.hanning(len(samples)), 8 * len(samples)))
    return float(found.argmax() * rate / (8 * len(samples)))
