"""A run that learns to caption clips, and what it writes of films and of folders of frames."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import zoo
from tests.data.clips.films import folder as frames
from tests.data.clips.films import sound, write
from tests.run.families import CLIPS
from tests.run.programs import launch, result
from tests.visualize.reading import Page
from zoo.cli import main

KNOWN = {"loss", "perplexity", "attention_recall", "attention_chance", "pointing", "true"}
KNOWN |= {"bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider_d"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run with everything on."""
    where = tmp_path_factory.mktemp("clips")
    words = ["regularizer=doubly_stochastic", "trainer.max_epochs=1", "hydra.run.dir=run"]
    assert launch([*CLIPS, *words], where) == 0
    return where / "run"


def test_result_json_pictures_and_the_table_of_predictions(folder: Path) -> None:
    facts = result(folder)
    assert facts["task"] == "clip_captioning" and facts["sizes"] == {"train": 25, "val": 7, "test": 11}
    assert {name.removeprefix("test/") for name in facts["metrics"]} - {"meteor"} == KNOWN
    assert all(np.isfinite(value) for value in facts["metrics"].values())
    assert 0.1 < facts["metrics"]["test/attention_chance"] < 0.4
    names = {path.name for path in (folder / "attention").glob("*.png")}
    assert {f"test_{number}.png" for number in (1, 2, 3, 4)} <= names
    rows = list(csv.DictReader((folder / "predictions.csv").open(encoding="utf-8")))
    assert len({row["index"] for row in rows}) == len(rows) == 11
    assert all(len(row["captions"].split(" | ")) == 3 and row["true"] in ("yes", "no") for row in rows)


def test_films_and_folders_of_frames_are_captioned_and_drawn(folder: Path, tmp_path: Path, predicted) -> None:
    (tmp_path / "films").mkdir()
    write(tmp_path / "films/b.mp4", 40)
    write(tmp_path / "films/a.gif", 3)
    frames(tmp_path / "frames", 5)
    lines, page, rows, _ = predicted(folder, tmp_path / "films", tmp_path / "frames", "--nbest", "2")
    assert [(Path(line["clip"]).name, line["frames"]) for line in lines] == [("a.gif", 3), ("b.mp4", 28), ("frames", 5)]
    for line in lines:
        for caption in line["captions"]:
            assert len(caption["attention"]) == len(caption["words"]) + caption["finished"]
            assert np.shape(caption["attention"])[1] == line["frames"]
            assert np.sum(caption["attention"], 1) == pytest.approx(1, abs=1e-5)
    assert [row["caption"] for row in rows] == [line["captions"][0]["text"] for line in lines]
    assert all(Image.open(tmp_path / f"look-{number}.png").width > 400 for number in (1, 2, 3))
    made = Page(page)
    assert len(made.find("ol", "strip")) == 3 and len(made.find("li", "frame")) == 36


def test_the_checkpoint_alone_captions_a_path_and_an_array(folder: Path, tmp_path: Path) -> None:
    path = frames(tmp_path / "frames", 4, (32, 32))
    array = np.stack([np.asarray(Image.open(path / f"{number}.png")) for number in range(1, 5)])
    one, other = zoo.load(folder / "checkpoints/best.ckpt")([path, array])
    assert one.best.text == other.best.text and one.clip.frames == other.clip.frames
    assert one.clip.name == str(path) and other.clip.count == 4
    assert json.loads(json.dumps(one.to_dict()))["frames"] == 4


def test_a_broken_film_costs_no_other_its_caption(folder: Path, tmp_path: Path, capsys, refusal) -> None:
    film = write(tmp_path / "one.mp4", 4)
    capsys.readouterr()
    main(["predict", str(folder), str(film)])
    name, _ = capsys.readouterr().out.rstrip("\n").split("\t")
    assert name.endswith("one.mp4")
    (tmp_path / "two.mp4").write_bytes(b"no film")
    err = refusal("predict", folder, film, tmp_path / "two.mp4").err
    assert f"left out: {tmp_path / 'two.mp4'}: not a clip, or a broken one" in err
    assert "error: 1 of 2 clips could not be used" in err
    assert "no video stream" in refusal("predict", folder, sound(tmp_path / "sound.mp4")).err
    assert "gone.mp4: no such file; expected the path of a film" in refusal("predict", folder, "gone.mp4").err
