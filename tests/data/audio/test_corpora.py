"""The official layouts, made small, with their errors; and the real digits."""

from collections import Counter

import numpy as np
import pytest

from tests.data.audio.sounds_made import saved, tone
from tests.data.serving import batches, one_bad_row, prepared, written
from zoo.data.audio.corpora import An4, LibriSpeech, SpeechCommands
from zoo.data.audio.fsdd import DIGITS, Fsdd
from zoo.data.rows import BadRows
from zoo.errors import ConfigError, DataError

SIZES = {"train": 8, "val": 3, "test": 3}
EIGHT = {"rate": 8000}


def rows(data, split):
    return list(data.open_source().splits[split](BadRows()))


def digits(folder, speakers=("ann", "bob"), count=12):
    """Recordings of each digit by each speaker; a digit has a duration of its own."""
    for speaker in speakers:
        for digit in range(10):
            for index in range(count):
                saved(folder / "recordings" / f"{digit}_{speaker}_{index}.wav", tone(seconds=0.02 + 0.005 * digit))
    return folder


# FSDD


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The recordings of two speakers."""
    return digits(tmp_path_factory.mktemp("digits"))


@pytest.mark.parametrize("below", ["", "recordings"])
def test_the_first_recordings_test_and_the_next_validate(recorded, below):
    data = Fsdd(source=str(recorded / below), join=None)
    names = {split: [row.name for row in rows(data, split)] for split in SIZES}
    numbers = {split: {int(name[:-4].split("_")[2]) for name in some} for split, some in names.items()}
    assert numbers == {"test": {0, 1, 2, 3, 4}, "val": {5, 6, 7, 8, 9}, "train": {10, 11}}
    assert {split: len(some) for split, some in names.items()} == {"train": 40, "val": 100, "test": 100}
    row = rows(data, "test")[0]
    assert (row.text, row.words, row.sound[0].name) == ("zero", ("zero",), "0_ann_0.wav")


def test_a_speaker_that_is_held_out(tmp_path):
    data = Fsdd(source=str(digits(tmp_path, ("ann", "bob", "c_d"), 7)), join=None, held_out="c_d")
    speakers = {split: Counter(row.name[2:5] for row in rows(data, split)) for split in SIZES}
    assert speakers == {"train": {"ann": 50, "bob": 50}, "val": {"ann": 20, "bob": 20}, "test": {"c_d": 70}}
    with pytest.raises(
        ConfigError, match=r"data.held_out: expected one of ann, bob, c_d, found 'Bob'; did you mean 'bob'"
    ):
        Fsdd(source=str(tmp_path), held_out="Bob").open_source()


def test_strings_have_recordings_of_one_speaker_and_one_split_with_known_borders(recorded, cache_dir):
    options = {"source": str(recorded), "strings": SIZES, "loader": {"batch_size": 4}}
    data = prepared(Fsdd(join="2-4", **options))
    assert data.sizes == SIZES
    own = {split: {row.name for row in rows(Fsdd(source=str(recorded), join=None), split)} for split in SIZES}
    for split in SIZES:
        for row in rows(data, split):
            names = [path.name for path in row.sound]
            assert 2 <= len(names) <= 4 and set(names) <= own[split] and len({name[2:5] for name in names}) == 1
            assert row.text.split() == [DIGITS[int(name[0])] for name in names]
    for batch in batches(data, "test"):
        for b, about in enumerate(batch.about):
            words, at, letter = about.text.split(), 0.0, 0
            for word in words:
                end = at + 0.02 + 0.005 * DIGITS.index(word)
                for span in about.spans[letter : letter + len(word)]:
                    assert span == pytest.approx((at, end))
                letter += len(word)
                if letter < len(about.spans):
                    assert about.spans[letter] is None and not batch.alignment[b, letter].any()
                at, letter = end, letter + 1
            assert about.sound.seconds == pytest.approx(at)
            heard = batch.alignment[b].any(0) & batch.frame_mask[b]
            assert heard.sum() >= batch.frame_mask[b].sum() - 1  # but for the frame at the very end
    again = Fsdd(join="2-4", **{**options, "strings": {**SIZES, "train": 3}})
    assert [row.sound for row in rows(again, "train")] == [row.sound for row in rows(data, "train")[:3]]


def test_digits_as_digits_and_the_sample(recorded, cache_dir):
    data = Fsdd(source=str(recorded), strings=SIZES, transcript="digits", join="3")
    assert all(len(row.text) == 3 and row.text.isdigit() for row in rows(data, "val"))
    sample = prepared(Fsdd(sample=SIZES, join="3-5"))
    (batch,) = batches(sample, "test")
    assert all(3 <= len(about.text.split()) <= 5 and set(about.text.split()) <= {*DIGITS} for about in batch.about)
    assert Fsdd(join=5).digits == (5, 5)
    assert sample.spec.features == 40 and batch.about[0].sound.rate == 8000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"join": "7-3"}, "data.join=7-3: expected the smaller number first"),
        ({"join": "a few"}, "data.join=a few: expected a range as 3-7, a whole number from 1 on or null"),
        ({"transcript": "letters"}, "data.transcript=letters: expected words or digits"),
    ],
)
def test_options_of_digits_that_do_not_fit(options, message):
    with pytest.raises(ConfigError, match=message):
        Fsdd(**options)


def test_the_real_digits(shared_data, cache_dir):
    if not (shared_data / "fsdd").is_dir():
        pytest.skip("no FSDD beside the clone (../shared/data/fsdd)")
    data = Fsdd(source=str(shared_data / "fsdd"), join=None)
    found = {split: rows(data, split) for split in SIZES}
    assert {split: len(some) for split, some in found.items()} == {"train": 2400, "val": 300, "test": 300}
    out = Fsdd(source=str(shared_data / "fsdd"), join=None, held_out="theo")
    assert [len(rows(out, split)) for split in SIZES] == [2250, 250, 500]
    strings = Fsdd(source=str(shared_data / "fsdd"), strings=SIZES, loader={"batch_size": 4})
    means = [
        float(one.about[0].sound.seconds) / len(one.about[0].text.split()) for one in batches(prepared(strings), "test")
    ]
    assert 0.25 < np.mean(means) < 0.7


# LibriSpeech


def books(folder, name="train-clean-100", **lines):
    """A chapter of a subset: a sound and a line for each of `lines`."""
    chapter = folder / "LibriSpeech" / name / "7" / "12"
    for number, (key, text) in enumerate(lines.items()):
        saved(chapter / f"7-12-{key}.flac", tone(rate=16000, seconds=0.1 + 0.01 * number), 16000)
        lines[key] = f"7-12-{key} {text}\n"
    written(chapter / "7-12.trans.txt", "".join(lines.values()))
    return chapter


@pytest.mark.parametrize("below", ["", "LibriSpeech"])
def test_librispeech(tmp_path, cache_dir, below):
    books(tmp_path, a="HE SAID SO", b="I'LL GO")
    books(tmp_path, "dev-clean", a="YES")
    books(tmp_path, "test-clean", a="NO")
    data = prepared(LibriSpeech(source=str(tmp_path / below), loader={"batch_size": 2}))
    assert data.sizes == {"train": 2, "val": 1, "test": 1}
    (batch,) = batches(data, "test")
    assert batch.about[0].text == "NO" and batch.about[0].spans is None and batch.alignment is None
    assert batch.about[0].sound.name == "test-clean/7/12/7-12-a.flac" and batch.frames.shape == (1, 11, 40)
    assert data.encoder.text(batches(data, "train")[0].target[0]) in ("he said so", "i'll go")


def test_the_subsets_of_librispeech(tmp_path):
    books(tmp_path, a="A")
    with pytest.raises(DataError, match=r"found train-clean-100; data.subsets.val expects dev-clean; \[\] dr"):
        LibriSpeech(source=str(tmp_path)).open_source()
    none = {"val": [], "test": []}
    assert list(LibriSpeech(source=str(tmp_path), subsets=none).open_source().splits) == ["train"]
    with pytest.raises(DataError, match="expected the folder LibriSpeech with train-clean-100"):
        LibriSpeech(source=str(tmp_path / "LibriSpeech" / "train-clean-100")).open_source()


def test_lines_and_files_of_librispeech_that_do_not_fit(tmp_path):
    chapter = books(tmp_path, a="A", b="B")
    read = LibriSpeech(source=str(tmp_path), subsets={"val": [], "test": []}).open_source().splits["train"]
    saved(chapter / "7-12-c.flac")
    assert len(one_bad_row(read, f"{chapter}/7-12-c.flac: no transcript: expected a line")) == 2
    (chapter / "7-12-c.flac").unlink()
    (chapter / "7-12-b.flac").unlink()
    place = f"{chapter}/7-12.trans.txt, line 2"
    assert len(one_bad_row(read, f"{place}: no file of this sound: expected 7-12-b.flac")) == 1


# AN4


def spelled(folder, suffix=".wav", more=""):
    lists = {
        "train": ["<s> A B C </s> (an1-x-b)", "<s> ENTER SIX </s> (an2-x-b)"],
        "test": ["YES (an3-x-b)"],
    }
    for split, lines in lists.items():
        ids = [f"an4_clstk/x/{line.split('(')[1].rstrip(')')}" for line in lines]
        written(
            folder / "an4" / "etc" / f"an4_{split}.transcription", "\n".join(lines) + "\n" + more * (split == "test")
        )
        written(folder / "an4" / "etc" / f"an4_{split}.fileids", "\n".join(ids) + "\n")
        for one in ids:
            options = {"format": "NIST"} if suffix == ".sph" else {}
            saved(folder / "an4" / "wav" / f"{one}{suffix}", tone(rate=16000), 16000, **options)
    return folder


@pytest.mark.parametrize("suffix", [".wav", ".sph"])
def test_an4(tmp_path, suffix):
    data = An4(source=str(spelled(tmp_path, suffix)))
    found = {split: [(row.name, row.text.strip()) for row in rows(data, split)] for split in ("train", "test")}
    assert found["train"] == [("an4_clstk/x/an1-x-b", "A B C"), ("an4_clstk/x/an2-x-b", "ENTER SIX")]
    assert found["test"] == [("an4_clstk/x/an3-x-b", "YES")] and list(data.open_source().splits) == ["train", "test"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("<s> A </s>", "not a transcript: expected"),
        ("A (an9-x-b)", "no file of this sound: expected a line with an9-x-b in an4_test.fileids"),
    ],
)
def test_lines_of_an4_that_do_not_fit(tmp_path, line, problem):
    read = An4(source=str(spelled(tmp_path, more=f"{line}\n"))).open_source().splits["test"]
    assert len(one_bad_row(read, f"{tmp_path}/an4/etc/an4_test.transcription, line 2: {problem}")) == 1


# Speech Commands


def commands(folder):
    for word in ("up", "no", "_background_noise_"):
        for name in ("a_nohash_0", "b_nohash_0", "c_nohash_0"):
            saved(folder / word / f"{name}.wav", tone(rate=16000), 16000)
    written(folder / "validation_list.txt", "up/a_nohash_0.wav\nno/c_nohash_0.wav\n")
    written(folder / "testing_list.txt", "no/b_nohash_0.wav\n")
    return folder


def test_speech_commands(tmp_path):
    data = SpeechCommands(source=str(commands(tmp_path)))
    found = {split: [(row.name, row.text) for row in rows(data, split)] for split in SIZES}
    assert found["val"] == [("no/c_nohash_0.wav", "no"), ("up/a_nohash_0.wav", "up")]
    assert found["test"] == [("no/b_nohash_0.wav", "no")]
    assert [name for name, _ in found["train"]] == ["no/a_nohash_0.wav", "up/b_nohash_0.wav", "up/c_nohash_0.wav"]
    some = SpeechCommands(source=str(tmp_path), words=["up"])
    assert [row.text for split in ("train", "val") for row in rows(some, split)] == ["up"] * 3
    with pytest.raises(DataError, match=r"no folder 'ups' \(data.words\); did you mean 'up'"):
        SpeechCommands(source=str(tmp_path), words=["ups"]).open_source()
    (tmp_path / "up" / "a_nohash_0.wav").unlink()
    read = data.open_source().splits["val"]
    assert len(one_bad_row(read, f"{tmp_path}/validation_list.txt, line 1: no file of this sound: expected")) == 1


# All


@pytest.mark.parametrize("corpus", [Fsdd, LibriSpeech, An4, SpeechCommands])
def test_every_corpus_has_a_sample_and_explains_another_folder(tmp_path, cache_dir, corpus):
    data = prepared(corpus(sample=SIZES, spectrogram=EIGHT))
    assert data.sizes == SIZES and batches(data, "test")[0].alignment.any()
    written(tmp_path / "notes.txt", "x")
    with pytest.raises(DataError, match=r"notes.txt; expected the folder .*; or use data.source=sample"):
        corpus(source=str(tmp_path)).open_source()
    with pytest.raises(ConfigError, match="is not on the Hugging Face hub"):
        corpus(source="hub").open_source()
