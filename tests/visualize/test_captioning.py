"""The view of captioning: where the light falls, pictures, pages, tables, JSON, the terminal, and paths of images."""

import base64
import io
import re
from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from tests.visualize.reading import CHROMIUM, Page, browse, shapes, texts
from zoo.errors import DataError
from zoo.predicting.captioning import CaptionPrediction, Picture, png
from zoo.predicting.captions import Caption, ExaminedCaption
from zoo.visualize.captioning import AREA, DIM, FINER, MOST_WORDS, CaptioningView, overlay, smooth

VIEW = CaptioningView()
PIXELS = torch.full((3, 80, 120), 100, dtype=torch.uint8)
PIXELS[:, 40:, 80:] = torch.tensor([200, 40, 40], dtype=torch.uint8)[:, None, None]  # the cell (1, 2)
RED = (2 / 3, 0.5, 1.0, 1.0)
"""The box of the red part."""
LOOKS = ((1 / 6,) * 6, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.5, 0.25, 0.0, 0.25, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
DOG = CaptionPrediction(
    picture=Picture("dog.png", png(PIXELS)),
    grid=(2, 3),
    captions=(
        Caption("a red dog", ("a", "red", "dog"), log_prob=-1.5, score=-1.25, finished=True, attention=LOOKS),
        Caption("dog", ("dog",), -2.5, -2.25, True, (LOOKS[3],) * 2),
    ),
)
EXAMINED = ExaminedCaption(7, DOG, "a dog that is red | a red dog", true=True, places=(None, RED, RED))


def captioned(prediction=DOG, **changes):
    """DOG, or another, with changes of its best caption, which is then the only one."""
    return replace(prediction, captions=(replace(prediction.best, **changes),))


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
    whole, share = (smooth((weights / by).tolist(), (2, 3), (40, 60)) for by in (1, 7))
    assert share == pytest.approx(whole, abs=1e-6)
    assert not smooth([0.0] * 6, (2, 3), (8, 12)).any()


@pytest.mark.parametrize(("value", "bright", "dim"), [(0, 77, 0), (100, 147, 35), (255, 255, 89)])
def test_light_by_hand(value, bright, dim):
    """Three tenths of what is missing to white, also where the picture is black; elsewhere 35 of 100."""
    layer = overlay([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (2, 3), (2, 3))
    found = np.asarray(Image.alpha_composite(Image.new("RGBA", (3, 2), (value,) * 3), layer))
    assert found[0, 0, 0] == bright and found[1, 2, 0] == found[0, 2, 0] == dim


# picture


def maps(figure):
    """The images of a picture in their order, and their left upper corners."""
    images = figure.axes[0].images
    corners = [(image.get_extent()[0], image.get_extent()[3]) for image in images]
    return [np.asarray(image.get_array()) for image in images], corners


def test_the_picture_has_the_image_and_one_map_for_each_word():
    figure = VIEW.picture(DOG)
    (plain, even, red, dog), corners = maps(figure)
    assert [text for text in texts(figure) if text in ("a", "red", "dog")][:3] == ["a", "red", "dog"]
    assert [text for text in texts(figure) if re.fullmatch(r"\d\.\d\d", text)] == ["0.17", "1.00", "0.50"]
    high, wide = plain.shape[:2]
    assert wide / high == pytest.approx(1.5, abs=0.02)
    cells = [(row, column) for row in (0, 1) for column in (0, 1, 2)]
    middle = {(row, column): (int(high * (row + 0.5) / 2), int(wide * (column + 0.5) / 3)) for row, column in cells}
    assert plain[middle[1, 2]].tolist() == [200, 40, 40] and plain[middle[0, 1]].tolist() == [100] * 3
    assert (even.astype(int) >= plain).all()
    for cell, place in middle.items():
        assert (red[place].astype(int).sum() > plain[place].astype(int).sum()) == (cell == (1, 2))
    assert dog[middle[0, 0]][0] > dog[middle[0, 1]][0] > dog[middle[0, 2]][0]
    assert corners == sorted(corners, key=lambda corner: (corner[1], corner[0]))  # left to right, top to bottom


def test_an_examined_picture_frames_what_a_word_names_and_has_the_truth():
    figure = VIEW.picture(DOG, EXAMINED)
    frames = [shape for shape in shapes(figure, "true") if shape[1] > 20]
    _, corners = maps(figure)
    wide, high = AREA * 1.5**0.5, AREA / 1.5**0.5
    for (place, width, _), corner in zip(frames, corners[2:], strict=True):
        assert width == pytest.approx(wide / 3, rel=0.01)
        assert place == pytest.approx((corner[0] + wide * 5 / 6, corner[1] + high * 3 / 4), abs=1)
    shown = texts(figure)
    assert "a red dog" in shown and "the object that the word names" in shown
    assert any(text.startswith("✓ true of the image; the data: a dog that is red") for text in shown)
    false = texts(VIEW.picture(DOG, replace(EXAMINED, true=False, places=(None, None, None))))
    assert any(text.startswith("✗ not true of the image") for text in false)
    assert "the object that the word names" not in false
    assert any(text.startswith("the data: a dog") for text in texts(VIEW.picture(DOG, replace(EXAMINED, true=None))))


def test_pictures_of_any_shape_of_many_words_and_of_features_alone():
    long = captioned(words=("x$_",) * (MOST_WORDS + 3), attention=((1 / 6,) * 6,) * (MOST_WORDS + 4))
    figure = VIEW.picture(long)
    assert len(maps(figure)[0]) == MOST_WORDS + 1 and f"cut to {MOST_WORDS} words" in texts(figure)
    figure.canvas.draw()  # what looks like a formula is none
    none = VIEW.picture(captioned(text="", words=(), attention=((1 / 6,) * 6,)))
    assert len(maps(none)[0]) == 1 and "(nothing)" in texts(none)
    plain, _, red, _ = maps(VIEW.picture(replace(DOG, picture=Picture("dog", None))))[0]
    assert plain.min() == 255 and red.min() < 100
    file = io.BytesIO()
    Image.fromarray(PIXELS[:, :, :4].permute(1, 2, 0).numpy()).save(file, "png")
    VIEW.picture(replace(DOG, picture=Picture("narrow", file.getvalue()))).canvas.draw()
    assert VIEW.picture(captioned(attention=None)) is None


# page


def png_of(url):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,")))))


def test_the_page_holds_the_image_and_a_map_for_each_word():
    made = Page(VIEW.page([captioned(), None]))
    ((_, picture, _),) = made.find("img", "picture")
    assert picture["alt"] == "dog.png" and png_of(picture["src"]).shape == (80, 120, 3)
    words = [about for _, about, _ in made.find("li", "word")]
    assert made.texts("h2") == ["a red dog"]
    assert [text for text in made.texts("span") if text in ("a", "red", "dog")] == ["a", "red", "dog"]
    places = [(word["data-row"], word["data-column"], word["data-weight"]) for word in words]
    assert places == [("0", "0", "0.1667"), ("1", "2", "1.0000"), ("0", "0", "0.5000")]
    looks = [png_of(re.findall(r"--look:url\((.*)\)", word["style"])[0]) for word in words]
    hidden = looks[1][..., 3].reshape(2, FINER, 3, FINER).mean((1, 3))
    assert hidden.argmin() == 5
    (article, blank) = made.find("article")
    assert article[1]["data-caption"] == "a red dog" and "--ratio:1.5" in made.find("div", "looks")[0][1]["style"]
    assert blank[1]["class"] == "blank" and "1 image, 1 blank." in made.texts("p", "about")[0]
    assert made.find("table") == [] and "--image:url(" in made.find("div", "looks")[0][1]["style"]
    assert Page(VIEW.page([DOG])).texts("th")[-2:] == ["-1.2500", "-2.2500"], "several captions have their scores"


def test_photographs_are_made_lighter_for_the_page():
    noise = np.random.default_rng(0).integers(0, 256, (224, 224, 3), np.uint8)
    photograph = np.asarray(Image.fromarray(noise[::8, ::8]).resize((224, 224)))
    file = io.BytesIO()
    Image.fromarray(photograph).save(file, "png")
    made = Page(VIEW.page([replace(captioned(), picture=Picture("photo", file.getvalue()))]))
    kind, data = made.find("img", "picture")[0][1]["src"].split(";base64,")
    assert kind == "data:image/jpeg" and len(data) < len(file.getvalue()) / 2
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))), np.float64)
    assert shown.shape == photograph.shape and abs(shown - photograph).mean() < 12


