"""Log-mel spectrograms, and the changes of SpecAugment.

A frame is the power of a Hann window of the sound, zeros beyond its ends, in triangular bands that are evenly spaced on
a mel scale. Frame j is centred at sample j * hop, so that N samples have 1 + N // hop frames.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from zoo.data.audio.options import POLICIES, AugmentOptions, SpectrogramOptions

FLOOR = 1e-10  # The least power, whose logarithm is finite
LEAST_DEVIATION = 0.01  # So that a band without any change is 0
LINEAR = 1000.0  # The slaney scale is linear up to this frequency
STEP = np.log(6.4) / 27  # The logarithm of one mel of the slaney scale above it
ABOUT = (
    "how a sound becomes `frames`. Frame j has `size` samples around sample j * `hop` of the sound at `rate`, with "
    "zeros beyond its ends. In their middle is a periodic Hann window of `window` samples. The squares of the Fourier "
    "transform are multiplied with `filters` (bands, frequencies). A frame is the logarithm of the product, which is "
    "at least `floor`. If `normalise` is bands, each band then has the mean 0 and the standard deviation 1 over the "
    "sound; if it is sound, all bands together have them. A deviation is at least `least_deviation`."
)


def to_mel(hertz: ArrayLike, scale: str) -> NDArray[np.float64]:
    """Frequencies on a mel scale, `htk` or `slaney`."""
    found = np.asarray(hertz, np.float64)
    if scale == "htk":
        return 2595 * np.log10(1 + found / 700)
    return np.where(found < LINEAR, 3 * found / 200, 15 + np.log(np.maximum(found, LINEAR) / LINEAR) / STEP)


def to_hertz(mel: ArrayLike, scale: str) -> NDArray[np.float64]:
    """The inverse of `to_mel`."""
    found = np.asarray(mel, np.float64)
    if scale == "htk":
        return 700 * (10 ** (found / 2595) - 1)
    return np.where(found < 15, 200 * found / 3, LINEAR * np.exp(STEP * (found - 15)))


def transform_size(options: SpectrogramOptions) -> int:
    """The samples of a Fourier transform: the least power of two that holds a window."""
    return 1 << (options.window_samples - 1).bit_length()


@cache
def filters(options: SpectrogramOptions) -> Tensor:
    """(mels, 1 + size // 2) weights of the frequencies in each band. Raises ConfigError if a band is so narrow that it
    has no frequency."""
    size = transform_size(options)
    frequencies = np.arange(1 + size // 2) * options.rate / size
    low, high = to_mel([options.fmin, options.highest], options.scale)
    corners = to_hertz(np.linspace(low, high, options.mels + 2), options.scale)
    left, centre, right = (corners[at : at + options.mels, None] for at in range(3))
    rising, falling = (frequencies - left) / (centre - left), (right - frequencies) / (right - centre)
    found = np.maximum(0, np.minimum(rising, falling))
    if options.scale == "slaney":
        found *= 2 / (right - left)
    if not found.any(1).all():
        spacing = options.rate / size
        raise options.refusal("mels", f"fewer bands, or a longer window: its frequencies are {spacing:.3g} hertz apart")
    return torch.from_numpy(found.astype(np.float32))


@cache
def window(options: SpectrogramOptions) -> Tensor:
    """The Hann window of a frame."""
    return torch.hann_window(options.window_samples)


def described(options: SpectrogramOptions) -> dict[str, Any]:
    """The numbers that a program without this package needs for the frames of `log_mel`."""
    return {
        "about": ABOUT,
        "rate": options.rate,
        "hop": options.hop_samples,
        "window": options.window_samples,
        "size": transform_size(options),
        "floor": FLOOR,
        "normalise": options.normalise,
        "least_deviation": LEAST_DEVIATION,
        "filters": filters(options).tolist(),
    }


def log_mel(samples: Tensor, options: SpectrogramOptions) -> Tensor:
    """(S, mels) float32 frames of a sound (N,) at the rate of the options, normalised."""
    size = transform_size(options)
    length, hop = options.window_samples, options.hop_samples
    found = torch.stft(samples, size, hop, length, window(options), pad_mode="constant", return_complex=True)
    power = found.real.square().addcmul_(found.imag, found.imag)
    frames = (filters(options) @ power).clamp_(min=FLOOR).log_().T
    if options.normalise == "none":
        return frames.contiguous()
    over = 0 if options.normalise == "bands" else (0, 1)
    deviation, mean = torch.std_mean(frames, over, correction=0, keepdim=True)
    return ((frames - mean) / deviation.clamp_(min=LEAST_DEVIATION)).contiguous()


def masked(frames: Tensor, options: AugmentOptions, draw: np.random.Generator) -> Tensor:
    """Frames (S, F) with some bands and some stretches of time replaced by the mean of all frames."""
    if options.masks is None:
        return frames
    given = POLICIES[options.masks] if isinstance(options.masks, str) else options.masks
    bands, times, stretch, share, stretches = given
    found = frames.clone()
    fill = frames.mean()
    length, width = frames.shape
    for _ in range(int(times)):
        begin, end = _drawn(min(int(bands), width), width, draw)
        found[:, begin:end] = fill
    for _ in range(int(stretches)):
        begin, end = _drawn(int(min(stretch, share * length, length)), length, draw)
        found[begin:end] = fill
    return found


def _drawn(most: int, size: int, draw: np.random.Generator) -> tuple[int, int]:
    """The begin and the end of a run of up to `most` among `size` places."""
    count = int(draw.integers(most + 1))
    begin = int(draw.integers(size - count + 1))
    return begin, begin + count
