"""The view of transcription: a sound that can be played, and where in it each token was heard."""

import io
import wave
from argparse import Namespace
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.predicting.transcription import ExaminedTranscription, Transcript, TranscriptionPrediction
from zoo.printable import shown
from zoo.visualize.blocks import Block, Head, ranking
from zoo.visualize.drawing import SMALL, TINY, Drawing, Key, Raster
from zoo.visualize.files import FileView
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page
from zoo.visualize.view import AttentionMap, Field, ranked

HEARD = Key(
    "",
    "a row is a token, dark where the network listened; above: the sound, low tones at the bottom",
    "Above is the sound, low tones at the bottom. Below it each row is a token that was written, dark where the "
    "network listened. Play the sound, or click a token to hear it from there: the line moves along.",
)
TIME = Key("true", "the true time of the token")
RANKED = Key(long="All transcripts have the score they were ranked by; the picture belongs to the first.")
WIDTH, HEIGHT, ROW, LEFT = 740, 90, 13, 56  # Pixels in a picture: of the sound, of a row, and of the names before it
MOST_TOKENS = 80  # The rows of a picture
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600)  # Seconds between two marks of the time
MARKS = 12  # The most marks of the time


class TranscriptionView(FileView):
    """Sounds with their transcripts."""

    noun, typed = "sound", "sound.wav"
    columns = ("sound", "transcript", "log-probability", "times")  # `times` as word begin-end, in seconds
    truth = "reference"
    title = "What the network heard"
    needs = ("source", "model=las")
    searches = ("beam", "nbest")

    @property
    def suffixes(self) -> Collection[str]:
        from zoo.data.audio.own import SUFFIXES  # late, since it needs the library `datasets`

        return SUFFIXES

    def form(self) -> tuple[Field, ...]:
        return (Field("sound", kind="file"),)

    def entered(self, values: Sequence[str]) -> Path:
        return self.parse(values[0])

    def row(self, prediction: TranscriptionPrediction) -> list[Any]:
        best = prediction.best
        times = " ".join(f"{shown(word.word)} {word.begin:.2f}-{word.end:.2f}" for word in best.words)
        return [shown(prediction.sound.name), shown(best.text), round(best.log_prob, 4), times]

    def terminal(self, prediction: TranscriptionPrediction, number: int, options: Namespace) -> str:
        one = "\t".join(self.row(prediction)[:2])
        return one if options.nbest is None else ranked(number, prediction.transcripts)

    def blocks(self, prediction: TranscriptionPrediction, examined: ExaminedTranscription | None = None) -> list[Block]:
        best, sound = prediction.best, prediction.sound
        truth, right = (examined.truth, examined.right) if examined else (None, None)
        head = Head(
            best.text,
            above=sound.name,
            under=f"{sound.seconds:.2f} s · log-probability {best.log_prob:.3f}",
            truth=None if truth is None else ("", truth),
            right=right,
            data={"transcript": best.text, "sound": sound.name},
        )
        spans = (examined and examined.spans) or ()
        keys = (*[HEARD] * (best.attention is not None), *[TIME] * any(spans))
        features = prediction.frames.float().numpy()
        recording = wav(sound.samples.numpy(), sound.rate)
        heard = AttendedSound(sound.name, recording, sound.seconds, features, best, tuple(spans), keys=keys)
        return [head, heard, *ranking(prediction.transcripts, RANKED)]

    def maps(self, predictor: Any, given: Any, prediction: TranscriptionPrediction) -> list[AttentionMap]:
        best = prediction.best
        if not best.attention:
            return []
        times = [f"{place * best.stride:.2f} s" for place in range(len(best.attention[0]))]
        rows = [*best.tokens, *["(end)"] * best.finished]
        return [AttentionMap("tokens and times", [list(row) for row in best.attention], rows, times)]


