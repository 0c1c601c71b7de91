"""Tables of any number of named columns, in files of every kind and on the hub."""

import json

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zoo.data.readers import read_columns
from zoo.data.rows import BadRows
from zoo.data.sources import download
from zoo.errors import DataError

STORIES = {"story": ["a", "b"], "question": ["c", "d"], "answer": ["e", "f"], "support": ["1", "2"]}


@pytest.mark.parametrize("columns", [("answer",), ("question", "answer", "story"), tuple(STORIES)])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_any_number_of_columns(tmp_path, name, columns):
    path, rows = tmp_path / name, list(zip(*STORIES.values(), strict=True))
    if path.suffix == ".parquet":
        pq.write_table(pa.table(STORIES), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(STORIES, row, strict=True))) + "\n" for row in rows))
    else:
        path.write_text("".join(("," if name == "a.csv" else "\t").join(row) + "\n" for row in (tuple(STORIES), *rows)))
    found = list(read_columns(path, columns, "", BadRows()))
    assert [values for _, *values in found] == [[STORIES[column][row] for column in columns] for row in range(2)]
    assert all(place.startswith(str(path)) for place, *_ in found)
    with pytest.raises(DataError, match=r"no column 'clue'; found: 'story', 'question', 'answer', 'support' \(keys"):
        list(read_columns(path, (*columns, "clue"), " (keys)", BadRows()))


def test_the_hub_offline(monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("no route\nto the hub")

    monkeypatch.setattr(datasets, "load_dataset", offline)
    message = r"^them/stories, en: the split 'train' cannot be loaded from .* \(ConnectionError: no route\); expected"
    with pytest.raises(DataError, match=message + r" parquet files with the columns a and b\. .*data\.source=sample"):
        download("them/stories", "train", ("a", "b"), name="en")


def test_any_number_of_columns_of_the_hub(monkeypatch):
    stories = datasets.Dataset.from_dict(STORIES)
    monkeypatch.setattr(datasets, "load_dataset", lambda repository, split: stories)
    assert [row["support"] for row in download("them/stories", "train", tuple(STORIES))] == ["1", "2"]
    with pytest.raises(DataError, match=r"^them/stories: no column 'clue'; found: story, question, answer, support$"):
        download("them/stories", "train", (*STORIES, "clue"))
