"""From sounds to batches: the same frames for training and prediction, changes by epoch, and rows that are left out."""

import json
import pickle

import numpy as np
import pytest
import torch

from tests.data.audio.sounds_made import saved, tone
from tests.data.serving import batches, prepared, served, table
from zoo.data.audio.batch import AudioSpec
from zoo.data.audio.decoding import decode
from zoo.data.audio.encoding import AudioEncoder, spans_of
from zoo.data.audio.generated import ToneStrings
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.own import OwnSounds
from zoo.data.audio.spectrogram import log_mel
from zoo.data.batch import spec_from_state, spec_state
from zoo.errors import ConfigError, DataError

SIZES = {"train": 30, "val": 6, "test": 6}
EIGHT = {"rate": 8000}
TEXTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def tones(**options):
    return prepared(ToneStrings(**{"sample": SIZES, "longest": 8, "loader": {"batch_size": 8}, **options}))


def own(folder, *more, **options):
    """Ten sounds of 0.1 to 1 second, a table of them with the rows of `more`, and a tenth for validation and test."""
    rows = [(saved(folder / f"{n}.wav", tone(seconds=0.1 * n + 0.1)).name, TEXTS[n]) for n in range(10)]
    path = table(folder / "sounds.csv", [*rows, *more], ("file", "text"))
    return OwnSounds(**{"path": path, "spectrogram": EIGHT, "loader": {"batch_size": 4}, **options})


def test_a_prediction_sees_what_training_saw(cache_dir):
    data = tones()
    encoder = AudioEncoder.from_state(json.loads(json.dumps(data.encoder.state())))
    for split in SIZES:
        for batch in batches(data, split):
            assert batch.frames.dtype == torch.float32 and not batch.frames[~batch.frame_mask].any()
            assert batch.memory_length.tolist() == batch.frame_mask.sum(1).tolist()
            assert (batch.about is None) == (batch.alignment is None) == (split == "train")
            if split == "train":
                continue
            sounds = [about.sound for about in batch.about]
            again = encoder(sounds)
            assert torch.equal(again.frames, batch.frames) and torch.equal(again.frame_mask, batch.frame_mask)
            assert [about.sound.name for about in again.about] == [sound.name for sound in sounds]
            assert again.target is None and again.alignment is None and again.about[0].spans is None


def test_the_padding_of_a_batch_changes_nothing(cache_dir):
    encoder = tones().encoder
    given = [(tone(seconds=seconds), 8000) for seconds in (0.2, 0.5, 0.01)]
    many, options = encoder(given), encoder.spectrogram
    for row, one in enumerate(given):
        alone = encoder(one)
        length = int(alone.frame_mask.sum())
        assert torch.equal(many.frames[row, :length], alone.frames[0]) and int(many.frame_mask[row].sum()) == length
        assert torch.equal(alone.frames[0], log_mel(decode(one, options), options))
    assert [about.sound.name for about in many.about] == ["0", "1", "2"]
    assert many.about[1].sound.seconds == 0.5 and many.about[1].sound.samples.dtype == torch.int16


def test_one_sound_of_any_kind(tmp_path, cache_dir):
    encoder, path = tones().encoder, saved(tmp_path / "a.wav", tone(rate=48000), 48000)
    shown = encoder.display(path)
    assert (shown.name, shown.rate, len(shown.samples)) == (str(path), 8000, 2400)
    again = encoder.display(shown)
    assert again.name == str(path) and torch.equal(again.samples, shown.samples)
    for one in (path, str(path), shown, (tone(), 8000)):
        assert len(encoder(one)) == 1
    assert torch.equal(encoder(str(path)).frames, encoder([path]).frames)


def test_sounds_stay_where_they_are_when_a_batch_moves(cache_dir):
    batch = batches(tones(), "val")[0]
    half = batch.cast(torch.bfloat16)
    assert half.frames.dtype == torch.bfloat16 and half.about is batch.about and half.frame_mask.dtype == torch.bool
    first = batch.first(2)
    assert len(first) == 2 and first.about == batch.about[:2]
    assert first.frame_packing.pack(first.frames).shape == (int(first.frame_mask.sum()), 40)
    assert batch.to("meta").about is batch.about and int(batch.units) == int(batch.frame_mask.sum())


