"""Images to captions: what is written of each image beside all its references, whether it is true of it, and how well
the attention finds what a word names."""

from __future__ import annotations

import io
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Unpack

from PIL import Image
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.data.images.batch import ImageBatch
from zoo.data.images.spec import ImageSpec
from zoo.data.images.truth import boxes_named, is_true
from zoo.data.spec import Spec
from zoo.decoding import Hypothesis
from zoo.metrics import CaptionBLEU, CiderD, Meteor, PointingGame, RougeL, TrueShare
from zoo.metrics.ptb_tokens import ptb_tokens
from zoo.tasks.generation import Generation, GenerationArguments
from zoo.tasks.task import Examined

log = logging.getLogger(__name__)

JUDGES = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider_d")
"""Metrics of captions beside their references; in a test METEOR, too."""
BETWEEN = " | "
"""Stands between the captions of an image where they are one text."""


@dataclass(frozen=True)
class Picture:
    """An image as a network sees it."""

    name: str
    """Its file, or the number of a generated one."""
    png: bytes | None
    """A PNG file of it; None where only features of it are known."""


@dataclass(frozen=True)
class Caption:
    """One caption of an image."""

    text: str
    words: tuple[str, ...]
    """The tokens as they were written, without the end."""
    log_prob: float
    """Sum of the log-probabilities of the words and of the end."""
    score: float
    """What it was ranked by."""
    finished: bool
    """False where the network and the rules let nothing follow, not even an end."""
    attention: tuple[tuple[float, ...], ...] | None
    """(T, S) weights on the cells of the grid, one row of cells after the other, for each word and the end where the
    network wrote one, the mean of layers and heads; None where the network has none."""


