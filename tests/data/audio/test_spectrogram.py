"""Mel scales, filter banks and frames, by known numbers, other libraries and sums written out; and SpecAugment."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.audio.sounds_made import tone
from zoo.data.audio.options import POLICIES, AugmentOptions, SpectrogramOptions
from zoo.data.audio.spectrogram import described, filters, log_mel, masked, to_hertz, to_mel, transform_size
from zoo.errors import ConfigError

REFERENCE = json.loads(Path(__file__).with_name("filters.json").read_text("utf-8"))
"""Some weights, and all sums of bands, of torchaudio.functional.melscale_fbanks(norm=None, mel_scale="htk") with
torch's default type float64, and of librosa.filters.mel(norm="slaney", htk=False). The file names the versions."""
EIGHT = SpectrogramOptions(rate=8000)


def sound(seconds=0.3, rate=8000, seed=0):
    """(N,) a tone in noise."""
    noise = np.random.default_rng(seed).normal(0, 0.05, round(seconds * rate))
    return torch.from_numpy((tone(seconds=seconds, rate=rate) + noise).astype(np.float32))


def test_scales():
    assert to_mel(4000, "htk") == pytest.approx(2146.06, abs=0.01)
    assert to_mel(60, "slaney") == pytest.approx(0.9)
    assert to_mel(11025, "slaney") == pytest.approx(49.9106, abs=1e-4)
    assert to_mel(6400, "slaney") == pytest.approx(42)
    hertz = np.array([0, 20, 700, 999, 1000, 1001, 4000, 20000])
    for scale in ("htk", "slaney"):
        assert to_hertz(to_mel(hertz, scale), scale) == pytest.approx(hertz)


@pytest.mark.parametrize("case", REFERENCE["banks"], ids=lambda case: f"{case['library']}-{case['options']['rate']}")
def test_filters_equal_those_of_other_libraries(case):
    options = SpectrogramOptions(**case["options"])
    found = filters(options)
    assert list(found.shape) == case["shape"]
    for band, frequency, weight in case["weights"]:
        assert found[band, frequency].item() == pytest.approx(weight, abs=1e-6)
    assert found.sum(1).tolist() == pytest.approx(case["sums"], abs=1e-5)


def test_a_band_without_a_frequency_is_refused():
    """A transform of 256 samples has none up to 80 bands, one of 128 samples has."""
    assert transform_size(EIGHT) == 256 and transform_size(SpectrogramOptions(rate=16000)) == 512
    filters(SpectrogramOptions(rate=8000, mels=80))
    with pytest.raises(ConfigError, match=r"data\.spectrogram\.mels=80: expected fewer bands, or a longer window"):
        filters(SpectrogramOptions(rate=8000, mels=80, window=16))


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"fmax": 9000}, "fmax"),
        ({"fmin": 8000}, "fmin"),
        ({"window": 0.05}, "window"),
        ({"hop": 0.01}, "hop"),
        ({"scale": "bark"}, "scale"),
        ({"rate": 0}, "rate"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, key):
    with pytest.raises(ConfigError, match=rf"data\.spectrogram\.{key}="):
        SpectrogramOptions(**options)


@pytest.mark.parametrize("count", [1, 79, 80, 128, 3400, 3439])
def test_the_number_of_frames(count):
    found = log_mel(torch.ones(count), EIGHT)
    assert found.shape == (1 + count // 80, 40) and found.dtype == torch.float32
    assert count != 3400 or len(found) == 43


@pytest.mark.parametrize("frame", [0, 7, 30])
def test_a_frame_is_the_sum_written_out(frame):
    """The window of 200 samples around sample 80 * frame; the sound has zeros beyond its ends."""
    options = SpectrogramOptions(rate=8000, normalise="none", scale="slaney", mels=20)
    samples = sound().double().numpy()
    around = np.concatenate([np.zeros(100), samples, np.zeros(100)])[80 * frame : 80 * frame + 200]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(200) / 200)
    power = [abs(sum(around * window * np.exp(-2j * np.pi * k * np.arange(200) / 256))) ** 2 for k in range(129)]
    expected = np.log(np.maximum(filters(options).double().numpy() @ power, 1e-10))
    assert log_mel(sound(), options)[frame].numpy() == pytest.approx(expected, abs=1e-3)