def test_a_spec_is_stored_and_declares_its_inputs():
    spec = AudioSpec(features=4, target_size=20, longest_target=9, hop=0.01)
    assert spec_from_state(json.loads(json.dumps(spec_state(spec)))) == spec
    drawn = spec.inputs().drawn({"batch": 3, "frames": 7})
    batch = spec.inputs().of(drawn)
    assert batch.frames.shape == (3, 7, 4) and batch.begin == spec.begin
    with pytest.raises(ConfigError, match="features"):
        AudioSpec(features=0, target_size=20, longest_target=9, hop=0.01)


# Training


def frames_of(data, epoch):
    """The frames of each training example in an epoch, in the order of the split."""
    loader = data.train_dataloader()
    loader.batch_sampler.set_epoch(epoch)
    found = {}
    for batch in loader:
        for row, number in enumerate(batch.index.tolist()):
            found[number] = batch.frames[row, batch.frame_mask[row]]
    return [found[number] for number in sorted(found)]


def test_changes_depend_only_on_the_seed_the_epoch_and_the_example(cache_dir):
    augment = {"speed": [0.9, 1.0, 1.1], "masks": [4, 1, 10, 0.5, 1]}
    data, plain = tones(augment=augment), tones()
    first, second = frames_of(data, 0), frames_of(data, 1)
    others = {
        "other batches": tones(augment=augment, loader={"batch_size": 3}),
        "other processes": tones(augment=augment, loader={"batch_size": 8, "num_workers": 2}),
    }
    for name, other in others.items():
        for epoch, expected in enumerate((first, second)):
            assert all(map(torch.equal, frames_of(other, epoch), expected)), name
    assert all(map(torch.equal, frames_of(plain, 0), frames_of(plain, 1)))
    lengths = np.array([[len(one) for one in some] for some in (first, second, frames_of(plain, 0))])
    ratios = lengths[:2] / lengths[2]
    assert {round(float(one), 1) for one in ratios.ravel()} == {0.9, 1.0, 1.1}
    assert not np.array_equal(lengths[0], lengths[1])
    seeded = tones(augment=augment, loader={"batch_size": 8, "seed": 5})
    assert not all(map(torch.equal, frames_of(seeded, 0), first))
    assert all(batch.about is not None for batch in batches(data, "val"))


def test_batches_hold_so_many_frames_and_similar_lengths(cache_dir):
    data = tones(loader={"max_tokens": 1200})
    for split, most in (("train", 1200), ("val", 2400), ("test", 2400)):  # evaluation needs less memory
        counts = [int(batch.frame_mask.sum()) for batch in batches(data, split)]
        assert max(counts) <= most and sum(counts) == data.part(split).lengths.sum()
        assert len(counts) > 1 or split != "train"
    lengths = data.part("train").lengths
    assert lengths.tolist() == [len(one) for one in frames_of(data, 0)]


def test_other_processes_get_no_samples(cache_dir):
    sounds = tones().part("train").sounds
    assert len(pickle.dumps(sounds)) < 1000
    assert torch.equal(pickle.loads(pickle.dumps(sounds)).samples(100, 50), sounds.samples(100, 50))


# Preparing


def test_the_description(tmp_path, cache_dir):
    data = prepared(own(tmp_path))
    about = data.describe()
    assert {name: split["sounds"] for name, split in about["splits"].items()} == {"train": 8, "val": 1, "test": 1}
    lengths = np.concatenate([data.part(split).lengths for split in SIZES])
    assert sorted(lengths.tolist()) == [10 * n + 11 for n in range(10)]
    train = about["splits"]["train"]
    assert train["frames"]["mean"] == pytest.approx(data.part("train").lengths.mean())
    assert sum(split["hours"] for split in about["splits"].values()) == pytest.approx(5.5 / 3600, abs=2e-3)
    assert about["contents"][0].endswith("hours of sound at 8,000 samples per second")
    assert about["examples"][0]["sound"].endswith("seconds") and about["examples"][0]["transcript"] in TEXTS
    assert data.spec.longest_target == 1 + max(map(len, TEXTS))


