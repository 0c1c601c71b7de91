"""Images of one's own: their folder, their table, and the mistakes that people make with both."""

from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.images.pictures_made import picture
from tests.data.images.toy import SMALL, names, prepared
from zoo.data.images.own import OwnCaptions
from zoo.errors import ConfigError, DataError


@pytest.fixture
def own(tmp_path):
    """A folder of ten images of one's own with two captions each."""
    rows = ["file,caption"]
    for n in range(10):
        picture(tmp_path / "own" / f"{n}.png", colour=(0, 20 * n, 0))
        rows += [f"{n}.png,Picture {n}", f'{n}.png,"A second, of {n}"']
    (tmp_path / "own" / "captions.csv").write_text("\n".join(rows))
    return tmp_path / "own"


def test_a_folder_of_ones_own(own, cache_dir):
    for path in (own, own / "captions.csv"):
        data = prepared(OwnCaptions(path=str(path), **SMALL))
        assert data.sizes == {"train": 8, "val": 1, "test": 1}
        assert Counter(name for part in names(data).values() for name in part) == {f"{n}.png": 1 for n in range(10)}
    other = prepared(OwnCaptions(path=str(own), split={"seed": 2}, **SMALL))
    assert names(other)["test"] + names(other)["val"] != names(data)["test"] + names(data)["val"]
    batch = next(iter(data.train_dataloader()))
    for number, green in enumerate(batch.image[:, 1].float().mean((1, 2)).tolist()):
        name = names(data)["train"][batch.index[batch.picture == number][0]]
        assert green == 20 * int(name.removesuffix(".png"))


def test_ones_own_columns_and_splits(own, cache_dir):
    rows = ["name;text;part", *(f"{n}.png;Picture {n};{'test' if n < 3 else 'train'}" for n in range(10))]
    (own / "table.csv").write_text("\n".join(rows))
    columns = {"file": "name", "caption": "text", "split": "part"}
    data = prepared(OwnCaptions(path=str(own / "table.csv"), columns=columns, **SMALL))
    assert names(data)["test"] == ["0.png", "1.png", "2.png"] and data.sizes == {"train": 6, "val": 1, "test": 3}
    drawn = prepared(OwnCaptions(path=str(own / "table.csv"), columns=columns | {"split": None}, **SMALL))
    assert drawn.sizes == {"train": 8, "val": 1, "test": 1}
    (own / "table.csv").write_text("\n".join(rows).replace("part", "split"))
    by_name = prepared(OwnCaptions(path=str(own / "table.csv"), columns=columns | {"split": None}, **SMALL))
    assert names(by_name)["test"] == ["0.png", "1.png", "2.png"]


def test_tables_for_each_split(own, cache_dir):
    (own / "captions.csv").unlink()
    for name, part in (("train", range(6)), ("test", range(6, 10))):
        (own / f"{name}.tsv").write_text("file\tcaption\n" + "".join(f"{n}.png\tof {n}\n" for n in part))
    data = prepared(OwnCaptions(path=str(own), **SMALL))
    assert names(data)["test"] == ["6.png", "7.png", "8.png", "9.png"] and data.sizes["val"] == 1
    (own / "test.tsv").write_text("file\tcaption\n0.png\tone that is trained on\n7.png\tx\n")
    with pytest.raises(
        DataError, match=r"test.tsv, line 2: one image in two splits: '0.png' is of 'test' here and of '"
    ):
        OwnCaptions(path=str(own), **SMALL).prepare_data()


def test_tables_that_are_not_clear(own, cache_dir):
    (own / "more.csv").write_text("file,caption\n0.png,x\n")
    assert prepared(OwnCaptions(path=str(own), **SMALL)).sizes["train"] == 8  # captions.csv says that it is the one
    (own / "captions.csv").rename(own / "b.csv")
    with pytest.raises(DataError, match=r"found the tables b.csv, more.csv: which one\?; expected: a table"):
        OwnCaptions(path=str(own)).open_source()
    for file in own.glob("*.csv"):
        file.unlink()
    with pytest.raises(DataError, match=r"found no table; expected: a table"):
        OwnCaptions(path=str(own)).open_source()
    with pytest.raises(DataError, match=r"0.png: unknown kind of file '.png'"):
        OwnCaptions(path=str(own / "0.png")).open_source()
    with pytest.raises(ConfigError, match=r"data.path is empty; expected: a table"):
        OwnCaptions(path="").open_source()


