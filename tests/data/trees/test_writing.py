"""`zoo data sst --write` and `zoo data sick --write`: what is written is read back as the same trees."""

import pytest

from zoo.data.rows import BadRows
from zoo.data.trees.sick import SICK
from zoo.data.trees.sst import SST
from zoo.data.trees.tree import Tree
from zoo.data.trees.writing import constituency_parents, dependency_heads
from zoo.errors import ConfigError, DataError

FEW = {"train": 30, "val": 5, "test": 5}


def rows(data, split):
    """The rows of a split without their places, which differ."""
    return [row._replace(place="") for row in data.open_source().splits[split](BadRows("error"))]


def test_heads_and_parents_worked_by_hand():
    tree = Tree(["the", "dog", ".", "barks"], [1, 2, -1], [0, 1, 3], [None] * 3)
    assert dependency_heads(tree) == [2, 4, -1, 0]  # the full stop is not in the tree
    tree = Tree(["a", "b", "c"], [-1, 0, 0, 2, 2], [-1, 0, -1, 1, 2], [None] * 5)
    assert constituency_parents(tree) == [4, 5, 5, 0, 4]


def test_trees_of_sst(tmp_path):
    sample = SST(sample=FEW)
    files = sample.write(tmp_path / "sst")
    assert [file.name for file in files] == ["train.txt", "dev.txt", "test.txt"]
    again = SST(source=str(tmp_path / "sst"))
    for split, count in FEW.items():
        found = [row.tree for row in rows(again, split)]
        assert found == [row.tree for row in rows(sample, split)] and len(found) == count
    with pytest.raises(DataError, match="is there already"):
        sample.write(tmp_path / "sst")


@pytest.mark.parametrize("parse", ["dependency", "constituency"])
def test_pairs_of_sick(tmp_path, parse):
    sample = SICK(sample=FEW, parse=parse)
    assert len(sample.write(tmp_path / "sick")) == 3 * 5
    again = SICK(source=str(tmp_path / "sick"), parse=parse)
    for split in FEW:
        assert rows(again, split) == rows(sample, split)


def test_trees_that_are_put_on_words_are_not_written(tmp_path):
    with pytest.raises(ConfigError, match=r"leave data\.trees=balanced out"):
        SICK(sample=FEW, trees="balanced").write(tmp_path / "sick")


def test_nothing_is_left_of_files_that_cannot_be_written(tmp_path):
    (tmp_path / "sick/train").mkdir(parents=True)
    (tmp_path / "sick/train/a.toks").write_text("mine")
    with pytest.raises(DataError, match="is there already"):
        SICK(sample=FEW).write(tmp_path / "sick")
    assert [path.name for path in (tmp_path / "sick").rglob("*")] == ["train", "a.toks"]
