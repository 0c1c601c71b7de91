"""data=sst in brackets, raw and from the hub, its two sets of classes, and each error with its file and line."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tests.data.serving import batches, one_bad_row, prepared
from tests.data.trees.served import folder_of, rows, trees, written
from zoo.data.rows import BadRows
from zoo.data.trees import sst
from zoo.data.trees.brackets import parse
from zoo.data.trees.dependency_files import dependency_tree
from zoo.data.trees.sst import NAMES, SST, labelled, read_classes, read_raw
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
LINES = {"train": TRAIN, "val": VAL, "test": TEST}
SMALL = {"text": {"minimum_frequency": 1}, "loader": {"batch_size": 2}}


@pytest.fixture
def ptb(tmp_path, cache_dir):
    return written(tmp_path / "trees", train=TRAIN, dev=VAL, test=TEST)


def data(path, **options):
    return prepared(SST(source=str(path), **SMALL | options))


def fine(line):
    """A tree in brackets with the names of the five classes."""
    tree = parse(line)
    return tree._replace(label=[NAMES[int(label)] for label in tree.label])


def known(tree, lines=TRAIN):
    """A tree in which words outside the training trees are unknown."""
    words = {word for line in lines for word in parse(line).words}
    return tree._replace(words=[word if word in words else "<unk>" for word in tree.words])


def test_brackets(ptb):
    subject = data(ptb)
    assert subject.sizes == {"train": 6, "val": 2, "test": 3}
    for split, lines in LINES.items():
        assert trees(subject, split) == [known(fine(line)) for line in lines]
    spec = subject.spec
    assert (spec.classes, spec.polarity) == (NAMES, (-1, -1, 0, 1, 1))
    assert (spec.arity, spec.binary, spec.words_inside) == (2, True, False)
    assert spec.vocabulary_size == len({word for line in TRAIN for word in parse(line).words}) + 2


def test_words_of_all_splits_may_have_ids(ptb):
    assert trees(data(ptb, text={"vocabulary_splits": "all"}), "test") == [fine(line) for line in TEST]


def test_description(ptb):
    written(ptb, dev=[*VAL, TRAIN[1]])
    about = data(ptb).describe()
    assert about["source"] == f"path: {ptb}, 12 trees"
    assert about["splits"]["train"]["classes"] == dict(zip(NAMES, (1, 1, 1, 2, 1), strict=True))
    assert about["splits"]["train"]["labelled_rate"] == 1
    assert about["splits"]["train"]["nodes"]["max"] == 7
    assert about["splits"]["test"]["unknown_rate"] == pytest.approx(1 / 5)
    assert about["examples"][0] == {"label": "very positive", "text": "The Film/Movie good"}
    assert about["notes"] == ["val: 1 of 3 trees is in train too"]
    kind = "binary trees, words at the leaves, as they are in the data"
    assert about["contents"] == [f"{kind}; vocabulary 13 words, 5 classes, counted at the roots"]


def test_two_classes(ptb):
    subject = data(ptb, classes="binary")
    # each split loses its one tree that is neutral as a whole; neutral nodes inside stay
    assert subject.sizes == {"train": 5, "val": 1, "test": 2}
    assert (subject.spec.classes, subject.spec.polarity) == (("negative", "neutral", "positive"), (-1, 0, 1))
    merged = {"0": "negative", "1": "negative", "2": "neutral", "3": "positive", "4": "positive"}
    for split, lines in LINES.items():
        kept = [parse(line) for line in lines if not line.startswith("(2")]
        expected = [tree._replace(label=[merged[label] for label in tree.label]) for tree in kept]
        assert trees(subject, split) == [known(tree, [line for line in TRAIN if line[1] != "2"]) for tree in expected]
    written(ptb, dev=["(2 film)", "(2 (3 good) (1 bad))"])
    with pytest.raises(DataError, match=f"^{ptb}: no trees in the val split; left out: 2 neutral as a whole"):
        data(ptb, classes="binary")


def test_the_sample_has_evidence(cache_dir):
    sizes = {"train": 8, "val": 3, "test": 5}
    subject = prepared(SST(sample=sizes, **SMALL))
    assert subject.sizes == sizes
    for batch in batches(subject, "test"):
        assert batch.evidence.dtype == torch.bool and batch.evidence.shape == batch.label.shape
        assert all(any(tree) for tree in batch.trees.by_tree(batch.evidence))
    other = prepared(SST(sample=sizes, trees="right", **SMALL))  # its nodes are not those of the sample
    assert {batch.evidence for batch in batches(other, "test")} == {None}
    assert {frozenset(one.words) for one in trees(other, "val")} == {frozenset(t.words) for t in trees(subject, "val")}


def test_written_trees_are_read_back(tmp_path):
    few, folder = {"train": 30, "val": 5, "test": 5}, tmp_path / "sst"
    sample, again = SST(sample=few), SST(source=str(folder))
    assert [file.name for file in sample.write(folder)] == ["train.txt", "dev.txt", "test.txt"]
    for split, count in few.items():
        found = [row.tree for row in rows(again, split)]
        assert found == [row.tree for row in rows(sample, split)] and len(found) == count


@pytest.mark.parametrize("label", ["5", "good"])
def test_a_label_out_of_range_is_a_bad_row(ptb, label):
    written(ptb, dev=[*VAL, "", f"(3 (2 a) ({label} b))"])
    message = f"label out of range: found '{label}', expected one of 0, 1, 2, 3, 4 .*on_bad_row=skip"
    with pytest.raises(DataError, match=rf"^{ptb}/dev.txt, line 4: {message}"):
        data(ptb)
    subject = data(ptb, loader={"on_bad_row": "skip"})
    assert subject.sizes == {"train": 6, "val": 2, "test": 3}
    assert subject.describe()["skipped"] == {"label out of range": 1}


# The raw form

RAW = {
    "SOStr": "It|'s|good\nnot|good\nbad\nand\\/or|good\n",
    "STree": "5|4|4|5|0\n3|3|0\n0\n3|3|0\n",
    "datasetSplit": "sentence_index,splitset_label\n1,1\n2,2\n3,3\n4,1\n",
    # a phrase may contain the mark, and "not" is not in the dictionary
    "dictionary": "It|3\n's|4\ngood|0\n's good|1\nIt 's good|2\nnot good|5\nbad|6\nand\\/or|7\nand\\/or good|0\n"
    "a|b|3\n",
    "sentiment_labels": "phrase ids|sentiment values\n0|0.9\n1|0.80\n2|0.61111\n3|0.5\n4|0.6\n5|0.2\n6|0\n7|0.4\n",
}


def raw(folder, **changes):
    """The five files, some of them replaced, or removed by None."""
    return written(folder, **{name: content for name, content in (RAW | changes).items() if content is not None})


def read(folder, policy="error", encoding="utf-8"):
    """(split, tree, line) of each sentence."""
    rows = read_raw(folder, BadRows(policy, encoding))
    return [(split, row.tree, int(row.place.split()[-1])) for split, row in rows]


@pytest.mark.parametrize(("ends", "encoding"), [("\n", "utf-8"), ("\r\n", "utf-8"), ("\n", "utf-16")])
def test_raw_files(tmp_path, cache_dir, ends, encoding):
    folder = raw(tmp_path, STree=RAW["STree"] + "\n\n")
    for file in folder.glob("*.txt"):
        file.write_bytes(file.read_text().replace("\n", ends).encode(encoding))
    not_good = parse("(0 not (4 good))")  # its label 4 is that of "good", and "not" has none
    expected = [
        ("train", parse("(3 (2 It) (3 (2 's) (4 good)))"), 1),
        ("test", not_good, 2),
        ("val", parse("(0 bad)"), 3),
        ("train", parse(r"(4 (1 and\/or) (4 good))"), 4),  # looked up with its backslash
    ]
    assert read(folder, encoding=encoding) == expected
    subject = data(folder, loader={"encoding": encoding})
    assert subject.source_description == f"path: {folder}, 4 raw trees"
    assert trees(subject, "test")[0].label == ["very negative", None, "very positive"]


def test_classes_are_closed_on_the_right(tmp_path):
    scores = ["0", "0.2", "0.20001", "0.4", "0.40001", "0.6", "0.60001", "0.8", "0.80001", "1.0"]
    written(tmp_path, phrases=[f"phrase {n}|{n}" for n in range(10)])
    written(tmp_path, scores=["phrase ids|sentiment values", *(f"{n}|{score}" for n, score in enumerate(scores))])
    found = read_classes(tmp_path / "phrases.txt", tmp_path / "scores.txt", BadRows())
    assert found == {f"phrase {n}": label for n, label in enumerate("0011223344")}


def test_a_subtree_with_a_gap_has_the_phrase_of_the_whole_range():
    tree = dependency_tree(["a", "b", "c"], [3, 0, 2])  # c covers c and a, with b between
    classes = {"a b c": "4", "a c": "0", "a": "1"}
    assert labelled(tree, classes).label == ["1", "4", "4"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("STree", "5|4|4|5|0\n\n0\n3|3|0\n", "STree.txt, line 2: not a number: found ''"),
        ("SOStr", RAW["SOStr"].replace("not", "caf\udce9"), "SOStr.txt, line 2: not UTF-8: byte 0xe9"),
        ("dictionary", "bad|6\ngood|0\nIt 's good|2\nand\\/or good|0\n", "SOStr.txt, line 2: no label: 'not good' is"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_raw_sentences_that_cannot_be_used(tmp_path, name, content, message):
    folder = raw(tmp_path)
    (folder / f"{name}.txt").write_bytes(content.encode(errors="surrogateescape"))
    found = one_bad_row(lambda bad: read_raw(folder, bad), f"{folder}/{message}")
    assert [int(row.place.split()[-1]) for _, row in found] == [1, 3, 4]


@pytest.mark.parametrize("policy", ["error", "skip"])
@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("STree", "5|4|4|5|0\n3|3|0\n0\n", 3, "the file ends here, but .*SOStr.txt has 4 lines"),
        ("datasetSplit", "i,s\n1,1\n2,2\n3,4\n4,1\n", 4, r"no such split: found '4', .*1 \(train\), 2 \(test\)"),
        ("datasetSplit", "i,s\n1,1\n2,1\n3,1\n4,1\n5,1\n", 6, "no such sentence: found '5'; expected 1 to 4"),
        ("datasetSplit", "i,s\n1,1\n0,1\n", 3, "no such sentence: found '0'"),
        ("datasetSplit", "i,s\n1,1\ntwo,1\n", 3, "no such sentence: found 'two'"),
        ("datasetSplit", "i,s\n1,1\n1,2\n", 3, "sentence 1 has a split already"),
        ("datasetSplit", "i,s\n1,1\n2 2\n", 3, "found '2 2', expected two fields with ',' between"),
        ("sentiment_labels", "ids|values\n0|0.9\n1|good\n", 3, "not a score: found 'good', expected a number from 0"),
        ("sentiment_labels", "ids|values\n0|1.5\n", 2, "not a score: found '1.5'"),
        ("sentiment_labels", "ids|values\n0|nan\n", 2, "not a score: found 'nan'"),
        ("dictionary", "good|0\n's good|77\n", 2, "the phrase '77' has no score in .*_labels.txt, which has 8"),
        ("SOStr", None, 3, "this sentence has no split; .*datasetSplit.txt has 3 for 4"),
    ],
)
def test_broken_tables_are_refused_under_either_policy(tmp_path, policy, name, content, line, message):
    folder = raw(tmp_path, **({name: content} if content else {"datasetSplit": "index,split\n1,1\n2,2\n4,1\n"}))
    with pytest.raises(DataError, match=rf"^{folder}/{name}.txt, line {line}: {message}"):
        read(folder, policy)


# Other sources


def test_other_paths_and_choices(tmp_path):
    for path in (raw(tmp_path / "raw", STree=None), written(tmp_path / "one", train=TRAIN) / "train.txt"):
        with pytest.raises(DataError, match=f"^{path}: .*; expected a folder with train.txt, .* or with SOStr.txt"):
            SST(source=str(path)).open_source()
    for key, value in (("classes", "two"), ("train_on", "root"), ("trees", "binarized")):
        with pytest.raises(ConfigError, match=rf"^data\.{key}={value}: expected .*, found '{value}'"):
            SST(**{key: value})


def test_options_and_files_that_change_the_trees(ptb):
    ways = [{}, {"classes": "binary"}, {"train_on": "roots"}, {"trees": "left"}, {"text": {"lower": True}}]
    names = [folder_of(SST(**{"source": str(ptb)} | options)) for options in (*ways, {"source": "sample"})]
    written(ptb, test=TEST[:2])
    assert len({*names, folder_of(SST(source=str(ptb)))}) == 7


def test_the_hub(tmp_path, cache_dir, monkeypatch):
    """The repository has a folder for each configuration with one for each split, and no README.md that lists them."""
    hub = tmp_path / "hub"

    def upload(split, lines):
        for configuration, column in (("default", "sentence"), ("dictionary", "phrase"), ("ptb", "ptb_tree")):
            (hub / configuration / split).mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table({column: lines}), hub / configuration / split / "0000.parquet")

    monkeypatch.setattr(sst, "HUB", str(hub))
    for split, name in (("train", "train"), ("val", "validation"), ("test", "test")):
        upload(name, LINES[split])
    subject = prepared(SST(source="hub", **SMALL))
    assert subject.source_description == f"hub: {hub} ptb refs/convert/parquet, 11 trees"
    for split, lines in LINES.items():
        assert trees(subject, split) == [known(fine(line)) for line in lines]
    upload("test", [*TEST, "(2 a"])
    with pytest.raises(DataError, match=rf"^{hub}, ptb, .*, test, row 4: bad tree: found the end of the line"):
        next(reversed([*SST(source="hub").open_source().splits["test"](BadRows())]))
