"""Sounds to transcripts: edits per letter and per word, and how well the attention finds the time of each token."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor
from torchmetrics import Metric

from zoo.data.audio.batch import AudioBatch
from zoo.decoding import Hypothesis
from zoo.metrics import PointingGame, Share
from zoo.metrics.errors import ErrorRate
from zoo.predicting.transcription import TranscriptionPredictions
from zoo.tasks.generation import Generation


class Transcription(TranscriptionPredictions, Generation):
    """Any network that serves `transcription`. `cer` and `wer` are edits per letter and per word of the references,
    `exact_match` is the share of transcripts without an edit. `monotone` is the share of steps of the attention that do
    not go back, `pointing` that of the largest weights that lie on the true time."""

    headline = ("cer", "wer", "exact_match", "attention_recall", "pointing", "monotone")
    monitors: ClassVar[Mapping[str, str]] = {
        "loss": "min",
        "perplexity": "min",
        "cer": "min",
        "wer": "min",
        "exact_match": "max",
        "attention_recall": "max",
        "pointing": "max",
    }
    on_bar: tuple[str, ...] = (*Generation.on_bar, "cer")

    def metrics(self) -> dict[str, Metric]:
        """The metrics of generation, except two, and those of transcripts. A letter comes from many frames, so that it
        has no alignment error rate, and `cer` measures better than a perplexity how far a network depends on true
        letters."""
        found = super().metrics()
        del found["free_running_perplexity"], found["alignment_error_rate"]
        rates = {"cer": ErrorRate("characters"), "wer": ErrorRate("words")}
        return {**found, **rates, "exact_match": Share(), "pointing": PointingGame(), "monotone": Share()}

    def score_written(self, stage: str, batch: AudioBatch, hypotheses: list[Hypothesis]) -> None:
        assert batch.about is not None
        written = [self.encoder.text(best.ids) for best in hypotheses]
        references = [self.normal(about.text) for about in batch.about]
        for name in ("cer", "wer"):
            self.record(stage, name, written, references)
        self.record(stage, "exact_match", [one == other for one, other in zip(written, references, strict=True)])

    def score_attention(self, stage: str, batch: Any, weights: Tensor, possible: Tensor) -> None:
        super().score_attention(stage, batch, weights, possible)
        known = batch.forced.mask & possible.any(-1)
        self.record(stage, "pointing", weights[known], possible[known])
        place = weights.argmax(-1)
        self.record(stage, "monotone", (place[:, 1:] >= place[:, :-1])[known[:, 1:] & known[:, :-1]])

    def signatures(self) -> dict[str, str]:
        return {f"test/{name}": "jiwer" for name in ("cer", "wer")}
