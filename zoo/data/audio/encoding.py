"""Sounds to batches, and ids to transcripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from zoo.data.audio.batch import AudioBatch, Sound, SoundDescription
from zoo.data.audio.decoding import GIVEN, decode, stored_form
from zoo.data.audio.options import SpectrogramOptions, TranscriptOptions
from zoo.data.audio.sounds import SoundRows, padded_frames
from zoo.data.audio.spectrogram import described, filters, log_mel
from zoo.data.parts import Numbers, Padded, Ragged, Shown, Words
from zoo.data.stored import offsets
from zoo.data.table_encoder import WritingEncoder
from zoo.data.text.links import covering
from zoo.data.text.vocabulary import BEGIN, WRITTEN_SPECIAL, Vocabulary

STORED = ("stored", "samples", "frames", "name", "key")
"""The columns about a sound. Its samples and its frames are those at the rate of the data."""
SECONDS = pa.list_(pa.float64())


class AudioEncoder(WritingEncoder):
    """Sounds to batches, and ids to transcripts."""

    takes = "a sound: a path, a pair (samples, rate), or a Sound"
    options = TranscriptOptions
    raw = pa.schema(
        {
            **dict.fromkeys(("stored", "samples", "frames", "key"), pa.int64()),
            "name": pa.string(),
            "transcript": pa.string(),
            "letters": pa.list_(pa.int32()),
            "times": SECONDS,
        }
    )
    given = ("transcript",)
    parts = (
        Words("target", "target", special=WRITTEN_SPECIAL, lengths="target_tokens", unit="a training transcript"),
        Numbers("spans", training=False),
        Shown("transcript", training=True),
    )
    texts = "transcript"
    target = "target"
    text_options: TranscriptOptions

    def __init__(
        self,
        text: TranscriptOptions,
        vocabularies: Sequence[Vocabulary] = (),
        subwords: Sequence[str | None] = (),
        *,
        spectrogram: SpectrogramOptions | Mapping[str, Any],
    ) -> None:
        """`spectrogram` defines the frames. Raises ConfigError for bands that are too narrow."""
        super().__init__(text, vocabularies, subwords)
        self.spectrogram = SpectrogramOptions.of(spectrogram)
        filters(self.spectrogram)

    def extra_state(self) -> dict[str, Any]:
        return {"spectrogram": asdict(self.spectrogram)}

    def files(self) -> dict[str, str]:
        return super().files() | {"spectrogram.json": json.dumps(described(self.spectrogram))}

    def numbered(self, table: pa.Table, evaluated: bool) -> pa.Table:
        found = super().numbered(table, evaluated)
        for name in STORED:
            if name not in found.column_names:
                found = found.append_column(name, table[name])
        return found

    def tokens(self, table: pa.Table) -> pa.Table:
        """Cut the transcripts into tokens. A token has the time of the letters that it shares with a border."""
        columns = {name: table[name] for name in table.column_names if name not in ("letters", "times")}
        texts, tokenizer = table["transcript"].to_pylist(), self.target_tokenizer
        columns["target"] = pa.array([tokenizer.split(text).forms for text in texts], pa.list_(pa.string()))
        if "times" in table.column_names:
            letters, times = table["letters"].to_pylist(), table["times"].to_pylist()
            spans = [
                spans_of(tokenizer.spans(text), *borders) for text, *borders in zip(texts, letters, times, strict=True)
            ]
            columns["spans"] = pa.array(spans, SECONDS)
        return pa.table(columns)

    def __call__(self, sounds: Any) -> AudioBatch:
        """A batch of some sounds, or of one. Raises UnusableSound for anything that is not a sound."""
        one = isinstance(sounds, str | Path | Sound) or (isinstance(sounds, tuple) and isinstance(sounds[-1], Real))
        given = [sounds] if one else list(sounds)
        samples = [decode(sound, self.spectrogram) for sound in given]
        frames, mask = padded_frames([log_mel(found, self.spectrogram) for found in samples])
        shown = [
            SoundDescription(self._sound(sound, found, str(number)))
            for number, (sound, found) in enumerate(zip(given, samples, strict=True))
        ]
        return AudioBatch(frames, mask, begin=BEGIN, about=tuple(shown))

    def display(self, one: Any) -> Sound:
        """A sound of one channel at the rate of the data, in 16 bits. Raises UnusableSound."""
        return self._sound(one, decode(one, self.spectrogram), GIVEN)

    def _sound(self, given: Any, samples: Tensor, otherwise: str) -> Sound:
        name = str(given) if isinstance(given, str | Path) else given.name if isinstance(given, Sound) else otherwise
        return Sound(name, self.spectrogram.rate, stored_form(samples))

    def collate(self, rows: SoundRows) -> AudioBatch:  # type: ignore[override]
        """A batch of stored examples with their sounds."""
        parts = self.collated(rows.table)
        target: Padded = parts["target"]
        frames, mask = padded_frames(rows.frames)
        aligned, about = None, None
        spans: Ragged | None = parts.get("spans")
        if spans is not None:
            hop, window = self.spectrogram.seconds, self.spectrogram.window / 1000
            aligned = alignment(spans, target.values.shape[1], mask, hop, window)
        if rows.sounds is not None:
            times = [None] * len(rows.sounds) if spans is None else _tuples(spans)
            about = tuple(map(SoundDescription, rows.sounds, parts["transcript"], times))
        return AudioBatch(
            frames,
            mask,
            target=target.values,
            target_mask=target.mask,
            begin=BEGIN,
            index=torch.tensor(rows.numbers, dtype=torch.int64),
            alignment=aligned,
            about=about,
        )


def spans_of(tokens: Sequence[tuple[int, int]], letters: Sequence[int], times: Sequence[float]) -> list[float]:
    """The begin and the end of each token in seconds, in sequence, NaN where it is not heard. `tokens` are their
    letters; `letters` and `times` are the borders, in sequence."""
    found = np.full((len(tokens), 2), np.nan)
    for number, heard in enumerate(covering(letters, tokens)):
        begin, end = times[2 * number : 2 * number + 2]
        for token in heard:
            found[token] = np.fmin(found[token, 0], begin), np.fmax(found[token, 1], end)
    return found.ravel().tolist()


def alignment(spans: Ragged, tokens: int, mask: Tensor, hop: float, window: float) -> Tensor:
    """(B, T, S) True at the frames whose windows, `window` seconds wide and `hop` seconds apart, reach into the span of
    a token, and at least at one. T is `tokens`, and `mask` (B, S) is True at the frames of each sound."""
    times = np.asarray(spans.values, np.float64).reshape(-1, 2)
    counts = np.asarray(spans.lengths) // 2
    heard = np.isfinite(times[:, 0])
    row = np.repeat(np.arange(len(mask)), counts)[heard]
    position = (np.arange(len(times)) - np.repeat(offsets(counts)[:-1], counts))[heard]
    begin, end = ((times[heard, :] + [-window / 2, window / 2]) / hop).T
    length = mask.sum(1).numpy()[row]
    first = np.minimum(np.floor(begin + 1e-6) + 1, length - 1)[:, None]
    last = np.clip(np.ceil(end - 1e-6)[:, None], first + 1, length[:, None])
    frame = np.arange(mask.shape[1])
    found = np.zeros((len(mask), tokens, len(frame)), np.bool_)
    found[row, position] = (first <= frame) & (frame < last)
    return torch.from_numpy(found)


def _tuples(spans: Ragged) -> list[tuple[tuple[float, float] | None, ...]]:
    """The spans of each row, None where a token is not heard."""
    times = np.asarray(spans.values, np.float64).reshape(-1, 2)
    pairs = [None if begin != begin else (begin, end) for begin, end in times.tolist()]
    ends = offsets(np.asarray(spans.lengths) // 2)
    return [tuple(pairs[begin:end]) for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
