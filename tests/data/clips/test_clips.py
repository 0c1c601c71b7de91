"""Data of clips: the sample, clips of your own, MSVD and MSR-VTT, features, and every trouble with its file."""

import csv
import json
import pickle

import numpy as np
import pytest
import torch

from tests.data.clips.films import folder, grey, write
from tests.data.images.frozen import TARGET, Frozen
from zoo.data.clips.corpora import Msrvtt, Msvd
from zoo.data.clips.encoding import ClipCaptionEncoder
from zoo.data.clips.own import OwnClips
from zoo.errors import ConfigError, DataError

SAMPLE = {"train": 12, "val": 4, "test": 5, "seed": 1}
SMALL = {"picture": {"size": 16}, "frames": 6, "split": {"val": 0.25, "test": 0.25}}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "cache"))


def ready(data):
    data.prepare_data()
    data.setup()
    return data


def table(path, rows, header=("file", "caption", "split")):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header[: len(rows[0])], *rows])
    return path


def greys(batch):
    return [
        clip[mask].float().mean((1, 2, 3)).round().tolist()
        for clip, mask in zip(batch.frames, batch.frame_mask, strict=True)
    ]


# the sample


def test_the_sample_has_clips_of_unequal_length_with_alignment_and_truth():
    data = ready(OwnClips(sample=SAMPLE, loader={"batch_size": 5}))
    assert data.sizes == {"train": 12, "val": 4, "test": 5} and data.spec.frames == 28
    (batch,) = data.test_dataloader()
    lengths = batch.frame_mask.sum(1)
    assert (
        batch.frames.dtype == torch.uint8 and batch.frames.shape[2:] == (3, 32, 32) and len(set(lengths.tolist())) > 1
    )
    assert len(batch) == 15 and batch.shown == 5 and batch.memory_mask.shape == batch.alignment.shape[::2]
    for row, clip in enumerate(batch.picture.tolist()):
        about = batch.about[clip]
        words = data.encoder.decode(batch.target[row])
        assert about.is_true(" ".join(words)) and " ".join(words) in about.captions
        for at, (word, span) in enumerate(zip(words, about.places(words), strict=True)):
            named = batch.alignment[row, at].nonzero().flatten().tolist()
            expected = [] if span is None else list(range(int(span[0]), int(span[1]) + 1))
            assert named == expected, word
    train = next(iter(data.train_dataloader()))
    assert train.alignment is None and train.about is None
    few = batch.first(2)
    assert few.shown == 2 and len(few) == 6 and few.frames.shape[0] == few.frame_mask.shape[0] == 2
    assert (
        batch.each_image().index.tolist() == batch.index[[batch.picture.tolist().index(n) for n in range(5)]].tolist()
    )


def test_the_sample_refuses_fewer_frames_than_it_has_and_changes_of_frames():
    with pytest.raises(ConfigError, match=r"data.frames=6: clips of the sample have up to 9 frames: set 9"):
        OwnClips(frames=6).open_source()
    with pytest.raises(ConfigError, match=r"data.picture.flip=true: clips are the same in every epoch"):
        OwnClips(picture={"flip": True})
    with pytest.raises(ConfigError, match=r"data.captions_per_clip"):
        OwnClips(captions_per_clip=0)


# clips of your own


def test_films_and_folders_of_frames_are_read_with_their_captions(tmp_path):
    for number in range(6):
        write(tmp_path / f"film{number}.mp4", 4 + 3 * number)
    folder(tmp_path / "frames", 8)
    rows = [(f"film{number}.mp4", f"a film of number {number}", "train") for number in range(6)]
    rows += [
        ("film0.mp4", "the first film", "train"),
        ("frames", "a folder", "val"),
        ("film5.mp4", "the last", "train"),
    ]
    table(tmp_path / "captions.csv", [*rows, ("film1.mkv", "another kind", "test")])
    write(tmp_path / "film1.mkv", 1)
    data = ready(OwnClips(path=str(tmp_path), **{**SMALL, "loader": {"batch_size": 8}}))
    assert data.sizes == {"train": 6, "val": 1, "test": 1}
    (batch,) = data.val_dataloader()
    assert greys(batch)[0] == pytest.approx([grey(n, 8) for n in (0, 2, 3, 4, 6, 7)], abs=3)
    (one,) = data.test_dataloader()
    assert one.frame_mask.tolist() == [[True]] and one.about[0].name == "film1.mkv"
    (train,) = data.train_dataloader()
    by_clip = dict(zip(train.index.tolist(), (greys(train)[clip] for clip in train.picture.tolist()), strict=True))
    assert len(by_clip[0]) == 4 and len(by_clip[5]) == 6 and len(train) == 8
    same = pickle.loads(pickle.dumps(data.part("train").pictures))
    assert torch.equal(same[[3, 1]].values, data.part("train").pictures[[3, 1]].values)
    assert "up to 6 frames" in " ".join(data.contents(data.describe()))


