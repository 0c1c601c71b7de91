"""Each format of captions, with small files, and every error with its file, line or key."""

import json
from functools import partial

import pytest

from tests.data.serving import written
from zoo.data.captions.readers import CaptionedFile, read_table
from zoo.data.images.readers import read_coco, read_karpathy, read_listed, read_tokens
from zoo.data.rows import BadRows
from zoo.errors import DataError


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    def write(name, content):
        return written(tmp_path / name, content if isinstance(content, str | bytes) else json.dumps(content))

    return write


def captions(found):
    together = {}
    for one in found:
        together[one.file] = together.get(one.file, ()) + one.captions
    return together


# Karpathy's json


def karpathy(*images):
    return {"images": [*images]}


def image(file="a.jpg", split="train", raw=("A dog runs.", "Two dogs !"), **more):
    sentences = [{"tokens": one.lower().split(), "raw": one} for one in raw]
    return {"filename": file, "split": split, "sentences": sentences, "imgid": 0, **more}


def test_karpathy_gives_raw_sentences_and_splits(file):
    content = karpathy(image(), image("b.jpg", "val", ["B"]), image("c.jpg", "test", ["C"]))
    path = file("dataset_flickr8k.json.gz", content)
    assert list(read_karpathy(path, False, BadRows())) == [
        CaptionedFile("a.jpg", ("A dog runs.", "Two dogs !"), f"{path}, image 1 (a.jpg)", "train"),
        CaptionedFile("b.jpg", ("B",), f"{path}, image 2 (b.jpg)", "val"),
        CaptionedFile("c.jpg", ("C",), f"{path}, image 3 (c.jpg)", "test"),
    ]


# COCO's annotations


def coco(**changed):
    found = {
        "info": {},
        "images": [{"id": 7, "file_name": "b.jpg", "height": 3}, {"id": 3, "file_name": "a.jpg"}],
        "annotations": [
            {"image_id": 3, "id": 1, "caption": "of a"},
            {"image_id": 7, "id": 2, "caption": "of b"},
            {"image_id": 3, "id": 3, "caption": "of a, too"},
        ],
    }
    return {**found, **changed}


def test_coco_joins_annotations_with_their_images(file):
    path = file("captions_train2014.json", coco())
    assert list(read_coco(path, BadRows())) == [
        CaptionedFile("b.jpg", ("of b",), f"{path}, image 1 (b.jpg)"),
        CaptionedFile("a.jpg", ("of a", "of a, too"), f"{path}, image 2 (a.jpg)"),
    ]


# Lines


def test_tokens_of_flickr8k_and_of_flickr30k(file):
    path = file("Flickr8k.token.txt", "a.jpg#0\tA child .\nb#1.jpg#0\tA #1 dog\tand a tab .\n\na.jpg#1\tSecond .\r\n")
    assert list(read_tokens(path, BadRows())) == [
        CaptionedFile("a.jpg", ("A child .",), f"{path}, line 1"),
        CaptionedFile("b#1.jpg", ("A #1 dog\tand a tab .",), f"{path}, line 2"),
        CaptionedFile("a.jpg", ("Second .",), f"{path}, line 4"),
    ]


def test_other_forms_of_tokens(file):
    path = file("captions.txt", 'image,caption\na.jpg,"A dog, running ."\nb.jpg,B\na.jpg,Again\n')
    assert captions(read_tokens(path, BadRows())) == {"a.jpg": ("A dog, running .", "Again"), "b.jpg": ("B",)}
    path = file("results.csv", "image_name| comment_number| comment\na.jpg| 0| Two | three .\na.jpg| 1| More .\n")
    assert captions(read_tokens(path, BadRows())) == {"a.jpg": (" Two | three .", " More .")}


def test_lists_choose_and_order_the_images_of_each_split(file):
    path = file("x.token", "a.jpg#0\tA\nb.jpg#0\tB\nc.jpg#0\tC\na.jpg#1\tAgain\nd.jpg.1#0\tof no list\n")
    lists = {"train": file("train.txt", "b.jpg\n\na.jpg \n"), "test": file("test.txt", "c\nc\n")}
    assert list(read_listed(path, lists, BadRows())) == [
        CaptionedFile("b.jpg", ("B",), f"{lists['train']}, line 1", "train"),
        CaptionedFile("a.jpg", ("A", "Again"), f"{lists['train']}, line 3", "train"),
        CaptionedFile("c.jpg", ("C",), f"{lists['test']}, line 2", "test"),
    ]
    lists = {"train": file("train.txt", "a.jpg\nbabe.jpg\n")}
    path = file("x.token", "a.jpg#0\tA\nbaby.jpg#0\tB\n")
    message = "train.txt, line 2: an image without captions: found 'babe.jpg'; did you mean 'baby.jpg'"
    with pytest.raises(DataError, match=message):
        list(read_listed(path, lists, BadRows()))


# Tables


