"""A run that learns to write what it hears, and what it writes of files of sound."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

import zoo
from tests.data.audio.sounds_made import saved, tone
from tests.run.families import TRANSCRIBING
from tests.run.programs import launch, result
from tests.visualize.reading import Page

KNOWN = {"loss", "perplexity", "cer", "wer", "exact_match", "attention_recall", "attention_chance"}
KNOWN |= {"pointing", "monotone"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run with everything on."""
    where = tmp_path_factory.mktemp("sounds")
    words = ["model.location=[2,5]", "data.augment.masks=SS", "trainer.max_epochs=1", "hydra.run.dir=run"]
    assert launch([*TRANSCRIBING, *words], where) == 0
    return where / "run"


def test_result_json_pictures_and_the_table_of_predictions(folder: Path) -> None:
    facts = result(folder)
    assert facts["task"] == "transcription" and facts["sizes"] == {"train": 25, "val": 7, "test": 11}
    assert {name.removeprefix("test/") for name in facts["metrics"]} == KNOWN
    assert all(np.isfinite(value) for value in facts["metrics"].values())
    assert facts["signatures"]["test/cer"].startswith("jiwer")
    names = {path.name for path in (folder / "attention").glob("*.png")}
    assert {f"test_{number}.png" for number in (1, 2, 3, 4)} <= names
    rows = list(csv.DictReader((folder / "predictions.csv").open(encoding="utf-8")))
    assert len({row["index"] for row in rows}) == len(rows) == 11


def test_sounds_of_any_rate_are_transcribed_drawn_and_played(folder: Path, tmp_path: Path, predicted) -> None:
    saved(tmp_path / "sounds/b.flac", tone(seconds=0.5, rate=44100), 44100)
    saved(tmp_path / "sounds/a.wav", np.stack([tone(), -0.5 * tone()], 1))
    lines, page, rows, _ = predicted(folder, tmp_path / "sounds", "--nbest", "2")
    assert [(Path(line["sound"]).name, line["seconds"]) for line in lines] == [("a.wav", 0.3), ("b.flac", 0.5)]
    for line in lines:
        for one in line["transcripts"]:
            assert len(one["attention"]) == len(one["tokens"]) + one["finished"]
            assert np.shape(one["attention"])[1] == np.ceil((1 + 100 * line["seconds"]) / 4)
            assert np.sum(one["attention"], 1) == pytest.approx(1, abs=1e-5)
    assert [row["transcript"] for row in rows] == [line["transcripts"][0]["text"] for line in lines]
    assert all(Image.open(tmp_path / f"look-{number}.png").width > 400 for number in (1, 2))
    assert len(Page(page).find("audio")) == 2


def test_the_checkpoint_alone_transcribes_a_path_and_samples(folder: Path, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.wav")
    one, other = zoo.load(folder / "checkpoints/best.ckpt")([path, soundfile.read(path, dtype="int16")])
    assert one.best.text == other.best.text and one.sound.name == str(path)
    assert one.sound.seconds == other.sound.seconds == 0.3


def test_a_broken_sound_costs_no_other_its_transcript(folder: Path, tmp_path: Path, refusal) -> None:
    path = saved(tmp_path / "one.wav")
    (tmp_path / "two.wav").write_bytes(b"no sound")
    err = refusal("predict", folder, path, tmp_path / "two.wav").err
    assert f"left out: {tmp_path / 'two.wav'}: not a sound" in err and "error: 1 of 2 sounds could not be used" in err
    assert "gone.wav: no such file; expected the path of a sound" in refusal("predict", folder, "gone.wav").err


@pytest.mark.skipif(not shutil.which("espeak-ng"), reason="espeak-ng is not installed")
def test_a_wav_of_espeak_ng_is_read_and_its_words_have_times(tmp_path: Path, predicted) -> None:
    path = tmp_path / "seven.wav"
    subprocess.run(["espeak-ng", "-w", path, "seven three"], check=True)
    (line,), _, _, _ = predicted("las", path)
    assert line["seconds"] == pytest.approx(soundfile.info(path).duration, abs=1e-3)
    words = line["transcripts"][0]["words"]
    assert words and all(0 <= word["begin"] < word["end"] < line["seconds"] + 0.04 for word in words)
