"""Texts that are written from a text, word by word with the place that each was copied from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.data.copying.encoding import CopyEncoder
from zoo.decoding import Hypothesis
from zoo.predicting.predicting import Examined, Prediction, marked
from zoo.predicting.writing import WritingPredictions, search_fields


@dataclass(frozen=True)
class Copied:
    """How a network with copying wrote the T tokens of a text."""

    generate: tuple[float, ...]  # (T,) p_gen, the share of the vocabulary at each token
    share: tuple[float, ...]  # (T,) the share of each token's probability that comes from the source
    place: tuple[int | None, ...]
    """(T,) the source token that each was copied from: of the equal ones that with the largest weight, where the share
    is above 1/2; None for the others."""


@dataclass(frozen=True)
class Written:
    """One text that was written from a source."""

    text: str
    tokens: tuple[str, ...]  # The tokens as they were written, with the end mark if the network wrote it
    log_prob: float  # Sum of the log-probabilities of the tokens
    score: float  # The number by which the texts are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    attention: tuple[tuple[float, ...], ...] | None
    """(T, S) weights on the source tokens, a row per token, the mean of layers and heads; None where the network has no
    attention on them."""
    copied: Copied | None = None  # None where the network does not copy, and for all texts but the best


@dataclass(frozen=True)
class TextPrediction(Prediction):
    """The texts that were written from one source: the best first, or in the order in which they were sampled."""

    source: tuple[str, ...]  # The tokens as the network read them
    written: tuple[Written, ...]
    unknown: tuple[int, ...] = ()  # Positions of the source tokens that are not in the vocabulary
    sentence: tuple[int, ...] = ()
    """(S,) the number of the text that each source token is from, such as a sentence, a turn or a paragraph."""

    @property
    def best(self) -> Written:
        return self.written[0]


@dataclass(frozen=True)
class ExaminedText(Examined):
    """A source of a split, with the predictions and the reference."""

    prediction: TextPrediction


class TextPredictions(WritingPredictions):
    """The texts of any network that writes from sources of `CopyBatch`."""

    spec: CopySpec
    encoder: CopyEncoder

    def predictions(self, batch: CopyBatch, words: list[Any]) -> list[TextPrediction]:
        """The texts, best first; `words` are the source tokens as shown."""
        found, unknown = self.predict_step(batch), (batch.extended >= self.spec.vocabulary_size).tolist()
        copied = self._copied(batch, [best for best, *_ in found])
        assert batch.unknown_words is not None and batch.sentence is not None
        rows = zip(words, found, unknown, batch.unknown_words, copied, batch.sentence.tolist(), strict=True)
        return [
            TextPrediction(
                source=tuple(source),
                written=tuple(self.shown(one, own, how if one is nbest[0] else None) for one in nbest),
                unknown=marked(row, len(source)),
                sentence=tuple(sentence[: len(source)]),
            )
            for source, nbest, row, own, how, sentence in rows
        ]

    def examine(self, batch: CopyBatch) -> list[Any]:
        words = self.sources(batch)
        references = None if batch.target_texts is None else [texts[0] for texts in batch.target_texts]
        return self.examined(ExaminedText, batch, words, references)

    def sources(self, batch: CopyBatch) -> list[list[str]]:
        """The source tokens of each example of an evaluation, unknown ones as they were written."""
        assert batch.unknown_words is not None
        vocabulary, size = self.encoder.target_vocabulary.words, self.spec.vocabulary_size
        rows = zip(batch.extended, batch.source_mask, batch.unknown_words, strict=True)
        return [
            [vocabulary[one] if one < size else own[one - size] for one in ids[mask].tolist()]
            for ids, mask, own in rows
        ]

    def shown(self, hypothesis: Hypothesis, unknown: Sequence[str], copied: Copied | None = None) -> Written:
        """A hypothesis as it is shown; `unknown` are the unknown words of its source."""
        tokens = self.encoder.decode(hypothesis.ids, unknown)
        end = [self.encoder.target_vocabulary.words[self.spec.end]] * hypothesis.finished
        return Written(
            text=self.encoder.text(tokens), tokens=(*tokens, *end), **search_fields(hypothesis), copied=copied
        )

    def as_targets(self, batch: CopyBatch, ids: Tensor, mask: Tensor) -> CopyBatch:
        known = ids.where(ids < self.spec.vocabulary_size, torch.full_like(ids, self.spec.unknown))
        found: CopyBatch = super().as_targets(replace(batch, copied=ids, facts=None), known, mask)
        return found

    def _copied(self, batch: CopyBatch, best: Sequence[Hypothesis]) -> list[Copied | None]:
        """How each text was written, if the network copies."""
        if not self.network.copies:
            return [None] * len(best)
        output, found = self.reading(batch, best), list[Copied | None]()
        for b, one in enumerate(best):
            length, ids = len(one.ids), torch.tensor(one.ids, device=batch.extended.device)
            same = (batch.extended[b] == ids[:, None]) & batch.source_mask[b]  # (T, S)
            generate, share = (output.gates[name][b, :length].tolist() for name in ("generate", "copied"))
            place = (output.attention["source"][b, :length] * same).argmax(1).tolist()
            places = tuple(at if part > 0.5 else None for at, part in zip(place, share, strict=True))
            found.append(Copied(tuple(generate), tuple(share), places))
        return found
