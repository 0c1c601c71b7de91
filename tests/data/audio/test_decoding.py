"""Sounds of every kind, whole and broken."""

import struct

import numpy as np
import pytest
import torch

from tests.data.audio.sounds_made import pitch, saved, tone
from zoo.data.audio.batch import Sound
from zoo.data.audio.decoding import LongSound, UnusableSound, decode, measure, stored_form
from zoo.data.audio.options import SpectrogramOptions

EIGHT = SpectrogramOptions(rate=8000)


def test_samples_of_16_bits_are_kept_exactly(tmp_path):
    given = np.random.default_rng(0).integers(-(2**15), 2**15, 500).astype(np.int16)
    found = decode(saved(tmp_path / "a.wav", given), EIGHT)
    assert found.dtype == torch.float32 and stored_form(found).tolist() == given.tolist()
    assert torch.equal(found, decode((given, 8000), EIGHT))
    assert torch.equal(found, decode(Sound("a", 8000, torch.from_numpy(given)), EIGHT))
    assert stored_form(torch.tensor([1.5, -1.5, 0.0])).tolist() == [2**15 - 1, -(2**15), 0]


@pytest.mark.parametrize(
    ("name", "options", "exact"),
    [
        ("a.wav", {"subtype": "PCM_24"}, 1e-6),
        ("a.wav", {"subtype": "PCM_U8"}, 0.01),
        ("a.wav", {"subtype": "FLOAT"}, 1e-6),
        ("a.flac", {}, 1e-4),
        ("a.ogg", {}, 0.05),
        ("a.mp3", {}, None),
        ("a.sph", {"format": "NIST"}, 1e-4),
        ("flac.wav", {"format": "FLAC"}, 1e-4),  # the wrong suffix
        ("no suffix", {"format": "WAV"}, 1e-4),
    ],
)
def test_formats(tmp_path, name, options, exact):
    found = decode(saved(tmp_path / name, tone(seconds=0.5), **options), EIGHT).numpy()
    assert pitch(found, 8000) == pytest.approx(440, abs=3)
    if exact is not None:
        assert found == pytest.approx(tone(seconds=0.5), abs=exact)


def test_channels_are_averaged(tmp_path):
    left, right = tone(440), tone(880)
    found = decode(saved(tmp_path / "a.wav", np.stack([left, right], 1)), EIGHT).numpy()
    assert found == pytest.approx((left + right) / 2, abs=1e-4)
    given = (np.stack([left, right], 1) * 2**31).astype(np.int64).clip(-(2**31), 2**31 - 1).astype(np.int32)
    assert decode((given, 8000), EIGHT).numpy() == pytest.approx((left + right) / 2, abs=1e-6)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 44100, 48000])
