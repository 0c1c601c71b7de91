"""The captions of clips."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from torch import Tensor

from zoo.data.clips.batch import ClipBatch, ClipSpec
from zoo.predicting.captioning import png
from zoo.predicting.captions import Caption, Captioned, CaptionPredictions


@dataclass(frozen=True)
class Film:
    """A clip as a network sees it."""

    name: str  # Its file, or the number of a generated clip
    count: int  # F, the number of its frames
    frames: tuple[bytes, ...]  # The content of a PNG file of each frame; empty where only features are known


@dataclass(frozen=True)
class ClipPrediction(Captioned):
    """The captions of one clip: the best first, or in the order in which they were sampled."""

    clip: Film
    captions: tuple[Caption, ...]

    @property
    def name(self) -> str:
        return self.clip.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, with the name of the clip."""
        captions = [asdict(one) for one in self.captions]
        return {"clip": self.clip.name, "frames": self.clip.count, "captions": captions}


class ClipCaptioningPredictions(CaptionPredictions):
    """The captions that any network for `clip_captioning` writes."""

    name = "clip_captioning"
    view: ClassVar[str] = "zoo.visualize.clip_captioning.ClipCaptioningView"
    spec: ClipSpec

    def contents(self, batch: ClipBatch) -> list[Tensor]:
        return [clip[mask] for clip, mask in zip(batch.frames, batch.frame_mask, strict=True)]

    def predictions(self, batch: ClipBatch, words: list[Any]) -> list[ClipPrediction]:
        """The captions of each clip, whose attention ends with its frames."""
        counts = batch.frame_mask.sum(1).tolist()
        return [_cut(one, count) for one, count in zip(super().predictions(batch, words), counts, strict=True)]

    def prediction(
        self, name: str, pixels: Tensor | None, captions: tuple[Caption, ...], batch: ClipBatch
    ) -> ClipPrediction:
        return ClipPrediction(Film(name, 0, () if pixels is None else tuple(map(png, pixels))), captions)


def _cut(one: ClipPrediction, count: int) -> ClipPrediction:
    captions = tuple(
        caption
        if caption.attention is None
        else replace(caption, attention=tuple(r[:count] for r in caption.attention))
        for caption in one.captions
    )
    return replace(one, clip=replace(one.clip, count=count), captions=captions)