def test_every_trouble_is_skipped_and_counted_or_one_line_with_the_path(tmp_path):
    for number in range(8):
        write(tmp_path / f"film{number}.mp4", 5)
    (tmp_path / "broken.mp4").write_bytes(b"not a film")
    rows = [(f"film{number}.mp4", f"film {number}") for number in range(8)]
    table(tmp_path / "captions.csv", [*rows, ("broken.mp4", "broken"), ("gone.mp4", "gone"), ("film3.mp4", "  ")])
    with pytest.raises(
        DataError, match=r"captions.csv, line 11: 1 of 10 clips is not in .*'gone.mp4'.*data.clips=FOLDER"
    ):
        OwnClips(path=str(tmp_path), **SMALL).prepare_data()
    write(tmp_path / "gone.mp4", 3)
    with pytest.raises(DataError, match=r"line 10: .*broken.mp4: not a clip, or a broken one: Invalid data"):
        OwnClips(path=str(tmp_path), **SMALL).prepare_data()
    (tmp_path / "gone.mp4").unlink()
    data = ready(OwnClips(path=str(tmp_path), **SMALL, loader={"on_bad_row": "skip"}))
    about = data.describe()
    assert about["skipped"] == {"missing clip": 1, "not a clip, or a broken one": 1}
    assert sum(data.sizes.values()) == 8 and about["splits"]["train"]["dropped"] == {"empty captions": 1}


def test_a_clip_that_changed_after_preparing_is_an_error(tmp_path):
    for number in range(6):
        write(tmp_path / f"film{number}.mp4", 5)
    table(tmp_path / "captions.csv", [(f"film{number}.mp4", f"film {number}") for number in range(6)])
    data = ready(OwnClips(path=str(tmp_path), **SMALL, loader={"batch_size": 8}))
    for number in range(6):
        write(tmp_path / f"film{number}.mp4", 3)
    with pytest.raises(DataError, match=r"film\d.mp4: found 3 frames, expected 5 as when the data was prepared"):
        next(iter(data.train_dataloader()))


def test_features_are_computed_once_for_each_frame_and_stored(tmp_path):
    for number in range(6):
        write(tmp_path / f"film{number}.mp4", 4 + number)
    table(tmp_path / "captions.csv", [(f"film{number}.mp4", f"film {number}") for number in range(6)])
    keys = {**SMALL, "path": str(tmp_path), "grid": (2, 2), "loader": {"batch_size": 8}}
    pixels = ready(OwnClips(**keys))
    Frozen.seen.clear()
    data = ready(OwnClips(**keys, features={"_target_": TARGET}))
    assert sum(Frozen.seen) == sum(min(6, 4 + number) for number in range(6))
    ready(OwnClips(**keys, features={"_target_": TARGET}))
    assert sum(Frozen.seen) == sum(min(6, 4 + number) for number in range(6)), "they are not computed again"
    assert data.spec.encoded and data.spec.channels == 6 and data.spec.height == data.spec.width == 2
    (batch,), (other,) = data.test_dataloader(), pixels.test_dataloader()
    assert batch.frames.dtype == torch.float16 and batch.frames.shape[2:] == (6, 2, 2)
    assert torch.equal(batch.frame_mask, other.frame_mask)
    expected = data.encoder.features(other.frames[0][other.frame_mask[0]])
    assert torch.equal(batch.frames[0][batch.frame_mask[0]], expected)
    again = data.encoder([str(tmp_path / batch.about[0].name)])
    assert torch.equal(again.frames[0], expected)


def test_an_encoder_is_restored_from_its_state(tmp_path):
    data = ready(OwnClips(sample=SAMPLE))
    encoder = ClipCaptionEncoder.from_state(json.loads(json.dumps(data.encoder.state())))
    clip = np.zeros((40, 32, 32, 3), np.uint8)
    batch = encoder([clip, clip[:3]], ["the red bar grows", ["the red bar moves", "it grows"]])
    assert batch.frame_mask.sum(1).tolist() == [28, 3] and len(batch) == 3 and batch.picture.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="1 captions for 2 clips"):
        encoder([clip, clip], ["one"])


# corpora


