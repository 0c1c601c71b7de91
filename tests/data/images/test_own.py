"""Images of one's own: their folder, their table, and the mistakes that people make with both."""

from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
import torch

from tests.data.images.pictures_made import noise, picture
from tests.data.images.toy import SMALL, names
from tests.data.serving import prepared
from zoo.data.images.own import OwnCaptions
from zoo.errors import DataError


@pytest.fixture
def own(tmp_path):
    """Ten images with two captions each."""
    rows = []
    for n in range(10):
        picture(tmp_path / "own" / f"{n}.png", colour=(0, 20 * n, 0))
        rows += [f"{n}.png,Picture {n}", f'{n}.png,"A second, of {n}"']
    table(tmp_path / "own", rows)
    return tmp_path / "own"


def table(folder, rows, header="file,caption", name="captions.csv"):
    (folder / name).write_text("\n".join([header, *rows]) + "\n")


def data_of(own, **options):
    return prepared(OwnCaptions(path=str(own), **{**SMALL, **options}))


def test_a_folder_of_ones_own(own, cache_dir):
    for path in (own, own / "captions.csv"):
        data = data_of(path)
        assert data.sizes == {"train": 8, "val": 1, "test": 1} and data.batches == "pictures"
        assert Counter(name for part in names(data).values() for name in part) == {f"{n}.png": 1 for n in range(10)}
    batch = next(iter(data.train_dataloader()))
    for number, green in enumerate(batch.image[:, 1].float().mean((1, 2)).tolist()):
        name = names(data)["train"][batch.index[batch.picture == number][0]]
        assert green == 20 * int(name.removesuffix(".png"))


# Splits


@pytest.mark.parametrize(
    ("header", "columns"),
    [("file,caption,Split", {}), ("name;text;part", {"file": "name", "caption": "text", "split": "part"})],
)
def test_a_column_of_splits(own, cache_dir, header, columns):
    sign = ";" if ";" in header else ","
    table(own, [sign.join((f"{n}.png", f"of {n}", "Test" if n < 3 else "train")) for n in range(10)], header)
    data = data_of(own, columns=columns)
    assert names(data)["test"] == ["0.png", "1.png", "2.png"] and data.sizes == {"train": 6, "val": 1, "test": 3}
    if columns:  # without its key another column is ignored
        assert data_of(own, columns=columns | {"split": None}).sizes == {"train": 8, "val": 1, "test": 1}


def test_a_table_without_the_column_of_splits_is_for_training(own, cache_dir):
    (own / "captions.csv").unlink()
    marked = [f"{n}.png,of {n},{split}" for n, split in enumerate(["train", "train", "val", "test", "test"])]
    table(own, marked, "file,caption,split", "train_a.csv")
    table(own, [f"{n}.png,of {n}" for n in range(5, 10)], name="train_b.csv")
    assert data_of(own).sizes == {"train": 7, "val": 1, "test": 2}


def test_an_empty_column_of_splits_is_ignored(own, cache_dir):
    rows = [f"{n}.png,of {n}, " for n in range(10)]
    table(own, rows, "file,caption,split")
    assert data_of(own).sizes == {"train": 8, "val": 1, "test": 1}
    table(own, [*rows[:-1], f"{rows[-1]}train"], "file,caption,split")
    with pytest.raises(DataError, match=r"line 2: unknown split: column 'split' holds ' ', expected train, val or"):
        data_of(own)
    table(own, rows, "file,caption,part")
    with pytest.raises(DataError, match=r"line 2: unknown split: column 'part' holds ' ', expected train, val or"):
        data_of(own, columns={"split": "part"})


def test_tables_for_each_split(own, cache_dir):
    (own / "captions.csv").unlink()
    for name, part in (("train", range(6)), ("test", range(6, 10))):
        table(own, [f"{n}.png\tof {n}" for n in part], "file\tcaption", f"{name}.tsv")
    data = data_of(own)
    assert names(data)["test"] == ["6.png", "7.png", "8.png", "9.png"] and data.sizes["val"] == 1


# Files


