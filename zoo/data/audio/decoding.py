"""Decodes any kind of sound to float32 samples of one channel, at one rate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import gcd
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.audio.batch import Sound
from zoo.data.audio.options import SpectrogramOptions
from zoo.errors import UnusableInput

FULL = 2**15  # The largest sample of 16 bits
GIVEN = "the sound that was given"
KINDS = "a path, a pair (samples, rate in hertz), or a Sound"
SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".au", ".sph")
FORMATS = "a .wav, .flac, .ogg, .mp3, .aiff or .sph file"
LESS = re.compile(r"^ *(?:data|SSND|Data Size) *: (?P<stated>\d+) \(should be (?P<there>\d+)\)", re.MULTILINE)
NO_END = "lacks an end-of-stream bit"
COUNT = re.compile(rb"sample_count -i (\d+)")
"""How libsndfile says that a wav, aiff or au file, or an ogg file, is shorter than its header states, and what the
header of a sph file states."""
PADDING = 1024  # Bytes by which a header may be wrong
UNKNOWN = 2**31 - 2**16  # A program that writes to a pipe states so many bytes or more

Samples = NDArray[np.float32]


class UnusableSound(UnusableInput):
    """A sound that cannot be used."""

    def __init__(self, problem: str, detail: str, place: str = GIVEN) -> None:
        """`problem` is the kind of problem, `detail` what was found and expected."""
        super().__init__(f"{place}: {problem}: {detail}")
        self.problem, self.detail, self.place = problem, detail, place


class LongSound(UnusableSound):
    """A sound that is longer than `max_seconds`."""


def decode(sound: Any, options: SpectrogramOptions, speed: float = 1.0) -> Tensor:
    """(N,) samples of `sound` at the rate of the options, played `speed` times as fast.

    `sound` is a path, a pair of samples (N,) or (N, channels) and their rate, a Sound, or a tuple of paths, whose
    sounds follow each other. Integers are the samples of their width, real numbers lie between -1 and 1. Channels are
    averaged. Raises UnusableSound for a sound that is missing, broken, empty, silent or too long.
    """
    parts = sound if isinstance(sound, tuple) and all(isinstance(one, str | Path) for one in sound) else (sound,)
    found = [_resampled(*_read(part, options), options.rate, speed) for part in parts]
    return torch.from_numpy(np.concatenate(found) if len(found) > 1 else found[0])


def measure(paths: tuple[Path, ...], options: SpectrogramOptions) -> list[int]:
    """Samples of each file at the rate of the options. Raises the errors of `decode`."""
    counts = []
    for path in paths:
        samples, rate = _read(path, options)
        counts.append(-(-len(samples) * options.rate // rate))
    if sum(counts) > options.max_seconds * options.rate:
        raise LongSound("too long", _longer(sum(counts) / options.rate, options), str(paths[0]))
    return counts


def stored_form(samples: Tensor) -> Tensor:
    """(N,) int16 of float32 samples between -1 and 1; louder ones are cut."""
    return (samples * FULL).round().clamp(-FULL, FULL - 1).to(torch.int16)


def as_real(samples: NDArray[np.int16]) -> Tensor:
    """(N,) float32 samples between -1 and 1 of int16 samples."""
    return torch.from_numpy(samples.astype(np.float32)) / FULL


def _read(sound: Any, options: SpectrogramOptions) -> tuple[Samples, int]:
    """The samples (N,) of one sound, and their rate."""
    with _named(sound):
        if isinstance(sound, str | Path):
            samples, rate = _read_file(Path(sound).expanduser(), options)
        else:
            samples, rate = _given(sound)
            _check_length(len(samples), rate, options)
        if not len(samples):
            raise UnusableSound("empty sound", "it has no samples")
        if not np.isfinite(samples).all():
            raise UnusableSound("broken sound", "some samples are not numbers")
        if not samples.any():
            raise UnusableSound("silent sound", f"all of its {len(samples):,} samples are 0")
        return samples, rate


def _read_file(path: Path, options: SpectrogramOptions) -> tuple[Samples, int]:
    import soundfile

    size = path.stat().st_size
    if not path.is_file():
        raise UnusableSound("not a sound", f"found a {'folder' if path.is_dir() else 'pipe or a device'}")
    if path.suffix.lower() == ".raw":
        raise UnusableSound("not a sound", f"a .raw file does not say its rate; expected {FORMATS}")
    try:
        with soundfile.SoundFile(path) as file:
            _check_length(file.frames, file.samplerate, options)
            found: Samples = file.read(dtype="float32", always_2d=True)
            _check_whole(path, file, len(found))
            return _mono(found), file.samplerate
    except soundfile.LibsndfileError as error:
        if size == 0:
            raise UnusableSound("not a sound", f"the file is empty; expected {FORMATS}") from error
        if error.code == 1:  # SF_ERR_UNRECOGNISED_FORMAT
            detail = f"its {size:,} bytes are not in a known format; expected {FORMATS}"
            raise UnusableSound("not a sound", detail) from error
        reason = str(error.error_string).rstrip(".")
        raise UnusableSound("broken sound", f"{reason}; download or copy the file again") from error


def _check_whole(path: Path, file: Any, count: int) -> None:
    """Raises UnusableSound for an open file that was cut. libsndfile reads the `count` samples that are there."""
    stated, there, unit = file.frames, count, "samples"
    if found := LESS.search(file.extra_info):
        most, least = int(found["stated"]), int(found["there"])
        if least + PADDING < most < UNKNOWN:
            stated, there, unit = most, least, "bytes"
    elif file.format == "NIST":
        with path.open("rb") as head:
            counted = COUNT.search(head.read(1024))
        stated = int(counted[1]) if counted else stated
    if there < stated:
        raise UnusableSound("broken sound", f"it ends after {there:,} of {stated:,} {unit}; copy the file again")
    if NO_END in file.extra_info:
        raise UnusableSound("broken sound", "its last page is missing; copy the file again")


def _given(sound: Any) -> tuple[Samples, int]:
    if isinstance(sound, Sound):
        return as_real(sound.samples.cpu().numpy()).numpy(), sound.rate
    pair = isinstance(sound, tuple | list) and len(sound) == 2
    rate = float(sound[1]) if pair and isinstance(sound[1], Real) else 0.0
    if not (rate > 0 and rate.is_integer()):
        raise UnusableSound("not a sound", f"found a {type(sound).__name__}, expected {KINDS}")
    values = np.asarray(sound[0])
    if values.ndim not in (1, 2) or values.dtype.kind not in "iuf" or values.shape[-1] > len(values) > 0:
        hint = "; transpose it" if values.ndim == 2 and values.shape[1] > len(values) else ""
        detail = f"found an array {values.shape} of {values.dtype}, expected numbers (N,) or (N, channels){hint}"
        raise UnusableSound("not a sound", detail)
    found: Samples = values.reshape(len(values), -1).astype(np.float32)
    if values.dtype.kind in "iu":
        half = 2.0 ** (8 * values.dtype.itemsize - 1)
        found = (found - half * (values.dtype.kind == "u")) / np.float32(half)
    return _mono(found), int(rate)


def _mono(samples: Samples) -> Samples:
    """(N,) the mean of the channels of (N, channels)."""
    return samples[:, 0] if samples.shape[1] == 1 else samples.mean(1)


def _check_length(count: int, rate: int, options: SpectrogramOptions) -> None:
    if count > options.max_seconds * rate:
        raise LongSound("too long", _longer(count / rate, options))


def _longer(seconds: float, options: SpectrogramOptions) -> str:
    return f"it has {seconds:,.1f} seconds, expected up to {options.max_seconds:g} (data.spectrogram.max_seconds)"


def _resampled(samples: Samples, rate: int, wanted: int, speed: float) -> Samples:
    """Samples at another rate by a polyphase filter. A faster sound has more samples in a second."""
    rate = round(rate * speed)
    if rate == wanted:
        return np.ascontiguousarray(samples)
    from scipy.signal import resample_poly  # needs half a second

    common = gcd(rate, wanted)
    found: Samples = resample_poly(samples, wanted // common, rate // common).astype(np.float32)
    return found


@contextmanager
def _named(sound: Any) -> Iterator[None]:
    """Gives the errors of a sound its place."""
    place = str(Path(sound).expanduser()) if isinstance(sound, str | Path) else GIVEN
    try:
        yield
    except UnusableSound as error:
        raise type(error)(error.problem, error.detail, place) from error
    except OSError as error:
        raise UnusableSound("cannot be read", error.strerror or str(error), place) from error
