"""The captions of images."""

import io
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from PIL import Image
from torch import Tensor

from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.data.images.truth import boxes_named, is_true
from zoo.decoding import Hypothesis
from zoo.predicting.predicting import Examined, Prediction
from zoo.predicting.writing import WritingPredictions, search_fields


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


class CaptioningPredictions(WritingPredictions):
    """The captions that any network for `captioning` writes."""

    name = "captioning"
    view: ClassVar[str] = "zoo.visualize.captioning.CaptioningView"
    length_penalty = 0.0  # as conf/decoding/beam_captioning.yaml has it
    spec: ImageSpec

    def _decoding_options(self) -> dict[str, Any]:
        """By default a caption has at most as many tokens as the longest caption of the data. The same bound replaces a
        `max_length` [a, b] with a > 0: `a` multiplies the length of a source text, which an image does not have."""
        options = super()._decoding_options()
        if not options.get("max_length") or options["max_length"][0] > 0:
            options["max_length"] = (0.0, float(self.spec.longest_target))
        return options

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