def test_normalised_over_a_sound():
    bands = log_mel(sound(), EIGHT)
    assert bands.mean(0).numpy() == pytest.approx(0, abs=1e-4)
    assert bands.std(0, correction=0).numpy() == pytest.approx(1, abs=1e-4)
    whole = log_mel(sound(), SpectrogramOptions(rate=8000, normalise="sound"))
    assert whole.mean().item() == pytest.approx(0, abs=1e-4)
    assert whole.std(correction=0).item() == pytest.approx(1, abs=1e-4)
    assert whole.mean(0).abs().max() > 0.5
    louder = log_mel(3 * sound(), EIGHT)
    assert louder.numpy() == pytest.approx(bands.numpy(), abs=1e-3)
    assert log_mel(torch.full((50,), 0.1), EIGHT).abs().max() == 0  # one frame


# SpecAugment


def test_masks_have_the_numbers_of_a_policy():
    """LD: two masks of up to 27 bands and two of up to 100 frames, by the mean of all."""
    assert POLICIES["LD"] == (27, 2, 100, 1.0, 2) and POLICIES["SM"] == (15, 2, 70, 0.2, 2)
    frames = torch.randn(400, 80, generator=torch.Generator().manual_seed(1))
    widths, lengths = [], []
    for seed in range(200):
        found = masked(frames, AugmentOptions(masks="LD"), np.random.default_rng(seed))
        filled = found == frames.mean()
        bands, times = filled.all(0), filled.all(1)
        assert torch.equal(filled, bands[None, :] | times[:, None]) and torch.equal(found[~filled], frames[~filled])
        widths.append(int(bands.sum()))
        lengths.append(int(times.sum()))
    assert 40 < max(widths) <= 54 and 150 < max(lengths) <= 200
    assert np.mean(widths) == pytest.approx(2 * 13.5 * 0.92, rel=0.15)  # two masks overlap sometimes
    assert np.mean(lengths) == pytest.approx(2 * 50 * 0.93, rel=0.15)


def test_masks_of_own_numbers_and_of_a_share_of_the_frames():
    frames = torch.randn(50, 8, generator=torch.Generator().manual_seed(2))
    lengths, widths = set(), set()
    for seed in range(300):
        found = masked(frames, AugmentOptions(masks=[20, 1, 20, 0.2, 1]), np.random.default_rng(seed))
        filled = found == frames.mean()
        lengths.add(int(filled.all(1).sum()) if not filled.all() else 0)
        widths.add(int(filled.all(0).sum()))
    assert lengths == set(range(11)) and widths == set(range(9))  # at most a fifth of 50 frames, and all 8 bands
    assert len(masked(frames, AugmentOptions(masks=[0, 0, 100, 1.5, 1]), np.random.default_rng(0))) == 50
    again = [masked(frames, AugmentOptions(masks="SS"), np.random.default_rng(3)) for _ in range(2)]
    assert torch.equal(*again)
    assert masked(frames, AugmentOptions(), np.random.default_rng(3)) is frames


@pytest.mark.parametrize("options", [{"masks": "XL"}, {"masks": [1, 2]}, {"masks": [-1, 1, 1, 1, 1]}, {"speed": [0.1]}])
def test_augmentation_that_does_not_exist_is_refused(options):
    with pytest.raises(ConfigError, match=rf"data\.augment\.{next(iter(options))}="):
        AugmentOptions(**options)


def test_what_varies():
    assert not AugmentOptions().varies and not AugmentOptions(speed=(1,)).varies
    assert AugmentOptions(masks="LB").varies and AugmentOptions(speed=(0.9, 1.1)).varies


@pytest.mark.parametrize("options", [EIGHT, SpectrogramOptions(rate=16000, scale="slaney", normalise="sound", hop=16)])
def test_an_export_says_how_frames_are_made(options):
    """By numpy, from the numbers of the export alone."""
    about = json.loads(json.dumps(described(options)))
    samples = sound(rate=about["rate"]).numpy().astype(np.float64)
    size, window = about["size"], about["window"]
    hann = np.zeros(size)
    begin = (size - window) // 2
    hann[begin : begin + window] = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    around = np.pad(samples, size // 2)
    centres = range(0, len(samples) + 1, about["hop"])
    power = [np.abs(np.fft.rfft(around[centre : centre + size] * hann)) ** 2 for centre in centres]
    expected = np.log(np.maximum(power @ np.array(about["filters"]).T, about["floor"]))
    over = {"bands": 0, "sound": None}[about["normalise"]]
    expected = (expected - expected.mean(over)) / np.maximum(expected.std(over), about["least_deviation"])
    assert log_mel(torch.from_numpy(samples.astype(np.float32)), options).numpy() == pytest.approx(expected, abs=1e-3)