def wav(samples: NDArray[np.int16], rate: int) -> bytes:
    """The content of a WAV file with these samples (N,) of one channel."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


@dataclass(frozen=True)
class AttendedSound(Block):
    """A sound, and a row for each token: dark where the network listened when it wrote the token."""

    policy = "media-src data:; script-src 'unsafe-inline'"  # the sound is in the page, and moves a line

    name: str
    recording: bytes  # A WAV file
    seconds: float
    features: NDArray[np.float32]  # (S, F), low tones first
    transcript: Transcript
    spans: Sequence[tuple[float, float] | None]  # The true begin and end of each token, where they are known
    placed: bool = field(default=True, kw_only=True)  # A token was heard where its row is darkest

    @property
    def attended(self) -> bool:
        return bool(self.transcript.attention)

    @property
    def names(self) -> list[str]:
        """The name of each row."""
        names = {" ": "(blank)"}
        return [names.get(token, token) for token in self.transcript.tokens]

    @property
    def rows(self) -> NDArray[np.float32]:
        """(T, U) the attention of each token without the end, 1 the largest weight of a row."""
        weights = np.asarray((self.transcript.attention or ())[: len(self.transcript.tokens)], np.float32)
        return weights / weights.max(1, keepdims=True).clip(1e-12) if weights.size else weights.reshape(0, 1)

    @property
    def covered(self) -> float:
        """Seconds from the begin of the first position of the memory to the end of the last one."""
        return self.rows.shape[1] * self.transcript.stride if self.attended else self.seconds

    @property
    def loudness(self) -> NDArray[np.float32]:
        """(F, S) from 0 to 1, high tones first: from the quietest twentieth to the loudest value."""
        low, high = np.quantile(self.features, 0.05), self.features.max()
        return ((self.features - low) / max(float(high - low), 1e-6)).clip(0, 1).T[::-1]

    @property
    def marks(self) -> list[float]:
        """Times to write under the sound, in seconds."""
        step = next((step for step in STEPS if self.seconds / step <= MARKS), STEPS[-1])
        return [round(step * number, 1) for number in range(int(self.seconds / step) + 1)]


# The renderers


@page.html.register
def _(block: AttendedSound) -> str:
    rows = block.rows
    places = [place * block.transcript.stride for place in block.transcript.places]
    names = list(zip(block.names, places, strict=False))  # `places` is empty without attention
    spans = [(row, *span) for row, span in enumerate(block.spans) if span is not None]
    images = [_alpha(block.loudness), *([_alpha(rows)] if rows.size else [])]
    recording = f"data:audio/wav;base64,{b64encode(block.recording).decode()}"
    return page.macro("attended_sound", block, recording, images, names, spans, max(block.covered, block.seconds))


def _alpha(values: NDArray[np.float32]) -> str:
    """A PNG file, as an address, that is opaque where values (H, W) are 1; pages colour it."""
    file, opaque = io.BytesIO(), (255 * values + 0.5).astype(np.uint8)
    Image.fromarray(np.stack([np.zeros_like(opaque), opaque], -1)).save(file, "png", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


@figure.fitted.register
def _(block: AttendedSound, letters: Letters, room: float) -> Drawing:
    rows, names = block.rows[:MOST_TOKENS], block.names[:MOST_TOKENS]
    whole = max(block.covered, block.seconds, 1e-6)
    scale = WIDTH / whole
    top, down = 18, ROW * len(rows)
    sheet = Drawing(max(room, LEFT + WIDTH), top + HEIGHT + 16 + down + 4)
    gray = (255 * (1 - block.loudness)).astype(np.uint8)
    heard = block.seconds * scale
    sheet.rasters.append(Raster(LEFT, top, heard, HEIGHT, np.repeat(gray[..., None], 3, 2)))
    sheet.box("frames", LEFT, top, WIDTH, HEIGHT)
    for time in block.marks:
        sheet.write(LEFT + time * scale, top + HEIGHT + 12, f"{time:g} s" if time else "0", TINY, side="center")
    below = top + HEIGHT + 16
    if len(rows):
        sheet.rasters.append(Raster(LEFT, below, block.covered * scale, down, rows.astype(float)))
        sheet.box("frames", LEFT, below, WIDTH, down)
    for number, (name, place) in enumerate(zip(names, block.transcript.places, strict=False)):
        y = below + (number + 0.5) * ROW + 4
        sheet.write(LEFT - 6, y, letters.cut(name, LEFT - 8, SMALL), SMALL, "ink", side="right")
        if block.placed:
            x = LEFT + (place + 0.5) * block.transcript.stride * scale
            sheet.write(x, top - 5, letters.cut(name, 40, SMALL), SMALL, "ink", side="center")
    for number, span in enumerate(block.spans[:MOST_TOKENS]):
        if span is not None:
            sheet.box("true", LEFT + span[0] * scale, below + number * ROW, (span[1] - span[0]) * scale, ROW)
    if len(block.rows) > MOST_TOKENS:
        sheet.notes.append(f"cut to {MOST_TOKENS} of {len(block.rows)} tokens")
    return sheet