def test_the_page_loads_nothing_and_texts_stay_texts():
    evil = '<img src=x onerror="alert(1)">'
    text = VIEW.page([replace(captioned(text=evil, words=(evil,) * 3), picture=Picture(evil, DOG.picture.png))])
    made = Page(text)
    assert made.obeys_nothing() and len(made.find("img")) == 1 and made.texts("h2") == [evil]
    assert set(re.findall(r"url\((.{15})", text)) == {"data:image/png;"}
    assert not re.search(r"https?:|@import|<link", text)
    without = Page(VIEW.page([replace(captioned(attention=None), picture=Picture("dog", None))]))
    assert without.find("img") == [] and "point at" not in without.texts("p", "about")[0]


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
@pytest.mark.parametrize("pointed", [True, False])
def test_in_a_browser_the_light_of_a_word_falls_on_its_cell(tmp_path, pointed):
    """While one points at "red" the image is as bright as it is in the cell (1, 2), and dim elsewhere."""
    text = VIEW.page([captioned()]).replace('tabindex="0" data-row="1"', 'id="red" data-row="1"')
    text = text.replace(".word:hover::after", "#red::after") if pointed else text
    shot = tmp_path / "page.png"
    options = ["--hide-scrollbars", "--force-device-scale-factor=1", "--window-size=900,700"]
    browse(tmp_path, text, *options, f"--screenshot={shot}")
    seen = np.asarray(Image.open(shot).convert("RGB"), np.float64)
    wide = 16 * 18 * 1.5**0.5  # of the image, in pixels
    seen = seen[:, : int(21 + 24 + wide)]  # without the maps beside it
    reddish = (seen[..., 0] - seen[..., 1] > 60) & (seen[..., 0] > 150)
    rows, columns = np.flatnonzero(reddish.any(1)), np.flatnonzero(reddish.any(0))
    assert 0.25 * wide < np.ptp(columns) < wide / 3 + 2 and 0.15 * wide < np.ptp(rows) < wide / 3 + 2
    left, top = columns.max() + 1 - wide, rows.max() + 1 - wide / 1.5
    for row, column in ((0, 0), (0, 1), (1, 0)):
        middle = seen[int(top + wide / 3 * (row + 0.5)), int(left + wide / 3 * (column + 0.5))]
        assert middle == pytest.approx([100 * (DIM if pointed else 1)] * 3, abs=6)


# terminal, tables, JSON


def test_rows_and_lines_of_the_terminal():
    assert VIEW.terminal(DOG, 0, Namespace(nbest=None)) == "dog.png\ta red dog"
    two = VIEW.terminal(DOG, 3, Namespace(nbest=2)).splitlines()
    assert two == ["3 ||| a red dog ||| -1.2500", "3 ||| dog ||| -2.2500"]
    assert VIEW.examined_columns() == ["index", "image", "captions", "caption", "log-probability", "true"]
    assert VIEW.examined_row(EXAMINED) == [7, "dog.png", "a dog that is red | a red dog", "a red dog", -1.5, "yes"]
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
    (listed := tmp_path / "paths.txt").write_text(f"{tmp_path}\n")
    for words, file, message in (
        (["gone.png"], None, r"gone\.png: no such file; expected the path of an image, or of a folder"),
        ([str(tmp_path)], None, r"no image in this folder; expected files that end in \.bmp"),
        ([], listed, r"a folder; expected the path of an image$"),
    ):
        with pytest.raises(DataError, match=message):
            VIEW.read(words, file)
