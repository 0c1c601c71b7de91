"""data=sst from the official files in both forms, its two sets of classes, and everything that can be wrong with it."""

import json
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tests.data.trees.served import folders, loader, prepared, trees, written
from zoo.data.trees import sst
from zoo.data.trees.batch import NO_LABEL
from zoo.data.trees.brackets import parse
from zoo.data.trees.sst import NAMES, SST
from zoo.errors import ConfigError, DataError

TRAIN = [
    r"(4 (2 The) (3 (2 Film\/Movie) (3 good)))",
    "(1 (2 the) (1 bad))",
    "(2 (2 a) (2 film))",
    "(0 (1 bad) (0 (2 ,) (0 awful)))",
    "(3 (2 a) (3 (2 film) (3 (2 that) (3 works))))",
    "(3 good)",
]
VAL = ["(0 awful)", "(2 (3 good) (1 bad))"]
TEST = ["(4 (3 good) (2 film))", "(2 film)", "(1 (2 odd) (1 bad))"]
SMALL = {"text": {"minimum_frequency": 1}, "loader": {"batch_size": 2}}


@pytest.fixture
def ptb(tmp_path, cache_dir):
    return written(tmp_path / "trees", train=TRAIN, dev=VAL, test=TEST)


def fine(line):
    """A tree in brackets with the names of the five classes."""
    tree = parse(line)
    return tree._replace(label=[NAMES[int(label)] for label in tree.label])


def known(tree, lines=TRAIN):
    """The same with the words that do not stand in the training trees unknown."""
    words = {word for line in lines for word in parse(line).words}
    return tree._replace(words=[word if word in words else "<unk>" for word in tree.words])


def test_brackets(ptb):
    data = prepared(SST(source=str(ptb), **SMALL))
    assert data.sizes == {"train": 6, "val": 2, "test": 3}
    for split, lines in (("train", TRAIN), ("val", VAL), ("test", TEST)):
        assert trees(data, split) == [known(fine(line)) for line in lines]
    assert data.tasks == ("tree_classification",)
    spec = data.spec
    assert (spec.classes, spec.polarity) == (NAMES, (-1, -1, 0, 1, 1))
    assert (spec.arity, spec.binary, spec.words_inside) == (2, True, False)
    # The and the, Film/Movie and film: case is kept, and \/ is one word without its backslash
    words = data.encoder.vocabulary.state()
    assert {"The", "the", "Film/Movie", "film"} <= set(words)
    assert len(words) == len({word for line in TRAIN for word in parse(line).words}) == spec.vocabulary_size - 2
    batches = list(loader(data, "test"))
    texts = {number: words for one in batches for number, words in zip(one.index.tolist(), one.text, strict=True)}
    assert texts == {0: ["good", "film"], 1: ["film"], 2: ["odd", "bad"]}  # as they are written, known or not
    assert next(iter(loader(data, "train"))).text is None
    assert {batch.evidence for batch in batches} == {None}


def test_words_of_all_splits_may_have_ids(ptb, tmp_path):
    (tmp_path / "glove.txt").write_text("film 1 2\nodd 3 4\n")
    data = prepared(SST(source=str(ptb), text={"vocabulary_splits": "all"}, vectors=str(tmp_path / "glove.txt")))
    for split, lines in (("train", TRAIN), ("val", VAL), ("test", TEST)):
        assert trees(data, split) == [fine(line) for line in lines]
    odd = data.encoder.vocabulary.encode(["odd"])
    assert data.vectors().rows[odd].tolist() == [[3, 4]], "no tree to train on has this word"
    assert len(data.encoder.vocabulary.state()) == len({w for line in TRAIN + VAL + TEST for w in parse(line).words})


