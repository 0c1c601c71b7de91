"""A small classifier of sounds that is trained in the same run, by which generated sounds are counted."""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.spectrogram import log_mel
from zoo.data.pictures.batch import PictureSpec
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.data.waves.mu_law import decode
from zoo.tasks.judge import Judge

MELS, FRAMES = 32, 64


class WaveJudge(Judge):
    """The classifier of pictures on a log-mel spectrogram of fixed size, which covers a whole sound."""

    def __init__(self, spec: WaveSpec) -> None:
        super().__init__(PictureSpec(channels=1, height=MELS, width=FRAMES, classes=spec.classes))
        self.options = SpectrogramOptions(rate=spec.rate, mels=MELS, normalise="sound")

    def read(self, batch: WaveBatch) -> tuple[Tensor, Tensor]:
        assert batch.label is not None
        return self.seen(batch), batch.label

    def seen(self, batch: WaveBatch) -> Tensor:
        """(B, 1, MELS, FRAMES) spectrograms, stretched in time to one size."""
        lengths = batch.sample_mask.sum(1).tolist()
        found = []
        for levels, length in zip(batch.samples.cpu(), lengths, strict=True):
            frames = log_mel(decode(levels[:length]), self.options).T[None, None]  # (1, 1, MELS, S)
            found.append(torch.nn.functional.interpolate(frames, (MELS, FRAMES), mode="bilinear", align_corners=False))
        return torch.cat(found).to(self.scale.device)

    def scaled(self, image: Tensor) -> Tensor:
        return image / 3  # frames have mean 0 and deviation 1
