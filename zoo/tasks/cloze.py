"""A word taken out of a sentence, to be found among candidates that stand in a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric

from zoo.arguments import Count
from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.question import Shown
from zoo.data.cloze.spec import ClozeSpec
from zoo.data.spec import Spec
from zoo.metrics import AttentionRecall, uniform_weights
from zoo.models.output import Output
from zoo.precision import precise
from zoo.reranking.reranker import Reranker, ScoredQuestion
from zoo.tasks.cloze_reranking import asked_of, fitted, vocabulary_key
from zoo.tasks.task import Examined, Task, TaskArguments


@dataclass(frozen=True)
class ReadText:
    """Words as the network read them."""

    words: tuple[str, ...]
    weights: tuple[float, ...] | None
    """Attention to each word, together 1; None where the network has none."""
    unknown: tuple[int, ...] = ()
    """Positions of the words that the network does not know."""


@dataclass(frozen=True)
class ClozePrediction:
    """The candidate for the blank of one question, and what the network attended to."""

    answer: str
    probabilities: dict[str, float]
    """The probability of each candidate, in their order; the sum is 1."""
    document: ReadText
    query: ReadText
    sentence_ends: tuple[int, ...]
    """The position after each sentence of the document, in words."""
    reader_probabilities: dict[str, float] | None = None
    """The probabilities before language models re-ranked the best candidates; None without re-ranking."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`."""
        return asdict(self)

    @property
    def reader_answer(self) -> str | None:
        """The answer of the network alone, where language models re-ranked the candidates."""
        found = self.reader_probabilities
        return None if found is None else max(found, key=found.__getitem__)


@dataclass(frozen=True)
class ExaminedQuestion(Examined):
    """A question of a split, the word that was said and the one that was taken out."""

    prediction: ClozePrediction
    evidence: tuple[bool, ...] | None
    """True at the words of the document from which the answer follows; None where the data does not know them."""


