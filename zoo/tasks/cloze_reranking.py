"""Re-ranking of the cloze task: fitted by one process when a test begins, and stored in the run's folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from lightning import Trainer
from torch import Tensor

from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.question import Shown
from zoo.data.cloze.spec import ClozeSpec
from zoo.errors import ConfigError
from zoo.reranking.reranker import FEATURES, FILE, Reranker, ScoredQuestion

log = logging.getLogger(__name__)


def beside(checkpoint: Path) -> Path:
    """The re-ranking file of the run that wrote a checkpoint."""
    return checkpoint.resolve().parent.parent / FILE


def vocabulary_key(encoder: Any) -> str:
    """A hash that identifies the vocabulary of an encoder."""
    return sha256(json.dumps(encoder.state(), sort_keys=True).encode()).hexdigest()


def asked_of(batch: ClozeBatch, logits: Tensor, texts: Sequence[Shown], blank: int) -> list[ScoredQuestion]:
    """The questions of a batch, with the scores of the reader."""
    counts = [mask.sum(1).tolist() for mask in (batch.document_mask, batch.query_mask, batch.candidate_mask)]
    tensors = (batch.document, batch.occurrence, batch.query, logits.double())
    document, occurrence, query, log_p = (tensor.cpu().numpy() for tensor in tensors)
    return [
        ScoredQuestion(
            document=document[b, :words],
            ends=texts[b].sentence_ends,
            occurrence=occurrence[b, :words],
            query=query[b, :asked],
            blank=int(np.argmax(query[b] == blank)),
            log_p=log_p[b, :candidates],
        )
        for b, (words, asked, candidates) in enumerate(zip(*counts, strict=True))
    ]


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