def test_a_file_in_several_spellings_is_one_image(own, cache_dir):
    """Otherwise its captions would be divided over the splits, as if of several images."""
    spellings = ["{n}.png", "./{n}.png", "../own/{n}.png", f"{own}/{{n}}.png"]
    rows = [f"{spelling.format(n=n)},of {n} as {k}" for k, spelling in enumerate(spellings) for n in range(10)]
    table(own, rows)
    data = data_of(own)
    assert data.sizes == {"train": 8, "val": 1, "test": 1} and data.describe()["notes"] == []
    (one,) = data.part("val").about(np.arange(1))
    assert one.captions == tuple(f"of {one.name.partition('.')[0]} as {k}" for k in range(4))
    table(own, [f"{row},{'test' if row.startswith('./3') else 'train'}" for row in rows], "file,caption,split")
    message = r"captions.csv, line 15: one image in two splits: './3.png' is in 'test' here and in 'train' in .*line 5"
    with pytest.raises(DataError, match=message):
        data_of(own)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_of_names_in_both_forms_and_folders_of_windows(own, cache_dir, form):
    """As after a folder was packed on macOS."""
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    for n in range(5):
        picture(own / "more" / normalize(form, f"Häuser {n}.png"))
    table(own, [normalize(other, f"more\\Häuser {n}.png,of {n}") for n in range(5)])
    data = data_of(own)
    assert data.sizes == {"train": 3, "val": 1, "test": 1}
    assert next(iter(data.test_dataloader())).image.shape == (1, 3, 16, 16)


# Mistakes


def test_unclear_tables(own, cache_dir):
    table(own, ["0.png,x"], name="more.csv")
    assert data_of(own).sizes["train"] == 8  # captions.csv is chosen by its name
    (own / "captions.csv").rename(own / "b.csv")
    with pytest.raises(DataError, match=r"found several tables, b.csv, more.csv; expected: a table"):
        OwnCaptions(path=str(own)).open_source()
    for file in own.glob("*.csv"):
        file.unlink()
    with pytest.raises(DataError, match=r"found no table; expected: a table"):
        OwnCaptions(path=str(own)).open_source()
    with pytest.raises(DataError, match=r"0.png: unknown kind of file '.png'"):
        OwnCaptions(path=str(own / "0.png")).open_source()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file,text\n0.png,a\n", r"line 1: no column 'caption'; found: .* \(the keys are data.columns.file, data.col"),
        ("file,caption\n0.png,the only one\n", r"too few images \(1\) to draw val and test from them; use more images"),
        ("file,caption,split\n0.png,a,test\n", "captions.csv: no row has train in column 'split'"),
        ("file,caption\n0.pgn,a\n1.png,b\n1.png,b\n", "captions.csv, line 2: 1 of 2 images is not in .*: '0.pgn'; did"),
        ("file,caption\n0.pn,a\n1.pn,b\n", r"none of 2 images .*, such as '0.pn' of .*csv, line 2; did .*\? Else give"),
    ],
)
def test_mistakes_in_a_table_of_ones_own(own, cache_dir, content, message):
    (own / "captions.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        data_of(own)


# Changes


def test_changed_images_or_options_are_noticed(own, cache_dir):
    def folder(**arguments):
        data = OwnCaptions(path=str(own), **{**SMALL, **arguments})
        return data._folder(data.open_source())

    first = folder()
    assert folder() == first and folder(grid=[4, 4]) == first
    assert folder(picture={"size": 16, "flip": True}) == first
    assert folder(picture={"size": 16, "max_pixels": 10**6}) != first
    assert folder(columns={"file": "file", "caption": "file"}) != first
    (own / "notes.txt").write_text("not an image")
    assert folder() == first
    picture(own / "new.png")
    second = folder()
    assert second != first
    (own / "deep" / "deeper" / "deepest").mkdir(parents=True)
    (own / "deep" / "deeper" / "deepest" / "circle").symlink_to(own)
    assert folder() == second
    picture(own / "deep" / "deeper" / "deepest" / "new.png")
    assert folder() != second


def test_only_training_changes_pictures(own, cache_dir):
    for n in range(10):
        noise(own / f"{n}.png", n)
    data = data_of(own, picture={"size": 16, "resize": 24, "random_crop": True, "flip": True})
    number = len(data.part("train"))  # the first caption in the second epoch
    assert not torch.equal(data.part("train")[0].images, data.part("train")[number].images)
    for rows in (data.part("val")[0], data.part("val")[len(data.part("val"))]):
        assert torch.equal(rows.images[0], data.encoder.pixels(own / names(data)["val"][0]))