def test_what_is_wrong_with_ones_own(own, cache_dir):
    table = own / "captions.csv"
    table.write_text("file,text\n0.png,a\n")
    said = r"line 1: no column 'caption'; found: 'file', 'text' \(the keys are data.columns.file, data.columns.caption"
    with pytest.raises(DataError, match=said):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    table.write_text("file,caption\n0.png,the only one\n")
    with pytest.raises(DataError, match=r"too few images \(1\) to draw val and test from them; give more images"):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    table.write_text("file,caption\n")
    with pytest.raises(DataError, match=r"no images in the train split"):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    table.write_text("file,caption,split\n0.png,a,test\n")
    with pytest.raises(DataError, match=r"captions.csv: column 'split' puts no image into train"):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    table.write_text("file,caption\n0.pgn,a\n1.png,b\n2.png,b\n3.png,b\n")
    with pytest.raises(
        DataError, match=r"captions.csv, line 2: 1 of 4 images is not in .*: '0.pgn'; did you mean '0.png'"
    ):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    with pytest.raises(
        ConfigError, match=r"data.columns.captions: there is no such key; did you mean data.columns.cap"
    ):
        OwnCaptions(path=str(own), columns={"captions": "x"})


def test_captions_may_name_files_in_folders_and_by_whole_paths(own, cache_dir):
    rows = [f"own/{n}.png,of {n}" if n % 2 else f"{own / f'{n}.png'},of {n}" for n in range(10)]
    table = own.parent / "captions.csv"
    table.write_text("file,caption\n" + "\n".join(rows))
    assert prepared(OwnCaptions(path=str(table), **SMALL)).sizes["train"] == 8


@pytest.mark.parametrize("split", [None, "test"])
def test_one_file_in_several_spellings_is_one_image(own, cache_dir, split):
    """Else its captions would be divided over the splits, as if of several images."""
    spellings = ["{n}.png", "./{n}.png", "../own/{n}.png", f"{own}/{{n}}.png"]
    rows = [f"{spelling.format(n=n)},of {n} as {k}" for k, spelling in enumerate(spellings) for n in range(10)]
    (own / "captions.csv").write_text("file,caption\n" + "\n".join(rows))
    if split is None:
        data = prepared(OwnCaptions(path=str(own), **SMALL))
        assert data.sizes == {"train": 8, "val": 1, "test": 1} and data.describe()["notes"] == []
        told = [one.captions for part, size in data.sizes.items() for one in data.part(part).about(np.arange(size))]
        assert sorted(told) == [tuple(f"of {n} as {k}" for k in range(4)) for n in range(10)]
    else:
        rows = [f"{row},{split if row.startswith('./3') else 'train'}" for row in rows]
        (own / "captions.csv").write_text("file,caption,split\n" + "\n".join(rows))
        said = r"captions.csv, line 15: one image in two splits: './3.png' is of 'test' here and of 'train' in .*line 5"
        with pytest.raises(DataError, match=said):
            OwnCaptions(path=str(own), **SMALL).prepare_data()


def test_a_column_of_splits_is_not_passed_over_for_its_capitals(own, cache_dir):
    rows = [f"{n}.png,of {n},{'Test' if n < 3 else 'Train'}" for n in range(10)]
    (own / "captions.csv").write_text("file,caption,Split\n" + "\n".join(rows))
    assert names(prepared(OwnCaptions(path=str(own), **SMALL)))["test"] == ["0.png", "1.png", "2.png"]


