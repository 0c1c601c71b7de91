"""The view of clips: the strip of frames and the words, on pages, in pictures, in tables, and on the terminal."""

import base64
import io
import re
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.clips.films import folder, write
from tests.visualize.reading import CHROMIUM, EVIL, Page, browse, shapes, texts
from zoo.errors import DataError
from zoo.predicting.captioning import png
from zoo.predicting.captions import Caption, ExaminedCaption
from zoo.predicting.clip_captioning import ClipPrediction, Film
from zoo.visualize.clip_captioning import COLUMNS, FRAME, MARGIN, ClipCaptioningView

VIEW = ClipCaptioningView()
GREYS = (50, 120, 180, 240)  # none is a quarter of another, which is that one in the shade
FRAMES = tuple(png(torch.full((3, 24, 32), grey, dtype=torch.uint8)) for grey in GREYS)
LOOKS = ((0.25,) * 4, (0.0, 0.0, 1.0, 0.0), (0.5, 0.25, 0.25, 0.0), (0.0, 1.0, 0.0, 0.0))
DOG = ClipPrediction(
    clip=Film("dog.mp4", 4, FRAMES),
    captions=(
        Caption("a dog runs", ("a", "dog", "runs"), log_prob=-1.5, score=-1.25, finished=True, attention=LOOKS),
        Caption("dog", ("dog",), -2.5, -2.25, True, (LOOKS[3],) * 2),
    ),
)
EXAMINED = ExaminedCaption(7, DOG, "a dog that runs | a dog runs", true=True, places=(None, (1.0, 2.0), (1.0, 2.0)))


def captioned(prediction=DOG, **changes):
    """DOG with changes of its best caption, which is then the only one."""
    return replace(prediction, captions=(replace(prediction.best, **changes),))


def test_the_page_has_the_strip_and_lights_it_by_word():
    made = Page(VIEW.page([captioned(), None]))
    images = [about for _, about, _ in made.find("img")]
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(one["src"].partition("base64,")[2])))) for one in images]
    assert [int(image.mean()) for image in shown] == list(GREYS)
    words = [about for _, about, _ in made.find("li", "named-word")]
    assert [(word["data-frame"], word["data-weight"]) for word in words] == [
        ("1", "0.2500"),
        ("3", "1.0000"),
        ("1", "0.5000"),
    ]
    assert all(word["tabindex"] == "0" for word in words)
    shares = re.findall(r"--v:([\d.]+)", VIEW.page([captioned()]))
    assert shares[8:12] == ["0.000", "0.000", "1.000", "0.000"] and len(shares) == 3 * 2 * 4
    assert made.texts("h2") == ["a dog runs"] and "1 clip, 1 blank." in made.texts("p", "about")[0]
    assert f"--columns:{min(COLUMNS, 4)}" in made.find("div", "clip")[0][1]["style"]


def test_the_page_loads_nothing_and_texts_stay_texts():
    for evil in EVIL:
        text = VIEW.page([replace(captioned(text=evil, words=(evil,) * 3), clip=Film(evil, 4, FRAMES))])
        made = Page(text)
        assert made.obeys_nothing() and len(made.find("img")) == 4
        assert not re.search(r"https?:|@import|<link", text)
    without = VIEW.page([replace(captioned(attention=None), clip=Film("dog", 4, ()))])
    assert Page(without).find("img") == [] and "Point at a word" not in without


def test_an_examined_clip_marks_the_frames_of_the_event():
    page = Page(VIEW.page([DOG]))
    assert page.texts("th")[-2:] == ["-1.2500", "-2.2500"], "several captions have their scores"
    figure = VIEW.picture(DOG, EXAMINED)
    assert any(text.startswith("✓ true of the clip; the data: a dog that runs") for text in texts(figure))
    assert "the frames of the event that the word is about" in texts(figure)
    frames = [shape for shape in shapes(figure, "true") if shape[1] > 2 * FRAME]
    assert len(frames) == 2 and frames[0][0][0] > MARGIN


def test_the_picture_has_each_frame_and_a_row_for_each_word():
    figure = VIEW.picture(captioned())
    images = [np.asarray(image.get_array()) for image in figure.axes[0].images]
    assert [int(image.mean()) for image in images if image.ndim == 3] == list(GREYS)
    assert [text for text in texts(figure) if text in ("a", "dog", "runs")] == ["a", "dog", "runs"]
    assert [text for text in texts(figure) if re.fullmatch(r"\d\.\d\d", text)] == ["0.25", "1.00", "0.50"]
    assert VIEW.picture(captioned(attention=None)) is None
    VIEW.picture(replace(DOG, clip=Film("dog", 4, ()))).canvas.draw()
    (weights,) = VIEW.maps(None, None, DOG)
    assert weights.rows == ["a", "dog", "runs", "(end)"] and weights.columns == ["1", "2", "3", "4"]


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
@pytest.mark.parametrize("pointed", [True, False])
def test_in_a_browser_the_frames_of_a_word_stay_bright(tmp_path, pointed):
    text = VIEW.page([captioned()]).replace('tabindex="0" data-frame="3"', 'id="dog" data-frame="3"')
    text = text.replace(".named-word:hover .shade,", "#dog .shade,") if pointed else text
    shot = tmp_path / "page.png"
    options = ["--hide-scrollbars", "--force-device-scale-factor=1", "--window-size=900,500"]
    browse(tmp_path, text, *options, f"--screenshot={shot}")
    seen = np.asarray(Image.open(shot).convert("L")).astype(int)
    row = seen[next(line for line in range(len(seen)) if (seen[line] == GREYS[2]).sum() > 40) + 8]
    found = {grey: int((row == grey).sum()) for grey in GREYS[:3]}
    assert found[GREYS[2]] > 40 and (found[GREYS[0]] < 5) == (found[GREYS[1]] < 5) == pointed


def test_rows_and_lines_of_the_terminal():
    assert VIEW.terminal(DOG, 0, Namespace(nbest=None)) == "dog.mp4\ta dog runs"
    assert VIEW.terminal(DOG, 3, Namespace(nbest=2)).splitlines()[0] == "3 ||| a dog runs ||| -1.2500"
    assert VIEW.examined_columns() == ["index", "clip", "captions", "caption", "log-probability", "true"]
    assert VIEW.examined_row(EXAMINED) == [7, "dog.mp4", "a dog that runs | a dog runs", "a dog runs", -1.5, "yes"]
    assert VIEW.as_json(DOG)["frames"] == 4 and VIEW.as_json(DOG)["captions"][1]["words"] == ("dog",)


def test_clips_are_named_by_path_and_by_folder(tmp_path):
    films = tmp_path / "films"
    films.mkdir()
    one, two = write(films / "b.mp4", 2), write(films / "a.avi", 2)
    (films / "notes.txt").write_text("no film")
    frames = folder(tmp_path / "frames", 2)
    assert VIEW.read([str(one), str(films), str(frames)], None) == [one, two, one, frames]
    (listed := tmp_path / "paths.txt").write_text(f"{two}\n\n{frames}\n")
    assert VIEW.read([], listed) == [two, None, frames]
    (tmp_path / "empty").mkdir()
    for word, message in (
        ("gone.mp4", r"gone\.mp4: no such file; expected the path of a film, of a folder of frames, or of a folder"),
        (str(tmp_path / "empty"), r"no clip in this folder; expected frames such as 1\.png, or films: \.avi"),
    ):
        with pytest.raises(DataError, match=message):
            VIEW.read([word], None)
