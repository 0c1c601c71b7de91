"""Texts to texts: BLEU, chrF and exact match of the written texts, predictions as text, and unknown words replaced."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.data.text.options import writing
from zoo.decoding import Hypothesis, replace_unknown
from zoo.errors import ConfigError
from zoo.metrics import CorpusBLEU, CorpusChrF, Share, bleu_tokenizer
from zoo.tasks.generation import Generation, GenerationArguments, search_fields
from zoo.tasks.task import Examined, Prediction, marked

log = logging.getLogger(__name__)


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

    @property
    def best(self) -> Translated:
        return self.translations[0]


@dataclass(frozen=True)
class ExaminedTranslation(Examined):
    """A source of a split, with the predictions and the reference."""

    prediction: TranslationPrediction
    links: list[tuple[int, int]] | None
    """The true (source, target) links if the data have them and the best translation equals the reference."""


class Translation(Generation):
    """Any network that serves `translation`."""

    name = "translation"
    headline = (*Generation.headline, "bleu", "exact_match", "alignment_error_rate")
    view: ClassVar[str] = "zoo.visualize.translation.TranslationView"
    monitors: ClassVar[Mapping[str, str]] = {
        **Generation.monitors,
        "bleu": "max",
        "chrf": "max",
        "token_bleu": "max",
        "exact_match": "max",
    }
    reads_attention = (*Generation.reads_attention, ("task", "replace_unknown"))
    on_bar: tuple[str, ...] = (*Generation.on_bar, "bleu", "exact_match")
    spec: PairSpec

    def __init__(self, *, replace_unknown: bool = False, **rest: Unpack[GenerationArguments]) -> None:
        """With `replace_unknown` the source word with the largest attention replaces an unknown word. The other
        arguments are those of `Generation`."""
        super().__init__(**rest)
        self.replace_unknown, self.dictionary = replace_unknown, dict[str, str]()

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        super().check(cfg, model)
        if cfg.task.get("replace_unknown") and model.attends["source"] is None:
            raise ConfigError(
                f"task.replace_unknown: {model.__name__} attends to positions of its own, not to the words of the "
                "source; set task.replace_unknown=false"
            )

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        language = encoder.languages[1]
        _, missing = bleu_tokenizer(writing(language).bleu)
        if missing and "bleu" in self.test_metrics:
            log.info(
                "BLEU of %s is computed in characters: sacrebleu's %s is not installed; pip install 'sacrebleu[%s]'",
                language,
                missing,
                missing.split("-")[0],
            )

    def metrics(self) -> dict[str, Metric]:
        """The metrics of generation and exact match, with BLEU by the tokenizer of the target language. Characters have
        no BLEU, unless the language is written without blanks between words."""
        options = self.encoder.text_options
        tokenize, _ = bleu_tokenizer(writing(self.encoder.languages[1]).bleu)
        found: dict[str, Metric] = {**super().metrics(), "exact_match": Share()}
        if options.tokenizer != "characters" or tokenize != "13a":
            found["bleu"] = CorpusBLEU(tokenize=tokenize, lowercase=options.lower)
            found["chrf"] = CorpusChrF(lowercase=options.lower)
        if options.tokenizer != "characters" and not options.subwords:
            found["token_bleu"] = CorpusBLEU(tokenize="none")
        return found

    def score_written(self, stage: str, batch: PairBatch, hypotheses: list[Hypothesis]) -> None:
        """Compare the best translations with the references."""
        assert batch.source_text is not None and batch.target_text is not None
        encoder, metrics = self.encoder, self.metrics_of(stage)
        sources = [encoder.display(text) if self.replace_unknown else () for text in batch.source_text]
        tokens = [self._words(best, source) for best, source in zip(hypotheses, sources, strict=True)]
        texts = [encoder.text(words) for words in tokens]
        split = [encoder.target_tokenizer.split(text) for text in batch.target_text]
        true = [row.forms for row in split]
        pairs: Any = zip(tokens, true, strict=True)
        if encoder.text_options.subwords:  # one text has many splits, and unknown pieces are all equal
            pairs = zip(texts, (encoder.target_tokenizer.join(row.shown) for row in split), strict=True)
        self.record(stage, "exact_match", [ours == theirs for ours, theirs in pairs])
        for name in ("bleu", "chrf"):
            if name in metrics:
                self.record(stage, name, texts, batch.target_text)
        if "token_bleu" in metrics:
            self.record(stage, "token_bleu", *([" ".join(row) for row in side] for side in (tokens, true)))

    def signatures(self) -> dict[str, str]:
        found = {
            name: metric for name, metric in self.test_metrics.items() if isinstance(metric, CorpusBLEU | CorpusChrF)
        }
        return {f"test/{name}": metric.signature for name, metric in found.items()}

    # predicting

    def predictions(self, batch: PairBatch, words: list[Any]) -> list[TranslationPrediction]:
        """Translations, best first; `words` are the source tokens as shown, with the end marks."""
        found, unknown = self.predict_step(batch), (batch.source == self.spec.unknown).tolist()
        return [
            TranslationPrediction(
                source=tuple(source),
                translations=tuple(self._shown(hypothesis, source) for hypothesis in nbest),
                unknown=marked(row, len(source)),
            )
            for source, nbest, row in zip(words, found, unknown, strict=True)
        ]

    def _words(self, hypothesis: Hypothesis, source: Sequence[str]) -> list[str]:
        """The target tokens without their end; with `replace_unknown`, unknown ones come from the `source` tokens."""
        words, encoder = self.encoder.target_vocabulary.decode(hypothesis.ids), self.encoder
        if self.replace_unknown:
            read = [word.lower() if encoder.text_options.lower else word for word in source[:-1]]  # without its end
            words = replace_unknown(words, hypothesis, read, unknown=self.spec.unknown, dictionary=self.dictionary)
        return words[: len(words) - hypothesis.finished]

    def _shown(self, hypothesis: Hypothesis, source: Sequence[str]) -> Translated:
        return Translated(
            text=self.encoder.text(self._words(hypothesis, source)),
            tokens=tuple(self.encoder.target_vocabulary.decode(hypothesis.ids)),
            **search_fields(hypothesis),
        )

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
