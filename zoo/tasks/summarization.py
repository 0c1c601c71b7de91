"""Articles to summaries: ROUGE against all references, new words, and what is copied."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from torchmetrics import Metric

from zoo.data.copying.batch import CopyBatch
from zoo.data.summaries.encoding import sentences_of
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError
from zoo.metrics import Share
from zoo.metrics.rouge import KINDS, Rouge
from zoo.predicting.summarization import SummarizationPredictions
from zoo.tasks.generation import Generation, GenerationArguments
from zoo.tasks.summary_baselines import Sentences, baselines
from zoo.tasks.texts import TextGeneration

log = logging.getLogger(__name__)

NOVELTY = (1, 2, 3)
"""The lengths of the n-grams whose share of new ones is counted."""


class Summarization(SummarizationPredictions, TextGeneration):
    """Any network that serves `summarization`. ROUGE compares a summary with all references of its article, in the
    sentences that Punkt finds. `novelty_n` is the share of the n-grams of a summary that the article lacks.

    With `baselines` a test also gives the figures of the first sentences, as many as the validation's summaries have on
    average, of the best sentence, and of an extract that is chosen with the references.
    """

    headline: tuple[str, ...] = ("rouge_1", "rouge_2", "rouge_l", "rouge_lsum", *TextGeneration.headline)
    monitors: ClassVar[Mapping[str, str]] = {**TextGeneration.monitors, **dict.fromkeys(KINDS, "max")}
    on_bar: tuple[str, ...] = (*Generation.on_bar, "rouge_l", "copy_accuracy")

    def __init__(self, *, stemming: bool = True, baselines: bool = False, **rest: Unpack[GenerationArguments]) -> None:
        """With `stemming`, ROUGE compares the stems of words. The other arguments are those of `Generation`."""
        super().__init__(**rest)
        self.stemming = stemming

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        super().check(cfg, model)
        if cfg.task.get("baselines") and not cfg.test:
            raise ConfigError("task.baselines=true adds rows to the table of a test: set test=true, or remove it")

    def metrics(self) -> dict[str, Metric]:
        """The metrics of texts, except the free running perplexity: a network that reads its own words writes a summary
        of its own, which makes the true one unlikely. An alignment error rate needs one source for each word, and here
        a repeated word has several."""
        found = super().metrics()
        del found["free_running_perplexity"], found["alignment_error_rate"]
        rouge = {kind: Rouge(kind, stemming=self.stemming, splitting="punkt") for kind in KINDS}
        return {**found, **rouge, **{f"novelty_{size}": Share() for size in NOVELTY}}

    def score_written(self, stage: str, batch: CopyBatch, hypotheses: list[Hypothesis]) -> None:
        super().score_written(stage, batch, hypotheses)
        assert batch.target_texts is not None
        written = [self._split(text) for text in self.texts(batch, hypotheses)]
        references = [[self._split(text) for text in several] for several in batch.target_texts]
        for kind in KINDS:
            self.record(stage, kind, written, references)
        sources = [
            row[:length] for row, length in zip(batch.extended.tolist(), batch.memory_length.tolist(), strict=True)
        ]
        tokens = [[one for one in best.ids if one != self.spec.end] for best in hypotheses]
        for size in NOVELTY:
            known = [set(_ngrams(source, size)) for source in sources]
            new = [one not in seen for row, seen in zip(tokens, known, strict=True) for one in _ngrams(row, size)]
            self.record(stage, f"novelty_{size}", new)

    def _split(self, text: str) -> str:
        """A text with its sentences on lines of their own."""
        return "\n".join(sentences_of(text, language=self.encoder.text_options.language))

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        if not self.hparams["baselines"]:
            return super().baselines(data)
        log.info("baselines: sentences of %s articles", f"{data.sizes['test']:,}")
        val, test = (
            [
                Sentences(text, [self._split(one).split("\n") for one in summaries])
                for text, summaries in data.texts(split)
            ]
            for split in ("val", "test")
        )
        counts = [len(reference) for article in val for reference in article.references]
        return baselines(test, max(1, round(sum(counts) / len(counts))), stemming=self.stemming)

    def signatures(self) -> dict[str, str]:
        return {f"test/{kind}": str(self.test_metrics[kind].signature) for kind in KINDS}


def _ngrams(tokens: list[int], size: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)]
