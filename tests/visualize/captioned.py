"""A caption to be shown: a picture of 8 x 12 pixels, a grid of 2 x 3 cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from zoo.tasks.captioning import Caption, CaptionPrediction, ExaminedCaption, Picture, png

PIXELS = torch.full((3, 80, 120), 100, dtype=torch.uint8)
PIXELS[:, 40:, 80:] = torch.tensor([200, 40, 40], dtype=torch.uint8)[:, None, None]  # the cell (1, 2)
RED = (2 / 3, 0.5, 1.0, 1.0)
"""The box of the red part."""
DOG = CaptionPrediction(
    picture=Picture("dog.png", png(PIXELS)),
    grid=(2, 3),
    captions=(
        Caption(
            text="a red dog",
            words=("a", "red", "dog"),
            log_prob=-1.5,
            score=-1.25,
            finished=True,
            attention=(
                (1 / 6,) * 6,
                (0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
                (0.5, 0.25, 0.0, 0.25, 0.0, 0.0),
                (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
            ),
        ),
        Caption("dog", ("dog",), -2.5, -2.25, True, ((0.0, 1.0, 0.0, 0.0, 0.0, 0.0),) * 2),
    ),
)
EXAMINED = ExaminedCaption(
    index=7, prediction=DOG, truth="a dog that is red | a red dog", true=True, boxes=(None, RED, RED)
)


def captioned(prediction: CaptionPrediction = DOG, **changes: Any) -> CaptionPrediction:
    """DOG, or another, with changes of its best caption, which is then the only one."""
    return replace(prediction, captions=(replace(prediction.best, **changes),))
