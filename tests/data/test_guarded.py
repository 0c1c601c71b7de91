"""Files that nobody foresaw end in one line that names them, whichever reader meets them."""

import json
import re

import pytest

from zoo.data.documents.readers import read_table, read_yelp_json
from zoo.data.images.readers import read_coco, read_karpathy
from zoo.data.rows import BadRows, NotJson, guarded, parse_json
from zoo.data.stories.readers import read_json
from zoo.errors import DataError

DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5000
HALF = '"\\ud83d"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEEP, "nested too deeply"),
        (LONG, "too many digits"),
        (HALF, r"half a letter: found \\ud83d without the other half"),
        ("{", "not json"),
    ],
)
def test_json_that_cannot_be_used(text, message):
    with pytest.raises(NotJson, match=message):
        parse_json(text)


def karpathy(**image):
    usual = {"filename": "a.jpg", "split": "train", "sentences": [{"raw": "a dog"}]}
    return {"images": [usual | image]}


def coco(**annotation):
    usual = {"image_id": 1, "caption": "a dog"}
    return {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [usual | annotation]}


CASES = [
    (lambda path, bad: read_karpathy(path, False, bad), karpathy(split=["train"])),
    (lambda path, bad: read_karpathy(path, False, bad), karpathy(filename=["a.jpg"])),
    (lambda path, bad: read_karpathy(path, False, bad), karpathy(sentences="a dog")),
    (lambda path, bad: read_karpathy(path, False, bad), {"images": [[1]]}),
    (read_coco, coco(image_id=[1])),
    (read_coco, coco(caption=["a dog"])),
    (read_coco, {"images": [{"id": {}, "file_name": []}], "annotations": [1]}),
    (read_yelp_json, {"stars": [5], "text": "good"}),
    (read_yelp_json, {"stars": 10**400, "text": "good"}),
    (read_yelp_json, {"stars": 5, "text": ["good"]}),
    (lambda path, bad: read_table(path, "text", "label", bad), {"text": ["a"], "label": {"b": 1}}),
    (lambda path, bad: read_json(path, 1, bad), {"story": "a b.", "question": "c?", "answer": ["d"]}),
]


@pytest.mark.parametrize("number", range(len(CASES)))
@pytest.mark.parametrize("policy", ["error", "skip"])
def test_values_of_another_kind_are_one_line_with_the_file(tmp_path, number, policy):
    read, content = CASES[number]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(content))
    bad = BadRows(policy)
    if policy == "error":
        with pytest.raises(DataError, match=rf"\A{re.escape(str(path))}.*\Z"):
            list(read(path, bad))
    else:
        assert not [row for row in read(path, bad) if getattr(row, "captions", True)]
        assert bad.total


@pytest.mark.parametrize("text", [DEEP, LONG, HALF])
@pytest.mark.parametrize("read", [read_coco, lambda path, bad: read_karpathy(path, False, bad)])
def test_one_object_that_is_broken(tmp_path, read, text):
    path = tmp_path / "a.json"
    path.write_text(f'{{"images": {text}}}')
    with pytest.raises(DataError, match=r"^\S*a.json"):
        list(read(path, BadRows("skip")))


def test_the_guard_names_the_file_of_what_its_reader_did_not_foresee(tmp_path):
    @guarded
    def read(path):
        yield 1
        raise KeyError("caption")

    rows = read(tmp_path / "a.json")
    assert next(rows) == 1
    with pytest.raises(DataError, match=r"a.json: the file does not have the expected layout \(KeyError: 'caption'\)"):
        next(rows)
