"""data=sick: SemEval's files, one file of all splits, parses in two forms, and each error with its file and line."""

import re

import pytest

from tests.data.serving import one_bad_row, prepared
from tests.data.trees.grown import joined
from tests.data.trees.served import conllu, folder_of, pairs, rows, written
from zoo.data.rows import BadRows
from zoo.data.trees import sick
from zoo.data.trees.sick import SICK, read_parsed, read_sick
from zoo.data.trees.tree import Tree
from zoo.errors import ConfigError, DataError

SEMEVAL = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
WHOLE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA\t"
    "sentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set"
)
ROWS = {
    "train": [("A dog runs", "It sits", "4.5"), ("Two men isn't here", "A dog", "1"), ("A cat", "A cat", "5")],
    "val": [("A dog sits", "It runs", "2.75")],
    "test": [("A man runs", "A cat sits", "3.5"), ("It runs", "A dog", "2")],
}
SMALL = {"text": {"minimum_frequency": 1}, "loader": {"batch_size": 2}}


def data(path, **options):
    return SICK(source=str(path), **SMALL | options)


def semeval(folder):
    """The three files of SemEval."""
    files = {"SICK_train": "train", "SICK_trial": "val", "SICK_test_annotated": "test"}
    for file, split in files.items():
        lines = [f"{n}\t{a}\t{b}\t{score}\tNEUTRAL" for n, (a, b, score) in enumerate(ROWS[split], 1)]
        written(folder, **{file: [SEMEVAL, *lines]})
    return folder


def row(split, first="A dog runs", second="It sits", score="4.5"):
    return f"1\t{first}\t{second}\tNEUTRAL\t{score}\tA\tB\tx\ty\tFLICKR\tFLICKR\t{split}"


def whole(folder, *more, name="SICK"):
    """The one file of all splits, those of the test first."""
    names = {"test": "TEST", "train": "TRAIN", "val": "TRIAL"}
    lines = [row(names[split], *one) for split in names for one in ROWS[split]]
    return written(folder, **{name: [WHOLE, *lines, *more]}) / f"{name}.txt"


def shown(subject, split):
    return [(joined(first), joined(second), score) for first, second, score in pairs(subject, split)]


# Files of sentences


