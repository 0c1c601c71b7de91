"""Films that tests write: frames of one grey each, so that it shows which of them was decoded."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

CODECS = {".mp4": "mpeg4", ".avi": "mpeg4", ".webm": "libvpx", ".mkv": "mpeg4", ".gif": "gif"}
SIZE = (48, 64)  # Height and width


def grey(number: int, count: int) -> int:
    return 20 + round(215 * number / max(1, count - 1))


def write(
    path: Path,
    times: list[float] | int,
    *,
    rate: int = 10,
    size: tuple[int, int] = SIZE,
    every: int = 12,
    **options: str,
) -> Path:
    """A film with a frame at each of some times in seconds, or so many frames at a constant rate; frame i has the grey
    `grey(i, count)`. A key frame is at `every` frames; `options` are those of the container."""
    times = [number / rate for number in range(times)] if isinstance(times, int) else times
    with av.open(str(path), "w", options=options) as film:
        stream = film.add_stream(CODECS[path.suffix], rate=rate)
        stream.height, stream.width = size
        stream.pix_fmt = "rgb8" if path.suffix == ".gif" else "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000 if path.suffix != ".avi" else rate)
        stream.codec_context.gop_size = every
        if path.suffix not in (".gif", ".webm"):
            stream.codec_context.bit_rate = 2_000_000
        for number, time in enumerate(times):
            pixels = np.full((*size, 3), grey(number, len(times)), np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24").reformat(format=stream.pix_fmt)
            frame.time_base = stream.codec_context.time_base
            frame.pts = round(time / frame.time_base)
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path


def sound(path: Path) -> Path:
    """A file with sound and no picture."""
    with av.open(str(path), "w") as film:
        stream = film.add_stream("aac", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 8000
        film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path


def folder(path: Path, count: int, size: tuple[int, int] = SIZE) -> Path:
    """A folder of frames 1.png, 2.png, ..."""
    path.mkdir(parents=True)
    for number in range(count):
        Image.new("RGB", size[::-1], (grey(number, count),) * 3).save(path / f"{number + 1}.png")
    return path
