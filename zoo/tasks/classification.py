"""Documents to classes, and whether attention found the evidence."""

import logging
from importlib.util import find_spec
from typing import Any, ClassVar, Unpack

from torch import Tensor
from torchmetrics import Metric

from zoo.data.documents.batch import DocumentBatch
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall
from zoo.models.output import Output
from zoo.predicting.classification import ClassificationPredictions
from zoo.tasks.baselines import baselines
from zoo.tasks.single_label import SingleLabel, SingleLabelArguments

log = logging.getLogger(__name__)


def word_importance(attention: dict[str, Tensor]) -> Tensor | None:
    """The share of the document's attention on each word, (B, S, W), summing to 1: sentence weight times word
    weight."""
    if "word" not in attention:
        return None
    return attention["word"] * attention["sentence"][..., None] if "sentence" in attention else attention["word"]


class Classification(ClassificationPredictions, SingleLabel):
    """Any network that serves `classification` of documents.

    With `baselines` a test also gives the figures of the majority class, and of TF-IDF with logistic regression, which
    has the same weights of classes.
    """

    headline = (*SingleLabel.headline, "attention_recall")
    monitors: ClassVar = {**SingleLabel.monitors, "attention_recall": "max", "sentence_recall": "max"}

    def __init__(self, *, baselines: bool = False, **rest: Unpack[SingleLabelArguments]) -> None:
        super().__init__(**rest)

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        super().check(cfg, model)
        if not cfg.task.get("baselines"):
            return
        if not cfg.test:
            raise ConfigError("task.baselines=true adds rows to the table of a test: set test=true, or remove it")
        if find_spec("sklearn") is None:
            raise ConfigError("task.baselines=true: scikit-learn is not installed; pip install -e '.[baselines]'")

    def prepare_training(self) -> None:
        super().prepare_training()
        if self.hparams["baselines"] and not hasattr(data := self.trainer.datamodule, "texts"):  # type: ignore[attr-defined]
            raise ConfigError(f"task.baselines=true: data={data.name} does not give its documents as texts; remove it")

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        if not self.hparams["baselines"]:
            return super().baselines(data)
        splits = {split: data.texts(split) for split in data.sizes}
        log.info("baselines: TF-IDF + logistic regression learns from %s documents", f"{data.sizes['train']:,}")
        weights = None if self.class_weight is None else self.class_weight.tolist()
        return baselines(splits, len(self.spec.classes), weights)

    def metrics(self) -> dict[str, Metric]:
        names = ("attention_recall", "sentence_recall", "attention_chance")
        return {**super().metrics(), **{name: AttentionRecall() for name in names}}

    def score(self, stage: str, batch: DocumentBatch, output: Output) -> None:
        super().score(stage, batch, output)
        importance = word_importance(output.attention)
        if batch.evidence is not None and importance is not None:
            self.record_recall(stage, "attention", importance, batch.evidence, batch.word_mask)
            if "sentence" in output.attention:
                self.record(stage, "sentence_recall", output.attention["sentence"], batch.evidence.any(-1))
