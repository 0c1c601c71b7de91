"""The likelihood of sounds, and sounds that a network makes sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Gt, Le
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from zoo.arguments import NonNegative
from zoo.data.audio.batch import Sound
from zoo.data.audio.decoding import stored_form
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.data.waves.encoding import WaveEncoder
from zoo.data.waves.mu_law import decode
from zoo.decoding.waves import make_samples
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction, names_at
from zoo.values import hold

Seconds = Annotated[float, Gt(0), Le(3600)]
QUIET, WINDOW = 0.02, 0.02
"""A sample belongs to silence where the root mean square of WINDOW seconds around it is below QUIET times the largest
one of its sound, that is 34 dB below it."""


@dataclass(frozen=True)
class WavePrediction(Prediction):
    """A sound that was scored, continued or made, and how surprising each sample is."""

    sound: Sound
    kept: int  # The samples that were given; the network made those after them
    bits: NDArray[np.float32]  # (N,) the surprisal -log2 p of each sample
    frames: Tensor  # (S, F) a log-mel spectrogram

    @property
    def bits_per_sample(self) -> float:
        """The mean surprisal of a sample."""
        return float(self.bits.mean(dtype=np.float64)) if len(self.bits) else 0.0

    def to_dict(self) -> dict[str, Any]:
        rate = self.sound.rate
        return {
            "sound": self.sound.name,
            "seconds": round(self.sound.seconds, 4),
            "kept_seconds": round(self.kept / rate, 4),
            "bits_per_sample": round(self.bits_per_sample, 6),
            "nats_per_sample": round(self.bits_per_sample * log(2), 6),
            "rate": rate,
        }


@dataclass(frozen=True)
class ExaminedWave(Examined):
    """A sound of a split with the surprisal of its samples."""

    prediction: WavePrediction


class WaveDensityPredictions(Predicting):
    """The surprisals of sounds by any network for `wave_density`, and the sounds that it makes."""

    name = "wave_density"
    view: ClassVar[str] = "zoo.visualize.wave_density.WaveDensityView"
    spec: WaveSpec
    encoder: WaveEncoder
    seed: int = 1
    """The seed of the samples that are made."""
    temperature: float = 1.0

    @property
    def classes_to_make(self) -> tuple[str, ...]:
        """The classes that the network can be asked for; empty if it does not depend on the class."""
        return self.spec.classes if "label" in self.network.conditions else ()

    def make_by(self, *, temperature: float | None, seconds: float | None) -> None:
        """Make sounds with another temperature, where it is not None. Raises ConfigError for a temperature or seconds
        that are not allowed."""
        if temperature is not None:
            hold("--temperature", temperature, NonNegative)
            self.temperature = temperature
        if seconds is not None:
            hold("--seconds", seconds, Seconds)

    def predictions(self, batch: WaveBatch, words: list[Any]) -> list[WavePrediction]:
        """Scored sounds, or continued and made ones; `words` are their names."""
        self.check_conditions(batch)
        lengths = batch.sample_mask.sum(1).tolist()
        whole = self.make(batch)
        bits = self.surprisal(whole) / log(2)
        found = []
        for row, (name, kept) in enumerate(zip(words, lengths, strict=True)):
            length = int(whole.sample_mask[row].sum())
            samples = decode(whole.samples[row, :length]).cpu()
            sound = Sound(str(name), self.spec.rate, stored_form(samples))
            found.append(
                WavePrediction(sound, kept, bits[row, :length].float().cpu().numpy(), self.encoder.frames(samples))
            )
        return found

    def examine(self, batch: WaveBatch) -> list[ExaminedWave]:
        words = [f"sound {number + 1}" for number in batch.index.tolist()]
        return self.examined(ExaminedWave, batch, words, names_at(batch.label, self.spec.classes))

    def make(self, batch: WaveBatch) -> WaveBatch:
        """The sounds of a batch, and after each of them the samples that are wanted."""
        if batch.wanted is None or not batch.wanted.any():
            return batch
        lengths, wanted = batch.sample_mask.sum(1).tolist(), batch.wanted.tolist()
        made: dict[int, Tensor] = {}
        with evaluating(self.network):
            for length in sorted(set(lengths)):
                rows = [row for row, other in enumerate(lengths) if other == length]
                some = replace(rows_of(batch, rows), samples=batch.samples[rows, :length])
                some = replace(some, sample_mask=torch.ones_like(some.samples, dtype=torch.bool))
                most = max(wanted[row] for row in rows)
                random = [np.random.default_rng((self.seed, one)).random(most) for one in some.index.tolist()]
                numbers = torch.from_numpy(np.stack(random)).to(batch.samples.device)
                levels = make_samples(self.network, some, numbers, temperature=self.temperature)
                made.update((row, one[: length + wanted[row]]) for row, one in zip(rows, levels, strict=True))
        samples = torch.nn.utils.rnn.pad_sequence([made[row] for row in range(len(lengths))], batch_first=True)
        ends = batch.wanted + batch.sample_mask.sum(1)
        mask = torch.arange(samples.shape[1], device=samples.device) < ends[:, None]
        return replace(batch, samples=samples, sample_mask=mask)

    def surprisal(self, batch: WaveBatch) -> Tensor:
        """(B, N) -log p of each sample in nats, 0 at padding."""
        with evaluating(self.network):
            return surprisal(self.network(batch).logits, batch)

    def blank(self, batch: WaveBatch, count: int | None = None) -> WaveBatch:
        """Sounds to make, with the classes, frames and numbers of those of a batch: `count` samples of each, by default
        as many as the sound has."""
        nothing = batch.samples[:, :0]
        wanted = batch.sample_mask.sum(1) if count is None else torch.full_like(batch.index, count)
        return replace(
            batch, samples=nothing, sample_mask=nothing.bool(), context=torch.zeros_like(wanted), wanted=wanted
        )

    def check_conditions(self, batch: WaveBatch) -> None:
        """Raise ConfigError for a batch without the facts that the network depends on."""
        if "label" in self.network.conditions and batch.label is None:
            raise ConfigError(
                "this network reads the class of a sound, and none was given: use --class NAME, or Request(label=NAME)"
            )
        if "frames" in self.network.conditions and batch.frames is None:
            raise ConfigError(
                "this network reads the spectrogram of a sound, and none was given: use --like SOUND, or "
                "Request(like=SOUND)"
            )


def rows_of(batch: WaveBatch, rows: Sequence[int]) -> WaveBatch:
    """Some rows of a batch."""
    own = {name: getattr(batch, name) for name in ("label", "frames", "frame_mask")}
    some = {name: None if part is None else part[list(rows)] for name, part in own.items()}
    at = list(rows)
    return WaveBatch(batch.samples[at], batch.sample_mask[at], **some, context=batch.context[at], index=batch.index[at])


def surprisal(scores: Tensor, batch: WaveBatch) -> Tensor:
    """(B, N) -log p of each level, from scores (B, N, L), in float32 at least; 0 where a sample is not scored."""
    nats = F.cross_entropy(precise(scores.transpose(1, 2)), batch.samples.long(), reduction="none")
    return nats * batch.scored_mask


def silent(batch: WaveBatch, rate: int) -> Tensor:
    """(B, N) True at the samples that belong to silence, see QUIET."""
    power = decode(batch.samples).square() * batch.sample_mask
    half = max(1, round(WINDOW * rate / 2))
    around = [
        F.avg_pool1d(part[:, None], 2 * half + 1, 1, half, count_include_pad=False)[:, 0]
        for part in (power, batch.sample_mask.to(power.dtype))
    ]
    mean = around[0] / around[1].clamp(min=1e-6)
    return (mean < QUIET**2 * mean.amax(1, keepdim=True)) & batch.sample_mask