def test_sentences_keep_their_quotation_marks(tmp_path):
    lines = ['1\tA "group of kids" plays\tThey\'re here\t4.5\tNEUTRAL\r', "", '7\tA man\tNo "man\t1\tCONTRADICTION']
    path = written(tmp_path, SICK_train=[SEMEVAL, *lines]) / "SICK_train.txt"
    read = read_sick(path, "val", str.split, BadRows())
    assert [(split, joined(first), joined(second), *rest) for split, (first, second, *rest) in read] == [
        ("val", '(A "group of kids" plays)', "(They're here)", 4.5, f"{path}, line 2"),
        ("val", "(A man)", '(No "man)', 1.0, f"{path}, line 4"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("TRIAL", score="5.1"), "score out of range: found '5.1', expected a number from 1 to 5"),
        (row("TRAIN", score="0.99"), "score out of range: found '0.99'"),
        (row("TRAIN", score="nan"), "score out of range: found 'nan'"),
        (row("TEST", score=""), "score out of range: found ''"),
        (row("TRAIN", first=" "), "no text: column 'sentence_A' holds ''"),
        (row("TEST", second="?!"), "no text: column 'sentence_B' holds '?!'"),  # no words after it is cut
        (row("TRIAL") + "\tx", "wrong number of fields: found 13 with tabs between, the header has 12"),
        ("1\tA dog", "wrong number of fields: found 2"),
        (row("TRIALS"), "unknown split: found 'TRIALS' in SemEval_set, expected one of TRAIN, TRIAL, TEST"),
        (row("TRAIN", first="caf\udce9"), "not UTF-8: byte 0xe9"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_rows_that_cannot_be_used(tmp_path, line, message):
    path = tmp_path / "SICK.txt"
    path.write_bytes("\n".join([WHOLE, row("TRAIN"), line, row("TEST")]).encode(errors="surrogateescape"))

    words = re.compile("[^?! ]+").findall
    found = one_bad_row(lambda bad: read_sick(path, "", words, bad), f"{path}, line 3: {message}")
    assert [split for split, _ in found] == ["train", "test"]


@pytest.mark.parametrize(
    ("header", "split", "message"),
    [
        ("pair_ID\tsentence_A\tsentence_B", "test", "no column 'relatedness_score'; .*SICK_test_annotated.txt"),
        (SEMEVAL.replace("_A", "_1"), "test", "no column 'sentence_A'; found: 'pair_ID', 'sentence_1'"),
        (SEMEVAL, "", "no column 'SemEval_set'; .*without it, give a folder with SICK_train.txt"),
    ],
)
def test_columns_that_are_missing(tmp_path, header, split, message):
    path = written(tmp_path, SICK_test=[header, "1\ta\tb"]) / "SICK_test.txt"
    with pytest.raises(DataError, match=f"^{path}, line 1: {message}"):
        list(read_sick(path, split, str.split, BadRows("skip")))


def test_semeval(tmp_path, cache_dir, monkeypatch):
    monkeypatch.setattr(sick, "KNOWN", {2: "the pairs of this test"})
    folder = semeval(tmp_path / "sick")
    written(folder, SICK_test="pair_ID\tsentence_A\tsentence_B\n1\tA\tB\n", readme="SICK\n")  # these are not read
    subject = prepared(data(folder, trees="left", parse="constituency"))
    assert subject.sizes == {"train": 3, "val": 1, "test": 2}
    assert shown(subject, "train") == [
        ("((A dog) runs)", "(It sits)", 4.5),
        ("((((Two men) is) n't) here)", "(A dog)", 1.0),
        ("(A cat)", "(A cat)", 5.0),
    ]
    assert shown(subject, "val") == [("((A dog) sits)", "(It runs)", 2.75)]
    assert [score for *_, score in shown(subject, "test")] == [3.5, 2.0]
    spec = subject.spec
    assert (spec.grades, spec.lowest, spec.highest, spec.binary) == (5, 1, 5, True)
    assert subject.source_description == f"path: {folder}, 6 pairs, with the pairs of this test"


def test_other_paths(tmp_path):
    folder = semeval(tmp_path / "sick")
    with pytest.raises(ConfigError, match=f"^{folder}: these sentences have no trees, .*data.trees=balanced, left"):
        data(folder, trees="binarised").open_source()
    (folder / "SICK_test_annotated.txt").rename(folder / "SICK_test.txt")
    files = data(folder, trees="left").open_source().identity["files"]
    assert str(folder / "SICK_test.txt") in [file for file, *_ in files]
    (folder / "SICK_train.txt").unlink()
    layout = "folders train, dev and test with a.toks, .* or, with data.trees=balanced .*SICK.txt"
    with pytest.raises(DataError, match=f"^{folder}: found SICK_test.txt, SICK_trial.txt; expected {layout}"):
        data(folder).open_source()
    with pytest.raises(ConfigError, match=r"data.source=hub: .*; expected: sample, or the path of"):
        SICK(source="hub").open_source()


@pytest.mark.parametrize("name", ["SICK", "mine"])
def test_one_file_of_all_splits(tmp_path, cache_dir, name):
    """The column decides, whatever the name: otherwise the test would have the training pairs."""
    file = whole(tmp_path / "sick", name=name)
    subject = prepared(data(file, trees="left"))
    other = prepared(data(semeval(tmp_path / "three"), trees="left"))
    assert all(pairs(subject, split) == pairs(other, split) for split in ROWS)
    assert subject.source_description.endswith("6 pairs")
    if name == "SICK":
        assert pairs(prepared(data(file.parent, trees="left")), "test") == pairs(other, "test")


def test_pairs_with_a_long_sentence_are_cut(tmp_path, cache_dir):
    text = {"minimum_frequency": 1, "max_words": 2}
    subject = prepared(data(whole(tmp_path / "sick"), trees="left", text=text))
    assert shown(subject, "val") == [("(dog: A)", "(<unk>: It)", 2.75)]
    cut = {name: split["truncated"] for name, split in subject.describe()["splits"].items()}
    assert cut == {"train": 2, "val": 1, "test": 1}


# Parses

PARSED = {
    "a.toks": "A dog runs .\nIt sits\n",
    "a.parents": "2 3 0 -1\n2 0\n",
    "a.cparents": "5 5 6 7 6 7 0\n3 3 0\n",
    "b.toks": "Dogs run\nIt stands up\n",
    "b.parents": "2 0\n2 0 2\n",
    "b.cparents": "3 3 0\n5 4 4 5 0\n",
    "sim.txt": "4.5\n1\n",
    "id.txt": "1\n2\n",
}


CONLLU = {
    "a.conllu": conllu("# a sentence\n1 A 2\n2 dog 3\n3 runs 0\n\n1 It 2\n2 sits 0\n"),
    "b.conllu": conllu("1 Dogs 2\n2 run 0\n\n1 It 2\n2 stands 0\n3 up 2\n"),
    "sim.txt": "4.5\n1\n\n",
}


def parsed(folder, files=PARSED, splits=("train", "dev", "test"), changed=()):
    """Write the same pairs for each split; `changed` replaces files of `train`, or removes them by None."""
    for split in splits:
        for name, content in {**files, **(dict(changed) if split == "train" else {})}.items():
            (folder / split).mkdir(parents=True, exist_ok=True)
            if content is not None:
                (folder / split / name).write_text(content)
    return folder


def test_parses_of_dependencies(tmp_path, cache_dir):
    folder = parsed(tmp_path / "sick", changed={"id.txt": None})
    (one, two) = read_parsed(folder / "train", BadRows(), "dependency")
    assert [pair.place for pair in (one, two)] == [f"{folder}/train/a.toks, line {line}" for line in (1, 2)]
    subject = prepared(data(folder))
    assert subject.sizes == {"train": 2, "val": 2, "test": 2}
    for split in ("train", "val", "test"):
        assert pairs(subject, split) == [tuple(pair[:3]) for pair in (one, two)]
    assert (one.first, one.score) == (Tree(["A", "dog", "runs", "."], [1, 2, -1], [0, 1, 2], [None] * 3), 4.5)
    assert (one.second.parent, two.second.parent, two.score) == ([1, -1], [1, -1, 1], 1.0)
    assert (subject.spec.arity, subject.spec.binary, subject.spec.words_inside) == (2, False, True)
    assert subject.source_description.startswith(f"path: {folder}, 6 pairs of dependency parses")
    note = "val: all 2 pairs are in train too: a score on them shows nothing about new ones"
    assert subject.describe()["notes"][0] == note


@pytest.mark.parametrize(
    ("options", "trees", "binary"),
    [
        ({"parse": "constituency"}, ["(((A dog) runs) .)", "(Dogs run)", "(It (stands up))"], True),
        ({"trees": "binarised"}, ["((A dog) runs)", "(Dogs run)", "(It (stands up))"], True),
        ({"trees": "right"}, ["(A: (dog: (runs: .)))", "(Dogs: run)", "(It: (stands: up))"], False),
    ],
)
def test_other_trees_of_parses(tmp_path, cache_dir, options, trees, binary):
    subject = prepared(data(parsed(tmp_path / "sick"), **options))
    (one, other, _), (_, last, _) = pairs(subject, "train")
    assert [joined(tree) for tree in (one, other, last)] == trees
    assert (subject.spec.binary, subject.spec.words_inside) == (binary, not binary)


def test_conllu(tmp_path, cache_dir):
    same = {"a.toks": "A dog runs\nIt sits\n", "a.parents": "2 3 0\n2 0\n"}
    by_hand = pairs(prepared(data(parsed(tmp_path / "theirs", changed=same))), "train")
    subject = prepared(data(parsed(tmp_path / "sick", CONLLU, ("train", "trial", "test"))))
    assert pairs(subject, "train") == pairs(subject, "val") == by_hand
    with pytest.raises(DataError, match=f"^{tmp_path}/sick/train: no a.toks; expected a.toks, a.cparents, b.toks"):
        data(tmp_path / "sick", parse="constituency").prepare_data()


@pytest.mark.parametrize(
    ("files", "name", "content", "line", "message"),
    [
        (PARSED, "a.parents", "2 3 0 -1\n0 0\n", 2, "two roots: tokens 1 and 2"),
        (PARSED, "b.parents", "2 0\n2 0\n", 2, "numbers differ"),
        (PARSED, "sim.txt", "4.5\n\n", 2, "score out of range: found ''"),
        (CONLLU, "sim.txt", "4.5\n0\n", 2, "score out of range: found '0', expected a number from 1 to 5"),
        # the sentences after a broken one keep their partners and scores
        (CONLLU, "a.conllu", conllu("1 A 0\n2 b 0\n"), 2, "two roots: tokens 1 and 2 have head 0"),
        (CONLLU, "b.conllu", conllu("1 A 2\n2 b 1\n3 c 0\n"), 1, "a cycle: tokens 1 -> 2 -> 1"),
    ],
)
def test_pairs_that_cannot_be_used(tmp_path, files, name, content, line, message):
    if name.endswith("conllu"):
        content += "\n" + CONLLU[name].split("\n\n", 1)[1]
    train, message = parsed(tmp_path, files, changed={name: content}) / "train", f"{name}, line {line}: {message}"
    (pair,) = one_bad_row(lambda bad: read_parsed(train, bad, "dependency"), f"{train}/{message}")
    kept = [(["It", "sits"], ["It", "stands", "up"], 1.0), (["A", "dog", "runs"], ["Dogs", "run"], 4.5)]
    assert (pair.first.words[:3], pair.second.words, pair.score) == kept[not name.endswith("conllu")]


@pytest.mark.parametrize(
    ("files", "name", "content", "message"),
    [
        (PARSED, "b.toks", "Dogs run\n", "/b.toks, line 1: the file ends here, but .*a.toks has 2 lines; line"),
        (PARSED, "id.txt", "1\n", "/id.txt, line 1: the file ends here, but .*a.toks has 2 lines; line"),
        (PARSED, "b.parents", None, ": no b.parents; expected a.toks, a.parents"),
        (CONLLU, "b.conllu", None, ": no b.conllu; expected a.conllu, b.conllu"),
        (CONLLU, "sim.txt", "4.5\n1\n2\n", ": 2 sentences in a.conllu, 2 in b.conllu, 3 scores in sim.txt"),
        (CONLLU, "b.conllu", conllu("1 a 0\n"), ": 2 sentences in a.conllu, 1 in b.conllu"),
    ],
)
def test_files_that_do_not_fit_together(tmp_path, files, name, content, message):
    folder = parsed(tmp_path, files, changed={name: content}) / "train"
    with pytest.raises(DataError, match=f"^{folder}{message}"):
        list(read_parsed(folder, BadRows("skip"), "dependency"))


# The sample, and written files


@pytest.mark.parametrize("parse", ["dependency", "constituency"])
def test_written_pairs_are_read_back(tmp_path, parse):
    few = {"train": 30, "val": 5, "test": 5}
    sample, folder = SICK(sample=few, parse=parse), tmp_path / "sick"
    assert len(sample.write(folder)) == 3 * 5
    for split, count in few.items():
        found = rows(SICK(source=str(folder), parse=parse), split)
        assert found == rows(sample, split) and len(found) == count
    with pytest.raises(ConfigError, match=r"remove data\.trees=balanced"):
        SICK(sample=few, trees="balanced").write(tmp_path / "other")


def test_options_and_files_that_change_the_trees(tmp_path):
    folder = parsed(tmp_path / "sick")
    ways = [{}, {"trees": "left"}, {"trees": "binarised"}, {"trees": "binarised", "parse": "constituency"}]
    names = [folder_of(data(folder, **way)) for way in ways]
    (folder / "test" / "sim.txt").write_text("4.5\n2.25\n")
    assert len({*names, folder_of(data(folder))}) == 5
