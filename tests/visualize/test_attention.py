"""The attention of any network: what a page holds, what a browser shows of it, and what a picture draws."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re

import numpy as np
import pytest
import torch
from PIL import Image

import zoo
from tests.visualize.reading import CHROMIUM, EVIL, Page, browse, texts
from zoo.errors import DataError

ROWS, COLUMNS = ("the", "house"), ("das", "haus", ".")
MATRIX = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05]])


def data_of(page):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def weights_of(page):
    """The weights (L, H, R, C) that the pixels of a page stand for."""
    data = data_of(page)
    maps = [
        [np.asarray(Image.open(io.BytesIO(base64.b64decode(one))), np.float64) for one in layer]
        for layer in data["maps"]
    ]
    pixels = np.array(maps)
    return (256 * pixels[..., 0] + pixels[..., 1]) / 65535 * data["most"]


def test_a_page_holds_every_weight_to_five_digits():
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 2))
    found = weights_of(zoo.attention_page(weights, ROWS, COLUMNS))
    assert found.shape == weights.shape and np.abs(found - weights).max() < 1e-5


def test_layers_heads_tensors_lists_and_batches_of_one_are_read_alike():
    stack = torch.rand(2, 4, 2, 3)
    expected = weights_of(zoo.attention_page(stack.numpy(), ROWS, COLUMNS))
    hugging_face = tuple(layer[None].bfloat16().float().requires_grad_() for layer in stack)
    assert weights_of(zoo.attention_page(list(stack), ROWS, COLUMNS)).tolist() == expected.tolist()
    assert np.allclose(weights_of(zoo.attention_page(hugging_face, ROWS, COLUMNS)), expected, atol=4e-3)
    assert weights_of(zoo.attention_page(MATRIX.tolist(), ROWS, COLUMNS)).shape == (1, 1, 2, 3)
    assert weights_of(zoo.attention_page(stack[0], ROWS, COLUMNS)).shape == (1, 4, 2, 3)
    assert weights_of(zoo.attention_page(np.zeros((2, 3)), ROWS, COLUMNS)).max() == 0


@pytest.mark.parametrize("show", [zoo.attention_page, zoo.attention_picture])
@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (MATRIX.T, "weights of 3 x 2: expected 2 rows x 3 columns, one per name"),
        (np.ones(3), "weights of 3: expected 2 rows x 3 columns"),
        (np.ones((2, 5, 4, 2, 3)), "a batch of 5 examples; give one, [layer[0] for layer in weights]"),
        (-MATRIX, "found negative numbers, infinity or NaN; give the weights after the softmax"),
        (MATRIX * np.nan, "found negative numbers, infinity or NaN"),
        ([np.ones((2, 3)), np.ones((2, 2))], "expected layers of one shape, found [(2, 3), (2, 2)]"),
        ([["a", "b", "c"]] * 2, "weights: expected an array of numbers, found a list"),
    ],
)
def test_weights_that_cannot_be_shown_are_refused(show, weights, said):
    with pytest.raises(DataError) as caught:
        show(weights, ROWS, COLUMNS)
    assert said in str(caught.value)


def test_more_cells_than_a_page_can_hold_are_refused():
    with pytest.raises(DataError, match="48,000,000 cells are too many for a page"):
        zoo.attention_page(np.broadcast_to(np.float32(0), (12, 2000, 2000)), range(2000), range(2000))


def test_texts_of_a_user_are_shown_and_never_run():
    page = zoo.attention_page(np.ones((len(EVIL), 3)), EVIL, COLUMNS, title=EVIL[1])
    assert data_of(page)["rows"] == list(EVIL)
    scripts = re.findall(r"<script(?: [^>]*)?>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2, "the weights, and the script of the page"
    digest = base64.b64encode(hashlib.sha256(scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page
    assert html.escape(EVIL[1], quote=False) in page.replace("&#39;", "'") and Page(page).find("h1")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
def test_a_browser_shows_where_a_word_looked(tmp_path):
    shown = browse(tmp_path, zoo.attention_page(MATRIX, ROWS, COLUMNS), "--dump-dom", "--virtual-time-budget=3000")
    buttons = re.findall(r'<button[^>]*style="--shade: ([\d.]+);"[^>]*>([^<]*)</button>', shown)
    shades = {name: float(shade) for shade, name in buttons}
    assert "the → das: 0.7000" in shown
    assert shades["das"] == 1 and shades["haus"] == pytest.approx(0.2 / 0.7, abs=1e-3) and shades["house"] == 0


def test_a_picture_has_a_map_for_each_head_and_the_names_of_a_single_one():
    one = zoo.attention_picture(MATRIX, ROWS, COLUMNS)
    assert {*ROWS, *COLUMNS} <= set(texts(one))
    many = zoo.attention_picture(np.ones((2, 3, 2, 3)), ROWS, COLUMNS)
    titles = texts(many)
    assert titles == [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert len(many.axes[0].images) == 6
    large = zoo.attention_picture(np.ones((70, 3)), range(70), COLUMNS)
    assert texts(large) == [] and large.axes[0].images[0].get_array().shape == (70, 3)
