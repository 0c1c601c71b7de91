"""Runs that learn sounds, and the sounds that they make: of a class, after another sound, and from a spectrogram."""

import wave
from pathlib import Path

import numpy as np
import pytest

import zoo
from tests.run.families import QUIET
from tests.run.programs import launch, result
from zoo.data.waves.encoding import Request

TINY = ["data=chords", "data.seconds=0.05", "data.sample.train=12", "data.sample.val=4", "data.sample.test=4", *QUIET]
TINY += ["trainer.max_epochs=1", "model.condition=label", "task.classifier_steps=2", "task.samples=1"]
NET = ["model=wavenet", "model.residual_dim=4", "model.gate_dim=4", "model.skip_dim=8", "model.head_dim=8"]
NET += ["model.layers_per_block=3", "task.sample_seconds=0.02"]
SEEN = {"bits", "nats", "bits_silence", "bits_sound", "class_accuracy"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run of a network that reads the class and the spectrogram."""
    where = tmp_path_factory.mktemp("waves")
    assert launch([*NET, *TINY, "data.features=true", "data.spectrogram.mels=8", "hydra.run.dir=run"], where) == 0
    return where / "run"


def test_result_json_and_pictures(folder: Path) -> None:
    facts = result(folder)
    assert facts["task"] == "wave_density" and {name.removeprefix("test/") for name in facts["metrics"]} == SEEN
    assert [name.partition(":")[0] for name in facts["baselines"]][:2] == [
        "entropy, lower bound",
        "entropy, upper bound",
    ]
    assert len(facts["baselines"]) == 4 and facts["classifier"].startswith("convolutions for classes")
    assert (folder / "samples.png").is_file() and (folder / "surprisal/test_1.png").is_file()


def test_sounds_are_made_and_written(folder: Path, tmp_path: Path, predicted, refusal) -> None:
    like = tmp_path / "like.wav"
    with wave.open(str(like), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes((9000 * np.sin(np.arange(800) / 4)).astype("<i2").tobytes())
    words = ("--like", like, "--class", "A", "--seconds", "0.03", "--sample", "2", "--out", tmp_path / "a.wav")
    first = predicted(folder, *words)
    assert [line["seconds"] for line in first.json] == [0.03, 0.03]
    with wave.open(str(tmp_path / "a-2.wav")) as file:
        assert (file.getnframes(), file.getframerate(), file.getnchannels()) == (240, 8000, 1)
    assert predicted(folder, *words).json == first.json
    assert "<audio" in first.page
    (scored,) = predicted(folder, like, "--class", "A").json
    assert scored["seconds"] == scored["kept_seconds"] == 0.1
    for words, problem in (
        (["--seconds", "1", "--class", "A"], "use --like SOUND"),
        ([like], "--class NAME"),
        (["--seconds", "0", "--class", "A"], "--seconds=0.0: expected a number above 0"),
        (["--prime", like, "--class", "A"], "--prime: add --seconds S"),
        (["--seconds", "1", "--class", "H"], "--class H: unknown class"),
        (["--seconds", "1", "--class", "A", "--out", "a.mp3"], "expected the name of a file that ends in .wav"),
        (["gone.wav", "--class", "A"], "gone.wav: no such file"),
    ):
        assert problem in refusal("predict", folder, *words).err


def test_a_prompt_is_continued_and_a_long_one_is_named(folder: Path) -> None:
    predictor = zoo.load(folder / "checkpoints/best.ckpt")
    known = (0.3 * np.sin(np.arange(400) / 4).astype(np.float32), 8000)
    (alone,) = predictor([Request(known, "A")])
    (longer,) = predictor([Request(known, "A", seconds=0.01)])
    assert longer.kept == len(alone.sound.samples) == 400 and len(longer.sound.samples) == 480
    assert np.array_equal(longer.sound.samples[:400], alone.sound.samples)
    np.testing.assert_allclose(longer.bits[:400], alone.bits, atol=1e-4)