@dataclass(frozen=True)
class CaptionPrediction:
    """The captions of one image, best first; those of sampling in the order drawn."""

    picture: Picture
    grid: tuple[int, int]
    """Rows and columns of cells that the network looks at, all of one size, over the whole picture."""
    captions: tuple[Caption, ...]

    @property
    def best(self) -> Caption:
        return self.captions[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`; of the image its name."""
        return {"image": self.picture.name, "grid": self.grid, "captions": [asdict(one) for one in self.captions]}


@dataclass(frozen=True)
class ExaminedCaption(Examined):
    """An image of a split, what the network writes of it, and its captions."""

    prediction: CaptionPrediction
    true: bool | None
    """Whether the best caption is true of the image, where the data knows that."""
    boxes: tuple[tuple[float, ...] | None, ...] | None
    """Of each word of the best caption the box (left, top, right, bottom) of the object that it names, in shares of the
    picture; None for words that name nothing that is there, and for all where the data does not know objects."""


class Captioning(Generation):
    """Any network that serves `captioning`. It writes of each image once, however many captions that has; what it
    writes is compared with all of them, as coco-caption does, both sides in the tokens of the Penn Treebank."""

    name = "captioning"
    headline = ("bleu4", "cider_d", "true", "attention_recall", "pointing")
    view: ClassVar[str] = "zoo.visualize.captioning.CaptioningView"
    monitors: ClassVar[Mapping[str, str]] = {
        "loss": "min",
        "perplexity": "min",
        "attention_recall": "max",
        "pointing": "max",
        **dict.fromkeys((*JUDGES, "true"), "max"),
    }
    on_bar = (*Generation.on_bar, "bleu4", "true")
    length_penalty = 0.0  # as conf/decoding/beam_captioning.yaml has it
    spec: ImageSpec | None

    def __init__(self, *, meteor: bool = True, **rest: Unpack[GenerationArguments]) -> None:
        """With `meteor` a test counts METEOR, too, where Java and pycocoevalcap are there. The rest as in
        `Generation`."""
        super().__init__(**rest)
        self.meteor = meteor

    def build(self, spec: Spec, encoder: Any) -> None:
        assert isinstance(spec, ImageSpec)
        super().build(spec, encoder)
        if self.meteor and Meteor.missing() is None:
            self.test_metrics["meteor"] = Meteor()

    def metrics(self) -> dict[str, Metric]:
        """`attention_chance` is what a cell drawn at random would score in the pointing game, too. Not among them are
        an alignment error rate, since a word has one largest weight, and the box that it names many cells; and a free
        running perplexity, since a network that reads its own words of an image goes on with its own caption, and all
        others, as right as that, are unlikely then: next to perfect ones score above 1,000."""
        found = {**super().metrics(), "true": TrueShare(), "pointing": PointingGame()}
        del found["alignment_error_rate"], found["free_running_perplexity"]
        judges: dict[str, Metric] = {f"bleu{order}": CaptionBLEU(order) for order in (1, 2, 3, 4)}
        return found | judges | {"rouge_l": RougeL(), "cider_d": CiderD()}

    def _decoding_options(self) -> dict[str, Any]:
        """Captions may be as long as the longest of the data where nobody says otherwise. A `max_length` [a, b] with a
        above 0 counts the tokens of a source, which an image has not, and says nothing of it."""
        assert self.spec is not None
        told = super()._decoding_options()
        if not told.get("max_length") or told["max_length"][0] > 0:
            told["max_length"] = (0.0, float(self.spec.longest_target))
        return told

    # evaluation

    def _written(self, batch: Any, stage: str, metrics: nn.ModuleDict, decode: Any) -> None:
        super()._written(batch.each_image(), stage, metrics, decode)

    def score_written(
        self, stage: str, metrics: nn.ModuleDict, batch: ImageBatch, hypotheses: list[Hypothesis]
    ) -> None:
        """Counts the best captions against all references of their images, and those that are true of them."""
        assert batch.about is not None
        texts = [self.encoder.text(best.ids) for best in hypotheses]
        written = [ptb_tokens(text) for text in texts]
        references = [[ptb_tokens(caption) for caption in about.captions] for about in batch.about]
        for name in (*JUDGES, "meteor"):
            if name in metrics:
                self.record(stage, metrics, name, len(batch), written, references)
        judged = [is_true(text, about.facts) for text, about in zip(texts, batch.about, strict=True) if about.facts]
        if judged:
            self.record(stage, metrics, "true", len(judged), judged)

    def score_attention(
        self, stage: str, metrics: nn.ModuleDict, batch: ImageBatch, weights: Tensor, possible: Tensor
    ) -> None:
        super().score_attention(stage, metrics, batch, weights, possible)
        real = batch.forced.mask
        self.record(stage, metrics, "pointing", len(batch), weights[real], possible[real])

    def on_test_start(self) -> None:
        super().on_test_start()
        if self.meteor and (missing := Meteor.missing()):
            log.info(missing)

    def signatures(self) -> dict[str, str]:
        said = {"rouge_l": "beta:1.2", "cider_d": "df:references|sigma:6|scale:10", "meteor": "1.5"}
        bleu = dict.fromkeys(JUDGES[:4], "ref:closest,shorter|smooth:none")
        return {f"test/{name}": f"tok:ptb|{what}" for name, what in (bleu | said).items() if name in self.test_metrics}

    # predicting

    def predictions(self, batch: ImageBatch, words: list[Any]) -> list[CaptionPrediction]:
        """Captions of each image, best first; `words` are what is seen of each, uint8 (3, H, W), or None where only
        features of it are known."""
        names = [str(number) for number in range(len(words))] if batch.about is None else [a.name for a in batch.about]
        return [
            CaptionPrediction(Picture(name, None if seen is None else png(seen)), batch.grid, self._shown(nbest))
            for name, seen, nbest in zip(names, words, self.predict_step(batch), strict=True)
        ]

    def examine(self, batch: ImageBatch) -> list[ExaminedCaption]:
        """Of each image of `batch` once."""
        assert self.spec is not None
        images = batch.each_image()
        assert images.about is not None
        seen = [
            image if not self.spec.encoded else self.encoder.pixels(about.file) if about.file else None
            for image, about in zip(images.image, images.about, strict=True)
        ]
        rows = zip(images.index.tolist(), self.predictions(images, seen), images.about, strict=True)
        return [
            ExaminedCaption(
                index=index,
                prediction=prediction,
                truth=BETWEEN.join(about.captions),
                true=is_true(prediction.best.text, about.facts) if about.facts else None,
                boxes=tuple(boxes_named(prediction.best.words, about.facts)) if about.facts else None,
            )
            for index, prediction, about in rows
        ]

    def _shown(self, hypotheses: Sequence[Hypothesis]) -> tuple[Caption, ...]:
        looked = [hypothesis.alignment for hypothesis in hypotheses]
        return tuple(
            Caption(
                text=self.encoder.text(one.ids),
                words=tuple(self.encoder.decode(one.ids)),
                log_prob=one.log_prob,
                score=one.score,
                finished=one.finished,
                attention=None if weights is None else tuple(map(tuple, weights.tolist())),
            )
            for one, weights in zip(hypotheses, looked, strict=True)
        )


def png(pixels: Tensor) -> bytes:
    """uint8 (3, H, W) as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).cpu().numpy()).save(file, "png", compress_level=1)
    return file.getvalue()