def test_lists_of_captions_in_json_lines(file):
    path = file("t.jsonl", '{"file": "a.png", "caption": ["One", "Two"]}\n{"file": "b.png", "caption": null}\n')
    assert captions(read_table(path, ("file", "caption"), "", BadRows())) == {"a.png": ("One", "Two"), "b.png": ()}


def test_a_column_of_splits(file):
    path = file("t.csv", "file,caption,split\na,A,train\nb,B,Validation\nc,C,TEST\nd,D,dev\n")
    found = read_table(path, ("file", "caption", "split"), "", BadRows())
    assert [one.split for one in found] == ["train", "val", "test", "val"]


# Mistakes

A_JPG = {"id": 3, "file_name": "a.jpg"}
MISTAKES = {
    "dataset.json": [
        ("", ": the file is empty"),
        ('{"images": [\n{"filename": "a.jpg", }]}', ", line 2: not json: "),
        ('{"images": [{"filename": "a.j', ", line 1: not json: .*; is the file whole\\?"),
        ('{"images": "é"}'.encode("latin-1"), ", line 1: not UTF-8: byte 0xe9 at offset 12 .*set data.loader.enc"),
        ("[1]", ": found a json list, expected an object: {'images'"),
        ({"dataset": "x"}, ": no list of 'images'; found: 'dataset'; expected {'images'"),
        ({"images": []}, ": no list of 'images'; found: 'images'; expected"),
        (karpathy({"filename": "a.jpg", "sentences": []}), ", image 1: not as expected: no key 'split'; expected"),
        (karpathy(image(), {"sentences": [], "split": "train"}), ", image 2: not as expected: no key 'filename'"),
        (karpathy(image(), "b.jpg"), ", image 2: not as expected: found something else"),
        (karpathy(image(split="dev")), ", image 1: unknown split: found 'dev', expected train, restval, val or test"),
        (karpathy(image(sentences=[{"raw": 3}])), ", image 1: no text: found 3"),
        ({"images": [{}], "annotations": []}, ": found annotations of COCO; expected .* or captions_train2014.json"),
    ],
    "captions_train2014.json": [
        ({"images": {}}, ": no list of 'images'; found: 'info', 'images', 'annotations'; expected {'images': "),
        ({"annotations": []}, ": no list of 'annotations'"),
        ({"images": [{"id": 3, "file_name": 4}]}, ", image 1: not as expected: found id 3 and file_name 4; expected"),
        ({"images": [A_JPG] * 2}, ", image 2: one id of two images: 3 is also the id of 'a.jpg'"),
        ({"images": [A_JPG | {"id": [3]}]}, ", image 1: not as expected: found id .3. and file_name 'a.jpg'; expected"),
        ({"annotations": [{"image_id": 3}]}, ", annotation 1: not as expected: no key 'caption'"),
        ({"annotations": [{"image_id": 4, "caption": "x"}]}, ", annotation 1: unknown image: image_id 4 .* 2 images"),
        ({"annotations": [{"image_id": 3, "caption": None}]}, ", annotation 1: no text: found None"),
    ],
    "x.token": [
        ("a.jpg#0 no tab\n", ", line 1: not as expected: found 'a.jpg#0 no tab', expected NAME.jpg#0, a tab"),
        ("a.jpg#x\tcaption\n", ", line 1: not as expected"),
        ("image,caption\na.jpg,A dog, running\n", ", line 2: wrong number of fields: found 3, the header has 2"),
        ("image_name| number| comment\na.jpg| 4\n", r", line 2: .*found 'a.jpg. 4', expected image_name.comment_num"),
    ],
    "t.csv": [
        ("file,text\na,A\n", ", line 1: no column 'caption'; found: 'file', 'text' hint"),
        ("file,caption\n ,A\n", ", line 2: no file: column 'file' holds ' '"),
    ],
    "t.jsonl": [
        ('{"file": "a", "caption": 3}\n', ", line 1: no text: column 'caption': found 3"),
        ('{"file": 3, "caption": "A"}\n', ", line 1: no file: column 'file' holds 3"),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "message"), [(name, *case) for name, cases in MISTAKES.items() for case in cases]
)
def test_mistakes_name_the_file_and_the_place(file, name, content, message):
    """Bad rows are counted where that is asked for; for COCO's file the content is what differs."""
    path = file(name, coco(**content) if name.startswith("captions") else content)
    readers = {"dataset.json": partial(read_karpathy, restval=False), "x.token": read_tokens}
    readers |= {"captions_train2014.json": read_coco}
    read = readers.get(name, partial(read_table, columns=("file", "caption"), hint=" hint"))
    with pytest.raises(DataError, match=f"^{path}{message}") as error:
        list(read(path, bad=BadRows()))
    if "on_bad_row=skip" in str(error.value):
        bad = BadRows("skip")
        assert {one.file for one in read(path, bad=bad)} <= {"a.jpg", "b.jpg"} and bad.total
