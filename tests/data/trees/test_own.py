"""data=trees: the user's trees in brackets and labelled texts, and the mistakes that people make with both."""

import json
from collections import Counter

import pytest

from tests.data.serving import batches, prepared
from tests.data.trees.grown import joined
from tests.data.trees.served import trees, written
from zoo.data.trees.brackets import parse
from zoo.data.trees.own import OwnTrees
from zoo.data.trees.tree import Tree
from zoo.errors import ConfigError, DataError

LINES = [f"({'good' if number % 3 else 'bad'} (fair w{number}) x)" for number in range(20)]
TEXTS = [(f"word{number} is {number}", "good" if number % 3 else "bad") for number in range(20)]
SMALL = {"text": {"minimum_frequency": 1, "tokenizer": "whitespace"}, "loader": {"batch_size": 4}}
SKIP = {"text": SMALL["text"], "loader": {"on_bad_row": "skip"}}


def own(path, **options):
    return OwnTrees(path=str(path), **SMALL | options)


def table(path, rows=TEXTS, header="text,label"):
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path


def everywhere(folder, lines):
    """Write the same trees for all splits."""
    return written(folder, train=lines, dev=lines, test=lines)


# Brackets


def test_brackets(tmp_path, cache_dir):
    path = written(tmp_path, mine=LINES) / "mine.txt"
    for suffix in (".ptb", ".mrg", ".tree", ".TREES", ".txt"):
        path = path.rename(tmp_path / f"mine{suffix}")
        assert own(path).open_files(path).splits.keys() == {"train"}
    data = prepared(own(path, split={"val": 0.2, "test": 0.3}))
    assert data.sizes == {"train": 10, "val": 4, "test": 6}
    assert (data.spec.classes, data.spec.polarity) == (("bad", "fair", "good"), ())
    found = {split: Counter(tree.label[0] for tree in trees(data, split)) for split in data.sizes}
    assert found["test"] == {"bad": 2, "good": 4} and found["val"]["bad"] in (1, 2)  # of 7 and 13, by their shares
    for tree in trees(data, "train"):
        assert tree.label[1:] == ["fair", None] and tree in [parse(line) for line in LINES]  # a bare word has none
    assert data.describe()["splits"]["train"]["labelled_rate"] == pytest.approx(2 / 3)
    assert data.describe()["notes"] == []  # no tree is in two splits


def test_any_number_of_children_or_two(tmp_path, cache_dir):
    lines = ["(1 (0 a) (2 b) (1 c) (0 d))", "(2 (1 (0 a)))", "(0 a)", "(1 a b)"]
    folder = everywhere(tmp_path / "mine", lines)
    given = prepared(own(folder))
    assert (given.spec.arity, given.spec.binary, given.spec.words_inside) == (4, False, False)
    assert trees(given, "val") == [parse(line) for line in lines]
    assert "trees of up to 4 children per node, words at the leaves" in given.describe()["contents"][0]
    two = prepared(own(folder, trees="binarised"))
    assert (two.spec.arity, two.spec.binary) == (2, True)
    expected = ["(1 (0 a) ( (2 b) ( (1 c) (0 d))))", "(2 a)", "(0 a)", "(1 a b)"]
    assert trees(two, "test") == [parse(line) for line in expected]
    assert two.encoder("(1 (0 a) (2 b) (1 c))").trees.plain()[0][0] == [-1, 0, 0, 2, 2]


def test_a_class_that_training_does_not_have_is_refused(tmp_path, cache_dir):
    lines = ["(good (bad a) b)", "(bad a b)"] * 2
    folder = written(tmp_path / "mine", train=lines, dev=lines, test=["(goood a b)", "(bad (goood a) b)"])
    known = "'goood' does not occur in the training trees, which have 'good', 'bad'"
    with pytest.raises(DataError, match=f"^{folder}/test.txt, line 1: unknown label: {known}"):
        own(folder).prepare_data()
    assert prepared(own(folder, **SKIP)).sizes["test"] == 1, "an unknown label at another node does not matter"
    roots = written(tmp_path / "roots", train=["(good (bad a) b)", "(fair a)"], dev=["(good a b)"], test=["(bad a b)"])
    assert prepared(own(roots)).sizes["test"] == 1, "training has the label at a node"
    with pytest.raises(DataError, match="unknown label: 'bad' does not occur in the training trees"):
        own(roots, train_on="roots").prepare_data()


