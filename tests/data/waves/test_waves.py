"""Sounds as samples: the mu-law, chords of known entropy, pieces, folders and bad files."""

import math
import wave

import numpy as np
import pytest
import torch

from zoo.data.audio.decoding import UnusableSound, as_real, stored_form
from zoo.data.waves.chords import Chords
from zoo.data.waves.corpora import OwnWaves, SpokenDigits, Vctk
from zoo.data.waves.mu_law import borders, decode, encode
from zoo.data.waves.samples import chords
from zoo.errors import DataError


def test_levels_are_fixed_points_also_in_16_bits():
    levels = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(encode(decode(levels)), levels)
    assert torch.equal(encode(as_real(stored_form(decode(levels)).numpy())), levels)
    assert encode(torch.zeros(1)).item() == 128 and encode(torch.tensor([-1.0, 1.0, 2.0])).tolist() == [0, 255, 255]
    assert decode(torch.tensor([127, 128])).tolist() == pytest.approx([-8.6e-5, 8.6e-5], abs=1e-6)
    limits = torch.from_numpy(borders())
    assert torch.equal(encode(limits - 1e-9), levels[:-1]) and torch.equal(encode(limits + 1e-9), levels[1:])


def test_the_entropy_of_noise_is_that_of_drawn_levels():
    clean = np.array([0.0, 0.3, -0.9])
    found = chords.entropies(clean, 0.01)
    draw = np.random.default_rng(1)
    for at, own in zip(clean, found, strict=True):
        levels = np.searchsorted(borders(), at + draw.normal(0, 0.01, 400_000), side="right")
        shares = np.bincount(levels, minlength=256) / len(levels)
        assert own == pytest.approx(-(shares[shares > 0] * np.log(shares[shares > 0])).sum(), abs=2e-3)


def test_a_sound_depends_on_its_seed_and_number_alone():
    some, more = list(chords.generate(2, seed=3, seconds=0.1)), list(chords.generate(4, seed=3, seconds=0.1))
    assert all(np.array_equal(one.levels, other.levels) for one, other in zip(some, more, strict=False))
    # by hand: 8 classes, 3 numbers of strokes, of 20, 190 and 1140 begins; 2 strokes of 9 kinds and 18 / 8 notes
    begins = (math.log(20) + math.log(190) + math.log(1140)) / 3
    notes = (3 * 1 + 5 * 3) / 8
    expected = math.log(8) + math.log(3) + begins + 2 * (math.log(9) + notes * math.log(8))
    assert chords.entropy_of_strokes() == pytest.approx(expected)


@pytest.fixture
def data(tmp_path):
    options = {"piece": {"samples": 100, "context": 30}, "loader": {"cache_dir": str(tmp_path), "batch_size": 4}}
    found = Chords(seconds=0.05, sample={"train": 12, "val": 3, "test": 3}, **options)
    found.prepare_data()
    found.setup()
    return found


def test_pieces_cover_each_sample_of_a_sound_and_evaluation_reads_it_whole(data):
    part, whole = data.part("train"), data.part("val")
    sounds = [data.encoder.levels((one, 8000)) for one in [part.sounds.samples(*part._place[0].tolist()).numpy()]]
    scored = torch.zeros(400)
    for epoch in range(400):
        batch = data.encoder.collate(part[0 + epoch * len(part)])
        first, begin, end = part._piece(0, epoch)
        assert begin - first == min(30, begin) and end - begin <= 100
        assert torch.equal(batch.samples[0], sounds[0][first:end])
        assert int(batch.scored_mask.sum()) == end - begin
        scored[begin:end] += 1
    assert scored.min() > 0.5 * scored.max()
    batch = data.encoder.collate(whole[1])
    assert batch.samples.shape == (1, 400) and bool(batch.scored_mask.all())
    lower, upper = data.entropy("test")
    assert 0 < lower < upper


def write(path, samples, channels=1, rate=8000):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(np.asarray(samples, "<i2").tobytes())


def test_folders_of_classes_and_the_layouts_of_corpora(tmp_path):
    tone = (8000 * np.sin(np.arange(400) / 3)).astype(int)
    for name in ("a/1.wav", "a/2.wav", "b/1.wav", "b/2.wav", "b/3.wav", "a/3.wav"):
        write(tmp_path / "own" / name, tone)
        write(tmp_path / "vctk" / "wav48" / name, tone)
    loader = {"cache_dir": str(tmp_path / "cache")}
    kinds = {"loader": loader, "spectrogram": {"rate": 8000}, "split": {"val": 0.3, "test": 0.3}}
    for data in (OwnWaves(path=str(tmp_path / "own"), **kinds), Vctk(source=str(tmp_path / "vctk"), **kinds)):
        data.prepare_data()
        data.setup()
        assert data.spec.classes == ("a", "b") and data.sizes == {"train": 2, "val": 2, "test": 2}
    for number in (0, 5, 10):
        write(tmp_path / "digits" / "recordings" / f"7_george_{number}.wav", tone)
    data = SpokenDigits(source=str(tmp_path / "digits"), loader=loader, spectrogram={"rate": 8000})
    data.prepare_data()
    data.setup()
    assert data.spec.classes == ("seven",) and data.sizes == {"train": 1, "val": 1, "test": 1}


@pytest.mark.parametrize("broken", ["stereo", "cut", "silent"])
def test_a_bad_sound_is_named(tmp_path, broken):
    tone = (8000 * np.sin(np.arange(400) / 3)).astype(int)
    for number in range(4):
        write(tmp_path / "own" / f"{number}.wav", tone)
    bad = tmp_path / "own" / "9.wav"
    write(bad, 0 * tone if broken == "silent" else tone, 2 if broken == "stereo" else 1)
    if broken == "cut":
        bad.write_bytes(bad.read_bytes()[:30])
    data = OwnWaves(path=str(tmp_path / "own"), loader={"cache_dir": str(tmp_path / "cache")})
    with pytest.raises(DataError, match=r"9\.wav") as found:
        data.prepare_data()
    assert "\n" not in str(found.value)


def test_a_pair_with_two_channels_is_refused(data):
    with pytest.raises(UnusableSound, match="expected 1"):
        data.encoder([(np.ones((50, 2), np.float32) * 0.1, 8000)])
