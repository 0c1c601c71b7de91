"""Images to captions: the overlap with all references, whether they are true of the image, and how well the attention
finds what a word names."""

import io
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Unpack

from PIL import Image
from torch import Tensor
from torchmetrics import Metric

from zoo.data.batch import Spec
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.data.images.truth import boxes_named, is_true
from zoo.decoding import Hypothesis
from zoo.metrics import CaptionBLEU, CiderD, Meteor, PointingGame, RougeL, Share
from zoo.metrics.ptb_tokens import ptb_tokens
from zoo.tasks.generation import Generation, GenerationArguments, search_fields
from zoo.tasks.task import Examined, Prediction

log = logging.getLogger(__name__)

OVERLAP = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider_d")
"""Metrics that compare a caption with its references; a test also has METEOR."""


@dataclass(frozen=True)
class Picture:
    """An image as a network sees it."""

    name: str  # Its file, or the number of a generated image
    png: bytes | None  # The content of a PNG file; None where only features of the image are known


@dataclass(frozen=True)
class Caption:
    """One caption of an image."""

    text: str
    words: tuple[str, ...]  # The tokens as they were written, without the end
    log_prob: float  # Sum of the log-probabilities of the words and of the end
    score: float  # The number by which the captions of an image are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    attention: tuple[tuple[float, ...], ...] | None
    """(T, S) weights on the cells of the grid, row by row, for each word and for the end if it was written: the mean of
    layers and heads. None where the network has no attention."""


@dataclass(frozen=True)
class CaptionPrediction(Prediction):
    """The captions of one image: the best first, or in the order in which they were sampled."""

    picture: Picture
    grid: tuple[int, int]
    """Rows and columns of the cells that the network attends to. They have one size and cover the picture."""
    captions: tuple[Caption, ...]

    @property
    def best(self) -> Caption:
        return self.captions[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, with the name of the image."""
        return {"image": self.picture.name, "grid": self.grid, "captions": [asdict(one) for one in self.captions]}


@dataclass(frozen=True)
class ExaminedCaption(Examined):
    """An image of a split, with the written and the true captions."""

    prediction: CaptionPrediction
    true: bool | None  # Whether the best caption is true of the image; None where the data do not describe the image
    boxes: tuple[tuple[float, ...] | None, ...] | None
    """The box (left, top, right, bottom) of the object that each word of the best caption names, in shares of the
    picture, or None if it names none. None as a whole where the data have no objects."""


class Captioning(Generation):
    """Any network that serves `captioning`. It writes one caption for each image, which is compared with all true ones,
    as coco-caption does: both sides are split into the tokens of the Penn Treebank."""

    name = "captioning"
    headline = ("bleu4", "cider_d", "true", "attention_recall", "pointing")
    view: ClassVar[str] = "zoo.visualize.captioning.CaptioningView"
    monitors: ClassVar[Mapping[str, str]] = {
        "loss": "min",
        "perplexity": "min",
        "attention_recall": "max",
        "pointing": "max",
        **dict.fromkeys((*OVERLAP, "true"), "max"),
    }
    on_bar: tuple[str, ...] = (*Generation.on_bar, "bleu4", "true")
    length_penalty = 0.0  # as conf/decoding/beam_captioning.yaml has it
    spec: ImageSpec

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

        The alignment error rate is left out, since a word has one largest weight, and the box that it names has many
        cells. So is the free running perplexity: a network that reads its own words continues its own caption, which
        makes the true ones unlikely, however good it is (next to perfect networks had values above 1,000).
        `attention_chance` is also the score of a random cell in the pointing game.
        """
        found = {**super().metrics(), "true": Share(), "pointing": PointingGame()}
        del found["alignment_error_rate"], found["free_running_perplexity"]
        bleu: dict[str, Metric] = {f"bleu{order}": CaptionBLEU(order) for order in (1, 2, 3, 4)}
        return found | bleu | {"rouge_l": RougeL(), "cider_d": CiderD()}

    def _decoding_options(self) -> dict[str, Any]:
        """By default a caption has at most as many tokens as the longest caption of the data. The same bound replaces a
        `max_length` [a, b] with a > 0: `a` multiplies the length of a source text, which an image does not have."""
        options = super()._decoding_options()
        if not options.get("max_length") or options["max_length"][0] > 0:
            options["max_length"] = (0.0, float(self.spec.longest_target))
        return options

    # evaluation

    def _written(self, batch: Any, stage: str) -> None:
        super()._written(batch.each_image(), stage)

    def score_written(self, stage: str, batch: ImageBatch, hypotheses: list[Hypothesis]) -> None:
        """Compare the best captions with all references of their images, and count those that are true."""
        assert batch.about is not None
        texts = [self.encoder.text(best.ids) for best in hypotheses]
        written = [ptb_tokens(text) for text in texts]
        references = [[ptb_tokens(caption) for caption in about.captions] for about in batch.about]
        for name in (*OVERLAP, "meteor"):
            if name in self.metrics_of(stage):
                self.record(stage, name, written, references)
        truths = [is_true(text, about.facts) for text, about in zip(texts, batch.about, strict=True) if about.facts]
        if truths:
            self.record(stage, "true", truths)

    def score_attention(self, stage: str, batch: ImageBatch, weights: Tensor, possible: Tensor) -> None:
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

    # predicting

    def predictions(self, batch: ImageBatch, words: list[Any]) -> list[CaptionPrediction]:
        """The captions of each image, best first; `words` are the pixels of each, uint8 (3, H, W), or None where only
        features are known."""
        names = [str(number) for number in range(len(words))] if batch.about is None else [a.name for a in batch.about]
        return [
            CaptionPrediction(
                Picture(name, None if pixels is None else png(pixels)), batch.grid, tuple(map(self._shown, nbest))
            )
            for name, pixels, nbest in zip(names, words, self.predict_step(batch), strict=True)
        ]

    def examine(self, batch: ImageBatch) -> list[ExaminedCaption]:
        """Examine each image of `batch` once, however many captions it has."""
        images = batch.each_image()
        assert images.about is not None
        pixels = [
            image if not self.spec.encoded else self.encoder.pixels(about.file) if about.file else None
            for image, about in zip(images.image, images.about, strict=True)
        ]
        rows = zip(images.index.tolist(), self.predictions(images, pixels), images.about, strict=True)
        return [
            ExaminedCaption(
                index=index,
                prediction=prediction,
                truth=" | ".join(about.captions),
                true=is_true(prediction.best.text, about.facts) if about.facts else None,
                boxes=tuple(boxes_named(prediction.best.words, about.facts)) if about.facts else None,
            )
            for index, prediction, about in rows
        ]

    def _shown(self, hypothesis: Hypothesis) -> Caption:
        text, words = self.encoder.text(hypothesis.ids), tuple(self.encoder.decode(hypothesis.ids))
        return Caption(text=text, words=words, **search_fields(hypothesis))


def png(pixels: Tensor) -> bytes:
    """The content of a PNG file with these pixels, uint8 (3, H, W)."""
    file = io.BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).cpu().numpy()).save(file, "png", compress_level=1)
    return file.getvalue()