def test_a_column_of_splits_that_nobody_filled_in_says_nothing(own, cache_dir):
    rows = [f"{n}.png,of {n}, " for n in range(10)]
    (own / "captions.csv").write_text("file,caption,split\n" + "\n".join(rows))
    assert prepared(OwnCaptions(path=str(own), **SMALL)).sizes == {"train": 8, "val": 1, "test": 1}
    (own / "captions.csv").write_text("file,caption,split\n" + "\n".join(rows) + "train\n")
    with pytest.raises(DataError, match=r"line 2: unknown split: column 'split' holds ' ', expected train, val or"):
        OwnCaptions(path=str(own), **SMALL).prepare_data()
    (own / "captions.csv").write_text("file,caption,part\n" + "\n".join(rows))
    with pytest.raises(DataError, match=r"line 2: unknown split: column 'part' holds ' ', expected train, val or"):
        OwnCaptions(path=str(own), columns={"split": "part"}, **SMALL).prepare_data()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_of_names_are_the_same_however_a_system_writes_them(own, cache_dir, form):
    """As after a folder was packed on macOS; and folders of Windows."""
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    for n in range(5):
        picture(own / "more" / normalize(form, f"Häuser {n}.png"))
    rows = [normalize(other, f"more\\Häuser {n}.png,of {n}") for n in range(5)]
    (own / "captions.csv").write_text("file,caption\n" + "\n".join(rows))
    data = prepared(OwnCaptions(path=str(own), **SMALL))
    assert data.sizes == {"train": 3, "val": 1, "test": 1}
    assert next(iter(data.test_dataloader())).image.shape == (1, 3, 16, 16)


def test_names_without_their_ending(own, cache_dir):
    (own / "captions.csv").write_text("file,caption\n" + "\n".join(f"holiday{n},of {n}" for n in range(10)))
    for n in range(10):
        (own / f"{n}.png").rename(own / f"holiday{n}.png")
    said = (
        r"none of 10 images is in .*, such as 'holiday0' of .*captions.csv.*; did you mean '.*.png'\? Else give their"
    )
    with pytest.raises(DataError, match=said):
        OwnCaptions(path=str(own), **SMALL).prepare_data()


def test_a_change_of_images_or_of_how_they_are_seen_is_noticed(own, cache_dir):
    def folder(**arguments):
        data = OwnCaptions(path=str(own), **{**SMALL, **arguments})
        return data._folder(data.open_source())

    first = folder()
    assert folder() == first and folder(grid=[4, 4]) == first
    assert folder(picture={"size": 16, "max_pixels": 10**6}) != first
    assert folder(columns={"file": "file", "caption": "file"}) != first
    (own / "notes.txt").write_text("no image")
    assert folder() == first
    picture(own / "new.png")
    second = folder()
    assert second != first
    (own / "deep" / "deeper" / "deepest").mkdir(parents=True)
    (own / "deep" / "deeper" / "deepest" / "circle").symlink_to(own)
    assert folder() == second
    picture(own / "deep" / "deeper" / "deepest" / "new.png")
    assert folder() != second


def test_training_changes_pictures_by_key_and_evaluation_does_not(own, cache_dir):
    for n in range(10):
        noise = np.random.default_rng(n).integers(0, 255, (24, 30, 3), np.uint8)
        Image.fromarray(noise).save(own / f"{n}.png")
    options = {"size": 16, "resize": 24, "random_crop": True, "flip": True}
    data = prepared(OwnCaptions(path=str(own), picture=options, grid=[2, 2]))
    loader = data.train_dataloader()
    epochs = []
    for epoch in range(2):
        loader.batch_sampler.set_epoch(epoch)
        batch = next(iter(loader))
        epochs.append({int(batch.index[row]): batch.image[batch.picture[row]] for row in range(len(batch))})
    assert epochs[0].keys() == epochs[1].keys()
    assert any(not torch.equal(epochs[0][n], epochs[1][n]) for n in epochs[0])
    first, again = (next(iter(data.val_dataloader())).image for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(first[0], data.encoder.pixels(own / names(data)["val"][0]))
