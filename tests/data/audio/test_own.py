"""Sounds of your own: tables, and files of text beside those of sound."""

import pytest

from tests.data.audio.sounds_made import saved, tone
from tests.data.serving import one_bad_row, prepared, table, written
from zoo.data.audio.own import OwnSounds
from zoo.data.rows import BadRows
from zoo.errors import DataError

NAMES = ("a.wav", "b.flac", "c.ogg", "d.mp3")


def files(folder):
    for number, name in enumerate(NAMES):
        saved(folder / name, tone(seconds=0.1 + 0.1 * number))
    return folder


def found(data):
    return {
        split: [(row.name, row.text) for row in read(BadRows())] for split, read in data.open_source().splits.items()
    }


def test_a_table_with_and_without_splits(tmp_path, cache_dir):
    files(tmp_path / "wav")
    rows = [
        (f"wav/{name}", name[0], split) for name, split in zip(NAMES, ("train", "training", "dev", "test"), strict=True)
    ]
    path = table(tmp_path / "all.csv", rows, ("file", "text", "Split"))
    expected = {
        "train": [("wav/a.wav", "a"), ("wav/b.flac", "b")],
        "val": [("wav/c.ogg", "c")],
        "test": [("wav/d.mp3", "d")],
    }
    for where in (path, str(tmp_path)):
        assert found(OwnSounds(path=where)) == expected
    data = prepared(OwnSounds(path=path, spectrogram={"rate": 8000}))
    assert data.sizes == {"train": 2, "val": 1, "test": 1}
    drawn = table(tmp_path / "other" / "sounds.csv", [(f"../wav/{name}", "x") for name in NAMES], ("sound", "words"))
    columns = {"file": "sound", "text": "words"}
    assert list(found(OwnSounds(path=drawn, columns=columns))) == ["train"]
    with pytest.raises(DataError, match=r"no column 'file'.*the keys are data.columns.file"):
        found(OwnSounds(path=drawn))


def test_an_empty_column_split_is_ignored_and_one_without_train_is_not(tmp_path):
    files(tmp_path)
    path = table(tmp_path / "sounds.csv", [(name, "x", "") for name in NAMES], ("file", "text", "split"))
    assert {split: len(rows) for split, rows in found(OwnSounds(path=path)).items()} == {"train": 4}
    table(tmp_path / "sounds.csv", [(name, "x", "test") for name in NAMES], ("file", "text", "split"))
    with pytest.raises(DataError, match=r"sounds\.csv: no row has train in column 'split'"):
        found(OwnSounds(path=path))


def test_tables_of_splits(tmp_path):
    files(tmp_path)
    for split, name in zip(("train", "val", "test"), NAMES, strict=False):
        table(tmp_path / f"{split}.csv", [(name, split)], ("file", "text"))
    assert found(OwnSounds(path=str(tmp_path))) == {
        "train": [("a.wav", "train")],
        "val": [("b.flac", "val")],
        "test": [("c.ogg", "test")],
    }


def test_texts_beside_sounds(tmp_path):
    for folder in ("train", "dev"):
        files(tmp_path / folder)
        for name in NAMES:
            written(tmp_path / folder / f"{name[0]}.txt", f" {name[0]}\n")
    written(tmp_path / "train" / "._a.wav", "x")
    both = OwnSounds(path=str(tmp_path))
    assert [name for name, _ in found(both)["val"]] == [f"dev/{name}" for name in NAMES]
    assert found(OwnSounds(path=str(tmp_path / "train")))["train"] == [(name, f" {name[0]}\n") for name in NAMES]
    (tmp_path / "train" / "b.txt").unlink()
    read = both.open_source().splits["train"]
    assert len(one_bad_row(read, f"{tmp_path}/train/b.flac: no transcript: expected b.txt beside it")) == 3


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("e.wav", "x", "train"), "missing sound: no file .*e.wav; did you mean 'a.wav'"),
        (("", "x", "train"), "no sound: found ''"),
        (("a.wav", "x", "later"), "unknown split: 'later'; expected train, val or test"),
    ],
)
def test_rows_that_do_not_fit(tmp_path, row, problem):
    path = table(
        files(tmp_path) / "all.csv", [("a.wav", "x", "train"), ("b.flac", "x", "test"), row], ("file", "text", "split")
    )
    data = OwnSounds(path=path, loader={"on_bad_row": "skip"})
    with pytest.raises(DataError, match=rf"all.csv, line 4: {problem}"):
        list(data.open_source().splits["train"](BadRows()))
    bad = BadRows("skip")
    assert len(list(data.open_source().splits["train"](bad))) == 1 and bad.total == 1


def test_other_paths(tmp_path):
    table(tmp_path / "a.csv", [("x", "y")], ("file", "text"))
    table(tmp_path / "b.csv", [("x", "y")], ("file", "text"))
    with pytest.raises(DataError, match=r"found several tables, a.csv, b.csv; expected: a table"):
        OwnSounds(path=str(tmp_path)).open_source()
    rows = [("x", "y", "test")]
    path = table(tmp_path / "c" / "a.csv", rows, ("file", "text", "split"))
    with pytest.raises(DataError, match=r"a.csv: no row has train in column 'split'; expected at least one"):
        OwnSounds(path=path).open_source()
    for where in (saved(tmp_path / "a.wav"), written(tmp_path / "d" / "a.txt", "x").parent):
        with pytest.raises(DataError, match=r"expected: a table \(.csv, "):
            OwnSounds(path=str(where)).open_source()
