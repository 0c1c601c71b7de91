"""From a film to 28 frames for the encoder, as a data set of clips is prepared. Run: python -m benchmarks.films

Generated films of 10 and 40 seconds, 320 x 240, 25 frames a second, H.264 with a key frame every 10 seconds. Frames: 28
equally spaced ones, scaled and cropped to 112 x 112. Floor: PyAV alone, which decodes up to the last of them and scales
those that are needed. Seconds are those of all threads together.
"""

import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from benchmarks.timing import over_batches, paired, ratio
from zoo.data.captions.options import PictureOptions
from zoo.data.clips.video import frames_of

FRAMES, RATE, HEIGHT, WIDTH = 28, 25, 240, 320
OPTIONS = PictureOptions(size=112)
LENGTHS = {"short": 10, "long": 40}  # Seconds
RATIOS = {f"{name}_by_floor": (name, f"{name}_floor") for name in LENGTHS}


def write(path: Path, seconds: int, seed: int) -> None:
    """A film of coarse noise that moves."""
    draw = np.random.default_rng(seed)
    coarse = draw.integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3), np.uint8)
    ground = np.kron(coarse, np.ones((8, 8, 1), np.uint8))
    with av.open(str(path), "w") as film:
        stream: Any = film.add_stream("libx264", rate=RATE, options={"g": str(10 * RATE)})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, RATE)
        for number in range(seconds * RATE):
            moved = np.roll(ground, (number, 2 * number), (0, 1))
            film.mux(stream.encode(av.VideoFrame.from_ndarray(moved, format="rgb24")))
        film.mux(stream.encode())


def alone(path: Path, seconds: int) -> list[Any]:
    """The library calls."""
    numbers = {int((i + 0.5) * seconds * RATE / FRAMES) for i in range(FRAMES)}
    found = []
    with av.open(str(path)) as film:
        film.streams.video[0].thread_type = "AUTO"
        for number, frame in enumerate(film.decode(video=0)):
            if number in numbers:
                wide = -(-OPTIONS.sides[1] * WIDTH // HEIGHT)
                pixels = frame.to_ndarray(format="rgb24", width=wide, height=OPTIONS.sides[0], interpolation="BILINEAR")
                found.append(pixels[:, (wide - OPTIONS.sides[1]) // 2 :][:, : OPTIONS.sides[1]])
                if len(found) == FRAMES:
                    break
    return found


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios for the films of one seed."""
    candidates: dict[str, Callable[[], object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, seconds in LENGTHS.items():
            path = Path(folder, f"{name}.mp4")
            write(path, seconds, seed)
            assert frames_of(path, FRAMES, OPTIONS).shape == (FRAMES, 3, *OPTIONS.sides)
            candidates[name] = lambda path=path: frames_of(path, FRAMES, OPTIONS)
            candidates[f"{name}_floor"] = lambda path=path, seconds=seconds: alone(path, seconds)
        found = paired(candidates, rounds=rounds, warmup=2, clock=time.process_time)
    return {key: ratio(found, *names) for key, names in RATIOS.items()}


if __name__ == "__main__":
    over_batches("films", __doc__ or "", measured, RATIOS, rounds=15, threads=1, examples="films")
