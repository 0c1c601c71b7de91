"""What is shown of images and captions: where the light falls, on the picture and on the page; tables, JSON and the
terminal; how a user names images."""

import base64
import io
import re
import subprocess
from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from PIL import Image

from tests.tasks.images import captioning
from tests.visualize.captioned import DOG, EXAMINED, PIXELS, RED, captioned
from tests.visualize.test_document_page import CHROMIUM, Page
from zoo.errors import ConfigError, DataError
from zoo.tasks.captioning import Picture
from zoo.visualize.captioning import CaptioningView
from zoo.visualize.captioning_light import DIM, lit, smooth
from zoo.visualize.captioning_page import FINER, overlay
from zoo.visualize.captioning_picture import MOST_WORDS, caption_figure

VIEW = CaptioningView()


# where the light falls


@pytest.mark.parametrize("grid", [(2, 3), (14, 14), (3, 16)])
def test_each_cell_is_lit_over_its_own_part_of_the_picture(grid):
    """The light of one cell is brightest in its middle, symmetric around it, and all of it lies within a cell's width
    of its rim."""
    rows, columns = grid
    high, wide = 10 * rows, 14 * columns
    for row, column in ((0, 0), (rows - 1, columns - 1), (rows // 2, columns // 2)):
        weights = np.zeros(grid)
        weights[row, column] = 0.4
        light = smooth(weights.ravel().tolist(), grid, (high, wide))
        assert light.shape == (high, wide) and light.max() == pytest.approx(1, abs=0.02)
        down, right = np.indices(light.shape) + 0.5
        own = (down // 10 == row) & (right // 14 == column)
        assert light[own].min() > 0.25 and light[~own].max() < 0.75
        near = (abs(down - 10 * (row + 0.5)) <= 20) & (abs(right - 14 * (column + 0.5)) <= 28)
        assert not light[~near].any()
        if 0 < row < rows - 1:  # at the rim there is less on one side
            assert (light * down).sum() / light.sum() == pytest.approx(10 * (row + 0.5), abs=0.1)
            assert (light * right).sum() / light.sum() == pytest.approx(14 * (column + 0.5), abs=0.1)


def test_even_attention_is_even_light_and_only_shares_of_the_largest_count():
    assert smooth([1 / 6] * 6, (2, 3), (80, 120)) == pytest.approx(np.ones((80, 120)))
    weights = np.random.default_rng(0).random(6)
    assert smooth((weights / 7).tolist(), (2, 3), (40, 60)) == pytest.approx(
        smooth(weights.tolist(), (2, 3), (40, 60)), abs=1e-6
    )
    assert not smooth([0.0] * 6, (2, 3), (8, 12)).any()


@pytest.mark.parametrize(("value", "bright", "dim"), [(0, 77, 0), (100, 147, 35), (255, 255, 89)])
def test_light_by_hand(value, bright, dim):
    """Three tenths of what is missing to white, also where the picture is black; elsewhere 35 of 100."""
    pixels = np.full((2, 3, 3), value, np.uint8)
    found = lit(pixels, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (2, 3))
    assert found[0, 0, 0] == bright and found[1, 2, 0] == found[0, 2, 0] == dim


def test_what_lies_over_the_page_makes_of_a_picture_what_the_picture_shows():
    weights = np.random.default_rng(1).random(6).tolist()
    layer = np.asarray(Image.open(io.BytesIO(overlay(weights, (2, 3)))), np.float64) / 255
    assert layer.shape == (2 * FINER, 3 * FINER, 4)
    for value in (0, 90, 255):
        pixels = np.full((*layer.shape[:2], 3), value, np.uint8)
        shown = layer[..., :3] * layer[..., 3:] + pixels / 255 * (1 - layer[..., 3:])
        assert shown * 255 == pytest.approx(lit(pixels, weights, (2, 3)).astype(float), abs=2)


# picture


def titles(axes):
    return axes.get_title(loc="left"), axes.get_title(loc="right")


def shown_in(axes):
    return np.asarray(axes.images[0].get_array())


def test_the_picture_has_the_image_and_one_more_for_each_word():
    figure = caption_figure(DOG)
    assert [titles(axes) for axes in figure.axes] == [("", ""), ("a", "0.17"), ("red", "1.00"), ("dog", "0.50")]
    plain, even, red, dog = (shown_in(axes).astype(float) for axes in figure.axes)
    high, wide = plain.shape[:2]
    assert wide / high == pytest.approx(1.5, abs=0.02)
    cells = [(row, column) for row in (0, 1) for column in (0, 1, 2)]
    middle = {(row, column): (int(high * (row + 0.5) / 2), int(wide * (column + 0.5) / 3)) for row, column in cells}
    assert plain[middle[1, 2]].tolist() == [200, 40, 40] and plain[middle[0, 1]].tolist() == [100] * 3
    assert (even >= plain).all()
    for cell, place in middle.items():
        assert (red[place].sum() > plain[place].sum()) == (cell == (1, 2))
    assert dog[middle[0, 0]][0] > dog[middle[0, 1]][0] > dog[middle[0, 2]][0]
    boxes = [(axes.get_position().x0, -axes.get_position().y0) for axes in figure.axes]
    assert boxes == sorted(boxes, key=lambda box: (round(box[1], 6), box[0]))  # left to right, top to bottom


def test_an_examined_picture_frames_what_a_word_names_and_tells_the_truth():
    figure = caption_figure(DOG, EXAMINED)
    frames = [[patch for patch in axes.patches if isinstance(patch, Rectangle)] for axes in figure.axes]
    assert [len(found) for found in frames] == [0, 0, 1, 1]
    high, wide = shown_in(figure.axes[0]).shape[:2]
    (frame,) = frames[2]
    edges = frame.get_x() + 0.5, frame.get_y() + 0.5, frame.get_width(), frame.get_height()
    assert edges == pytest.approx((wide * RED[0], high * RED[1], wide / 3, high / 2))
    texts = [text.get_text() for text in figure.texts]
    assert texts[0] == "a red dog" and texts[1].startswith("true of image dog.png") and "a dog that is red" in texts[1]
    assert "orange" in texts[2] and "orange" not in caption_figure(DOG).texts[2].get_text()
    false = caption_figure(DOG, replace(EXAMINED, true=False, boxes=(None, None, None)))
    assert false.texts[1].get_text().startswith("not true of") and "orange" not in false.texts[2].get_text()
    unknown = caption_figure(DOG, replace(EXAMINED, true=None, boxes=None))
    assert unknown.texts[1].get_text().startswith("dog.png, log-probability -1.50; the data: a dog")


def test_pictures_of_any_shape_of_many_words_and_of_features_alone():
    long = captioned(words=("x$_",) * (MOST_WORDS + 3), attention=((1 / 6,) * 6,) * (MOST_WORDS + 4))
    figure = caption_figure(replace(long, picture=Picture("wide.png", DOG.picture.png)))
    assert len(figure.axes) == MOST_WORDS + 1 and f"cut to {MOST_WORDS} words" in figure.texts[2].get_text()
    figure.canvas.draw()  # what looks like a formula is none
    none = caption_figure(captioned(text="", words=(), attention=((1 / 6,) * 6,)))
    assert len(none.axes) == 1 and none.texts[0].get_text() == "(nothing)"
    features = caption_figure(replace(DOG, picture=Picture("dog", None)))
    assert shown_in(features.axes[0]).min() == 255 and shown_in(features.axes[2]).min() < 100
    narrow = PIXELS[:, :, :4].permute(1, 2, 0).numpy()
    file = io.BytesIO()
    Image.fromarray(narrow).save(file, "png")
    caption_figure(replace(DOG, picture=Picture("narrow", file.getvalue()))).canvas.draw()
    assert VIEW.picture(captioned(attention=None)) is None
    with pytest.raises(ValueError, match="no attention"):
        caption_figure(captioned(attention=None))


# page


def inner(page, name):
    return [element for element in page.elements if name in element[1].get("class", "").split()]


def test_the_page_holds_the_image_and_a_light_for_each_word():
    page = Page(VIEW.page([captioned(), None]))
    (picture,) = inner(page, "picture")
    assert picture[1]["alt"] == "dog.png" and png_of(picture).shape == (80, 120, 3)
    words = inner(page, "word")
    assert [word[2] for word in words] == ["a", "red", "dog"]
    places = [(word[1]["data-row"], word[1]["data-column"], word[1]["data-weight"]) for word in words]
    assert places == [("0", "0", "0.1667"), ("1", "2", "1.0000"), ("0", "0", "0.5000")]
    looks = [png_of(look) for look in inner(page, "look")]
    assert len(looks) == 3
    hidden = looks[1][..., 3].reshape(2, FINER, 3, FINER).mean((1, 3))
    assert hidden.argmin() == 5
    (article, blank) = page.find("article")
    assert article[1]["data-caption"] == "a red dog" and "--ratio:1.5" in inner(page, "seen")[0][1]["style"]
    assert blank[1]["class"] == "blank" and "1 image, 1 blank." in page.find("p", "about")[0][2]
    assert inner(page, "captions") == []


def test_photographs_are_made_lighter_for_the_page():
    noise = np.random.default_rng(0).integers(0, 256, (224, 224, 3), np.uint8)
    photograph = np.asarray(Image.fromarray(noise[::8, ::8]).resize((224, 224)))
    file = io.BytesIO()
    Image.fromarray(photograph).save(file, "png")
    page = Page(VIEW.page([replace(captioned(), picture=Picture("photo", file.getvalue()))]))
    kind, data = inner(page, "picture")[0][1]["src"].split(";base64,")
    assert kind == "data:image/jpeg" and len(data) < len(file.getvalue()) / 2
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))), np.float64)
    assert shown.shape == photograph.shape and abs(shown - photograph).mean() < 12


