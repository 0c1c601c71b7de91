"""Texts to texts: BLEU, chrF and exact match of the written texts, predictions as text, and unknown words replaced."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import torch
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.pairs.batch import PairBatch
from zoo.data.text.options import writing
from zoo.decoding import Hypothesis
from zoo.errors import ConfigError
from zoo.metrics import AttentionRecall, CorpusBLEU, CorpusChrF, HeadRecalls, Share, bleu_tokenizer, uniform_rows
from zoo.models.output import Output
from zoo.predicting.translation import TranslationPredictions
from zoo.tasks.generation import Generation, GenerationArguments
from zoo.tasks.task import computed

REFERENCE_ACCURACY, REFERENCES = "reference_accuracy", "reference_recall"

log = logging.getLogger(__name__)


class Translation(TranslationPredictions, Generation):
    """Any network that serves `translation`."""

    headline = (*Generation.headline, "bleu", "exact_match", "alignment_error_rate", REFERENCE_ACCURACY, REFERENCES)
    monitors: ClassVar[Mapping[str, str]] = {
        **Generation.monitors,
        "bleu": "max",
        "chrf": "max",
        "token_bleu": "max",
        "exact_match": "max",
        REFERENCE_ACCURACY: "max",
    }
    reads_attention = (*Generation.reads_attention, ("task", "replace_unknown"))
    on_bar: tuple[str, ...] = (*Generation.on_bar, "bleu", "exact_match")

    def __init__(self, *, replace_unknown: bool = False, **rest: Unpack[GenerationArguments]) -> None:
        """With `replace_unknown` the source word with the largest attention replaces an unknown word. The other
        arguments are those of `Generation`."""
        super().__init__(**rest)
        self.reference_recalls: dict[str, list[float]] = {}
        """The recall of each head by the names of the attentions, from the last test."""

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
        found |= {REFERENCE_ACCURACY: Share(), "reference_chance": AttentionRecall()}
        if options.tokenizer != "characters" or tokenize != "13a":
            found["bleu"] = CorpusBLEU(tokenize=tokenize, lowercase=options.lower)
            found["chrf"] = CorpusChrF(lowercase=options.lower)
        if options.tokenizer != "characters" and not options.subwords:
            found["token_bleu"] = CorpusBLEU(tokenize="none")
        return found

    def needs_scores(self, batch: PairBatch) -> bool:
        return batch.references is not None

    def score_forced(self, stage: str, batch: PairBatch, output: Output) -> None:
        """Besides likelihoods and attention, where the data know which source tokens refer to others: whether the
        translations of these tokens are right, and the mass that each head puts on their referents. The heads are those
        of the encoder, which look from the tokens, and those that look at the source while the translations of the
        tokens are written."""
        super().score_forced(stage, batch, output)
        if batch.references is None or batch.alignment is None:
            return
        metrics, referring = self.metrics_of(stage), batch.references.any(-1)  # (B, S)
        referents = batch.alignment.float() @ batch.references.float() > 0  # (B, T, S) of the translations
        decided = batch.forced.packing.pack(referents.any(-1))  # (N,)
        self.record(stage, REFERENCE_ACCURACY, (output.logits.argmax(-1) == batch.true_tokens)[decided])
        chance = uniform_rows(batch.source_mask, batch.source_mask.shape[1])
        self.record(stage, "reference_chance", chance[referring], batch.references[referring])
        truths = {"encoder": batch.references, "source": referents}
        for name, weights in output.attention.items():
            if (truth := truths.get(name.partition(".")[0])) is not None:
                heads = weights if weights.dim() == 4 else weights[:, None]
                recalls = f"{REFERENCES}_{name.replace('.', '_')}"
                if recalls not in metrics:  # the names and the number of heads are known from the first batch
                    metrics[recalls] = HeadRecalls(heads.shape[1]).to(self.device)
                metrics[recalls].update(heads, truth)

    def on_validation_epoch_end(self) -> None:
        self._log_references("val")

    def on_test_epoch_end(self) -> None:
        self.reference_recalls = self._log_references("test")

    def _log_references(self, stage: str) -> dict[str, list[float]]:
        """Log the recall of the best head of the encoder, and of those to the source; return all of them by name."""
        metrics = {name: metric for name, metric in self.metrics_of(stage).items() if isinstance(metric, HeadRecalls)}
        found = {name.removeprefix(f"{REFERENCES}_"): computed(metric).reshape(-1) for name, metric in metrics.items()}
        for side, name in (("encoder", REFERENCES), ("source", f"{REFERENCES}_source")):
            if rows := [recalls for layer, recalls in found.items() if layer.startswith(side)]:
                self.log_defined({f"{stage}/{name}": torch.stack(rows).max()})
        return {layer.replace("_", "."): recalls.tolist() for layer, recalls in found.items()}

    def facts(self) -> dict[str, Any]:
        """The recall of each head by the name of its attention, and for the encoder and for the attention to the source
        the head with the highest one in the test; the first of several."""
        if not (every := self.reference_recalls):
            return super().facts()
        best: dict[str, dict[str, Any]] = {}
        for name, recalls in every.items():
            for head, recall in enumerate(recalls):
                side = name.partition(".")[0]
                if recall > best.get(side, {"recall": -1.0})["recall"]:
                    best[side] = {"attention": name, "head": head, "recall": recall}
        return super().facts() | {"reference_recalls": every, "best_reference_heads": best}

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
