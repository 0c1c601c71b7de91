"""The views of pictures: tiles on pages, in pictures and on the terminal, the sheet of --out, and the options."""

import base64
import io
import re
from argparse import ArgumentParser
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

import zoo
from tests.visualize.reading import Page
from zoo.commands import predict
from zoo.data.pictures.encoding import Canvas
from zoo.errors import ConfigError, DataError, UnusableInput
from zoo.predicting.adversarial import AttendedPicture
from zoo.predicting.density import PicturePrediction
from zoo.visualize.adversarial import AdversarialView, attended
from zoo.visualize.density import DensityView
from zoo.visualize.renderers.terminal import Printed
from zoo.visualize.tiles import Tile, Tiles, heat, png, sheet

GREY = np.arange(12, dtype=np.uint8).reshape(4, 3, 1) * 20
COLOURED = np.stack([GREY[..., 0], GREY[..., 0] * 0, 255 - GREY[..., 0]], 2)
BITS = np.linspace(0, 3, 12, dtype=np.float32).reshape(4, 3)
COMPLETED = PicturePrediction("a.png", GREY, kept=2, bits=BITS)


def prepared(view, *words, conditions=None, condition="label", attends=("generator",)):
    """A view with the options of a command line."""
    parser = ArgumentParser()
    parser.add_argument("words", nargs="*", default=[])
    parser.add_argument("--file")
    parser.add_argument("--attention")
    view.options(parser.add_argument_group())
    classes = ("0", "7") if "label" in (conditions, condition) and not isinstance(view, DensityView) else ()
    classes = ("0", "7") if conditions == "label" else classes
    task = SimpleNamespace(
        network=SimpleNamespace(conditions=conditions, condition=condition, attends=attends),
        classes_to_draw=classes,
        spec=SimpleNamespace(height=4, width=4, classes=("0", "7")),
        seed=1,
        draw_by=lambda **given: setattr(task, "given", given),
    )
    encoder = SimpleNamespace(factors=("slant", "height"))
    view.prepare(SimpleNamespace(task=task, encoder=encoder), parser.parse_args(words))
    return task


def test_a_sheet_has_all_pictures_with_a_line_between():
    pixels = sheet([GREY, GREY + 1, GREY + 2])
    assert pixels.shape == (9, 7, 1) and np.array_equal(pixels[:4, :3], GREY)
    assert np.array_equal(pixels[:4, 4:], GREY + 1) and np.array_equal(pixels[5:, :3], GREY + 2)
    assert set(pixels[4].ravel()) == set(pixels[:, 3].ravel()) == {128} and (pixels[5:, 4:] == 128).all()
    assert np.array_equal(sheet([GREY]), GREY)


@pytest.mark.parametrize("pixels", [GREY, COLOURED])
def test_a_png_has_the_pixels_themselves(pixels):
    read = np.asarray(Image.open(io.BytesIO(png(pixels))))
    assert np.array_equal(read.reshape(pixels.shape), pixels)


def test_heat_goes_from_pale_to_dark():
    found = heat(np.array([[0.0, 1.0, 2.0]])).astype(int).sum(2)[0]
    assert found[0] > found[1] > found[2] and found[0] > 700
    assert np.array_equal(heat(np.zeros((2, 2))), np.tile(heat(np.zeros((1, 1))), (2, 2, 1)))


def test_a_page_has_the_pictures_the_edge_and_the_frames():
    made = Page(DensityView().page([COMPLETED]))
    sources = [about["src"] for _, about, _ in made.find("img")]
    read = np.asarray(Image.open(io.BytesIO(base64.b64decode(sources[0].partition("base64,")[2]))))
    assert np.array_equal(read, GREY[..., 0]) and len(sources) == 2
    assert made.find("i", "edge")[0][1]["style"] == "top:50.00%"
    assert made.texts("h2") == ["a.png"] and "completed after row 2" in " ".join(made.texts("p"))
    framed = DensityView().page([]) and Page(zoo.visualize.renderers.page.page("", "", [[framed_tiles()]]))
    style = framed.find("i", "mark")[0][1]["style"]
    assert re.findall(r"[\d.]+", style) == ["25.00", "66.67", "50.00", "33.33"]


def framed_tiles():
    return Tiles([Tile(GREY, "seen", boxes=[(1, 2, 2, 1)])])


def test_a_figure_has_a_raster_for_each_tile_in_its_proportions():
    view = DensityView()
    (axes,) = view.picture(COMPLETED).axes
    extents = [image.get_extent() for image in axes.images]
    assert len(extents) == 2
    for left, right, bottom, top in extents:
        assert (right - left) / (bottom - top) == pytest.approx(3 / 4)
    assert extents[0][1] < extents[1][0]  # side by side


