"""COCO: photographs of common objects in their surroundings, five captions each or more.

Lin et al. 2014, https://arxiv.org/abs/1405.0312, captions by Chen et al. 2015, https://arxiv.org/abs/1504.00325: 82,783
images for training and 40,504 for validation. The split of Karpathy and Fei-Fei 2015 divides the latter: 5,000 are for
validation, 5,000 for the test, and 30,504 are left over as `restval`.
"""

from typing import Unpack

from zoo.data.images.photographs import PhotographArguments, Photographs
from zoo.values import hold


class CocoArguments(PhotographArguments, total=False):
    """The arguments of `Coco` besides `restval`."""

    images: str | None


class Coco(Photographs):
    """`dataset_coco.json`, or the authors' `captions_train2014.json` with `captions_val2014.json` as the test."""

    name = "coco"
    texts = ("dataset_coco.json", "captions_train2014.json", "captions_train2017.json")
    photographs = "http://images.cocodataset.org/zips/train2014.zip and val2014.zip"

    def __init__(self, *, restval: bool = True, **rest: Unpack[CocoArguments]) -> None:
        """`restval` trains on the images of this split, too, which is usual today; Xu et al. 2015 did not."""
        hold("data.restval", restval, bool)
        super().__init__(**rest)
        self.restval = restval