def test_description(ptb):
    about = prepared(SST(source=str(ptb), **SMALL)).describe()
    json.dumps(about)
    assert (about["name"], about["source"]) == ("sst", f"path: {ptb}, 11 trees")
    assert about["splits"]["train"]["classes"] == dict(zip(NAMES, (1, 1, 1, 2, 1), strict=True))
    assert about["splits"]["train"]["labelled_rate"] == 1
    assert about["splits"]["train"]["nodes"]["max"] == 7
    assert about["splits"]["test"]["unknown_rate"] == pytest.approx(1 / 5)
    assert about["examples"][0] == {"label": "very positive", "text": "The Film/Movie good"}
    assert about["notes"] == []
    kind = "binary trees, words at the leaves, as they are in the data"
    assert about["contents"] == [f"{kind}; vocabulary 13 words, 5 classes, counted at the roots"]


def test_trees_of_validation_that_stand_in_training(ptb):
    written(ptb, dev=[*VAL, TRAIN[1]])
    notes = prepared(SST(source=str(ptb), **SMALL)).describe()["notes"]
    assert notes == ["val: 1 of 3 trees are in train too"]


def test_two_classes(ptb, caplog):
    with caplog.at_level(logging.INFO, "zoo"):
        data = prepared(SST(source=str(ptb), classes="binary", **SMALL))
    # each split loses its one tree that is neutral as a whole; neutral nodes inside stay
    assert data.sizes == {"train": 5, "val": 1, "test": 2}
    for name, part in data.describe()["splits"].items():
        assert part["dropped"] == {"neutral as a whole": 1}
        assert f"{name}: left out 1 neutral as a whole" in caplog.text
    assert (data.spec.classes, data.spec.polarity) == (("negative", "neutral", "positive"), (-1, 0, 1))
    merged = {"0": "negative", "1": "negative", "2": "neutral", "3": "positive", "4": "positive"}
    for split, lines in (("train", TRAIN), ("val", VAL), ("test", TEST)):
        kept = [parse(line) for line in lines if not line.startswith("(2")]
        expected = [tree._replace(label=[merged[label] for label in tree.label]) for tree in kept]
        assert trees(data, split) == [known(tree, [line for line in TRAIN if line[1] != "2"]) for tree in expected]


def test_labels_of_training_nodes_can_be_left_to_the_roots(ptb):
    data = prepared(SST(source=str(ptb), train_on="roots", **SMALL))
    for tree, line in zip(trees(data, "train"), TRAIN, strict=True):
        assert tree.label == [fine(line).label[0], *[None] * (len(tree.label) - 1)]
    for split, lines in (("val", VAL), ("test", TEST)):
        assert trees(data, split) == [known(fine(line)) for line in lines]
    splits = data.describe()["splits"]
    nodes = sum(len(parse(line).parent) for line in TRAIN)
    assert splits["train"]["labelled_rate"] == pytest.approx(len(TRAIN) / nodes)
    assert splits["test"]["labelled_rate"] == 1
    assert splits["train"]["classes"] == dict(zip(NAMES, (1, 1, 1, 2, 1), strict=True))


def test_another_tree_on_the_same_words(ptb):
    data = prepared(SST(source=str(ptb), trees="left", **SMALL))
    tree = trees(data, "train")[4]
    assert tree.words == parse(TRAIN[4]).words
    assert tree.parent == [-1, 0, 1, 2, 2, 1, 0]  # (((a film) that) works)
    assert tree.label == ["positive", *[None] * 6]
    for batch in loader(data, "test"):
        labelled = batch.label != NO_LABEL
        assert labelled.sum() == len(batch)
        assert labelled[batch.trees.forest.root].all()


def test_the_sample_knows_its_evidence(cache_dir):
    sizes = {"train": 8, "val": 3, "test": 5}
    data = prepared(SST(sample=sizes, **SMALL))
    assert data.sizes == sizes
    for batch in loader(data, "test"):
        assert batch.evidence.dtype == torch.bool and batch.evidence.shape == batch.label.shape
        assert all(any(tree) for tree in batch.trees.by_tree(batch.evidence))
    other = prepared(SST(sample=sizes, trees="right", **SMALL))  # whose nodes it says nothing of
    assert {batch.evidence for batch in loader(other, "test")} == {None}
    assert {frozenset(tree.words) for tree in trees(other, "val")} == {frozenset(t.words) for t in trees(data, "val")}


