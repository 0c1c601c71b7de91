"""COCO: photographs of common objects in their surroundings, five captions or more each.

Lin et al. 2014, https://arxiv.org/abs/1405.0312, captions by Chen et al. 2015, https://arxiv.org/abs/1504.00325: 82,783
images for training and 40,504 to validate, in the split of Karpathy and Fei-Fei 2015 5,000 of these to validate, 5,000
to test, and 30,504 left over, `restval`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from zoo.data.images.options import PictureOptions
from zoo.data.images.photographs import PhotographArguments, Photographs
from zoo.values import hold


class CocoArguments(PhotographArguments, total=False):
    """The arguments of `Coco` besides `restval`."""

    source: str | None
    images: str | None
    picture: Mapping[str, Any] | PictureOptions | None
    grid: Sequence[int]


class Coco(Photographs):
    """`dataset_coco.json`, or the authors' `captions_train2014.json` and `captions_val2014.json`, which then is the
    test."""

    name = "coco"
    texts = ("dataset_coco.json", "captions_train2014.json", "captions_train2017.json")
    photographs = "http://images.cocodataset.org/zips/train2014.zip and val2014.zip"

    def __init__(self, *, restval: bool = True, **rest: Unpack[CocoArguments]) -> None:
        """With `restval` the images that Karpathy left over are trained on, which is usual today and which Xu et al.
        2015 did not do."""
        hold("data.restval", restval, bool)
        super().__init__(**rest)
        self.restval = restval