def test_a_few_trees_that_are_not_binary_are_named(tmp_path, cache_dir):
    few = ["(1 (0 a) (0 b))"] * 20 + ["(1 (0 a) (0 b) (0 c))"]
    folder = written(tmp_path / "mine", train=few, dev=few[:2], test=few[:2])
    (note,) = (note for note in prepared(own(folder)).describe()["notes"] if "binary" in note)
    where = f"{folder}/train.txt, line 21"
    assert note == f"1 of 25 trees are not binary, the first: {where}; data.trees=binarised makes them binary"
    many = written(tmp_path / "many", train=few[-3:] * 2, dev=few[:2], test=few[:2])
    assert not any("binary" in note for note in prepared(own(many)).describe()["notes"])


def test_classes_are_those_of_the_roots_if_they_alone_are_learned(tmp_path, cache_dir):
    folder = everywhere(tmp_path / "mine", ["(good (NP a) (VP (good b) c))", "(bad (NP (bad a) b) (VP c))"])
    assert prepared(own(folder)).spec.classes == ("NP", "VP", "bad", "good")
    data = prepared(own(folder, train_on="roots", polarity=[-1, 1]))
    assert data.spec.classes == ("bad", "good")
    assert data.describe()["splits"]["train"]["labelled_rate"] == pytest.approx(2 / 10)
    assert [tree.label for tree in trees(data, "train")] == [["good", *[None] * 4], ["bad", *[None] * 4]]
    assert [tree.label for tree in trees(data, "test")] == [
        ["good", None, None, "good", None],
        ["bad", None, "bad", None, None],
    ]


def test_a_mark_replaces_a_missing_label(tmp_path, cache_dir):
    lines = ["(good (_ not) (bad bad))", "(bad (_ so) (bad bad))"]
    data = prepared(own(everywhere(tmp_path / "mine", lines)))
    assert data.spec.classes == ("bad", "good")
    assert [tree.label for tree in trees(data, "test")] == [["good", None, "bad"], ["bad", None, "bad"]]


@pytest.mark.parametrize(("name", "beside"), [("test.csv", "train.txt"), ("test.txt", "train.csv")])
def test_a_folder_has_splits_of_one_kind(tmp_path, cache_dir, name, beside):
    for file in (name, beside):
        table(tmp_path / file)
    message = f"found trees in brackets and tables in one folder, beside {beside}; expected all splits of one kind"
    with pytest.raises(DataError, match=f"^{tmp_path}/{name}: {message}"):
        own(tmp_path, trees="balanced").prepare_data()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["--1", "2", "-"], ("-", "--1", "2")),
        (["\u00b2", "10", "9"], ("10", "9", "\u00b2")),
    ],
)
def test_classes_are_in_the_order_of_their_numbers_or_names(tmp_path, cache_dir, labels, classes):
    lines = [f"({label} a{n})" for n in range(4) for label in labels]
    assert prepared(own(written(tmp_path / "mine", train=lines))).spec.classes == classes


def test_polarity(tmp_path, cache_dir):
    folder = written(tmp_path / "mine", train=LINES)
    assert prepared(own(folder, polarity=[-1, 0, 1])).spec.polarity == (-1, 0, 1)
    message = r"data\.polarity: found 2 numbers, expected one for each of the 3 classes bad, fair, good"
    with pytest.raises(ConfigError, match=message):
        prepared(own(folder, polarity=[-1, 1]))
    for polarity in ([2, 0, 1], ["good"], 1, "good"):
        with pytest.raises(ConfigError, match=r"^data\.polarity=.*: expected a list \(each -1, 0 or 1\)"):
            own(folder, polarity=polarity)


def test_a_batch_is_drawn_from_all_trees(tmp_path, cache_dir):
    lines = [f"(bad a{n})" for n in range(20)] + [f"(good (fair b{n}) c d e f g h)" for n in range(20)]
    folder = written(tmp_path / "mine", train=lines, dev=lines[:1], test=lines[:1])
    drawn = batches(prepared(own(folder, loader={"batch_size": 10})), "train")
    assert max(len({len(tree) for tree, _ in batch.trees.plain()}) for batch in drawn) == 2


# Texts


def test_texts(tmp_path, cache_dir):
    data = prepared(own(table(tmp_path / "mine.csv"), trees="balanced"))
    assert data.sizes == {"train": 16, "val": 2, "test": 2}
    assert data.spec.classes == ("bad", "good")
    assert (data.spec.binary, data.spec.words_inside) == (True, False)
    for tree in trees(data, "train"):
        number = int(tree.words[2])
        assert joined(tree) == f"((word{number} is) {number})"
        assert tree.label == [TEXTS[number][1], *[None] * 4]
    assert data.describe()["source"] == f"path: {tmp_path / 'mine.csv'}, 20 texts"


