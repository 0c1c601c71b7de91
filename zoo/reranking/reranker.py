"""The N best candidates of a reader again: each is put into the blank, and language models say how likely that reads.

Cui et al. 2017, https://arxiv.org/abs/1607.04423. The features of a candidate are the reader's log P, and the
log-probabilities of the query with the candidate in it under three models of n-grams: one of the training documents,
one of this question's document alone, and one of the classes of the words of the training documents.

What differs from the paper: its language models come from SRILM, its classes from mkcls and its weights from K-best
MIRA. Here they are Kneser-Ney models of our own, classes by the exchange algorithm, and the weights of the greatest
likelihood (`fit_weights`). Sentences that stand in several training documents are counted once: documents of CBT
overlap.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.errors import CheckpointError
from zoo.reranking.kneser_ney import Ints, KneserNey
from zoo.reranking.weights import fit_weights
from zoo.reranking.word_classes import word_classes

FEATURES = ("reader", "global", "local", "classes")
FILE = "reranking.npz"
FORMAT = 1
RARE = 2
"""n-grams of order 3 and higher that occur once in the training documents are forgotten, as SRILM does."""
WORDS_OF_A_CLASS = 20
"""On average, at least: fewer words than the paper's have fewer classes."""


class Asked(NamedTuple):
    """A question as words' ids, and what the reader says of it."""

    document: Ints
    """(D,)."""
    ends: Sequence[int]
    """Where each of its sentences ends."""
    occurrence: Ints
    """(D,) the number of the candidate at each place, -1 where none is."""
    query: Ints
    """(Q,)."""
    blank: int
    """The place of the blank in the query."""
    log_p: NDArray[np.float64]
    """(C,) the reader's log P of each candidate; the lowest number where it stands nowhere."""


@dataclass(frozen=True)
class Reranker:
    """The language models and the weights. Made by `learn` and `fitted`, kept by `save`."""

    text: KneserNey
    """Of the training documents."""
    classes: NDArray[np.int32]
    """(V,) the class of each word."""
    class_text: KneserNey
    """Of the classes of their words."""
    unknown: int
    """The id of all words that training has not."""
    best: int
    """N."""
    vocabulary: str
    """What tells the reader's vocabulary from others."""
    weights: NDArray[np.float64]
    """Of `FEATURES`."""

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
        """From the sentences of the training documents, one after the other in `text`, of V = `words` words; without
        weights yet, so that the reader's order stays."""
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

    def fitted(self, questions: Sequence[Asked], answers: Sequence[int]) -> Reranker:
        """With weights fitted to questions of which the answers are known; those with the answer not among their N best
        teach nothing. Where that are all, the reader's order stays."""
        features = np.zeros((len(questions), self.best, len(FEATURES)))
        real, right = np.zeros((len(questions), self.best), bool), np.full(len(questions), -1)
        for row, (asked, answer) in enumerate(zip(questions, answers, strict=True)):
            numbers, found = self.features(asked)
            features[row, : len(numbers)], real[row, : len(numbers)] = found, True
            if answer in numbers:
                right[row] = numbers.tolist().index(answer)
        told = right >= 0
        if not told.any():
            return self
        return replace(self, weights=fit_weights(features[told], real[told], right[told]))

    def scores(self, asked: Asked) -> NDArray[np.float64]:
        """(C,) what the N best candidates of a question are ranked by, log-probabilities among them; -inf for all
        others. A candidate that stands nowhere is among the best only where all do."""
        numbers, found = self.features(asked)
        scores = found @ self.weights
        highest = scores.max()
        result = np.full(len(asked.log_p), -np.inf)
        result[numbers] = scores - highest - np.log(np.exp(scores - highest).sum())
        return result

    def features(self, asked: Asked) -> tuple[Ints, NDArray[np.float64]]:
        """The numbers (N,) of the best candidates and their features (N, F)."""
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

    def _local(self, asked: Asked, words: Ints, sentences: Ints, numbers: Ints) -> NDArray[np.float64]:
        """The sentences under a model of this one document. Candidates outside the vocabulary are told apart here."""
        own = np.where(words == self.unknown, self.text.words + np.arange(len(words)), words)
        document = np.where(asked.occurrence >= 0, own[asked.occurrence], asked.document)
        filled = sentences.copy()
        filled[:, asked.blank] = own[numbers]
        different, number = np.unique(np.concatenate([document, filled.ravel()]), return_inverse=True)
        ends = np.array(asked.ends, np.int64)
        lengths = ends - np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        model = KneserNey.train(number[: len(document)], lengths, len(different), order=self.text.order)
        return model.log_probs(number[len(document) :].reshape(filled.shape)).sum(1)

    # Keeping

    def save(self, path: Path) -> None:
        """Written whole or not at all."""
        arrays = {f"text.{name}": part for name, part in self.text.state().items()}
        arrays |= {f"class_text.{name}": part for name, part in self.class_text.state().items()}
        arrays |= {
            name: np.array(getattr(self, name)) for name in ("classes", "unknown", "best", "vocabulary", "weights")
        }
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            with open(temporary, "wb") as file:
                np.savez(file, format=np.array(FORMAT), **arrays)  # type: ignore[arg-type]
            os.replace(temporary, path)
        except OSError as error:
            raise CheckpointError(
                f"{path}: could not write the re-ranking ({error}); make room and test again"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, vocabulary: str) -> Reranker:
        """What `save` wrote. Raises CheckpointError where it is not there, damaged, or of another vocabulary."""
        if not path.is_file():
            raise CheckpointError(
                f"{path}: there is no re-ranking; it is fitted in a test: train with task.rerank=true, or test again "
                "what is trained, by python train.py ... train=false ckpt_path=CHECKPOINT task.rerank=true, and take "
                f"what that leaves: --rerank-file FOLDER/{FILE}"
            )
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if int(arrays["format"]) != FORMAT:
                raise CheckpointError(f"{path}: format {int(arrays['format'])}; this version reads format {FORMAT}")

            def model(of: str) -> KneserNey:
                parts = {name.removeprefix(of): part for name, part in arrays.items() if name.startswith(of)}
                return KneserNey.from_state(parts)

            found = cls(
                text=model("text."),
                classes=arrays["classes"],
                class_text=model("class_text."),
                unknown=int(arrays["unknown"]),
                best=int(arrays["best"]),
                vocabulary=str(arrays["vocabulary"]),
                weights=arrays["weights"],
            )
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise CheckpointError(
                f"{path}: not a readable re-ranking ({error}); test again, which writes it"
            ) from error
        if found.vocabulary != vocabulary:
            raise CheckpointError(
                f"{path}: this re-ranking is of another vocabulary than the network: give its own run's"
            )
        return found
