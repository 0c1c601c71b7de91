"""Re-ranks the N best candidates of a reader: language models score the query with each candidate in its blank.

Cui et al. 2017, https://arxiv.org/abs/1607.04423. The features of a candidate are the reader's log P and three
log-probabilities of the query with the candidate in its blank. They come from n-gram models of the training documents,
of this question's document alone, and of the word classes of the training documents.

What differs from the paper: its language models come from SRILM, its classes from mkcls and its weights from K-best
MIRA. Here they are our own Kneser-Ney models, classes by the exchange algorithm, and weights of maximum likelihood
(`fit_weights`). A sentence that occurs in several training documents counts once, because documents of CBT overlap.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from zoo.errors import CheckpointError
from zoo.reranking.kneser_ney import Ints, KneserNey
from zoo.reranking.word_classes import word_classes

FEATURES = ("reader", "global", "local", "classes")
FILE = "reranking.npz"
FORMAT = 1
RARE = 2
"""n-grams of order 3 and higher that occur less often in the training documents are dropped, as SRILM does."""
STEPS = 200
SHRINK = 1e-3
"""Penalty on the squared weights, for features in units of their standard deviation.

If one feature alone separates right from wrong in every list, the likelihood has no maximum without it.
"""
MODELS, PARTS = ("text", "class_text"), ("classes", "unknown", "best", "vocabulary", "weights")
"""The names of the language models and of all else that a file stores."""
WORDS_OF_A_CLASS = 20
"""Least average number of words per class: vocabularies smaller than the paper's have fewer classes."""


class ScoredQuestion(NamedTuple):
    """A question as word ids, with the reader's log-probabilities."""

    document: Ints  # (D,)
    ends: Sequence[int]  # End of each sentence of the document
    occurrence: Ints  # (D,) the number of the candidate at each word of the document; -1 if there is none
    query: Ints  # (Q,)
    blank: int  # Position of the blank in the query
    log_p: NDArray[np.float64]
    """(C,) the reader's log P of each candidate; the lowest float if the document does not contain it."""


