"""The view of clip captioning: the frames of a clip as a strip, and for each word of the caption the frames that the
network attended to."""

import io
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from zoo.data.clips.video import FILMS, paths_of
from zoo.errors import DataError
from zoo.predicting.clip_captioning import ClipPrediction
from zoo.visualize.blocks import Block
from zoo.visualize.captions import CaptionsView
from zoo.visualize.drawing import SMALL, TINY, Drawing, Key, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page
from zoo.visualize.view import AttentionMap, Field

STRIP = Key(
    "",
    "blue: where the network looked; the number is the largest weight",
    "Point at a word, or reach it by the tab key, to light up the frames that the network attended to when it wrote "
    "the word. The bars under a word are its weights on the frames, with the number of the frame of the largest one.",
)
EVENT = Key("true", "the frames of the event that the word is about")
WIDEST, HIGHEST = 96, 96  # The most pixels of a frame on a page
COLUMNS = 14  # Frames in a row of the strip of a page
FRAME, ROW, GAP, MARGIN = 56.0, 22.0, 3.0, 96.0
"""Pixels in a picture: the width of a frame, the height of a row of weights, the room between, the width of words."""
MOST_WORDS, WORD = 40, 12  # The most words of a picture, and the size of a word


class ClipCaptioningView(CaptionsView):
    """Clips with their captions."""

    noun, typed = "clip", "clip.mp4"
    columns = ("clip", "caption", "log-probability")
    needs = ("source", "model=temporal_attention")

    @property
    def suffixes(self) -> Collection[str]:
        return FILMS

    def read_word(self, word: str) -> list[Any | None]:
        """Return the path of a film or of a folder of frames, or those of all films in a folder, sorted by name."""
        path = Path(word)
        if path.is_dir():
            if films := self.inside(path):
                return [*films]
            if not paths_of(path):
                some = ", ".join(sorted(FILMS))
                raise DataError(f"{path}: no clip in this folder; expected frames such as 1.png, or films: {some}")
        return [self.parse(word)]

    def parse(self, line: str) -> Path:
        expected = "the path of a film, of a folder of frames, or of a folder of films"
        return self.found(Path(line.strip()), expected, folders=True)

    def form(self) -> tuple[Field, ...]:
        return (Field("clip", kind="file"),)

    def seen(self, prediction: ClipPrediction, words: Sequence[tuple[str, Any, Any]]) -> Block:
        attended, named = prediction.best.attention is not None, any(place for _, _, place in words)
        keys, clip = (*[STRIP] * attended, *[EVENT] * named), prediction.clip
        return AttendedClip(clip.name, clip.frames, clip.count, [Word(*one) for one in words], keys=keys)

    def maps(self, predictor: Any, given: Any, prediction: ClipPrediction) -> list[AttentionMap]:
        best = prediction.best
        if best.attention is None:
            return []
        frames = [str(number + 1) for number in range(prediction.clip.count)]
        words = [*best.words, *["(end)"] * best.finished]
        return [AttentionMap("words and frames of the clip", best.attention, words, frames)]


# The strip


class Word(NamedTuple):
    """A written word."""

    text: str
    weights: Sequence[float] | None  # Attention to the frames; None where the network has none
    span: Sequence[float] | None = None  # The first and the last frame of the event that it is about


@dataclass(frozen=True)
class AttendedClip(Block):
    """The frames of a clip, and the weights of each word on them."""

    name: str
    frames: Sequence[bytes]  # PNG files; empty where only features are known
    count: int  # F
    words: Sequence[Word]

    @property
    def attended(self) -> bool:
        return not self.words or any(word.weights is not None for word in self.words)


# The renderers


@page.html.register
def _(block: AttendedClip) -> str:
    frames = [_url(frame) for frame in block.frames]
    ratio = 1.0
    if block.frames:
        width, height = Image.open(io.BytesIO(block.frames[0])).size
        ratio = width / height
    words = [
        (word.text, [weight / max(1e-12, *word.weights) for weight in word.weights], max(word.weights), word.span)
        for word in block.words
        if word.weights is not None
    ]
    return page.macro("attended_clip", block.name, frames, block.count, min(COLUMNS, block.count), ratio, words)


def _url(frame: bytes) -> str:
    """A small JPEG of a frame, or a PNG of one that is small already."""
    image, file = Image.open(io.BytesIO(frame)), io.BytesIO()
    if image.width <= WIDEST and image.height <= HIGHEST:
        return f"data:image/png;base64,{b64encode(frame).decode()}"
    image.thumbnail((2 * WIDEST, 2 * HIGHEST))
    image.save(file, "jpeg", quality=85)
    return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"


@figure.fitted.register
def _(block: AttendedClip, letters: Letters, room: float) -> Drawing:
    words, high = [word for word in block.words if word.weights is not None][:MOST_WORDS], FRAME
    pictures = [np.asarray(Image.open(io.BytesIO(frame)).convert("RGB")) for frame in block.frames]
    if pictures:
        high = FRAME * pictures[0].shape[0] / pictures[0].shape[1]
    step = FRAME + GAP
    sheet = Drawing(max(room, MARGIN + block.count * step + 30), high + 18 + len(words) * (ROW + GAP))
    for number in range(block.count):
        left = MARGIN + number * step
        if pictures:
            sheet.rasters.append(Raster(left, 14, FRAME, high, pictures[number]))
        sheet.box("frames", left, 14, FRAME, high)
        sheet.write(left + FRAME / 2, 9, str(number + 1), TINY, side="center")
    for row, word in enumerate(words):
        top = 18 + high + row * (ROW + GAP)
        sheet.write(MARGIN - 10, top + 15, letters.cut(word.text, MARGIN - 14, WORD), WORD, "ink", side="right")
        for number, weight in enumerate(word.weights or ()):
            values = np.array([[weight]])
            sheet.rasters.append(Raster(MARGIN + number * step, top, FRAME, ROW, values, max(word.weights or (1.0,))))
            sheet.box("frames", MARGIN + number * step, top, FRAME, ROW)
        if word.span is not None:
            first, last = word.span
            sheet.box("true", MARGIN + first * step, top, (last - first) * step + FRAME, ROW)
        sheet.write(MARGIN + block.count * step + 4, top + 15, f"{max(word.weights or (0.0,)):.2f}", SMALL)
    if len(block.words) > MOST_WORDS:
        sheet.notes.append(f"cut to {MOST_WORDS} words")
    return sheet