def png_of(element):
    return np.asarray(
        Image.open(io.BytesIO(base64.b64decode(element[1]["src"].removeprefix("data:image/png;base64,"))))
    )


def test_the_page_has_all_captions_where_there_are_several():
    page = Page(VIEW.page([DOG]))
    assert [score[2] for score in inner(page, "score")] == ["-1.2500", "-2.2500"]
    assert [word[2] for word in inner(page, "word")] == ["a", "red", "dog", "a", "red", "dog", "dog"]


def test_the_page_loads_nothing_and_texts_stay_texts():
    evil = '<img src=x onerror="alert(1)">'
    text = VIEW.page([replace(captioned(text=evil, words=(evil,) * 3), picture=Picture(evil, DOG.picture.png))])
    page = Page(text)
    assert {image[1]["src"][:22] for image in page.find("img")} == {"data:image/png;base64,"}
    assert not [name for _, attributes, _ in page.elements for name in attributes if name.startswith("on")]
    assert not re.search(r"https?:|@import|url\(|<link|<script", text) and page.find("script") == []
    assert inner(page, "word")[0][2] == evil
    without = Page(VIEW.page([replace(captioned(attention=None), picture=Picture("dog", None))]))
    assert without.find("img") == [] and "Point at" not in without.find("p", "about")[0][2]


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
def test_in_a_browser_the_light_of_a_word_falls_on_its_cell(tmp_path):
    """What one sees while one points at "red" is as bright as the picture in the cell (1, 2), and dim elsewhere."""
    pointed = VIEW.page([captioned()]).replace(
        "</style>", ".word:nth-of-type(2) > .look { opacity: 1 !important }</style>"
    )
    (tmp_path / "page.html").write_text(pointed, encoding="utf-8")
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--force-device-scale-factor=1", "--window-size=900,700", f"--user-data-dir={tmp_path / 'user'}"]
    shot = tmp_path / "page.png"
    subprocess.run(
        [*command, f"--screenshot={shot}", f"file://{tmp_path / 'page.html'}"],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    seen = np.asarray(Image.open(shot).convert("RGB"), np.float64)
    reddish = (seen[..., 0] - seen[..., 1] > 60) & (seen[..., 0] > 150)
    rows, columns = np.flatnonzero(reddish.any(1)), np.flatnonzero(reddish.any(0))
    wide = 16 * 22 * 1.5**0.5  # of the picture, in pixels
    # the light of the last cell goes to the picture's rim, and fades towards the cells beside it
    assert 0.25 * wide < np.ptp(columns) < wide / 3 + 2 and 0.15 * wide < np.ptp(rows) < wide / 3 + 2
    left, top = columns.max() + 1 - wide, rows.max() + 1 - wide / 1.5
    for row in (0, 1):
        for column in (0, 1):
            middle = seen[int(top + wide / 3 * (row + 0.5)), int(left + wide / 3 * (column + 0.5))]
            assert middle == pytest.approx([100 * DIM] * 3, abs=6)


# terminal, tables, JSON


def test_the_terminal_has_the_image_and_its_caption_or_all_of_them():
    assert VIEW.terminal(DOG, 0, Namespace(nbest=None)) == "dog.png\ta red dog"
    assert VIEW.terminal(DOG, 3, Namespace(nbest=2)).splitlines() == [
        "3 ||| a red dog ||| -1.2500",
        "3 ||| dog ||| -2.2500",
    ]


def test_rows():
    assert dict(zip(VIEW.examined_columns(), VIEW.examined_row(EXAMINED), strict=True)) == {
        "index": 7,
        "image": "dog.png",
        "captions": "a dog that is red | a red dog",
        "caption": "a red dog",
        "log-probability": -1.5,
        "true": "yes",
    }
    assert VIEW.examined_row(replace(EXAMINED, true=None))[-1] == ""
    assert VIEW.examined_row(replace(EXAMINED, true=False))[-1] == "no"
    assert VIEW.as_json(DOG)["captions"][1]["words"] == ("dog",)


# what a user gives


def picture(path):
    path.parent.mkdir(exist_ok=True)
    Image.new("RGB", (12, 8)).save(path)
    return path


def test_images_are_named_by_path_by_folder_by_file_and_on_standard_input(tmp_path, monkeypatch):
    one, two, upper = (picture(tmp_path / "in" / name) for name in ("b.png", "a.jpg", "c.JPG"))
    (tmp_path / "in" / "notes.txt").write_text("no image")
    (tmp_path / "in" / "._b.png").write_bytes(b"what macOS keeps beside a file")
    (tmp_path / "in" / "folder.png").mkdir()
    assert VIEW.read([str(one), str(one.parent)], None) == [one, two, one, upper]
    paths = tmp_path / "paths.txt"
    paths.write_text(f"{two}\n\n{one}\n")
    assert VIEW.read([], paths) == [two, None, one]
    assert VIEW.read([str(upper)], paths) == [upper, two, None, one]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(f"{one}\n".encode())))
    assert VIEW.read([], None) == [one]


def test_what_is_no_image_is_an_error_that_says_what_is_expected(tmp_path):
    with pytest.raises(DataError, match=r"gone\.png: no such file; expected the path of an image, or of a folder"):
        VIEW.read([str(tmp_path / "gone.png")], None)
    with pytest.raises(DataError, match=r"no image in this folder; expected files that end in \.bmp"):
        VIEW.read([str(tmp_path)], None)
    listed = tmp_path / "paths.txt"
    listed.write_text(f"{tmp_path}\n")
    with pytest.raises(DataError, match=r"a folder; expected the path of an image$"):
        VIEW.read([], listed)


def test_attention_of_a_network_without_it_is_refused():
    task = captioning(["a dog"])
    predictor = SimpleNamespace(task=task)
    options = Namespace(attention="out.png", beam=None, nbest=None)
    VIEW.prepare(predictor, options)
    task.network.attends = {}
    with pytest.raises(ConfigError, match="--attention: this network has no attention"):
        VIEW.prepare(predictor, options)
    VIEW.prepare(predictor, Namespace(attention=None, beam=3, nbest=2))
    assert task.decode.beam_size == 3 and task.decode.nbest == 2
