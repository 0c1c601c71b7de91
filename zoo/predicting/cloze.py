"""The candidate for the blank of each question, and what the network attended to. Language models that a test has
written can re-rank the candidates."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from zoo.data.cloze.batch import ClozeBatch, ClozeSpec, Shown
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction, marked
from zoo.reranking.reranker import FILE, Reranker, ScoredQuestion


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


class ClozePredictions(Predicting):
    """The words that any network for `cloze` finds for blanks."""

    name = "cloze"
    view: ClassVar[str] = "zoo.visualize.cloze.ClozeView"
    spec: ClozeSpec
    reranker: Reranker | None = None  # Re-ranks the candidates, if it is set

    def load_reranker(self, path: Path) -> None:
        """Re-rank predictions with the file `path` that a test has written. Raises CheckpointError where it is missing
        or belongs to another network."""
        self.reranker = Reranker.load(path, vocabulary_key(self.encoder))

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

    def _reranked(self, reranker: Reranker, batch: ClozeBatch, logits: Tensor, texts: Sequence[Shown]) -> Tensor:
        """(B, C) log-probabilities of the candidates, -inf for those that are not among the best."""
        found = torch.full(logits.shape, -torch.inf)
        for row, asked in enumerate(asked_of(batch, logits, texts, self.spec.blank)):
            found[row, : len(asked.log_p)] = torch.from_numpy(reranker.scores(asked))
        return found.to(logits.device)


def _by_name(candidates: Sequence[str], shares: Sequence[float]) -> dict[str, float]:
    """The share of each candidate, in their order. Of equal candidates the first one counts, as in the batch."""
    pairs = list(zip(candidates, shares, strict=False))
    return dict(pairs) | dict(reversed(pairs))


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
