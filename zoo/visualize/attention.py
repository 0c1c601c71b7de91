"""The attention of any network, as a page to explore and as a picture: `zoo.attention_page`, `zoo.attention_picture`.

The weights may come from anywhere: a matrix, its heads, or its layers and heads, such as the `cross_attentions` of a
Hugging Face model.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Sequence
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.errors import DataError
from zoo.visualize.renderers.page import template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CELLS = 40_000_000  # Of a page: more would take hundreds of megabytes
LEVELS = 2**16 - 1  # A cell of a page has two bytes
NAMED = 60  # A picture writes the names of at most so many rows and columns


class Stack(NamedTuple):
    """Maps of attention from R rows to C columns."""

    values: NDArray[Any]  # (L, H, R, C)
    rows: tuple[str, ...]
    columns: tuple[str, ...]


def attention_page(
    weights: Any, rows: Sequence[str], columns: Sequence[str], *, title: str = "What the network attended to"
) -> str:
    """Return an HTML page that needs no network: point at a word, or at a cell, to see where it looked.

    Args:
        weights: arrays or tensors: a matrix (R, C), heads (H, R, C), layers and heads (L, H, R, C), or a list of
            layers, each (H, R, C) or (1, H, R, C), such as the `cross_attentions` of a Hugging Face model.
        rows: R names, such as the words that were written.
        columns: C names, such as the words that were read.
        title: the heading.

    Raises:
        DataError: weights of another shape, negative or not finite, or too many of them for a page.
    """
    stack = _stack(weights, rows, columns)
    if stack.values.size > MOST_CELLS:
        raise DataError(
            f"weights: {stack.values.size:,} cells are too many for a page, which holds {MOST_CELLS:,}; give fewer "
            "layers or heads, or their mean"
        )
    most = float(stack.values.max(initial=0.0)) or 1.0
    data = {
        "rows": stack.rows,
        "columns": stack.columns,
        "most": most,
        "maps": [[_png(one / most) for one in layer] for layer in stack.values],
    }
    script = template("attention.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # "<" would end the element; no text of a user is ever part of the script
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return template("attention.html").render(title=title, script=script, digest=digest, data=text, stack=stack)


def attention_picture(weights: Any, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Return a matplotlib figure of one map, or of all maps side by side, one row of pictures for each layer.

    The arguments and errors are those of `attention_page`. The names are written on a single map of at most 60 rows
    and columns. `zoo.visualize.save_picture(figure, "attention.png")` writes it to a file.
    """
    from zoo.visualize.blocks import Grid
    from zoo.visualize.drawing import SMALL, Drawing, Raster
    from zoo.visualize.letters import Letters
    from zoo.visualize.renderers.canvas import painted
    from zoo.visualize.renderers.figure import draw

    stack = _stack(weights, rows, columns)
    layers, heads, height, width = stack.values.shape
    most = float(stack.values.max(initial=0.0)) or 1.0
    if layers == heads == 1 and max(height, width) <= NAMED:
        return draw([Grid(rows=stack.rows, columns=stack.columns, weights=(stack.values[0, 0] / most).tolist())])
    across = heads if layers > 1 else ceil(sqrt(heads))
    wide, high = _size(height, width, 1600 / across)
    sheet, title, gap = Drawing(across * (wide + 14) + 14), 22 if layers * heads > 1 else 6, 14
    for number in range(layers * heads):
        layer, head = divmod(number, heads)
        left, top = gap + (number % across) * (wide + gap), gap + (number // across) * (high + title + gap) + title
        names = [f"layer {layer + 1}"] * (layers > 1) + [f"head {head + 1}"] * (heads > 1)
        sheet.write(left, top - 7, ", ".join(names), SMALL)
        sheet.rasters.append(Raster(left, top, wide, high, stack.values[layer, head], most))
        sheet.box("frames", left, top, wide, high)
        sheet.height = top + high + gap
    return painted(sheet, Letters())


def _size(rows: int, columns: int, room: float) -> tuple[float, float]:
    """The width and height of a map whose longer side has at most `room` pixels, and at least 120."""
    cell = max(120.0, min(room, 600.0)) / max(rows, columns, 1)
    return columns * cell, rows * cell


def _stack(weights: Any, rows: Sequence[str], columns: Sequence[str]) -> Stack:
    """The weights as (L, H, R, C). Raises DataError for weights of another shape, or that cannot be weights."""
    layers = [_array(one) for one in weights] if isinstance(weights, list | tuple) else [_array(weights)]
    if len({layer.shape for layer in layers}) != 1:
        raise DataError(f"weights: expected layers of one shape, found {[layer.shape for layer in layers]}")
    values = np.stack(layers) if isinstance(weights, list | tuple) else layers[0]
    found = " x ".join(map(str, values.shape))
    if values.ndim == 5 and values.shape[1] == 1:
        values = values[:, 0]  # a batch of one example
    elif values.ndim == 5:
        raise DataError(
            f"weights of {found}: a batch of {values.shape[1]} examples; give one, [layer[0] for layer in weights]"
        )
    if not 2 <= values.ndim <= 4 or values.shape[-2:] != (len(rows), len(columns)):
        raise DataError(
            f"weights of {found}: expected {len(rows)} rows x {len(columns)} columns, one per name, with heads, "
            "or layers and heads, before them"
        )
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
        raise DataError("weights: found negative numbers, infinity or NaN; give the weights after the softmax")
    values = values.reshape(*(1,) * (4 - values.ndim), *values.shape)
    return Stack(values, tuple(map(str, rows)), tuple(map(str, columns)))


def _array(values: Any) -> NDArray[Any]:
    """An array in float32 of an array, nested lists, or a tensor on any device and of any type."""
    if hasattr(values, "detach"):
        values = values.detach().float().cpu()
    try:
        return np.asarray(values, np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"weights: expected an array of numbers, found a {type(values).__name__} ({error})") from error


def _png(shares: NDArray[Any]) -> str:
    """A PNG, in base64, of numbers (R, C) from 0 to 1: red has the upper byte of each, and green the lower one."""
    levels = np.rint(shares * LEVELS).astype(np.uint16)
    pixels = np.stack([levels >> 8, levels & 255, np.zeros_like(levels)], 2).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=3)
    return base64.b64encode(file.getvalue()).decode()
