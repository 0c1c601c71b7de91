"""Runs that learn to caption: pictures of a user's own, and networks that bring weights along."""

import base64
import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import models

import zoo
from tests.run.families import CAPTIONING
from tests.run.programs import launch, result, weights
from zoo.cli import main
from zoo.data.images.samples.scenes import scenes

KNOWN = {"loss", "perplexity", "attention_recall", "attention_chance", "pointing", "true"}
KNOWN |= {"bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider_d"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run with everything on."""
    where = tmp_path_factory.mktemp("captioning")
    words = ["regularizer=doubly_stochastic", "trainer.max_epochs=2", "hydra.run.dir=run"]
    assert launch([*CAPTIONING, *words], where) == 0
    return where / "run"


def test_result_json(folder: Path) -> None:
    facts = result(folder)
    assert facts["task"] == "captioning" and facts["sizes"] == {"train": 25, "val": 7, "test": 11}
    assert {name.removeprefix("test/") for name in facts["metrics"]} - {"meteor"} == KNOWN
    assert all(np.isfinite(value) for value in facts["metrics"].values())
    assert facts["signatures"]["test/bleu4"] == "tok:ptb|ref:closest,shorter|smooth:none"
    assert 0.05 < facts["metrics"]["test/attention_chance"] < 0.4
    header = (folder / "metrics.csv").read_text().splitlines()[0].split(",")
    assert {"train/doubly_stochastic", "val/cider_d", "val/true", "val/pointing"} <= set(header)


def test_pictures_and_table_of_predictions_are_of_as_many_images(folder: Path) -> None:
    names = {path.name for path in (folder / "attention").glob("*.png")}
    assert names == {f"{stage}_{number}.png" for stage in ("val_epoch01", "test") for number in (1, 2, 3, 4)}
    rows = list(csv.DictReader((folder / "predictions.csv").open(encoding="utf-8")))
    assert len({row["index"] for row in rows}) == len(rows) == 11
    assert all(len(row["captions"].split(" | ")) == 5 and row["true"] in ("yes", "no") for row in rows)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with two scenes as pictures of any size, and what is none."""
    where = tmp_path / "mine"
    where.mkdir()
    for scene, (name, size) in zip(scenes(range(2), seed=9), (("b.png", (64, 64)), ("a.jpg", (200, 120))), strict=True):
        Image.fromarray(scene.pixels).resize(size).save(where / name)
    (where / "notes.txt").write_text("no picture", encoding="utf-8")
    return where


def test_the_pictures_of_a_folder_are_captioned_and_drawn(
    folder: Path, pictures: Path, tmp_path: Path, predicted
) -> None:
    lines, page, rows, _ = predicted(folder, pictures, "--nbest", "2")
    assert [Path(line["image"]).name for line in lines] == ["a.jpg", "b.png"]
    for line in lines:
        assert line["grid"] == [4, 4] and len(line["captions"]) == 2
        for caption in line["captions"]:
            assert len(caption["attention"]) == len(caption["words"]) + caption["finished"]
            assert np.sum(caption["attention"], 1) == pytest.approx(1, abs=1e-5)
    for number in (1, 2):
        assert Image.open(tmp_path / f"look-{number}.png").width > 400
    shown = re.findall(r'class="picture"[^>]*src="data:image/png;base64,([^"]+)"', page)
    assert [Image.open(io.BytesIO(base64.b64decode(one))).size for one in shown] == [(32, 32)] * 2
    best = [line["captions"][0] for line in lines]
    assert page.count('class="map"') >= sum(len(caption["words"]) for caption in best)
    assert [row["caption"] for row in rows] == [caption["text"] for caption in best]


def test_the_checkpoint_alone_captions_paths_pictures_and_arrays(folder: Path, pictures: Path) -> None:
    path = pictures / "b.png"
    image = Image.open(path)
    found = zoo.load(folder / "checkpoints/best.ckpt")([path, image, np.asarray(image)])
    assert found[0].best.text == found[1].best.text == found[2].best.text
    assert found[0].best.log_prob == pytest.approx(found[2].best.log_prob, rel=1e-5)
    assert found[0].picture.name == str(path) and found[2].picture.png == found[0].picture.png


def test_captions_stand_behind_their_images_and_what_is_no_image_is_an_error(
    folder: Path, pictures: Path, capsys: pytest.CaptureFixture[str], refusal
) -> None:
    capsys.readouterr()
    main(["predict", str(folder), str(pictures / "b.png")])
    name, caption = capsys.readouterr().out.rstrip("\n").split("\t")
    assert name.endswith("b.png") and caption
    (pictures / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    for given, expected in (
        (pictures / "notes.txt", "notes.txt: not a picture"),
        (pictures / "broken.png", "broken.png: "),
        (pictures / "gone.png", "gone.png: no such file; expected the path of an image, or of a folder of images"),
    ):
        assert expected in refusal("predict", folder, given).err


def test_a_broken_image_in_a_folder_costs_no_other_its_caption(folder: Path, pictures: Path, predicted) -> None:
    (pictures / "aa.png").write_bytes(b"")
    lines, page, rows, err = predicted(folder, pictures, refused=True)
    assert [line and Path(line["image"]).name for line in lines] == ["a.jpg", None, "b.png"]
    assert f"left out: {pictures / 'aa.png'}: not a picture: the file is empty" in err
    assert err.splitlines()[-1] == "error: 1 of 3 images could not be used and have no prediction: see above"
    assert [bool(row["caption"]) for row in rows] == [True, False, True]
    assert page.count("<article") == 2


NAME = "shufflenet_v2_x0_5"
SMALL = [
    "model=show_and_tell",
    "model/encoder=vgg19",
    f"model.encoder.name={NAME}",
    "model.encoder.layer=null",
    "model.encoder.size=64",
    "model.embedding_dim=8",
    "model.hidden_dim=8",
    "data=scenes",
    "data.sample={train:12,val:4,test:4,seed:1}",
    "data.loader.batch_size=4",
    "callbacks=none",
    "scheduler=none",
    "trainer=cpu",
    "trainer.enable_progress_bar=false",
]
BACKBONE = "network.encoder.backbone.body.conv5.0.weight"


@pytest.mark.slow
def test_a_run_goes_on_where_the_file_of_weights_is_gone(tmp_path, capfd) -> None:
    """Resumed, begun from, evaluated and loaded, the backbone frozen and then trained."""
    file = tmp_path / "weights.pth"
    state = models.get_model(NAME, weights=None).state_dict()
    torch.save(state, file)
    run = [*SMALL, f"model.encoder.weights={file}"]
    assert launch([*run, "trainer.max_epochs=1", "hydra.run.dir=one"], tmp_path) == 0
    assert torch.equal(weights(tmp_path / "one")[BACKBONE], state["conv5.0.weight"])
    file.unlink()
    assert launch([*run, "trainer.max_epochs=1", "hydra.run.dir=none"], tmp_path) == 2
    assert "model.encoder.weights=" in capfd.readouterr().err
    assert launch([*run, "trainer.max_epochs=2", "hydra.run.dir=resumed", "ckpt_path=one"], tmp_path) == 0
    assert torch.equal(weights(tmp_path / "resumed")[BACKBONE], state["conv5.0.weight"])
    tuned = ["model.encoder.finetune_from=0", "model.encoder.learning_rate=0.1", "trainer.max_epochs=1"]
    assert launch([*run, *tuned, "hydra.run.dir=tuned", "start_from=one"], tmp_path) == 0
    assert not torch.equal(weights(tmp_path / "tuned")[BACKBONE], state["conv5.0.weight"])
    assert launch([*run, "train=false", "hydra.run.dir=tested", "ckpt_path=one"], tmp_path) == 0

    predictor = zoo.load(tmp_path / "one")
    assert predictor.task.network is not None
    found = predictor.task.network.state_dict()["encoder.backbone.body.conv5.0.weight"]
    assert torch.equal(found, state["conv5.0.weight"])
    assert len(predictor([torch.zeros(3, 64, 64, dtype=torch.uint8).numpy()])) == 1