def test_what_is_prepared_otherwise_is_another_folder(ptb, cache_dir):
    ways = [{}, {"classes": "binary"}, {"train_on": "roots"}, {"trees": "left"}, {"text": {"lower": True}}]
    for count, options in enumerate([*ways, {"source": "sample", "sample": {"train": 5, "val": 2, "test": 2}}], 1):
        for loading in ({"batch_size": 2}, {"batch_size": 5, "seed": 9}):  # the second finds what the first prepared
            prepared(SST(**{"source": str(ptb), "loader": loading} | options))
            assert len(folders(cache_dir)) == count, options
    written(ptb, test=TEST[:2])
    assert prepared(SST(source=str(ptb), **SMALL)).sizes["test"] == 2


def test_vectors_of_words(ptb, tmp_path):
    (tmp_path / "glove.txt").write_text("film 1 2\nFilm/Movie 3 4\nelse 5 6\n")
    data = prepared(SST(source=str(ptb), vectors=str(tmp_path / "glove.txt"), **SMALL))
    vectors = data.vectors()
    at = data.encoder.vocabulary.encode(["film", "Film/Movie", "good"])
    assert vectors.found[at].tolist() == [True, True, False]
    assert vectors.rows[at[:2]].tolist() == [[1, 2], [3, 4]]


# The raw form

SCORES = {"0": "0.2", "1": "0.4", "2": "0.6", "3": "0.8", "4": "0.80001"}
"""The highest score of each class, and the lowest of the last."""


def raw(folder, splits):
    """The five files, from trees in brackets by the numbers of their splits."""
    sentences, parents, of_split, phrases = [], [], [], {}
    for split, lines in splits.items():
        for line in lines:
            tree = parse(line)
            leaves = [node for node, word in enumerate(tree.word) if word >= 0]
            inner = [node for node, word in enumerate(tree.word) if word < 0]
            order = [*leaves, *reversed(inner)]  # words first, the root last
            number = {node: place for place, node in enumerate(order, 1)} | {-1: 0}
            words = [word.replace("/", r"\/") for word in tree.words]
            sentences.append("|".join(words))
            parents.append("|".join(str(number[tree.parent[node]]) for node in order))
            of_split.append(split)
            for (first, last), label in zip(tree.spans(), tree.label, strict=True):
                phrases[" ".join(words[first : last + 1])] = SCORES[label]
    ids = [f"{phrase}|{place}" for place, phrase in enumerate(phrases)]
    scores = [f"{place}|{score}" for place, score in enumerate(phrases.values())]
    return written(
        folder,
        SOStr=sentences,
        STree=parents,
        datasetSplit=["sentence_index,splitset_label", *(f"{n},{split}" for n, split in enumerate(of_split, 1))],
        dictionary=ids,
        sentiment_labels=["phrase ids|sentiment values", *scores],
    )


RAW_TRAIN = [line for line in TRAIN if "that" not in line]  # where the same phrase has one label


def test_the_raw_files_give_the_trees_of_the_brackets(tmp_path, cache_dir):
    folder = raw(tmp_path / "raw", {2: TEST, 1: RAW_TRAIN, 3: VAL})
    data = prepared(SST(source=str(folder), **SMALL))
    assert data.sizes == {"train": 5, "val": 2, "test": 3}
    for split, lines in (("train", RAW_TRAIN), ("val", VAL), ("test", TEST)):
        assert trees(data, split) == [known(fine(line), RAW_TRAIN) for line in lines]
    assert data.source_description == f"path: {folder}, raw, 10 trees"
    same = prepared(SST(source=str(written(tmp_path / "ptb", train=RAW_TRAIN, dev=VAL, test=TEST)), **SMALL))
    assert same.describe()["splits"] == data.describe()["splits"]


