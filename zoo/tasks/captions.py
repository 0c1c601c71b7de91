"""Pictures or clips to captions: the overlap with all references, whether they are true, and how well the attention
finds what a word names."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from torch import Tensor
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.captions.batch import CaptionBatch
from zoo.decoding import Hypothesis
from zoo.metrics import CaptionBLEU, CiderD, Meteor, PointingGame, RougeL, Share
from zoo.metrics.ptb_tokens import ptb_tokens
from zoo.tasks.generation import Generation, GenerationArguments

log = logging.getLogger(__name__)

OVERLAP = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider_d")
"""Metrics that compare a caption with its references; a test also has METEOR."""


class Captions(Generation):
    """A task for networks that write one caption for each picture or clip. It is compared with all true ones, as
    coco-caption does: both sides are split into the tokens of the Penn Treebank."""

    headline = ("bleu4", "cider_d", "true", "attention_recall", "pointing")
    monitors: ClassVar[Mapping[str, str]] = {
        "loss": "min",
        "perplexity": "min",
        "attention_recall": "max",
        "pointing": "max",
        **dict.fromkeys((*OVERLAP, "true"), "max"),
    }
    on_bar: tuple[str, ...] = (*Generation.on_bar, "bleu4", "true")

    def __init__(self, *, meteor: bool = True, **rest: Unpack[GenerationArguments]) -> None:
        """With `meteor` a test also computes METEOR, if Java and pycocoevalcap are installed. The other arguments are
        those of `Generation`."""
        super().__init__(**rest)
        self.meteor = meteor

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        if self.meteor and Meteor.missing() is None:
            self.test_metrics["meteor"] = Meteor()

    def metrics(self) -> dict[str, Metric]:
        """The metrics of generation, except two, and those of captions.

        The alignment error rate is left out, since a word has one largest weight, and the place that it names has many
        positions. So is the free running perplexity: a network that reads its own words continues its own caption,
        which makes the true ones unlikely, however good it is (next to perfect networks had values above 1,000).
        `attention_chance` is also the score of a random position in the pointing game.
        """
        found = {**super().metrics(), "true": Share(), "pointing": PointingGame()}
        del found["alignment_error_rate"], found["free_running_perplexity"]
        bleu: dict[str, Metric] = {f"bleu{order}": CaptionBLEU(order) for order in (1, 2, 3, 4)}
        return found | bleu | {"rouge_l": RougeL(), "cider_d": CiderD()}

    # evaluation

    def _written(self, batch: Any, stage: str) -> None:
        super()._written(batch.each_image(), stage)

    def score_written(self, stage: str, batch: CaptionBatch, hypotheses: list[Hypothesis]) -> None:
        """Compare the best captions with all references of their pictures or clips, and count those that are true."""
        assert batch.about is not None
        texts = [self.encoder.text(best.ids) for best in hypotheses]
        written = [ptb_tokens(text) for text in texts]
        references = [[ptb_tokens(caption) for caption in about.captions] for about in batch.about]
        for name in (*OVERLAP, "meteor"):
            if name in self.metrics_of(stage):
                self.record(stage, name, written, references)
        truths = [about.is_true(text) for text, about in zip(texts, batch.about, strict=True) if about.facts]
        if truths:
            self.record(stage, "true", truths)

    def score_attention(self, stage: str, batch: CaptionBatch, weights: Tensor, possible: Tensor) -> None:
        super().score_attention(stage, batch, weights, possible)
        real = batch.forced.mask
        self.record(stage, "pointing", weights[real], possible[real])

    def on_test_start(self) -> None:
        super().on_test_start()
        if self.meteor and (missing := Meteor.missing()):
            log.info(missing)

    def signatures(self) -> dict[str, str]:
        others = {"rouge_l": "beta:1.2", "cider_d": "df:references|sigma:6|scale:10", "meteor": "1.5"}
        bleu = dict.fromkeys(OVERLAP[:4], "ref:closest,shorter|smooth:none")
        found = {name: text for name, text in (bleu | others).items() if name in self.test_metrics}
        return {f"test/{name}": f"tok:ptb|{text}" for name, text in found.items()}
