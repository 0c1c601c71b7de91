"""A word that is missing from a sentence, to be found among candidates that occur in a document. A test can re-rank
the candidates: one process fits the re-ranking when it begins, and stores it in the run's folder."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from lightning import Trainer
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Count
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall, Share
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.cloze import ClozePredictions, asked_of, best, vocabulary_key
from zoo.reranking.reranker import FEATURES, FILE, Reranker, ScoredQuestion
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import TaskArguments

log = logging.getLogger(__name__)


class Cloze(ClozePredictions, Scoring):
    """Any network that serves `cloze`: its `logits` (B, C) are log P(candidate), summed over the occurrences of each
    candidate in the document. A candidate that does not occur has the lowest number of the type."""

    headline: tuple[str, ...] = ("accuracy", "accuracy_reranked", "attention_recall", "sentence_recall")
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "attention_recall": "max", "sentence_recall": "max"}
    on_bar: tuple[str, ...] = ("loss", "accuracy")

    def __init__(
        self,
        *,
        rerank: bool = False,
        rerank_best: Count = 10,
        ngram_order: Count = 8,
        word_classes: Count = 1000,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """With `rerank` a test also gives the accuracy after re-ranking the `rerank_best` best candidates with language
        models: n-grams of at most `ngram_order` words, and at most `word_classes` classes of words."""
        super().__init__(**rest)

    def metrics(self) -> dict[str, Metric]:
        recalls = ("attention_recall", "attention_chance", "sentence_recall", "sentence_chance")
        accuracies: dict[str, Metric] = {"accuracy": Share(), "accuracy_reranked": Share()}
        return super().metrics() | accuracies | {name: AttentionRecall() for name in recalls}

    def total_loss(self, output: Output, batch: ClozeBatch) -> Tensor:
        return answer_losses(output.logits, batch)[0].sum()

    def counted(self, output: Output, batch: ClozeBatch) -> Tensor:
        return answer_losses(output.logits, batch)[1].sum()

    # evaluation

    def on_test_start(self) -> None:
        super().on_test_start()
        if self.hparams["rerank"]:
            options = {"best": "rerank_best", "order": "ngram_order", "classes": "word_classes"}
            chosen = {name: self.hparams[key] for name, key in options.items()}
            self.reranker = fitted(self.trainer, self._scored_questions, self.spec, **chosen)

    def test_step(self, batch: ClozeBatch, batch_idx: int) -> None:
        output = self.evaluate(batch, "test")
        if self.reranker is not None:
            assert batch.answer is not None and batch.text is not None
            again = self._reranked(self.reranker, batch, output.logits, batch.text).argmax(1)
            self.record("test", "accuracy_reranked", again == batch.answer)

    def _scored_questions(self, batch: ClozeBatch) -> tuple[list[ScoredQuestion], list[int]]:
        """The questions of a batch with the network's scores, and the answers."""
        assert batch.answer is not None and batch.text is not None
        logits = self(batch.to(self.device)).logits
        return asked_of(batch, logits, batch.text, self.spec.blank), batch.answer.tolist()

    def score(self, stage: str, batch: ClozeBatch, output: Output) -> None:
        assert batch.answer is not None
        self.record(stage, "accuracy", best(output.logits, batch) == batch.answer)
        if (weights := output.attention.get("document")) is not None:
            self.record_recall(
                stage, "attention", weights, batch.occurrence == batch.answer[:, None], batch.document_mask
            )
            if batch.evidence is not None:
                self.record_recall(stage, "sentence", weights, batch.evidence, batch.document_mask)


def answer_losses(logits: Tensor, batch: ClozeBatch) -> tuple[Tensor, Tensor]:
    """-log P(answer) of each question (B,), and whether it counts (B,), 0 or 1.

    A network that points at words gives the lowest number to an answer that does not occur in the document, such as one
    that was cut off. It cannot be learned, so that the question counts only in the accuracy.
    """
    assert batch.answer is not None
    log_p = logits.gather(1, batch.answer[:, None]).squeeze(1)
    possible = log_p > torch.finfo(log_p.dtype).min
    losses = -precise(log_p).masked_fill(~possible, 0.0)
    return losses, possible.to(losses.dtype)


def fitted(
    trainer: Trainer,
    questions_of: Callable[[ClozeBatch], tuple[list[ScoredQuestion], list[int]]],
    spec: ClozeSpec,
    **options: int,
) -> Reranker:
    """The re-ranking of a run. The first process learns it from the training documents, fits it to the validation set
    and writes it into the run's folder; every process reads it from there. Raises ConfigError for data without
    sentences to learn from."""
    data: Any = trainer.datamodule  # type: ignore[attr-defined]
    path, key = Path(trainer.default_root_dir) / FILE, vocabulary_key(data.encoder)
    if not hasattr(data, "every_batch"):
        raise ConfigError(
            f"task.rerank=true: {type(data).__name__} has no sentences to train language models on: remove it"
        )
    if trainer.is_global_zero:
        text, lengths = data.sentences()
        log.info(
            "re-ranking: language models of %s words in %s different sentences", f"{len(text):,}", f"{len(lengths):,}"
        )
        reranker = Reranker.learn(
            text, lengths, words=spec.vocabulary_size, unknown=spec.unknown, vocabulary=key, **options
        )
        questions: list[ScoredQuestion] = []
        answers: list[int] = []
        for batch in data.every_batch("val"):
            asked, right = questions_of(batch)
            questions, answers = questions + asked, answers + right
        reranker = reranker.fitted(questions, answers)
        chosen = [int(reranker.scores(asked).argmax()) for asked in questions]
        before = [int(asked.log_p.argmax()) for asked in questions]
        log.info(
            "re-ranking: %s; val/accuracy %.4f -> %.4f",
            ", ".join(f"{name} {weight:.3f}" for name, weight in zip(FEATURES, reranker.weights, strict=True)),
            np.mean(np.equal(before, answers)),
            np.mean(np.equal(chosen, answers)),
        )
        reranker.save(path)
    trainer.strategy.barrier("re-ranking")
    return Reranker.load(path, key)
