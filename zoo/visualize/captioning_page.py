"""Captions on a page: hover over a word, and the image shows where the network looked when it wrote it."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from zoo.visualize import page
from zoo.visualize.captioning_light import DIM, GLOW, smooth
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.captioning import Caption, CaptionPrediction

STYLE = page.resource("captioning_page.css")
SIDE = 22.0
"""The width of a square picture, in letters' heights; others have its area."""
WIDEST = 44.0
MOST_BYTES = 40_000
"""Of a picture on the page that is shown as it is: photographs would make pages of many images heavy."""
FINER = 4
"""So many pixels of what lies over the image are a side of a cell; the browser does the rest."""


def about(predictions: Sequence[CaptionPrediction | None]) -> str:
    """What the page shows and how it is read."""
    parts, real = [page.how_many(predictions, "image")], [p for p in predictions if p is not None]
    if any(prediction.best.attention for prediction in real):
        parts.append(
            "Point at a word, or step to it by the tab key: the image is bright where the network looked when it wrote "
            "the word, and dim elsewhere."
        )
    if any(len(prediction.captions) > 1 for prediction in real):
        parts.append("Below an image stand all its captions with what they were ranked by.")
    return " ".join(parts)


def article(prediction: CaptionPrediction) -> str:
    """One image and its captions."""
    best, grid = prediction.best, prediction.grid
    picture, ratio = _picture(prediction)
    wide = min(WIDEST, SIDE * ratio**0.5)
    parts = [
        f'<div class="seen" style="--ratio:{ratio:.4f};--wide:{wide:.1f}rem">\n{picture}',
        f'<h2 class="said" dir="auto">{_words(best, grid)}</h2>',
        f'<p class="verdict">{text(prediction.picture.name)}, log-probability {best.log_prob:.3f}</p>',
    ]
    if len(prediction.captions) > 1:
        ranked = (
            f'<li dir="auto"><span class="score">{one.score:.4f}</span>{_words(one, grid)}</li>'
            for one in prediction.captions
        )
        parts += ['<ol class="captions">', *ranked, "</ol>"]
    return page.article("\n".join([*parts, "</div>"]), caption=best.text, image=prediction.picture.name)


def _picture(prediction: CaptionPrediction) -> tuple[str, float]:
    """The image, and how many times its height its width is."""
    png, name = prediction.picture.png, text(prediction.picture.name)
    if png is None:
        rows, columns = prediction.grid
        return f'<div class="picture" title="{name}: only its features are known"></div>', columns / rows
    image, source = Image.open(io.BytesIO(png)), _data(png)
    if len(png) > MOST_BYTES:
        file = io.BytesIO()
        image.save(file, "jpeg", quality=90)
        source = _data(file.getvalue(), "jpeg")
    return f'<img class="picture" alt="{name}" src="{source}">', image.width / image.height


def _words(caption: Caption, grid: tuple[int, int]) -> str:
    looks: Sequence[Sequence[float] | None] = caption.attention or [None] * len(caption.words)
    return " ".join(map(_word, caption.words, looks, [grid] * len(caption.words))) or "(nothing)"


def _word(word: str, weights: Sequence[float] | None, grid: tuple[int, int]) -> str:
    """A word, and inside it what is laid over the image while one points at it."""
    if weights is None:
        return f'<span class="word">{text(word)}</span>'
    most = max(weights)
    row, column = divmod(weights.index(most), grid[1])
    about = f'data-row="{row}" data-column="{column}" data-weight="{most:.4f}" title="largest weight {most:.2f}"'
    return (
        f'<span class="word" tabindex="0" {about}>{text(word)}'
        f'<img class="look" alt="" src="{_data(overlay(weights, grid))}"></span>'
    )


def overlay(weights: Sequence[float], grid: tuple[int, int]) -> bytes:
    """A PNG file that makes of an image it is laid over what `captioning_light.lit` makes of it."""
    looked = smooth(weights, grid, (grid[0] * FINER, grid[1] * FINER))
    through = (DIM + (1 - DIM) * looked) * (1 - GLOW * looked)
    white = GLOW * looked / (1 - through).clip(1e-6)
    layers = [white, white, white, 1 - through]
    file = io.BytesIO()
    Image.fromarray((255 * np.stack(layers, -1) + 0.5).astype(np.uint8)).save(file, "png", optimize=True)
    return file.getvalue()


def _data(file: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{b64encode(file).decode()}"