@dataclass(frozen=True)
class Reranker:
    """Language models and weights, which are made by `learn` and `fitted` and stored by `save`."""

    text: KneserNey  # Language model of the training documents
    classes: NDArray[np.int32]  # (V,) the class of each word
    class_text: KneserNey  # Language model of the word classes of the training documents
    unknown: int  # Id of words that do not occur in training
    best: int  # N, the number of candidates that are re-ranked
    vocabulary: str  # Fingerprint of the reader's vocabulary
    weights: NDArray[np.float64]  # Weight of each of the `FEATURES`

    @classmethod
    def learn(
        cls,
        text: Ints,
        lengths: Ints,
        *,
        words: int,
        unknown: int,
        vocabulary: str,
        order: int = 8,
        classes: int = 1000,
        best: int = 10,
    ) -> Reranker:
        """Trains the language models on the sentences of the training documents, concatenated in `text`.

        `words` is the size V of the vocabulary. There are no weights yet, so that the reader's order stays.
        """
        there = int(np.bincount(text).astype(bool).sum())
        found = word_classes(text, lengths, words, classes=min(classes, max(there // WORDS_OF_A_CLASS, 2)))
        of_classes = KneserNey.train(
            found[text].astype(np.int64), lengths, int(found.max(initial=0)) + 1, order=order, rare=RARE
        )
        return cls(
            text=KneserNey.train(text, lengths, words, order=order, rare=RARE),
            classes=found,
            class_text=of_classes,
            unknown=unknown,
            best=best,
            vocabulary=vocabulary,
            weights=np.array([1.0, 0.0, 0.0, 0.0]),
        )

    def fitted(self, questions: Sequence[ScoredQuestion], answers: Sequence[int]) -> Reranker:
        """Return a copy with weights fitted to questions with known answers.

        Questions whose answer is not among the N best are ignored. If that leaves none, the reader's order stays.
        """
        features = np.zeros((len(questions), self.best, len(FEATURES)))
        real, right = np.zeros((len(questions), self.best), bool), np.full(len(questions), -1)
        for row, (asked, answer) in enumerate(zip(questions, answers, strict=True)):
            numbers, found = self.features(asked)
            features[row, : len(numbers)], real[row, : len(numbers)] = found, True
            if answer in numbers:
                right[row] = numbers.tolist().index(answer)
        known_answer = right >= 0
        if not known_answer.any():
            return self
        return replace(self, weights=fit_weights(features[known_answer], real[known_answer], right[known_answer]))

    def scores(self, asked: ScoredQuestion) -> NDArray[np.float64]:
        """(C,) log-probabilities among the N best candidates of a question, by which they are ranked; -inf for others.

        A candidate that the document does not contain is among the best only if it contains no candidate.
        """
        numbers, found = self.features(asked)
        scores = found @ self.weights
        highest = scores.max()
        result = np.full(len(asked.log_p), -np.inf)
        result[numbers] = scores - highest - np.log(np.exp(scores - highest).sum())
        return result

    def features(self, asked: ScoredQuestion) -> tuple[Ints, NDArray[np.float64]]:
        """Numbers (N,) of the best candidates, and their features (N, F)."""
        order = np.argsort(-asked.log_p, kind="stable")[: self.best]
        placed = asked.log_p[order] > np.finfo(np.float32).min
        numbers = order[placed] if placed.any() else order[:1]
        words = np.full(len(asked.log_p), self.unknown)
        known = asked.occurrence >= 0
        words[asked.occurrence[known]] = asked.document[known]
        sentences = np.repeat(asked.query[None], len(numbers), 0)
        sentences[:, asked.blank] = words[numbers]
        columns = [
            np.maximum(asked.log_p[numbers], -1e6),
            self.text.log_probs(sentences).sum(1),
            self._local(asked, words, sentences, numbers),
            self.class_text.log_probs(self.classes[sentences].astype(np.int64)).sum(1),
        ]
        return numbers, np.stack(columns, 1)

    def _local(self, asked: ScoredQuestion, words: Ints, sentences: Ints, numbers: Ints) -> NDArray[np.float64]:
        """Log-probabilities of the sentences under a model of this document.

        Here candidates outside the vocabulary have different ids.
        """
        own = np.where(words == self.unknown, self.text.words + np.arange(len(words)), words)
        document = np.where(asked.occurrence >= 0, own[asked.occurrence], asked.document)
        filled = sentences.copy()
        filled[:, asked.blank] = own[numbers]
        different, number = np.unique(np.concatenate([document, filled.ravel()]), return_inverse=True)
        ends = np.array(asked.ends, np.int64)
        lengths = ends - np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        model = KneserNey.train(number[: len(document)], lengths, len(different), order=self.text.order)
        return model.log_probs(number[len(document) :].reshape(filled.shape)).sum(1)

    # In a file

    def save(self, path: Path) -> None:
        """Write the re-ranking to a file, completely or not at all."""
        models = ((name, getattr(self, name).state()) for name in MODELS)
        arrays = {f"{name}.{part}": value for name, state in models for part, value in state.items()}
        arrays |= {name: np.array(getattr(self, name)) for name in PARTS}
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            with open(temporary, "wb") as file:
                np.savez(file, format=np.array(FORMAT), **arrays)
            os.replace(temporary, path)
        except OSError as error:
            raise CheckpointError(
                f"{path}: could not write the re-ranking ({error}); free some disk space and test again"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, vocabulary: str) -> Reranker:
        """Reads what `save` wrote. Raises CheckpointError if it is missing, damaged, or of another vocabulary."""
        if not path.is_file():
            raise CheckpointError(
                f"{path}: there is no re-ranking; it is fitted during a test. Train with task.rerank=true, or "
                "test a trained network with python train.py ... train=false ckpt_path=CHECKPOINT task.rerank=true; "
                f"then pass the file of that run: --rerank-file FOLDER/{FILE}"
            )
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if int(arrays["format"]) != FORMAT:
                raise CheckpointError(f"{path}: format {int(arrays['format'])}; this version reads format {FORMAT}")

            parts: dict[str, Any] = {name: arrays[name] for name in PARTS}
            for name, kind in (("unknown", int), ("best", int), ("vocabulary", str)):
                parts[name] = kind(arrays[name])
            for name in MODELS:
                start = f"{name}."
                state = {key.removeprefix(start): part for key, part in arrays.items() if key.startswith(start)}
                parts[name] = KneserNey.from_state(state)
            found = cls(**parts)
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise CheckpointError(
                f"{path}: not a readable re-ranking ({error}); test again to write a new one"
            ) from error
        if found.vocabulary != vocabulary:
            raise CheckpointError(
                f"{path}: this re-ranking has another vocabulary than the network; pass the file of the network's run"
            )
        return found


def fit_weights(features: NDArray[Any], real: NDArray[np.bool_], answer: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights (F,) of maximum likelihood under the softmax of (features @ weights) over the candidates of each list.

    `features` (Q, N, F), `real` (Q, N) True at candidates, `answer` (Q,) the index of the right candidate in its list.
    The function has one maximum, which L-BFGS finds from any start. The paper of the re-ranking uses K-best MIRA
    instead (Cherry and Foster 2012), which considers only the margin to the best wrong candidate.
    """
    values = features.astype(np.float64)
    spread = np.maximum(values[real].std(0), 1e-12)
    scaled = np.where(real[..., None], (values - values[real].mean(0)) / spread, 0.0)
    with torch.inference_mode(False), torch.enable_grad():
        inputs, absent, target = (torch.from_numpy(part) for part in (scaled, ~real, answer))
        weights = torch.zeros(scaled.shape[-1], dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([weights], max_iter=STEPS, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

        def loss() -> torch.Tensor:
            optimizer.zero_grad()
            scores = (inputs @ weights).masked_fill(absent, -torch.inf)
            value = cross_entropy(scores, target) + SHRINK * weights.square().sum()
            value.backward()
            return value

        optimizer.step(loss)
    return weights.detach().numpy() / spread
