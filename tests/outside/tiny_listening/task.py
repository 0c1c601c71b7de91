"""The tones of sounds: exact match of what the network writes, and what it attended to."""

from dataclasses import dataclass
from typing import ClassVar

from torchmetrics import Metric

from tiny_listening.batch import SoundBatch
from tiny_listening.data import TONES
from zoo.decoding import Hypothesis
from zoo.metrics import Share
from zoo.tasks import Generation
from zoo.tasks.task import Examined, Prediction


@dataclass(frozen=True)
class HeardSound(Prediction):
    """The tones of a sound, and the attention of each step by name."""

    sound: str
    tones: str
    log_prob: float
    attention: dict[str, list[list[float]]]


class Listening(Generation):
    """Any network that serves `listening`."""

    name = "listening"
    headline = (*Generation.headline, "exact_match")
    monitors: ClassVar[dict[str, str]] = {**Generation.monitors, "exact_match": "max"}
    view = "tiny_listening.view.ListeningView"

    def metrics(self) -> dict[str, Metric]:
        return {**super().metrics(), "exact_match": Share()}

    def score_written(self, stage: str, batch: SoundBatch, hypotheses: list[Hypothesis]) -> None:
        _, targets = batch.parts(range(len(batch)))
        assert targets is not None
        rows = zip(hypotheses, targets, strict=True)
        self.record(stage, "exact_match", [self.encoder.text(best.ids) == self.encoder.text(row) for best, row in rows])

    def predictions(self, batch: SoundBatch, words: list[str]) -> list[HeardSound]:
        found = [best for best, *_ in self.predict_step(batch)]
        return [
            HeardSound(
                sound,
                self.encoder.text(best.ids),
                best.log_prob,
                {name: weights.tolist() for name, weights in best.attention.items()},
            )
            for sound, best in zip(words, found, strict=True)
        ]

    def examine(self, batch: SoundBatch) -> list[Examined]:
        frames, targets = batch.parts(range(len(batch)))
        sounds = ["".join(TONES[tone] for tone in one.argmax(1).tolist()) for one in frames]
        truths = [None if targets is None else self.encoder.text(targets[b]) for b in range(len(batch))]
        return [
            Examined(*one) for one in zip(batch.index.tolist(), self.predictions(batch, sounds), truths, strict=True)
        ]