class Cloze(Task):
    """Any network that serves `cloze`: its `logits` (B, C) are log P(candidate), what it believes of each candidate's
    places in the document, together at most 1. The lowest number stands for a candidate that is nowhere."""

    name = "cloze"
    headline: tuple[str, ...] = ("accuracy", "accuracy_reranked", "attention_recall", "sentence_recall")
    view: ClassVar[str] = "zoo.visualize.cloze.ClozeView"
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "attention_recall": "max", "sentence_recall": "max"}
    on_bar: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    spec: ClozeSpec | None

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
        self.reranker: Reranker | None = None
        """What ranks candidates again in a test, and in predictions where it is set."""

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.train_loss = MeanMetric()
        self.val_metrics, self.test_metrics = nn.ModuleDict(self.metrics()), nn.ModuleDict(self.metrics())

    def metrics(self) -> dict[str, Metric]:
        """New metrics by the names that they are logged under."""
        recalls = ("attention_recall", "attention_chance", "sentence_recall", "sentence_chance")
        means = ("loss", "accuracy", "accuracy_reranked")
        return {**{name: MeanMetric() for name in means}, **{name: AttentionRecall() for name in recalls}}

    def forward(self, batch: ClozeBatch) -> Output:
        assert self.network is not None
        return self.network(batch)

    # training

    def training_step(self, batch: ClozeBatch, batch_idx: int) -> Tensor:
        output = self(batch)
        losses, counted = answer_losses(output.logits, batch)
        own = self.own_losses(output, len(batch))
        self.train_loss.update((losses + own).detach(), counted)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=len(batch))
        return self.global_mean(losses.sum(), counted.sum().clamp(min=1)) + own

    # evaluation

    def validation_step(self, batch: ClozeBatch, batch_idx: int) -> None:
        self._evaluate(batch, "val", self.val_metrics)

    def on_test_start(self) -> None:
        super().on_test_start()
        if self.hparams["rerank"]:
            assert self.spec is not None
            options = {"best": "rerank_best", "order": "ngram_order", "classes": "word_classes"}
            chosen = {name: self.hparams[key] for name, key in options.items()}
            self.reranker = fitted(self.trainer, self._asked_and_answered, self.spec, **chosen)

    def test_step(self, batch: ClozeBatch, batch_idx: int) -> None:
        output = self._evaluate(batch, "test", self.test_metrics)
        if self.reranker is not None:
            assert batch.answer is not None and batch.text is not None
            again = self._reranked(self.reranker, batch, output.logits, batch.text).argmax(1)
            right = again.eq(batch.answer).float()
            self.record("test", self.test_metrics, "accuracy_reranked", len(batch), right)

    def load_reranker(self, path: Path) -> None:
        """Lets predictions be ranked again by what a test has left at `path`. Raises CheckpointError where that is not
        there or of another network."""
        self.reranker = Reranker.load(path, vocabulary_key(self.encoder))

    def _asked_and_answered(self, batch: ClozeBatch) -> tuple[list[ScoredQuestion], list[int]]:
        """The questions of a batch with what the network says of them, and the answers."""
        assert batch.answer is not None and batch.text is not None and self.spec is not None
        logits = self(batch.to(self.device)).logits
        return asked_of(batch, logits, batch.text, self.spec.blank), batch.answer.tolist()

    def _reranked(self, reranker: Reranker, batch: ClozeBatch, logits: Tensor, texts: Sequence[Shown]) -> Tensor:
        """(B, C) log-probabilities of the candidates, -inf of those that are not among the best."""
        assert self.spec is not None
        found = torch.full(logits.shape, -torch.inf)
        for row, asked in enumerate(asked_of(batch, logits, texts, self.spec.blank)):
            found[row, : len(asked.log_p)] = torch.from_numpy(reranker.scores(asked))
        return found.to(logits.device)

    def _evaluate(self, batch: ClozeBatch, stage: str, metrics: nn.ModuleDict) -> Output:
        assert batch.answer is not None
        output, size = self(batch), len(batch)
        self.record(stage, metrics, "loss", size, *answer_losses(output.logits, batch))
        self.record(stage, metrics, "accuracy", size, best(output.logits, batch).eq(batch.answer).float())
        if "document" in output.attention:
            self._score_attention(stage, metrics, batch, output.attention["document"])
        return output

    def _score_attention(self, stage: str, metrics: nn.ModuleDict, batch: ClozeBatch, weights: Tensor) -> None:
        """How much of the attention is on the places of the answer, and on the sentences that tell it; and how much
        equal attention to all words would have there."""
        size, uniform = len(batch), uniform_weights(batch.document_mask)
        self.record(stage, metrics, "attention_recall", size, weights, places(batch))
        self.record(stage, metrics, "attention_chance", size, uniform, places(batch))
        if batch.evidence is not None:
            self.record(stage, metrics, "sentence_recall", size, weights, batch.evidence)
            self.record(stage, metrics, "sentence_chance", size, uniform, batch.evidence)

    # predicting

    def predict_step(self, batch: ClozeBatch, batch_idx: int = 0) -> Output:
        return self(batch)

    def predictions(self, batch: ClozeBatch, words: list[Any]) -> list[ClozePrediction]:
        """Answers and attention; `words` are the questions as they should be shown, a `Shown` each."""
        output = self.predict_step(batch)
        shares = candidate_shares(output.logits, batch).tolist()
        again = None if self.reranker is None else self._reranked(self.reranker, batch, output.logits, words)
        chosen = best(output.logits if again is None else again, batch).tolist()
        final = shares if again is None else again.exp().tolist()
        assert self.spec is not None
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
        evidence = None if batch.evidence is None else batch.evidence.tolist()
        return [
            ExaminedQuestion(
                index=int(batch.index[b]),
                prediction=prediction,
                truth=None if batch.answer is None else text[b].candidates[int(batch.answer[b])],
                evidence=None if evidence is None else tuple(evidence[b][: len(text[b].document)]),
            )
            for b, prediction in enumerate(self.predictions(batch, text))
        ]


def _by_name(candidates: Sequence[str], shares: Sequence[float]) -> dict[str, float]:
    """The share of each candidate, in their order. Of a candidate that is listed twice the first counts, as in the
    batch."""
    pairs = list(zip(candidates, shares, strict=False))
    return dict(pairs) | dict(reversed(pairs))


def places(batch: ClozeBatch) -> Tensor:
    """(B, D) True at the occurrences of the answer in the document."""
    assert batch.answer is not None
    return batch.occurrence == batch.answer[:, None]


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
    """(B,) the number of the likeliest candidate; of equal ones the first."""
    return logits.masked_fill(~batch.candidate_mask, -torch.inf).argmax(1)


def candidate_shares(logits: Tensor, batch: ClozeBatch) -> Tensor:
    """(B, C) the probabilities of the candidates among themselves: each row sums to 1."""
    return precise(logits).masked_fill(~batch.candidate_mask, -torch.inf).softmax(1)


def _read(texts: list[list[str]], unknown: Tensor, attention: Tensor | None) -> list[ReadText]:
    """The words of each text with what the network made of them; `unknown` and `attention` are (B, words)."""
    unknown_at, weights = unknown.tolist(), None if attention is None else attention.tolist()
    return [
        ReadText(
            words=tuple(words),
            weights=None if weights is None else tuple(weights[b][: len(words)]),
            unknown=tuple(i for i in range(len(words)) if unknown_at[b][i]),
        )
        for b, words in enumerate(texts)
    ]