def test_msvd_is_split_in_the_order_of_its_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.clips.corpora.MSVD_SIZES", {"train": 3, "val": 1})
    names = [f"-id{number}_3_{number}" for number in range(6)]
    films = tmp_path / "YouTubeClips"
    films.mkdir()
    for number, name in enumerate(names):
        write(films / f"{name}.avi", 3 + number)
    lines = [f"{name} A squirrel eats nut {n}" for n in (0, 1) for name in names]
    (tmp_path / "AllVideoDescriptions.txt").write_text("\n".join(["# comments", "", *lines]))
    data = ready(Msvd(source=str(tmp_path), picture={"size": 16}, frames=4))
    found = {split: [one.name for one in data.part(split).about(np.arange(n))] for split, n in data.sizes.items()}
    films = [f"{name}.avi" for name in names]
    assert found == {"train": films[:3], "val": films[3:4], "test": films[4:]}
    assert data.part("train").about(np.array([0]))[0].captions == ("A squirrel eats nut 0", "A squirrel eats nut 1")
    numbers = "\n".join(f"{name} vid{6 - number}" for number, name in enumerate(names))
    (tmp_path / "youtube_mapping.txt").write_text(numbers)
    data = ready(Msvd(source=str(tmp_path), picture={"size": 16}, frames=4))
    assert [one.name for one in data.part("test").about(np.arange(2))] == films[:2][::-1]
    (tmp_path / "AllVideoDescriptions.txt").write_text("no name here\n")
    with pytest.raises(DataError, match=r"AllVideoDescriptions.txt, line 1: not as expected: found 'no name here'"):
        Msvd(source=str(tmp_path)).prepare_data()
    (tmp_path / "AllVideoDescriptions.txt").write_text("\n".join(lines[:3]))
    with pytest.raises(DataError, match=r"found captions of 3 clips, expected 1,970: is the file whole\?"):
        Msvd(source=str(tmp_path)).prepare_data()


def msrvtt(numbers, splits):
    videos = [{"id": n, "video_id": f"video{n}", "split": split} for n, split in zip(numbers, splits, strict=True)]
    sentences = [{"sen_id": n, "video_id": f"video{n}", "caption": f"clip {n} in words"} for n in numbers]
    return {"info": {}, "videos": videos, "sentences": sentences}


def test_msrvtt_has_its_splits_in_one_file_or_in_two(tmp_path):
    films = tmp_path / "TrainValVideo"
    films.mkdir()
    for number in range(5):
        write(films / f"video{number}.mp4", 4)
    splits = ["train", "train", "validate", "test", "train"]
    (tmp_path / "videodatainfo.json").write_text(json.dumps(msrvtt(range(5), splits)))
    whole = ready(Msrvtt(source=str(tmp_path), picture={"size": 16}, frames=4))
    assert whole.sizes == {"train": 3, "val": 1, "test": 1}
    (tmp_path / "videodatainfo.json").unlink()
    (tmp_path / "train_val_videodatainfo.json").write_text(json.dumps(msrvtt((0, 1, 2), splits[:3])))
    (tmp_path / "test_videodatainfo.json").write_text(json.dumps(msrvtt((3,), ["test"])))
    assert ready(Msrvtt(source=str(tmp_path), picture={"size": 16}, frames=4)).sizes == {
        "train": 2,
        "val": 1,
        "test": 1,
    }
    wrong = msrvtt((3,), ["other"])
    (tmp_path / "test_videodatainfo.json").write_text(json.dumps(wrong))
    with pytest.raises(DataError, match=r"test_videodatainfo.json, video 1: unknown split: found 'other'"):
        Msrvtt(source=str(tmp_path)).prepare_data()
    wrong = msrvtt((3,), ["test"]) | {"sentences": [{"video_id": "video9", "caption": "x"}]}
    (tmp_path / "test_videodatainfo.json").write_text(json.dumps(wrong))
    with pytest.raises(DataError, match=r"sentence 1: unknown clip: video_id 'video9'"):
        Msrvtt(source=str(tmp_path)).prepare_data()


def test_a_source_that_is_missing_says_what_is_expected(tmp_path):
    with pytest.raises(DataError, match=r"the folder is empty; expected AllVideoDescriptions.txt, or a folder with it"):
        Msvd(source=str(tmp_path)).prepare_data()
    with pytest.raises(ConfigError, match=r"data.source=hub: msvd is not on the Hugging Face hub"):
        Msvd(source="hub").prepare_data()
    assert Msrvtt(sample=SAMPLE).open_source().place == "the sample"
