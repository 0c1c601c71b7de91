"""Decodes equally spaced frames of a clip, which is a film, a folder of frames, or a sequence of pictures in memory.

A film of length L is seen at the times (i + 1/2) L / F, i = 0 ... F - 1, so that a variable frame rate does not matter.
A frame counts once, so that a film with fewer than F frames has fewer. Between times that are far apart nothing is
decoded. Films are read by PyAV, whose packages contain FFmpeg. torchcodec is not used: it needs the libraries of FFmpeg
on the machine, and each of its versions needs one exact version of torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zoo.data.captions.decoding import UnusablePicture, central, seen
from zoo.data.captions.files import SUFFIXES
from zoo.data.captions.options import PictureOptions
from zoo.data.rows import visible

FILMS = {".mp4", ".avi", ".gif", ".webm", ".mkv", ".mov", ".m4v", ".mpg", ".mpeg", ".ogv", ".wmv", ".flv"}
GAP = 8.0
"""Seconds between two times from which on a film is searched for the later one. Shorter ones are decoded."""
LEAST = 0.9
"""The least share of the stated frames that a whole film has."""
KINDS = "a path of a film or a folder of frames, a list of images, or an array of bytes (F, H, W, 3)"


def frames_of(clip: Any, count: int, options: PictureOptions) -> Tensor:
    """uint8 (F, 3, H, W) of at most `count` frames of a clip as a network sees them.

    A clip is a path, a sequence of pictures, or bytes (F, H, W, 3). Raises UnusablePicture for a clip that is missing,
    broken, of an unknown kind, or without frames.
    """
    if isinstance(clip, str | Path):
        path = Path(clip).expanduser()
        if not path.is_dir():
            return _film(path, count, options)
        clip = paths_of(path)
        if not clip:
            raise UnusablePicture("not a clip", f"no frame in this folder, such as 1.png ({_kinds()})", str(path))
    if not isinstance(clip, list | tuple) and not (isinstance(clip, np.ndarray | Tensor) and clip.ndim == 4):
        raise UnusablePicture("not a clip", f"found a {type(clip).__name__}, expected {KINDS}")
    if not len(clip):
        raise UnusablePicture("not a clip", "found no frame")
    return torch.stack([seen(clip[number], options) for number in spaced(len(clip), count)])


def paths_of(path: Path) -> list[Path]:
    """The file of a film, or the frames in a folder, in the order of the numbers in their names."""
    if not path.is_dir():
        return [path]
    frames = [file for file in visible(path) if file.suffix.lower() in SUFFIXES and file.is_file()]
    return sorted(frames, key=lambda file: [int(part) if part.isdigit() else part for part in _parts(file.name)])


def _parts(name: str) -> list[str]:
    return re.split(r"(\d+)", name)  # texts and numbers alternate, so that equal places are compared


def spaced(length: int, count: int) -> list[int]:
    """The middles of `count` equal parts of a sequence; all places of a shorter one."""
    return list(range(length)) if length <= count else [(2 * i + 1) * length // (2 * count) for i in range(count)]


def _kinds() -> str:
    return f"expected files that end in {', '.join(sorted(SUFFIXES))}, or a film, in {', '.join(sorted(FILMS))}"


# Films


def _film(path: Path, count: int, options: PictureOptions) -> Tensor:
    with _named(path):
        frames, length = _read(path, count, options, None)
        if length:  # the header states another length, or none
            _check_whole(path)
            frames, _ = _read(path, count, options, length)
        if not frames:
            raise UnusablePicture("broken clip", "it has no frame that can be decoded")
        return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2).contiguous()


def _read(path: Path, count: int, options: PictureOptions, length: float | None) -> tuple[list[Any], float]:
    """Frames (H, W, 3), and the length of the film in seconds if it differs from `length`, or else from that of the
    header."""
    import av

    with av.open(str(path)) as container:
        stream = _moving(container)
        if (width := stream.codec_context.width) * (height := stream.codec_context.height) > options.max_pixels:
            found = f"found {width} x {height} pixels"
            raise UnusablePicture(
                "too large a clip", f"{found}, expected {options.max_pixels:,} or fewer (data.picture.max_pixels)"
            )
        stream.thread_type = "AUTO"
        unit = float(stream.time_base or 0)
        begin = (stream.start_time or 0) * unit
        stated = stream.duration * unit if stream.duration else (container.duration or 0) / 1e6
        if not (known := length or stated):  # read the packets, without decoding them
            ends = [
                float((p.pts + (p.duration or 0)) * p.time_base) for p in container.demux(stream) if p.pts is not None
            ]
            return [], max(ends, default=0.0) - begin
        times = [begin + known * (i + 0.5) / count for i in range(count)]
        frames, end = _visible(container, stream, times, begin, options)
        return frames, 0.0 if length or end >= times[-1] else end - begin


def _moving(container: Any) -> Any:
    """The stream of moving pictures."""
    streams = [one for one in container.streams.video if not _is_cover(one)]
    if not streams:
        found = ", ".join(sorted({one.type for one in container.streams})) or "nothing"
        raise UnusablePicture("no video stream", f"found {found}, expected moving pictures")
    return streams[0]


def _check_whole(path: Path) -> None:
    """Raises UnusablePicture for a film with clearly fewer frames than its stream states: it was cut."""
    import av

    with av.open(str(path)) as container:
        stream = _moving(container)
        found = sum(bool(packet.size) for packet in container.demux(stream))
        if found < LEAST * stream.frames:
            detail = f"it ends after {found:,} of {stream.frames:,} frames; copy the file again"
            raise UnusablePicture("broken clip", detail)


def _is_cover(stream: Any) -> bool:
    """Whether a stream is the single picture of a piece of music."""
    return "attached_pic" in str(getattr(stream, "disposition", "")).lower()


def _visible(
    container: Any, stream: Any, times: Sequence[float], begin: float, options: PictureOptions
) -> tuple[list[Any], float]:
    """The frames (H, W, 3) that are visible at some rising times, each once, and the end of the last one that was
    decoded."""
    step = 1 / float(stream.average_rate or 10)
    found: list[Any] = []
    number, before, end, searched = 0, None, begin, -1
    frames = iter(container.decode(stream))
    while number < len(times) and (frame := next(frames, None)) is not None:
        time = end if frame.time is None else frame.time
        passed = number
        while passed < len(times) and time > times[passed]:
            passed += 1
        if passed > number and before is not None:
            found.append(_converted(before, options))
        number, before = passed, frame
        end = time + (float(frame.duration * frame.time_base) if frame.duration and frame.time_base else step)
        if number < len(times) and times[number] - time > GAP and searched < number:
            searched = number
            container.seek(int(times[number] / stream.time_base), stream=stream)
            frames = iter(container.decode(stream))
    if number < len(times) and before is not None:
        found.append(_converted(before, options))
    return found, end


def _converted(frame: Any, options: PictureOptions) -> Any:
    """(H, W, 3) bytes of a frame, turned as its film states, scaled and cropped."""
    turns = round(frame.rotation / 90) % 4
    size = (frame.width, frame.height) if turns % 2 else (frame.height, frame.width)
    part = central(size, options)
    high, wide = (part.width, part.height) if turns % 2 else (part.height, part.width)
    pixels = np.rot90(frame.to_ndarray(format="rgb24", width=wide, height=high, interpolation="BILINEAR"), turns)
    rows, columns = options.sides
    return pixels[part.top : part.top + rows, part.left : part.left + columns]


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turns every error of a decoder into an UnusablePicture with the path."""
    import av

    try:
        yield
    except UnusablePicture as error:
        raise UnusablePicture(error.problem, error.detail, str(path)) from error
    except (av.error.FFmpegError, OSError, ValueError, MemoryError, OverflowError) as error:
        if not path.exists():
            raise UnusablePicture("cannot be read", "no such file or folder", str(path)) from error
        empty = path.is_file() and path.stat().st_size == 0
        reason = "the file is empty" if empty else getattr(error, "strerror", None) or str(error)
        raise UnusablePicture("not a clip, or a broken one", f"{reason}; {_kinds()}", str(path)) from error