def test_a_sentence_without_a_score_is_a_bad_row(tmp_path, cache_dir):
    folder = raw(tmp_path / "raw", {1: [*RAW_TRAIN, "(3 (2 not) (3 scored))"], 2: TEST, 3: VAL})
    dictionary = (folder / "dictionary.txt").read_text().splitlines()
    written(folder, dictionary=[line for line in dictionary if not line.startswith("not scored|")])
    said = f"'not scored' is not a phrase of {folder}/dictionary.txt"
    with pytest.raises(DataError, match=rf"^{folder}/SOStr.txt, line 6: no label: {said} \(data"):
        SST(source=str(folder), **SMALL).prepare_data()
    data = prepared(SST(source=str(folder), text=SMALL["text"], loader={"on_bad_row": "skip"}))
    assert data.sizes["train"] == 5
    assert data.describe()["skipped"] == {"no label": 1}


@pytest.mark.parametrize(
    ("name", "line", "content", "message"),
    [
        ("STree", 2, "3|0|0", "two roots: nodes 2 and 3 have parent 0"),
        ("STree", 2, "0|3|2", "a cycle: nodes 2 -> 3 -> 2"),
        ("STree", 2, "3|4|0", "parent beyond the tree: node 2 has parent 4"),
        ("sentiment_labels", 3, "1|1.01", "not a score: found '1.01', expected a number from 0 to 1"),
        ("datasetSplit", 3, "2,4", "no such split: found '4', expected one of 1 .train., 2 .test., 3 .val."),
    ],
)
def test_broken_raw_files_leave_nothing_behind(tmp_path, cache_dir, name, line, content, message):
    folder = raw(tmp_path / "raw", {1: RAW_TRAIN, 2: TEST, 3: VAL})
    lines = (folder / f"{name}.txt").read_text().splitlines()
    written(folder, **{name: [*lines[: line - 1], content, *lines[line:]]})
    with pytest.raises(DataError, match=f"^{folder}/{name}.txt, line {line}: {message}"):
        SST(source=str(folder), **SMALL).prepare_data()
    assert folders(cache_dir) == []


# Mistakes


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(3 (2 a) (2 b)", r"bad tree: found the end of the line, expected '\)' for the '\(' at letter 1"),
        ("(3 (2 a) (2 b)) (2 c)", r"bad tree: found '\(' at letter 17, .*one tree per line"),
        ("(5 (2 a) (2 b))", "label out of range: found '5', expected one of 0, 1, 2, 3, 4"),
        ("(3 (2 a) (good b))", "label out of range: found 'good'"),
        ("((2 a) (2 b))", "no label: the root of the tree, 'a b', has none"),
    ],
)
def test_lines_that_are_no_labelled_tree(ptb, cache_dir, split, line, message):
    lines = {"train": TRAIN, "dev": VAL, "test": TEST}[split]
    written(ptb, **{split: [*lines, "", line]})
    with pytest.raises(DataError, match=rf"^{ptb}/{split}.txt, line {len(lines) + 2}: {message}.*on_bad_row=skip"):
        SST(source=str(ptb), **SMALL).prepare_data()
    assert folders(cache_dir) == []
    data = prepared(SST(source=str(ptb), text=SMALL["text"], loader={"on_bad_row": "skip"}))
    assert data.sizes == {"train": 6, "val": 2, "test": 3}
    assert data.describe()["skipped"] == {message.partition(":")[0]: 1}


def test_a_split_of_which_nothing_is_left(ptb, cache_dir):
    written(ptb, dev=["(2 film)", "(2 (3 good) (1 bad))"])
    with pytest.raises(DataError, match=f"^{ptb}: no trees in the val split; left out: 2 neutral as a whole"):
        SST(source=str(ptb), classes="binary", **SMALL).prepare_data()
    assert folders(cache_dir) == []


