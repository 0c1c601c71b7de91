"""Encodes sounds as batches of levels; stored sounds and those of a user by the same rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
import torch
from torch import Tensor

from zoo.arguments import NonNegative
from zoo.data.audio.batch import Sound
from zoo.data.audio.decoding import GIVEN, UnusableSound, decode
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.sounds import padded_frames
from zoo.data.audio.spectrogram import log_mel
from zoo.data.parts import Class, Stored
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import NoText
from zoo.data.waves.batch import WaveBatch
from zoo.data.waves.mu_law import encode
from zoo.data.waves.options import Channels
from zoo.errors import UnusableInput, or_nearest
from zoo.values import hold


@dataclass(frozen=True)
class Request:
    """A sound to score, to continue or to make."""

    sound: Any = None
    """A path, a pair (samples, rate) or a Sound; None: nothing is known yet."""
    label: str | None = None
    """The name of the class."""
    like: Any = None
    """A sound whose spectrogram the network reads, where it reads one; None: that of `sound`."""
    seconds: float = 0.0
    """The seconds to make after `sound`."""
    number: int = 0
    """Its number among the sounds to make: each number has random values of its own."""

    @classmethod
    def of(cls, one: Any) -> Request:
        """A request, a mapping of its fields, or a sound."""
        if isinstance(one, Mapping):
            return cls(**one)
        return one if isinstance(one, Request) else cls(one)


class LevelRows(NamedTuple):
    """Some examples of a prepared split with their levels."""

    table: pa.Table
    numbers: list[int]  # Their numbers in the split
    levels: list[Tensor]  # (N,) of each
    frames: list[Tensor]  # (S, F) of each; empty where the network reads none
    context: list[int]  # The first samples of each that are not scored


class WaveEncoder(TableEncoder):
    """Sounds to levels of the mu-law, and where a network reads them to frames of a spectrogram."""

    takes = "a sound: a path, a pair (samples, rate) or a Sound; or a Request with the class to make"
    options = NoText
    raw = pa.schema(
        {**dict.fromkeys(("stored", "samples", "key"), pa.int64()), "name": pa.string(), "label": pa.string()}
    )
    parts = (Stored("stored"), Stored("samples"), Stored("name"), Class("label"))
    cuts = False

    def __init__(
        self,
        *,
        spectrogram: SpectrogramOptions | Mapping[str, Any] | None = None,
        features: bool = False,
        channels: Channels = "one",
        classes: Sequence[str] = (),
    ) -> None:
        """
        Args:
            spectrogram: the rate of the samples, the longest sound, and how frames are made.
            features: whether batches have frames.
            channels: whether a sound may have several channels, see `zoo.data.waves.options`.
            classes: their names.
        """
        super().__init__(NoText())
        self.spectrogram = SpectrogramOptions.of(spectrogram)
        self.features, self.channels, self.classes = features, channels, list(classes)

    def minimum_frequency(self, count: int) -> int:
        return 1  # it is asked for, but sounds have no vocabulary

    def collate(self, rows: LevelRows) -> WaveBatch:  # type: ignore[override]
        """A batch of stored sounds."""
        return batch_of(
            rows.levels, self.collated(rows.table).get("label"), rows.frames, context=rows.context, index=rows.numbers
        )

    def __call__(self, inputs: Sequence[Any]) -> WaveBatch:
        """A batch of sounds, or of requests, which may be mappings of their fields. Raises UnusableSound for anything
        that is not a sound of one channel, and UnusableInput for an unknown class."""
        requests = [Request.of(one) for one in inputs]
        levels = [self.levels(one.sound) for one in requests]
        labels = [self._label(one.label) for one in requests if one.label is not None]
        if 0 < len(labels) < len(requests):
            raise UnusableInput(f"{len(labels)} of {len(requests)} sounds have a class; give all of them one or none")
        likes = [one.sound if one.like is None else one.like for one in requests]
        frames = [self.frames(self.read(one)) for one in likes if one is not None] if self.features else []
        if 0 < len(frames) < len(requests):
            raise UnusableInput(
                f"{len(frames)} of {len(requests)} sounds have a spectrogram; give all of them one or none"
            )
        label = torch.tensor(labels) if labels else None
        wanted = torch.tensor([self._wanted(one, known) for one, known in zip(requests, levels, strict=True)])
        return replace(batch_of(levels, label, frames, index=[one.number for one in requests]), wanted=wanted)

    def _wanted(self, request: Request, known: Tensor) -> int:
        """The number of samples to make. Raises UnusableInput for a request without a sound and without seconds."""
        hold("seconds", request.seconds, NonNegative)
        count = round(request.seconds * self.spectrogram.rate)
        if not count and not len(known):
            raise UnusableInput("nothing to score and nothing to make: give a sound, or the seconds to make")
        return count

    def levels(self, sound: Any) -> Tensor:
        """(N,) levels of a sound; none of None."""
        return torch.zeros(0, dtype=torch.uint8) if sound is None else encode(self.read(sound))

    def read(self, sound: Any) -> Tensor:
        """(N,) samples at the rate of the data. Raises UnusableSound."""
        if self.channels == "one":
            check_channels(sound)
        return decode(sound, self.spectrogram)

    def frames(self, samples: Tensor) -> Tensor:
        """(S, F) the frames of some samples (N,)."""
        return log_mel(samples, self.spectrogram)

    def _label(self, name: str) -> int:
        if name not in self.classes:
            known = f"expected one of {', '.join(self.classes)}" if self.classes else "these sounds have no classes"
            raise UnusableInput(f"class {name!r}: {known}{or_nearest(name, self.classes)}")
        return self.classes.index(name)

    def display(self, one: Any) -> str:
        """The name of a file, or the class to make."""
        request = Request.of(one)
        sound = request.sound if request.sound is not None else request.like
        if isinstance(sound, str | Path):
            return Path(sound).name
        if sound is not None:
            return sound.name if isinstance(sound, Sound) else GIVEN
        return request.label or f"sample {request.number + 1}"

    def state(self) -> dict[str, Any]:
        return {
            "spectrogram": asdict(self.spectrogram),
            "features": self.features,
            "channels": self.channels,
            "classes": self.classes,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        return cls(**state)


def batch_of(
    levels: Sequence[Tensor],
    label: Tensor | None = None,
    frames: Sequence[Tensor] = (),
    *,
    context: Sequence[int] | None = None,
    index: Sequence[int],
) -> WaveBatch:
    """A batch of sounds of (N,) levels each, with 0 at padding."""
    lengths = torch.tensor([len(one) for one in levels])
    padded = torch.nn.utils.rnn.pad_sequence(list(levels), batch_first=True)
    mask = torch.arange(padded.shape[1]) < lengths[:, None]
    made, frame_mask = padded_frames(frames) if frames else (None, None)
    read = torch.zeros_like(lengths) if context is None else torch.tensor(context)
    number = torch.tensor(index, dtype=torch.int64)
    return WaveBatch(padded, mask, label, made, frame_mask, context=read, index=number)


def check_channels(sound: Any) -> None:
    """Raise UnusableSound for a sound with several channels. A file that cannot be read is for `decode` to refuse."""
    if isinstance(sound, str | Path):
        import soundfile

        try:
            count = soundfile.info(str(Path(sound).expanduser())).channels
        except (OSError, RuntimeError):
            return
        place = str(sound)
    else:
        shape: tuple[int, ...] = getattr(sound[0], "shape", ()) if isinstance(sound, tuple | list) and sound else ()
        count, place = (shape[1] if len(shape) == 2 else 1), GIVEN
    if count > 1:
        hint = "use data.channels=mean in the training to average them, or write one channel to a file"
        raise UnusableSound("several channels", f"found {count}, expected 1; {hint}", place)
