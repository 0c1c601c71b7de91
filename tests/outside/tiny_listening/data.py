"""Generated sounds: a melody of tones, each of them held for some frames, with noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from tiny_listening.batch import SoundBatch
from tiny_listening.spec import SoundSpec
from zoo.data.encoder import Encoder
from zoo.data.order import Nouns
from zoo.data.streams import Made, Make, StreamData
from zoo.errors import DataError

TONES = "abcdef"
LONGEST = 6
"""Tones of the longest melody."""
NOISE = 0.1


class Sound(NamedTuple):
    """One generated sound."""

    frames: Tensor
    """(S, F)."""
    tones: str


def make_sound(seed: int, number: int) -> Sound:
    """The sound of a seed and a number: different tones, each held for 3 to 6 frames."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    count = int(torch.randint(2, LONGEST + 1, (), generator=generator))
    tones = torch.randperm(len(TONES), generator=generator)[:count]
    held = tones.repeat_interleave(torch.randint(3, 7, (count,), generator=generator))
    noise = NOISE * torch.randn(len(held), len(TONES), generator=generator)
    return Sound(torch.eye(len(TONES))[held] + noise, "".join(TONES[tone] for tone in tones))


def tokens(tones: str) -> list[int]:
    """The tokens to write, the end included."""
    return [*(4 + TONES.index(tone) for tone in tones), 3]


class SoundEncoder(Encoder):
    """Reads sounds without noise, typed as one letter per frame: `aaaabbbb`."""

    def display(self, text: str) -> str:
        if unknown := set(text) - set(TONES):
            raise DataError(f"{text!r}: expected letters from a to {TONES[-1]}, found {min(unknown)!r}")
        return text

    def __call__(self, texts: Sequence[str]) -> SoundBatch:
        return SoundBatch.padded([torch.eye(len(TONES))[[TONES.index(tone) for tone in text]] for text in texts])

    def text(self, ids: Sequence[int]) -> str:
        """The tones of written tokens."""
        return "".join(TONES[token - 4] for token in ids if token >= 4)

    def state(self) -> dict[str, Any]:
        return {"tones": TONES}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SoundEncoder:
        return cls()


class Sounds(StreamData):
    """Generated sounds, in training never the same one twice."""

    name = "sounds"
    tasks: ClassVar[tuple[str, ...]] = ("listening",)
    nouns: ClassVar[Nouns] = Nouns("sounds", "frames")
    spec: SoundSpec
    encoder: SoundEncoder

    def setup(self, stage: str | None = None) -> None:
        self.spec, self.encoder = SoundSpec(tones=len(TONES), longest_target=LONGEST + 1), SoundEncoder()

    def generator(self) -> Make:
        return make_sound

    @property
    def _collate(self) -> Callable[[Made], SoundBatch]:
        return collate

    def describe(self) -> dict[str, Any]:
        part = self.part("val")
        shown = [part.make(part.seed, number) for number in range(min(3, len(part)))]
        frames = ["".join(TONES[tone] for tone in one.frames.argmax(1)) for one in shown]
        pairs = [{"frames": frame, "tones": one.tones} for frame, one in zip(frames, shown, strict=True)]
        return {**super().describe(), "examples": pairs}


def collate(made: Made) -> SoundBatch:
    """Sounds of a stream as a batch."""
    return SoundBatch.padded(
        [one.frames for one in made.examples], [tokens(one.tones) for one in made.examples], made.numbers
    )


def tones_heard(text: str) -> str:
    """The tones of a typed sound."""
    return "".join(tone for tone, _ in groupby(text))