def test_every_rate_becomes_that_of_the_data(tmp_path, rate):
    """A tone stays the same tone, and N samples become ceil(8000 N / rate)."""
    path = saved(tmp_path / "a.wav", tone(rate=rate, seconds=0.4), rate)
    found = decode(path, EIGHT).numpy()
    assert len(found) == measure((path,), EIGHT)[0] == -(-round(0.4 * rate) * 8000 // rate)
    inside = slice(200, -200)
    assert found[inside] == pytest.approx(tone(seconds=0.4)[: len(found)][inside], abs=2e-3)


def test_a_faster_sound_is_shorter_and_higher(tmp_path):
    path = saved(tmp_path / "a.wav", tone(seconds=1))
    for speed in (0.9, 1.1, 2):
        found = decode(path, EIGHT, speed).numpy()
        assert len(found) == pytest.approx(8000 / speed, abs=1)
        assert pitch(found, 8000) == pytest.approx(440 * speed, abs=2)


def test_files_that_follow_each_other(tmp_path):
    paths = (saved(tmp_path / "a.wav", tone(300)), saved(tmp_path / "b.wav", tone(900, seconds=0.2, rate=16000), 16000))
    found = decode(paths, EIGHT)
    assert torch.equal(found, torch.cat([decode(path, EIGHT) for path in paths]))
    assert measure(paths, EIGHT) == [2400, 1600]


def unusable(given, options=EIGHT):
    with pytest.raises(UnusableSound) as error:
        decode(given, options)
    return str(error.value)


def test_files_that_are_not_sounds(tmp_path):
    text, empty = tmp_path / "text.wav", tmp_path / "empty.wav"
    text.write_text("not a sound")
    empty.touch()
    assert unusable(text).startswith(f"{text}: not a sound: its 11 bytes are not in a known format; expected a .wav")
    assert unusable(empty).startswith(f"{empty}: not a sound: the file is empty; expected a .wav")
    missing = tmp_path / "missing.wav"
    assert unusable(str(missing)) == f"{missing}: cannot be read: No such file or directory"
    assert unusable(tmp_path) == f"{tmp_path}: not a sound: found a folder"
    raw = tmp_path / "a.raw"
    raw.write_bytes(bytes(100))
    assert unusable(raw).startswith(f"{raw}: not a sound: ")


@pytest.mark.parametrize("kind", ["wav", "aiff", "au", "ogg", "flac", "mp3", "sph"])
def test_half_a_file_is_broken(tmp_path, kind):
    noise = np.random.default_rng(0).normal(0, 0.1, 400000)
    whole = saved(tmp_path / f"whole.{kind}", noise, format="NIST" if kind == "sph" else None)
    assert abs(len(decode(whole, EIGHT)) - len(noise)) < 3000  # mp3 has some samples around the sound
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert unusable(cut).startswith(f"{cut}: broken sound: ")
    if kind == "wav":
        assert unusable(cut).endswith("it ends after 399,978 of 800,000 bytes; copy the file again")


def test_a_header_from_a_pipe_does_not_state_the_length(tmp_path):
    """As espeak-ng and ffmpeg write it."""
    content = bytearray(saved(tmp_path / "a.wav", np.full(800, 0.5)).read_bytes())
    at = content.index(b"data") + 4
    for stated in (0x7FFFF000, 0xFFFFFFFF):
        content[at : at + 4] = struct.pack("<I", stated)
        (tmp_path / "piped.wav").write_bytes(content)
        assert len(decode(tmp_path / "piped.wav", EIGHT)) == 800


def test_samples_in_memory_have_channels_last_and_a_whole_rate():
    stereo = np.stack([np.full(800, 0.25), np.full(800, 0.75)], 1)
    for rate in (8000, 8000.0, np.int64(8000)):
        assert torch.equal(decode((stereo, rate), EIGHT), torch.full((800,), 0.5))
    expected = "found an array (2, 800) of float64, expected numbers (N,) or (N, channels); transpose it"
    assert unusable((stereo.T, 8000)).endswith(expected)
    for rate in (0, 8000.5, float("inf"), float("nan"), "8000"):
        assert "found a tuple, expected a path, a pair (samples, rate in hertz)" in unusable((stereo, rate))


def test_sounds_without_a_sound(tmp_path):
    assert "a.wav: empty sound: it has no samples" in unusable(saved(tmp_path / "a.wav", np.zeros(0)))
    assert "b.wav: silent sound: all of its 800 samples are 0" in unusable(saved(tmp_path / "b.wav", np.zeros(800)))
    assert "c.wav: broken sound: some samples are not numbers" in unusable(
        saved(tmp_path / "c.wav", np.full(10, np.nan), subtype="FLOAT")
    )


def test_a_long_file_is_not_read(tmp_path):
    """Ten hours of 8 bits; the disk holds only the header."""
    path, count = tmp_path / "long.wav", 10 * 3600 * 8000
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + count, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", count
    )
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + count)
    with pytest.raises(LongSound) as error:
        decode(path, EIGHT)
    expected = "too long: it has 36,000.0 seconds, expected up to 60 (data.spectrogram.max_seconds)"
    assert str(error.value) == f"{path}: {expected}"
    paths = tuple(saved(tmp_path / f"{n}.wav") for n in range(4))
    options = SpectrogramOptions(rate=8000, max_seconds=1)
    with pytest.raises(LongSound, match=r"0\.wav: too long: it has 1\.2 seconds, expected up to 1 \("):
        measure(paths, options)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "the sound that was given: not a sound: found a int, expected a path, a pair"),
        ((np.zeros((2, 2, 2)), 8000), "not a sound: found an array (2, 2, 2) of float64, expected numbers (N,) or"),
        ((["a"], 8000), "not a sound: found an array (1,) of"),
        ((np.ones(4), 0), "not a sound: found a tuple"),
        ((np.ones(10**6), 8000), "too long: it has 125.0 seconds"),
    ],
)
def test_arrays_that_are_not_sounds(given, message):
    assert message in unusable(given)
