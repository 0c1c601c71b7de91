"""From .flac files to log-mel frames, as a training reads them in each epoch. Run: python -m benchmarks.log_mel

24 generated files of 15 seconds of 16,000 samples. Frames: decoded, in 80 mel bands every 10 ms, normalised. Floor:
soundfile's decoding to float32 and torch.stft's spectrum. `speed` also resamples each sound to 1.1 times its speed, and
SpecAugment masks it. `times_real_time` is the duration of the sounds divided by the seconds of one core.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from benchmarks.timing import over_batches, paired, ratio
from zoo.data.audio.decoding import decode
from zoo.data.audio.options import AugmentOptions, SpectrogramOptions
from zoo.data.audio.samples.tones import generate
from zoo.data.audio.spectrogram import log_mel, masked, transform_size, window

FILES, SECONDS, RATE = 24, 15, 16000
OPTIONS = SpectrogramOptions(rate=RATE, mels=80)
AUGMENT = AugmentOptions(speed=(1.1,), masks="LD")
RATIOS = {"frames_by_floor": ("frames", "floor"), "speed_by_frames": ("speed", "frames")}


def write(folder: Path, seed: int) -> list[Path]:
    """Files of tones in noise."""
    paths = []
    for number, sound in enumerate(generate(FILES, seed=seed, rate=RATE, least=70, most=70)):
        paths.append(folder / f"{number}.flac")
        soundfile.write(paths[-1], sound.samples[: SECONDS * RATE], RATE)
    return paths


def each(paths: list[Path], read: Callable[[Path], object]) -> Callable[[], None]:
    """A function that reads all files."""

    def run() -> None:
        for path in paths:
            read(path)

    return run


def spectrum(path: Path) -> torch.Tensor:
    """The library calls."""
    samples = torch.from_numpy(soundfile.read(path, dtype="float32")[0])
    size, length, hop = transform_size(OPTIONS), OPTIONS.window_samples, OPTIONS.hop_samples
    return torch.stft(samples, size, hop, length, window(OPTIONS), pad_mode="constant", return_complex=True)


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios for the files of one seed."""
    draw = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), seed)
        duration = sum(soundfile.info(path).duration for path in paths)
        candidates = {
            "frames": each(paths, lambda path: log_mel(decode(path, OPTIONS), OPTIONS)),
            "floor": each(paths, spectrum),
            "speed": each(paths, lambda path: masked(log_mel(decode(path, OPTIONS, 1.1), OPTIONS), AUGMENT, draw)),
        }
        seconds = paired(candidates, rounds=rounds, warmup=2, clock=time.process_time)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    found["times_real_time"] = {key: round(duration / statistics.median(times)) for key, times in seconds.items()}
    return found


if __name__ == "__main__":
    over_batches("log_mel", __doc__ or "", measured, RATIOS, rounds=15, threads=1, examples="files")