def test_what_is_no_corpus(tmp_path, cache_dir):
    layout = "a folder with train.txt, dev.txt and test.txt, one tree per line, or with SOStr.txt, STree.txt, dataset"
    with pytest.raises(
        DataError, match=rf"none: No such file .* \(data\.source\); expected: sample, hub, or .*{layout}"
    ):
        SST(source=str(tmp_path / "none")).prepare_data()
    with pytest.raises(ConfigError, match=rf"data\.source is not set; expected: sample, hub, or the path of {layout}"):
        SST(source=None).prepare_data()
    file = tmp_path / "train.txt"
    file.write_text("(2 a)\n")
    with pytest.raises(DataError, match=f"^{file}: this file has another form; expected {layout}"):
        SST(source=str(file)).prepare_data()
    folder = raw(tmp_path / "raw", {1: TRAIN})
    for name, found in (
        ("STree.txt", "found SOStr.txt, datasetSplit.txt, dictionary.txt, sentiment_labels.txt"),
        (None, "the folder is empty"),
    ):
        for path in folder.iterdir():
            if name in (None, path.name):
                path.unlink()
        with pytest.raises(DataError, match=f"^{folder}: {found}; expected {layout}.*; or use data.source=sample"):
            SST(source=str(folder)).prepare_data()
    assert not cache_dir.exists()


def test_choices():
    with pytest.raises(ConfigError, match=r"data\.classes=two: expected fine or binary"):
        SST(classes="two")
    with pytest.raises(ConfigError, match=r"data\.train_on=root: expected nodes or roots, .*did you mean 'roots'"):
        SST(train_on="root")
    with pytest.raises(ConfigError, match=r"data\.trees=middle: expected given, binarised"):
        SST(trees="middle")
    with pytest.raises(ConfigError, match=r"data\.trees=binarized: .* found 'binarized'; did you mean 'binarised'"):
        SST(trees="binarized")


# The hub


def test_the_hub_offline(cache_dir):
    with pytest.raises(DataError, match=r"^stanfordnlp/sst, ptb, .*: the split 'train' cannot be loaded") as error:
        SST(source="hub").prepare_data()
    for part in ("the columns ptb_tree", "data.source=sample", "data.source=PATH of the official files"):
        assert part in str(error.value)
    assert folders(cache_dir) == []


def test_the_hub(cache_dir, monkeypatch):
    asked, lines = [], {"train": TRAIN, "validation": VAL, "test": [*TEST, "(2 a"]}

    def download(repository, split, columns, **which):
        asked.append((repository, split, columns, which))
        return [{"ptb_tree": line} for line in lines[split]]

    monkeypatch.setattr(sst, "download", download)
    with pytest.raises(DataError, match=r"^stanfordnlp/sst, test, row 4: bad tree: found the end of the line"):
        SST(source="hub", **SMALL).prepare_data()
    del lines["test"][-1]
    data = prepared(SST(source="hub", **SMALL))
    assert data.source_description == "hub: stanfordnlp/sst, 11 trees"
    for split, name in (("train", "train"), ("val", "validation"), ("test", "test")):
        assert trees(data, split) == [known(fine(line)) for line in lines[name]]
    which = {"data_dir": "ptb", "revision": "refs/convert/parquet"}
    assert asked[-3:] == [("stanfordnlp/sst", name, ("ptb_tree",), which) for name in ("train", "validation", "test")]


def test_the_hub_as_it_is_laid_out(tmp_path, cache_dir, monkeypatch):
    """A folder a configuration with one a split, and no README.md that says so."""
    of_split = {"train": TRAIN, "validation": VAL, "test": TEST}
    for configuration, column in (("default", "sentence"), ("dictionary", "phrase"), ("ptb", "ptb_tree")):
        for split, lines in of_split.items():
            file = tmp_path / "hub" / configuration / split / "0000.parquet"
            file.parent.mkdir(parents=True)
            pq.write_table(pa.table({column: lines}), file)
    monkeypatch.setattr(sst, "HUB", str(tmp_path / "hub"))
    data = prepared(SST(source="hub", **SMALL))
    for split, name in (("train", "train"), ("val", "validation"), ("test", "test")):
        assert trees(data, split) == [known(fine(line)) for line in of_split[name]]
