"""The translations of texts, and unknown words replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from zoo.data.batch import Spec
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.decoding import Hypothesis, replace_unknown
from zoo.predicting.predicting import Examined, Prediction, marked
from zoo.predicting.writing import WritingPredictions, search_fields


@dataclass(frozen=True)
class Translated:
    """One translation of a source."""

    text: str
    tokens: tuple[str, ...]  # The tokens as they were written, with the end mark if the network wrote it
    log_prob: float  # Sum of the log-probabilities of the tokens
    score: float  # The number by which the translations of a source are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    attention: tuple[tuple[float, ...], ...] | None
    """(T, S) weights on the source tokens, a row per token, the mean of layers and heads; None where the network has no
    attention."""

    @property
    def links(self) -> list[tuple[int, int]]:
        """(source, target) positions: each written token is linked to the source token with the largest weight. The end
        marks of both sides have no links."""
        rows = self.attention or ()
        written = len(self.tokens) - self.finished
        best = [(row.index(max(row)), t, len(row)) for t, row in enumerate(rows[:written]) if row]
        return [(s, t) for s, t, length in best if s < length - 1]

    @property
    def pharaoh(self) -> str:
        """The links as `0-0 1-2 ...`."""
        return " ".join(f"{s}-{t}" for s, t in self.links)


@dataclass(frozen=True)
class TranslationPrediction(Prediction):
    """The translations of one source: the best first, or in the order in which they were sampled."""

    source: tuple[str, ...]  # The tokens as the network read them, with the end mark
    translations: tuple[Translated, ...]
    unknown: tuple[int, ...] = ()  # Positions of the source tokens that are not in the vocabulary
    steps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """How many steps the network took at each token of the `source`, and at the step that wrote each token of the best
    `translation`; empty where no position decides that itself."""

    @property
    def best(self) -> Translated:
        return self.translations[0]


@dataclass(frozen=True)
class ExaminedTranslation(Examined):
    """A source of a split, with the predictions and the reference."""

    prediction: TranslationPrediction
    links: list[tuple[int, int]] | None
    """The true (source, target) links if the data have them and the best translation equals the reference."""


class TranslationPredictions(WritingPredictions):
    """The translations of any network for `translation`."""

    name = "translation"
    view: ClassVar[str] = "zoo.visualize.translation.TranslationView"
    spec: PairSpec
    replace_unknown: bool
    """Whether the source word with the largest attention replaces an unknown word."""
    dictionary: Mapping[str, str]
    """The replacements of source words, where they are known."""

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.replace_unknown, self.dictionary = self.options.get("replace_unknown", False), {}

    def predictions(self, batch: PairBatch, words: list[Any]) -> list[TranslationPrediction]:
        """Translations, best first; `words` are the source tokens as shown, with the end marks."""
        found, unknown = self.predict_step(batch), (batch.source == self.spec.unknown).tolist()
        steps = self._steps(batch, [best for best, *_ in found])
        return [
            TranslationPrediction(
                source=tuple(source),
                translations=tuple(self._shown(hypothesis, source) for hypothesis in nbest),
                unknown=marked(row, len(source)),
                steps=taken,
            )
            for source, nbest, row, taken in zip(words, found, unknown, steps, strict=True)
        ]

    def _steps(self, batch: PairBatch, best: list[Hypothesis]) -> list[dict[str, tuple[int, ...]]]:
        """The steps at each real token of every pair, by side."""
        if not getattr(self.network, "ponders", ()):
            return [{} for _ in best]
        steps = self.reading(batch, best, need_weights=False).steps
        sides = zip(*(steps[name].tolist() for name in ("encoder", "decoder")), strict=True)
        return [
            {name: tuple(filter(None, row)) for name, row in zip(("source", "translation"), rows, strict=True)}
            for rows in sides
        ]

    def examine(self, batch: PairBatch) -> list[ExaminedTranslation]:
        assert batch.source_text is not None
        vocabulary, words = self.encoder.target_vocabulary, [self.encoder.display(text) for text in batch.source_text]
        examined = []
        for b, prediction in enumerate(self.predictions(batch, words)):
            links = None
            if batch.alignment is not None and batch.target is not None and batch.target_mask is not None:
                true = vocabulary.decode(batch.target[b][batch.target_mask[b]].tolist())
                if tuple(true) == prediction.best.tokens:
                    links = [(int(s), int(t)) for t, s in batch.alignment[b].nonzero()]
            reference = None if batch.target_text is None else batch.target_text[b]
            examined.append(ExaminedTranslation(int(batch.index[b]), prediction, reference, links))
        return examined

    def words(self, hypothesis: Hypothesis, source: Sequence[str]) -> list[str]:
        """The target tokens without their end; with `replace_unknown`, unknown ones come from the `source` tokens."""
        words, encoder = self.encoder.target_vocabulary.decode(hypothesis.ids), self.encoder
        if self.replace_unknown:
            read = [word.lower() if encoder.text_options.lower else word for word in source[:-1]]  # without its end
            words = replace_unknown(words, hypothesis, read, unknown=self.spec.unknown, dictionary=self.dictionary)
        return words[: len(words) - hypothesis.finished]

    def _shown(self, hypothesis: Hypothesis, source: Sequence[str]) -> Translated:
        return Translated(
            text=self.encoder.text(self.words(hypothesis, source)),
            tokens=tuple(self.encoder.target_vocabulary.decode(hypothesis.ids)),
            **search_fields(hypothesis),
        )
