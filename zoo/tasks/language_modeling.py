"""Predicting the next token of a text by any network of a stream."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from math import exp
from typing import Any, ClassVar, Required, Unpack

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.data.language.batch import StreamBatch
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall, Bits, Perplexity, Share, TokenLoss
from zoo.metrics.ratios import GroupMeans
from zoo.models.output import Output
from zoo.objectives.cross_entropy import output_cross_entropy
from zoo.predicting.language_modeling import LanguageModelingPredictions, mean_attention
from zoo.tasks.language_baselines import ORDER, kneser_ney
from zoo.tasks.task import Task, TaskArguments

log = logging.getLogger(__name__)

DISTANCES = 12
"""The greatest distance of a verb from its subject that is counted by itself."""
UNITS = ("word", "character", "byte", "piece")


class LanguageModelingArguments(TaskArguments, total=False):
    """The arguments of the task."""

    decoding: Required[dict[str, Any]]
    baselines: bool


class LanguageModeling(LanguageModelingPredictions, Task):
    """Trains on the mean surprisal of the tokens of a stream, and measures perplexity exactly: the surprisals of all
    tokens of a split are added up, and divided once.

    The unit of a perplexity is in its name, such as `word_perplexity`, since those of words and of pieces cannot be
    compared. `bits_per_byte` can be compared, unless words are unknown. Where the data know the language,
    `least_perplexity` is that of a reader who knows it too, and `agreement` is the share of verbs whose form has a
    higher probability than its form of the other number. With `baselines` a test also gives the figures of a Kneser-Ney
    5-gram.
    """

    headline = (*(f"{unit}_perplexity" for unit in UNITS), "bits_per_byte")
    monitors: ClassVar[Mapping[str, str]] = {"loss": "min", "bits_per_byte": "min"}
    groups = ("decoding",)
    on_bar = headline

    def __init__(self, *, decoding: dict[str, Any], baselines: bool = False, **rest: Unpack[TaskArguments]) -> None:
        """`decoding`, a plain dict with a `_target_`, is how `zoo predict` continues a text."""
        super().__init__(**rest)

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        """Raises ConfigError for a context that is longer than the windows of training, which would leave its last
        positions untrained. A network that carries its state through training may have any."""
        super().check(cfg, model)
        context, length = cfg.model.get("window"), (cfg.data.get("window") or {}).get("length")
        if cfg.train and model.carries is not True and context and length and context > length:
            raise ConfigError(
                f"model.window={context} is longer than data.window.length={length}: no training window reaches the "
                f"positions after {length}; set model.window={length}, or data.window.length={context}"
            )

    @property
    def perplexity(self) -> str:
        """The name of the perplexity by tokens."""
        return f"{self.spec.unit.removesuffix('s')}_perplexity"

    def metrics(self) -> dict[str, Metric]:
        by_character = {"bits_per_character": Bits()} if self.spec.unit == "characters" else {}
        return {
            "loss": TokenLoss(),
            self.perplexity: Perplexity(),
            **by_character,
            "bits_per_byte": Bits(),
            "least_perplexity": Perplexity(),
            "agreement": Share(),
            "agreement_by_distance": GroupMeans(DISTANCES + 1),
            "attention_recall": AttentionRecall(),
            "attention_chance": AttentionRecall(),
        }

    def training_step(self, batch: StreamBatch, batch_idx: int) -> Tensor:
        output = self.read(batch, need_weights=False, need_scores=False)
        total, count = nats(output, batch), len(batch.true_tokens)
        own = self.own_losses(output, len(batch))
        loss = (total / count).detach() + own.detach()
        self.log("train/loss", loss, prog_bar=True, on_step=False, on_epoch=True, sync_dist=True, batch_size=count)
        return self.global_mean(total, count) + self.shared(own, len(batch))

    def evaluate(self, batch: StreamBatch, stage: str) -> None:
        known = batch.distance is not None
        output = self.read(batch, need_weights=known, need_scores=known)
        total, count = nats(output, batch), len(batch.true_tokens)
        for name in ("loss", self.perplexity, *["bits_per_character"] * (self.spec.unit == "characters")):
            self.record(stage, name, total, count)
        self.record(stage, "bits_per_byte", total, batch.text_bytes)
        if batch.least is not None:
            self.record(stage, "least_perplexity", batch.least.sum(), count)
        if batch.distance is not None and batch.rival is not None:
            self._score_agreement(stage, batch, output, batch.distance, batch.rival)

    def _score_agreement(self, stage: str, batch: StreamBatch, output: Output, distance: Tensor, rival: Tensor) -> None:
        """Count the verbs that agree with their subjects, and how much attention is on these when a verb is predicted.
        `distance` and `rival` are (B, T)."""
        packing = batch.forced.packing
        far, other = packing.pack(distance), packing.pack(rival)
        verbs = far > 0
        true, wrong = (output.logits[verbs].gather(1, ids[verbs, None]) for ids in (batch.true_tokens, other))
        right = (true > wrong).squeeze(1)
        self.record(stage, "agreement", right)
        self.metrics_of(stage)["agreement_by_distance"].update(right.float(), far[verbs].clamp(max=DISTANCES))
        weights = mean_attention(output)
        if weights is None:
            return
        row, place = (distance > 0).nonzero(as_tuple=True)
        read = weights.shape[2] - weights.shape[1] + place + 1  # tokens that were read before each verb
        subject = read - distance[row, place]
        inside = subject >= 0
        column = torch.arange(weights.shape[2], device=weights.device)
        truth = column == subject[inside, None]
        self.record(stage, "attention_recall", weights[row, place][inside], truth)
        self.record(stage, "attention_chance", (column < read[inside, None]) / read[inside, None], truth)

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        if not self.hparams["baselines"]:
            return super().baselines(data)
        log.info("baselines: a Kneser-Ney %d-gram learns from %s tokens", ORDER, f"{data.sizes['train']:,}")
        test, end = data.part("test"), data.encoder.line_end
        train, size = data.part("train").parts["ids"], self.spec.vocabulary_size
        found = kneser_ney(train, test.parts, size, line_end=end, token_bytes=test.token_bytes)
        return {f"Kneser-Ney {ORDER}-gram": {**found, self.perplexity: exp(found["loss"])}}

    def window_output(self, batch: StreamBatch) -> Output:
        return self.read(batch)

    def on_test_epoch_end(self) -> None:
        super().on_test_epoch_end()
        if not self.metrics_of("test")["agreement_by_distance"].update_called:
            return  # the data know no subjects
        means = self.group_means("test", ["agreement_by_distance"])["agreement_by_distance"]
        self.log_defined({f"test/agreement_{far}": value for far, value in enumerate(means)})


def nats(output: Output, batch: StreamBatch) -> Tensor:
    """The sum of the surprisals -log p of the true tokens, ()."""
    return output_cross_entropy(output, batch)[0] if output.surprisal is None else output.surprisal.sum()
