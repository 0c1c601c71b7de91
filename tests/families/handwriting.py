"""Random lines of pen points with texts, for `handwriting`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from tests.families import Family, mask_of
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.data.strokes.encoding import StrokeEncoder
from zoo.data.strokes.options import LetterOptions
from zoo.data.text.vocabulary import Vocabulary
from zoo.layers.mixture import Mixture
from zoo.models.output import Output

LETTERS = "abcde "


class Lines(Family):
    """Lines and texts of unequal length. The loss is that of the task per point, so that no derivative is limited."""

    task_class = "zoo.tasks.handwriting.Handwriting"
    spec = StrokeSpec(vocabulary_size=2 + len(LETTERS), lines=100)
    encoder = StrokeEncoder(LetterOptions(), [Vocabulary(list(LETTERS))])
    in_order = True
    grids: ClassVar[dict[str, str]] = {"points": "point_mask", "letters": "point_mask", "text": "text_mask"}
    singles: ClassVar[tuple[str, ...]] = ("index",)
    targets: ClassVar[tuple[str, ...]] = ("letters",)
    sizes: ClassVar[Sequence[tuple[int, int]]] = ((9, 3), (4, 5), (7, 1), (6, 4), (2, 2))
    nothing: ClassVar[Sequence[tuple[int, int]]] = ((0, 0),)
    long: ClassVar[Sequence[tuple[int, int]]] = ((40, 400), (30, 3))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> StrokeBatch:
        generator = torch.Generator().manual_seed(seed)
        (points, letters), count = (mask_of(one) for one in zip(*sizes, strict=True)), len(sizes)
        offsets = torch.randn(count, points.shape[1], 3, generator=generator)
        offsets[..., 2] = offsets[..., 2] > 0.5
        text = torch.randint(2, self.spec.vocabulary_size, letters.shape, generator=generator)
        lengths = letters.sum(1, keepdim=True).clamp_min(1)
        place = torch.arange(points.shape[1]) * lengths // points.sum(1, keepdim=True).clamp_min(1)
        return StrokeBatch(
            offsets * points[..., None],
            points,
            text=text * letters,
            text_mask=letters,
            letters=place.where(points, -1),
            index=torch.arange(count),
        )

    def loss(self, output: Output, batch: StrokeBatch) -> Tensor:
        each = Mixture.of(output.logits).log_prob(batch.points.to(output.logits.dtype))
        return -each[batch.point_mask].mean() + sum(output.losses.values())

    def changed(self, batch: StrokeBatch, place: int) -> tuple[StrokeBatch, Tensor]:
        points, rows = batch.points.clone(), batch.point_mask.sum(1) > place + 1
        points[rows, place] += 1
        return replace(batch, points=points), rows


FAMILY = Lines()