def test_columns_of_tables_for_each_split(tmp_path, cache_dir):
    stars = (0, 1.0, 2)  # 1.0 is the class 1
    rows = [{"review": text, "stars": stars[n % 3], "title": f"title {n}"} for n, (text, _) in enumerate(TEXTS)]
    for name, some in (("train", rows[:10]), ("valid", rows[10:13]), ("test", rows[13:])):
        (tmp_path / f"my_{name}.jsonl").write_text("\n".join(map(json.dumps, some)))
    columns = {"text_column": "review", "label_column": "stars", "trees": "left"}
    data = prepared(own(tmp_path, **columns))
    assert data.sizes == {"train": 10, "val": 3, "test": 7}
    assert data.spec.classes == ("0", "1", "2")
    assert [joined(tree) for tree in trees(data, "val")] == ["((<unk> is) <unk>)"] * 3
    other = prepared(own(tmp_path, **columns | {"text_column": "title"}))
    assert other.spec.vocabulary_size != data.spec.vocabulary_size


@pytest.mark.parametrize("trees", ["given", "binarised"])
def test_texts_have_no_trees(tmp_path, cache_dir, trees):
    path = table(tmp_path / "mine.csv")
    message = f"these texts have no trees, and data.trees={trees} .*; data.trees=balanced, left, right or spacy:M"
    with pytest.raises(ConfigError, match=f"^{path}: {message}"):
        own(path, trees=trees).prepare_data()


def test_a_column_that_is_missing(tmp_path, cache_dir):
    path = table(tmp_path / "mine.csv")
    hint = r"did you mean 'label'\? \(the keys are data\.text_column and data\.label_column\)"
    with pytest.raises(DataError, match=f"^{path}, line 1: no column 'lable'; found: .*{hint}"):
        own(path, trees="balanced", label_column="lable").prepare_data()


def test_a_parser_for_texts(tmp_path, cache_dir, monkeypatch):
    """test_builder.py tests spaCy itself; here all words are children of the first."""
    asked = []
    monkeypatch.setattr("zoo.data.trees.builder.parser", asked.append)

    def parsed(words, model, label):
        rest = len(words) - 1
        return Tree(list(words), [-1, *[0] * rest], list(range(len(words))), [label, *[None] * rest])

    monkeypatch.setattr("zoo.data.trees.builder.parsed", parsed)
    data = prepared(own(table(tmp_path / "mine.csv"), trees="spacy:toy"))
    assert set(asked) == {"toy"}
    assert (data.spec.words_inside, data.spec.binary, data.spec.arity) == (True, False, 2)
    assert {tuple(tree.parent) for tree in trees(data, "train")} == {(-1, 0, 0)}
    assert data.encoder("a b c").built == ("spacy:toy",)


# Mistakes


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["(good a)", "(good (good b) c)"] * 9, "all nodes have the label 'good'; at least two classes are expected"),
        (LINES[:2], r"too few trees \(2\) to draw val and test from them and to train on each of 2 classes; use more"),
    ],
)
def test_trees_from_which_nothing_can_be_learned(tmp_path, cache_dir, lines, message):
    folder = written(tmp_path / "mine", train=lines)
    with pytest.raises(DataError, match=f"^{folder}/?.*: {message}"):
        own(folder).prepare_data()


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("train.txt", "((fair a) b)", "no label: the root of the tree, 'a b', has none"),
        ("train.txt", "(_ (fair a) b)", "no label: the root of the tree, 'a b', has _, which means no label"),
        ("train.csv", " ,good", "no text: column 'text' holds ' '"),
        ("train.csv", "fine, ", "no label: column 'label' holds ' '"),
    ],
)
def test_lines_without_a_text_or_a_label_are_bad_rows(tmp_path, cache_dir, name, line, problem):
    lines = LINES if name == "train.txt" else ["text,label", *map(",".join, TEXTS)]
    (tmp_path / name).write_text("\n".join([*lines[:4], line, *lines[4:]]))
    with pytest.raises(DataError, match=f"^{tmp_path}/{name}, line 5: {problem}.*on_bad_row=skip"):
        own(tmp_path, trees="balanced").prepare_data()
    data = prepared(own(tmp_path, trees="balanced", **SKIP))
    assert sum(data.sizes.values()) == 20
    assert data.describe()["skipped"] == {problem.partition(":")[0]: 1}
