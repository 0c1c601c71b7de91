"""COCO: photographs of common objects in their surroundings, five captions or more each.

Lin et al. 2014, https://arxiv.org/abs/1405.0312, captions by Chen et al. 2015, https://arxiv.org/abs/1504.00325: 82,783
images for training and 40,504 to validate, in the split of Karpathy and Fei-Fei 2015 5,000 of these to validate, 5,000
to test, and 30,504 left over, `restval`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zoo.data.images.options import CaptionTextOptions, PictureOptions
from zoo.data.images.photographs import Photographs
from zoo.data.options import LoaderOptions, SampleOptions, SplitOptions
from zoo.values import hold


class Coco(Photographs):
    """`dataset_coco.json`, or the authors' `captions_train2014.json` and `captions_val2014.json`, which then is the
    test."""

    name = "coco"
    texts = ("dataset_coco.json", "captions_train2014.json", "captions_train2017.json")
    photographs = "http://images.cocodataset.org/zips/train2014.zip and val2014.zip"

    def __init__(
        self,
        *,
        source: str | None = "sample",
        images: str | None = None,
        restval: bool = True,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        split: Mapping[str, Any] | SplitOptions | None = None,
        text: Mapping[str, Any] | CaptionTextOptions | None = None,
        picture: Mapping[str, Any] | PictureOptions | None = None,
        grid: Sequence[int] = (14, 14),
        batches: str = "lengths",
        captions_per_image: int | None = None,
        features: Mapping[str, Any] | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """`restval`: the images that Karpathy left over are trained on, as everybody does since, and Xu et al. 2015 did
        not; the rest as in `Photographs`."""
        hold("data.restval", restval, bool)
        super().__init__(
            source=source,
            images=images,
            sample=sample,
            split=split,
            text=text,
            picture=picture,
            grid=grid,
            batches=batches,
            captions_per_image=captions_per_image,
            features=features,
            loader=loader,
        )
        self.restval = restval
