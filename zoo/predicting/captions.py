"""Captions of pictures or clips: the part of the predictions that both share."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from zoo.data.captions.batch import CaptionBatch, CaptionSpec
from zoo.decoding import Hypothesis
from zoo.predicting.predicting import Examined, Prediction
from zoo.predicting.writing import WritingPredictions, search_fields


@dataclass(frozen=True)
class Caption:
    """One caption of a picture or a clip."""

    text: str
    words: tuple[str, ...]  # The tokens as they were written, without the end
    log_prob: float  # Sum of the log-probabilities of the words and of the end
    score: float  # The number by which the captions of a picture are ranked
    finished: bool  # False where the network and the rules allow no further token, not even an end
    attention: tuple[tuple[float, ...], ...] | None
    """(T, S) weights on the cells of the grid, row by row, or on the frames, for each word and for the end if it was
    written: the mean of layers and heads. None where the network has no attention."""


class Captioned(Prediction):
    """The captions of one picture or clip: the best first, or in the order in which they were sampled."""

    captions: tuple[Caption, ...]

    @property
    @abstractmethod
    def name(self) -> str:
        """The file of the picture or the clip, or the number of a generated one."""

    @property
    def best(self) -> Caption:
        return self.captions[0]


@dataclass(frozen=True)
class ExaminedCaption(Examined):
    """A picture or a clip of a split, with the written and the true captions."""

    true: bool | None  # Whether the best caption is true; None where the data do not describe the picture or the clip
    places: tuple[tuple[float, ...] | None, ...] | None
    """The place of the thing that each word of the best caption names, or None if it names none: the box (left, top,
    right, bottom) in shares of a picture, or the first and the last frame of a clip. None as a whole without facts."""


class CaptionPredictions(WritingPredictions):
    """The captions that a network writes."""

    length_penalty: ClassVar[float] = 0.0  # as conf/decoding/beam_captioning.yaml has it
    spec: CaptionSpec

    def _decoding_options(self) -> dict[str, Any]:
        """By default a caption has at most as many tokens as the longest caption of the data. The same bound replaces a
        `max_length` [a, b] with a > 0: `a` multiplies the length of a source text, which a picture does not have."""
        options = super()._decoding_options()
        if not options.get("max_length") or options["max_length"][0] > 0:
            options["max_length"] = (0.0, float(self.spec.longest_target))
        return options

    @abstractmethod
    def contents(self, batch: Any) -> list[Tensor]:
        """The pixels, or features, of each picture or clip of a batch."""

    @abstractmethod
    def prediction(self, name: str, pixels: Tensor | None, captions: tuple[Caption, ...], batch: Any) -> Captioned:
        """The prediction for a picture or a clip, from its pixels (None where only features are known) and captions."""

    def predictions(self, batch: Any, words: list[Any]) -> list[Any]:
        """The captions of each picture or clip, best first; `words` are the pixels of each, or None where only features
        are known."""
        names = [str(number) for number in range(len(words))] if batch.about is None else [a.name for a in batch.about]
        return [
            self.prediction(name, pixels, tuple(map(self._shown, nbest)), batch)
            for name, pixels, nbest in zip(names, words, self.predict_step(batch), strict=True)
        ]

    def examine(self, batch: CaptionBatch) -> list[ExaminedCaption]:
        """Examine each picture or clip of `batch` once, however many captions it has."""
        images = batch.each_image()
        assert images.about is not None
        pixels = [
            given if not self.spec.encoded else self.encoder.pixels(about.file) if about.file else None
            for given, about in zip(self.contents(images), images.about, strict=True)
        ]
        rows = zip(images.index.tolist(), self.predictions(images, pixels), images.about, strict=True)
        return [
            ExaminedCaption(
                index=index,
                prediction=prediction,
                truth=" | ".join(about.captions),
                true=about.is_true(prediction.best.text),
                places=tuple(about.places(prediction.best.words)) if about.facts else None,
            )
            for index, prediction, about in rows
        ]

    def _shown(self, hypothesis: Hypothesis) -> Caption:
        text, words = self.encoder.text(hypothesis.ids), tuple(self.encoder.decode(hypothesis.ids))
        return Caption(text=text, words=words, **search_fields(hypothesis))
