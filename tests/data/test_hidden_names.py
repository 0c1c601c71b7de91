"""Names that begin with a dot, which editors, notebooks and macOS write, are ignored wherever files are listed."""

import os
import zipfile

import pytest
from PIL import Image

from tests.data import serving
from zoo.data.captions.decoding import UnusablePicture, decode
from zoo.data.captions.files import image_files
from zoo.data.cloze.books import Books
from zoo.data.cloze.cnn import _read_folder
from zoo.data.documents.own import OwnDocuments
from zoo.data.documents.readers import folder_source
from zoo.data.documents.yelp import Yelp
from zoo.data.points.files import OwnPoints
from zoo.data.rows import BadRows, visible
from zoo.data.sources import find_splits
from zoo.errors import DataError
from zoo.visualize.captioning import CaptioningView


def written(folder, *names):
    for name in names:
        serving.written(folder / name, "some words")
    return folder


CLASSES = ("pos/1.txt", "neg/2.txt", ".ipynb_checkpoints/1.txt", "pos/.ipynb_checkpoints/1.txt", "neg/._2.txt")


def test_classes_of_documents(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in (*CLASSES, "__MACOSX/pos/1.txt"):
            archive.writestr(name, "some words")
    for path in (tmp_path / "a.zip", written(tmp_path / "folder", *CLASSES)):
        rows = folder_source(path, "documents").splits["train"](BadRows())
        assert [row.place for row in rows] == [f"{path}/neg/2.txt", f"{path}/pos/1.txt"]


def test_files_of_a_folder(tmp_path):
    written(tmp_path, "train.txt", "._train.txt", ".train.txt", "b.review.json", "._b.review.json")
    assert [file.name for file in visible(tmp_path)] == ["b.review.json", "train.txt"]
    assert find_splits(tmp_path, [".txt"]) == {"train": [tmp_path / "train.txt"]}
    source = Yelp(source=str(tmp_path)).open_source()
    assert [file for file, *_ in source.identity["files"]["train"]] == [str(tmp_path / "b.review.json")]


def test_a_hidden_file_that_is_named_is_read_and_a_folder_of_them_is_explained(tmp_path):
    for name in (".csv", ".own.csv"):
        path = serving.table(tmp_path / name, [(f"text {n}", n % 2) for n in range(4)])
        assert len(list(OwnDocuments(path=path).open_source().splits["train"](BadRows()))) == 4
    with pytest.raises(DataError, match="all names in this folder begin with a dot, and such files are ignored; exp"):
        OwnDocuments(path=str(tmp_path)).open_source()


def test_books(tmp_path):
    source = Books(path=str(written(tmp_path, "a.md", "._a.md", ".hidden.txt", "b.txt"))).open_source()
    assert [os.path.basename(file) for file, *_ in source.identity["books"]] == ["a.md", "b.txt"]


def test_questions_and_points(tmp_path):
    written(tmp_path, "train.txt", "test.txt", "._train.txt", ".x.tsp", "._1.question")
    assert list(_read_folder(tmp_path, BadRows())) == []
    found = OwnPoints(path=str(tmp_path), goal="order")._files(tmp_path)
    assert found == {split: [tmp_path / f"{split}.txt"] for split in ("train", "test")}


def test_images(tmp_path):
    """A pipe and a link to itself are not waited for."""
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    written(tmp_path, "._a.png", ".trash/b.png")
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert [[name for name, _ in found] for _, found in image_files(tmp_path)] == [["a.png"]]
    assert CaptioningView().read([str(tmp_path)], None) == [tmp_path / "a.png"]
    for name in ("pipe.png", "loop.png"):
        with pytest.raises(UnusablePicture, match=name):
            decode(tmp_path / name)
