"""Texts to texts: BLEU, chrF and exact match of the written texts, predictions as text, and unknown words replaced."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.pairs.batch import PairBatch
from zoo.data.text.options import writing
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError
from zoo.metrics import CorpusBLEU, CorpusChrF, Share, bleu_tokenizer
from zoo.predicting.translation import TranslationPredictions
from zoo.tasks.generation import Generation, GenerationArguments

log = logging.getLogger(__name__)


class Translation(TranslationPredictions, Generation):
    """Any network that serves `translation`."""

    headline = (*Generation.headline, "bleu", "exact_match", "alignment_error_rate")
    monitors: ClassVar[Mapping[str, str]] = {
        **Generation.monitors,
        "bleu": "max",
        "chrf": "max",
        "token_bleu": "max",
        "exact_match": "max",
    }
    reads_attention = (*Generation.reads_attention, ("task", "replace_unknown"))
    on_bar: tuple[str, ...] = (*Generation.on_bar, "bleu", "exact_match")

    def __init__(self, *, replace_unknown: bool = False, **rest: Unpack[GenerationArguments]) -> None:
        """With `replace_unknown` the source word with the largest attention replaces an unknown word. The other
        arguments are those of `Generation`."""
        super().__init__(**rest)

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
        tokens = [self.words(best, source) for best, source in zip(hypotheses, sources, strict=True)]
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