def test_a_terminal_shows_two_pixels_in_a_letter_and_signs_without_colours():
    console = Console(width=60, color_system="truecolor", force_terminal=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(Printed([Tiles([Tile(COLOURED)])]))
    lines = [line for line in capture.get().splitlines() if "▀" in line]
    assert len(lines) == 2 and lines[0].count("▀") == 3
    assert "38;2;0;0;255" in lines[0] and f"48;2;{COLOURED[1, 0, 0]};0;{COLOURED[1, 0, 2]}" in lines[0]
    light = np.array([[0, 60, 110, 160, 255]] * 2, np.uint8)[..., None]
    assert str(Printed([Tiles([Tile(light)])])).splitlines()[0] == "  ░░▒▒▓▓██"
    assert str(Printed([Tiles([Tile(light, inked=True)])])).splitlines()[0] == "██▓▓▒▒░░"
    fine = light.repeat(8, 0).repeat(8, 1)
    assert str(Printed([Tiles([Tile(fine, finer=8)])])).splitlines()[:1] == ["  ░░▒▒▓▓██"]


def test_the_options_of_density_reach_the_task():
    view = DensityView()
    task = prepared(view, "--sample", "3", "--temperature", "0.5", "--seed", "4")
    assert task.given == {"temperature": 0.5, "complete": None} and task.seed == 4
    assert view.read([], None) == [Canvas(None, None, (), number) for number in range(3)]
    prepared(view := DensityView(), "--sample", "3", conditions="label")
    assert [one.label for one in view.read([], None)] == ["0", "7", "0"]
    prepared(view := DensityView(), "--sample", "2", "--factors", "0.5,1", conditions="factors")
    assert view.read([], None)[1] == Canvas(None, None, (0.5, 1.0), 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sample", "0"], "--sample=0: expected a whole number from 1 to 10000"),
        (["--sample", "20000"], "--sample=20000: expected a whole number from 1 to 10000"),
        (["--sample", "1", "--seed", "-1"], "--seed=-1: expected a whole number from 0 on"),
        (["--sample", "1", "--out", "a.txt"], "--out a.txt: expected the name of a file that ends in .png"),
        (["--sample", "2", "--complete", "0.5"], "--sample draws whole pictures; leave out --complete"),
        (["a.png", "--sample", "2"], "--sample draws whole pictures; leave out the names of pictures"),
        (["--class", "7"], "--class: this network is not asked for a class"),
        (["--factors", "1,2"], "--factors: this network reads none"),
    ],
)
def test_options_that_do_not_fit_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        prepared(DensityView(), *words)


def test_an_unknown_class_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="--class 8: unknown class; "):
        prepared(DensityView(), "--sample", "1", "--class", "8", conditions="label")
    with pytest.raises(UnusableInput, match="--factors 1,x: expected slant,height"):
        prepared(DensityView(), "--factors", "1,x", conditions="factors")
    with pytest.raises(UnusableInput, match="--factors 1,nan: expected finite numbers"):
        prepared(DensityView(), "--factors", "1,nan", conditions="factors")


def test_the_form_of_the_explorer_asks_for_what_the_network_needs():
    view = DensityView()
    prepared(view)
    assert [field.label for field in view.form()] == ["number"] and view.entered(["5"]) == Canvas(number=4)
    prepared(view, conditions="label")
    assert view.entered(["7", "2"]) == Canvas(label="7", number=1)
    prepared(view, conditions="factors")
    assert view.entered(["0.5,2", "2"]) == Canvas(factors=(0.5, 2.0), number=1)
    for number in ("x", "0"):
        with pytest.raises(UnusableInput, match=f"number: found '{number}', expected a whole number from 1 on"):
            view.entered(["0,1", number])


def test_a_place_is_framed_and_its_attention_is_light():
    """A picture of 4 x 4 pixels has 2 x 2 places; the lower right one looks at the lower left key."""
    pixels = np.full((4, 4, 1), 200, np.uint8)
    weights = np.zeros((4, 4), np.float32)
    weights[3, 2] = 1
    one = AttendedPicture("7", pixels, generated=True, score=0.5, attention=weights)
    assert (one.places, one.keys) == ((2, 2), (2, 2))
    tile = attended(one, (2, 3))
    assert tile.boxes == ((16, 16, 16, 16),) and tile.title == "1.00" and tile.pixels.shape == (32, 32, 3)
    light = tile.pixels.mean(2)
    assert light[24:, :8].mean() > light[:8, 24:].mean() + 50
    view = AdversarialView()
    prepared(view, "--places", "3,4 1,1")
    assert view.chosen == [(2, 3), (0, 0)]
    tiles = view.blocks(one)[1].tiles
    assert len(tiles) == 3 and tiles[1].boxes == tile.boxes
    (map_,) = view.maps(None, None, one)
    assert map_.weights.shape == (4, 4) and map_.rows[3] == map_.columns[3] == "2, 2"
    with pytest.raises(ConfigError, match="--places 9,1: expected ROW,COLUMN from 1,1 to 4,4"):
        prepared(AdversarialView(), "--places", "9,1")
    with pytest.raises(ConfigError, match="--places: this network has no attention; leave it out"):
        prepared(AdversarialView(), "--places", "1,1", attends=())


def test_included_networks_answer_on_the_command_line(tmp_path, capsys):
    picture = tmp_path / "a.png"
    Image.fromarray(np.zeros((12, 12), np.uint8)).save(picture)
    out = tmp_path / "drawn.png"
    predict.run(["gated_pixelcnn", "--sample", "4", "--out", str(out), "--json"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and '"kept_rows": 0' in lines[0] and Image.open(out).size == (25, 25)
    predict.run(["gated_pixelcnn", str(picture), "--complete", "0.5"])
    assert "nats" in capsys.readouterr().out
    predict.run(["sagan", "--sample", "1", "--class", "7", "--html", str(tmp_path / "page.html")])
    assert "critic" in capsys.readouterr().out and (tmp_path / "page.html").is_file()
    Image.fromarray(np.zeros((9, 12), np.uint8)).save(picture)
    with pytest.raises(DataError, match=r"a.png: another size: found 9 x 12 pixels in grey, expected 12 x 12"):
        predict.run(["gated_pixelcnn", str(picture)])