def test_the_bands_are_chosen_without_preparing_again(tmp_path, cache_dir):
    first = prepared(own(tmp_path))
    second = prepared(own(tmp_path, spectrogram={**EIGHT, "mels": 13, "normalise": "sound"}))
    assert first._folder(first.open_source()) == second._folder(second.open_source())
    assert second.spec.features == second.encoder.spectrogram.mels == batches(second, "val")[0].frames.shape[2] == 13
    other = own(tmp_path, spectrogram={**EIGHT, "hop": 5})
    assert other._folder(other.open_source()) != first._folder(first.open_source())


@pytest.mark.parametrize("tokenizer", ["words", "bpe", "unigram"])
def test_tokens_of_any_kind(tmp_path, cache_dir, tokenizer):
    data = prepared(own(tmp_path, text={"tokenizer": tokenizer, "vocabulary_size": 40}))
    (about,) = served(data, "test", "about")[0:1] or [None]
    assert about is None or about.text in TEXTS
    words = served(data, "train", "target")
    assert {data.encoder.text(one) for one in words} <= {*TEXTS, "<unk>"}


def test_a_token_is_heard_between_the_borders_of_its_letters():
    """The letters of "one two" as pairs; the blank is not heard, and "e t" is heard with both words."""
    letters, times = [0, 3, 4, 7], [0.0, 0.5, 0.5, 0.8]
    nan = [np.nan, np.nan]
    each = spans_of([(n, n + 1) for n in range(7)], letters, times)
    assert each == pytest.approx([0, 0.5] * 3 + nan + [0.5, 0.8] * 3, nan_ok=True)
    assert spans_of([(0, 2), (2, 5), (5, 7)], letters, times) == pytest.approx([0, 0.5, 0, 0.8, 0.5, 0.8])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: path.write_text("words"), "not a sound"),
        (lambda path: saved(path, np.zeros(0)), "empty sound"),
        (lambda path: saved(path, np.zeros(100)), "silent sound"),
        (lambda path: path.mkdir(), "not a sound"),
    ],
)
def test_unusable_sounds(tmp_path, cache_dir, make, problem):
    make(tmp_path / "bad.wav")
    row = ("bad.wav", "a text")
    with pytest.raises(DataError, match=rf"sounds.csv, line 12: .*bad.wav: {problem}: .*\(data.loader.on_bad_row=skip"):
        own(tmp_path, row).prepare_data()
    data = prepared(own(tmp_path, row, loader={"on_bad_row": "skip"}))
    assert data.describe()["skipped"] == {problem: 1} and sum(data.sizes.values()) == 10


def test_long_sounds_and_empty_transcripts_are_counted_in_training_and_an_error_elsewhere(tmp_path, cache_dir):
    long = saved(tmp_path / "long.wav", tone(seconds=3)).name
    options = {"spectrogram": {**EIGHT, "max_seconds": 2}, "text": {"max_length": 4}}
    data = prepared(own(tmp_path, (long, "x"), ("1.wav", " "), **options))
    dropped = data.describe()["splits"]["train"]["dropped"]
    assert dropped.pop("transcripts longer than 4 tokens") in (1, 2, 3)
    assert dropped == {"sounds longer than 2 seconds": 1, "empty transcripts": 1}
    for row, problem in (((long, "x", "val"), "too long"), (("1.wav", " ", "val"), "empty transcript")):
        rows = [("0.wav", "zero", "train"), ("1.wav", "one", "test"), row]
        path = table(tmp_path / "other.csv", rows, ("file", "text", "split"))
        with pytest.raises(DataError, match=rf"other.csv, line 4: .*{problem}: "):
            own(tmp_path, path=path, **options).prepare_data()


def test_the_encoder_reads_options_as_plain_data():
    assert SpectrogramOptions.of({"rate": 8000, "window": 25, "fmax": None}).highest == 4000
    with pytest.raises(ConfigError, match=r"data\.spectrogram\.bands: unknown key"):
        SpectrogramOptions.of({"bands": 3})
