"""A word that is missing from a sentence, to be found among candidates that occur in a document. A test can re-rank
the candidates: one process fits the re-ranking when it begins, and stores it in the run's folder."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
import torch
from lightning import Trainer
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Count
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec, Shown
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall, Share
from zoo.models.output import Output
from zoo.precision import precise
from zoo.reranking.reranker import FEATURES, FILE, Reranker, ScoredQuestion
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import Examined, Prediction, TaskArguments, marked

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadText:
    """Words as the network read them."""

    words: tuple[str, ...]
    weights: tuple[float, ...] | None  # Attention to each word, with the sum 1; None where the network has none
    unknown: tuple[int, ...] = ()  # Positions of the words that are not in the vocabulary


@dataclass(frozen=True)
class ClozePrediction(Prediction):
    """The candidate for the blank of one question, and what the network attended to."""

    answer: str
    probabilities: dict[str, float]  # The probability of each candidate, in their order; the sum is 1
    document: ReadText
    query: ReadText
    sentence_ends: tuple[int, ...]  # The position after each sentence of the document, in words
    reader_probabilities: dict[str, float] | None = None
    """The probabilities before language models re-ranked the best candidates; None without re-ranking."""

    @property
    def reader_answer(self) -> str | None:
        """The answer of the network alone, where language models re-ranked the candidates."""
        found = self.reader_probabilities
        return None if found is None else max(found, key=found.__getitem__)


@dataclass(frozen=True)
class ExaminedQuestion(Examined):
    """A question of a split, with the predicted and the true word."""

    prediction: ClozePrediction
    evidence: tuple[bool, ...] | None
    """True at the words of the document from which the answer follows; None where the data do not have them."""


class Cloze(Scoring):
    """Any network that serves `cloze`: its `logits` (B, C) are log P(candidate), summed over the occurrences of each
    candidate in the document. A candidate that does not occur has the lowest number of the type."""

    name = "cloze"
    headline: tuple[str, ...] = ("accuracy", "accuracy_reranked", "attention_recall", "sentence_recall")
    view: ClassVar[str] = "zoo.visualize.cloze.ClozeView"
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "attention_recall": "max", "sentence_recall": "max"}
    on_bar: tuple[str, ...] = ("loss", "accuracy")
    spec: ClozeSpec

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
        self.reranker: Reranker | None = None  # Re-ranks the candidates in a test, and in predictions where it is set

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

    def load_reranker(self, path: Path) -> None:
        """Re-rank predictions with the file `path` that a test has written. Raises CheckpointError where it is missing
        or belongs to another network."""
        self.reranker = Reranker.load(path, vocabulary_key(self.encoder))

    def _scored_questions(self, batch: ClozeBatch) -> tuple[list[ScoredQuestion], list[int]]:
        """The questions of a batch with the network's scores, and the answers."""
        assert batch.answer is not None and batch.text is not None
        logits = self(batch.to(self.device)).logits
        return asked_of(batch, logits, batch.text, self.spec.blank), batch.answer.tolist()

    def _reranked(self, reranker: Reranker, batch: ClozeBatch, logits: Tensor, texts: Sequence[Shown]) -> Tensor:
        """(B, C) log-probabilities of the candidates, -inf for those that are not among the best."""
        found = torch.full(logits.shape, -torch.inf)
        for row, asked in enumerate(asked_of(batch, logits, texts, self.spec.blank)):
            found[row, : len(asked.log_p)] = torch.from_numpy(reranker.scores(asked))
        return found.to(logits.device)

    def score(self, stage: str, batch: ClozeBatch, output: Output) -> None:
        assert batch.answer is not None
        self.record(stage, "accuracy", best(output.logits, batch) == batch.answer)
        if (weights := output.attention.get("document")) is not None:
            self.record_recall(
                stage, "attention", weights, batch.occurrence == batch.answer[:, None], batch.document_mask
            )
            if batch.evidence is not None:
                self.record_recall(stage, "sentence", weights, batch.evidence, batch.document_mask)

    # predicting

    def predictions(self, batch: ClozeBatch, words: list[Any]) -> list[ClozePrediction]:
        """Answers and attention; `words` are the questions as shown, one `Shown` each."""
        output = self.predict_step(batch)
        shares = candidate_shares(output.logits, batch).tolist()
        again = None if self.reranker is None else self._reranked(self.reranker, batch, output.logits, words)
        chosen = best(output.logits if again is None else again, batch).tolist()
        final = shares if again is None else again.exp().tolist()
        unknown = self.spec.unknown
        documents = _read([one.document for one in words], batch.document == unknown, output.attention.get("document"))
        queries = _read([one.query for one in words], batch.query == unknown, output.attention.get("query"))
        return [
            ClozePrediction(
                answer=one.candidates[chosen[b]],
                probabilities=_by_name(one.candidates, final[b]),
                document=documents[b],
                query=queries[b],
                sentence_ends=tuple(one.sentence_ends),
                reader_probabilities=None if again is None else _by_name(one.candidates, shares[b]),
            )
            for b, one in enumerate(words)
        ]

    def examine(self, batch: ClozeBatch) -> list[ExaminedQuestion]:
        assert batch.text is not None, "the data give the text of each question of a split that is evaluated"
        text: list[Shown] = list(batch.text)
        truth = evidence = None
        if batch.answer is not None:
            truth = [one.candidates[number] for one, number in zip(text, batch.answer.tolist(), strict=True)]
        if batch.evidence is not None:
            rows = zip(text, batch.evidence.tolist(), strict=True)
            evidence = [tuple(row[: len(one.document)]) for one, row in rows]
        return self.examined(ExaminedQuestion, batch, text, truth, evidence)


def _by_name(candidates: Sequence[str], shares: Sequence[float]) -> dict[str, float]:
    """The share of each candidate, in their order. Of equal candidates the first one counts, as in the batch."""
    pairs = list(zip(candidates, shares, strict=False))
    return dict(pairs) | dict(reversed(pairs))


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


def best(logits: Tensor, batch: ClozeBatch) -> Tensor:
    """(B,) the number of the likeliest candidate, the first one among equals."""
    return logits.masked_fill(~batch.candidate_mask, -torch.inf).argmax(1)


def candidate_shares(logits: Tensor, batch: ClozeBatch) -> Tensor:
    """(B, C) the probabilities of the candidates among themselves: each row sums to 1."""
    return precise(logits).masked_fill(~batch.candidate_mask, -torch.inf).softmax(1)


def _read(texts: list[list[str]], unknown: Tensor, attention: Tensor | None) -> list[ReadText]:
    """The words of each text with their attention; `unknown` and `attention` are (B, words)."""
    unknown_at, weights = unknown.tolist(), None if attention is None else attention.tolist()
    return [
        ReadText(
            words=tuple(words),
            weights=None if weights is None else tuple(weights[b][: len(words)]),
            unknown=marked(unknown_at[b], len(words)),
        )
        for b, words in enumerate(texts)
    ]


# re-ranking


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
