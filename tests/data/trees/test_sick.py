"""data=sick in each of its forms: which set it is, how its parses are read, and what is wrong with it."""

import json
import logging

import pytest

from tests.data.trees.grown import joined
from tests.data.trees.served import folders, loader, pairs, prepared, written
from zoo.data.trees import sick
from zoo.data.trees.sick import SICK
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
SKIP = {"text": SMALL["text"], "loader": {"on_bad_row": "skip"}}


def data(path, **options):
    return SICK(source=str(path), **SMALL | options)


def semeval(folder, **more):
    """The three files of SemEval; `more` are lines behind those of a split."""
    files = {"SICK_train": "train", "SICK_trial": "val", "SICK_test_annotated": "test"}
    for file, split in files.items():
        lines = [f"{n}\t{a}\t{b}\t{score}\tNEUTRAL" for n, (a, b, score) in enumerate(ROWS[split], 1)]
        written(folder, **{file: [SEMEVAL, *lines, *more.get(split, [])]})
    return folder


def row(split, first="A dog runs", second="It sits", score="4.5"):
    name = {"train": "TRAIN", "val": "TRIAL", "test": "TEST"}[split]
    return f"1\t{first}\t{second}\tNEUTRAL\t{score}\tA\tB\tx\ty\tFLICKR\tFLICKR\t{name}"


def whole(folder, *more, name="SICK"):
    """The one file of all splits, those of the test first."""
    lines = [row(split, *one) for split in ("test", "train", "val") for one in ROWS[split]]
    return written(folder, **{name: [WHOLE, *lines, *more]}) / f"{name}.txt"


def told(subject, split):
    return [(joined(first), joined(second), score) for first, second, score in pairs(subject, split)]


# As sentences


def test_semeval(tmp_path, cache_dir, caplog, monkeypatch):
    monkeypatch.setattr(sick, "KNOWN", {2: "as in this test"})
    folder = semeval(tmp_path / "sick")
    written(folder, SICK_test="pair_ID\tsentence_A\tsentence_B\n1\tA\tB\n", readme="SICK\n")  # which come along
    with caplog.at_level(logging.INFO, "zoo"):
        subject = prepared(data(folder, trees="left", parse="constituency"))
    assert subject.sizes == {"train": 3, "val": 1, "test": 2}
    assert told(subject, "train") == [
        ("((A dog) runs)", "(It sits)", 4.5),
        ("((((Two men) is) n't) here)", "(A dog)", 1.0),
        ("(A cat)", "(A cat)", 5.0),
    ]
    assert told(subject, "val") == [("((A dog) sits)", "(It runs)", 2.75)]
    assert [score for *_, score in told(subject, "test")] == [3.5, 2.0]
    spec = subject.spec
    assert (spec.grades, spec.lowest, spec.highest, spec.binary) == (5, 1, 5, True)
    said = "pairs: 3 in train, 1 in val, 2 in test; the test set is as in this test"
    assert said in subject.describe()["contents"] and said in caplog.text
    assert subject.source_description == f"path: {folder}, 6 pairs, 2 to test on as in this test"


def test_known_sizes():
    assert set(sick.KNOWN) == {4927, 4906}  # SemEval's, and that of the hub
    assert "Tai et al" in sick.KNOWN[4927] and "Hugging Face" in sick.KNOWN[4906]


@pytest.mark.parametrize("name", ["SICK", "mine"])
def test_one_file_of_all_splits(tmp_path, cache_dir, name):
    """By any name: a file for all splits would else be trained on and tested with the same pairs."""
    file = whole(tmp_path / "sick", name=name)
    subject = prepared(data(file, trees="left"))
    assert subject.sizes == {"train": 3, "val": 1, "test": 2}
    other = prepared(data(semeval(tmp_path / "three"), trees="left"))
    for split in ("train", "val", "test"):
        assert pairs(subject, split) == pairs(other, split)
    assert "the test set is of no known size" in subject.describe()["contents"][-1]
    if name == "SICK":
        assert pairs(prepared(data(file.parent, trees="left")), "test") == pairs(other, "test")
    one = semeval(tmp_path / "three") / "SICK_train.txt"
    with pytest.raises(
        DataError, match=f"^{one}, line 1: no column 'SemEval_set'; .*without it, give a folder with SICK_train.txt"
    ):
        data(one, trees="left").prepare_data()


def test_what_is_built_is_as_the_parses_would_be(tmp_path, cache_dir):
    file = whole(tmp_path / "sick")
    by_word = prepared(data(file, trees="balanced"))
    first, second, _ = pairs(by_word, "train")[0]
    assert (first.parent, second.parent) == ([1, -1, 1], [1, -1])
    assert by_word.spec.words_inside
    by_phrase = prepared(data(file, trees="balanced", parse="constituency"))
    assert [joined(tree) for tree in pairs(by_phrase, "train")[0][:2]] == ["((A dog) runs)", "(It sits)"]
    assert (by_phrase.spec.words_inside, by_phrase.spec.binary) == (False, True)


def test_sentences_have_no_trees(tmp_path, cache_dir):
    for path in (whole(tmp_path / "one"), semeval(tmp_path / "three")):
        for trees in ("given", "binarised"):
            message = f"^{path}: these sentences have no trees, and data.trees={trees} .*data.trees=balanced, left"
            with pytest.raises(ConfigError, match=message):
                data(path, trees=trees).prepare_data()
    assert not cache_dir.exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (row("val", score="5.1"), "score out of range: found '5.1', expected a number from 1 to 5"),
        (row("val", score="0.99"), "score out of range: found '0.99'"),
        (row("train", score="nan"), "score out of range: found 'nan'"),
        (row("test", score=""), "score out of range: found ''"),
        (row("train", first=" "), "no text: column 'sentence_A' is empty"),
        (row("test", second="\x01"), "no text: one of 'A dog runs' and .* has no words"),
        (row("val") + "\tx", "wrong number of fields: found 13 with tabs between, the header has 12"),
        (row("val") + "S", "unknown split: found 'TRIALS' in SemEval_set"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path, cache_dir, line, problem):
    text = {"minimum_frequency": 1, "language": "de"}  # whose rules leave out what is no letter
    file = whole(tmp_path / "sick", line)
    with pytest.raises(DataError, match=f"^{file}, line 8: {problem}.*on_bad_row=skip"):
        data(file, trees="left", text=text).prepare_data()
    assert folders(cache_dir) == []
    subject = prepared(data(file, trees="left", text=text, loader={"on_bad_row": "skip"}))
    assert subject.sizes == {"train": 3, "val": 1, "test": 2}
    assert subject.describe()["skipped"] == {problem.partition(":")[0]: 1}


def test_a_test_set_without_scores(tmp_path, cache_dir):
    folder = semeval(tmp_path / "sick")
    (folder / "SICK_test_annotated.txt").unlink()
    written(folder, SICK_test=["pair_ID\tsentence_A\tsentence_B", "1\tA dog\tA cat"])
    message = f"^{folder}/SICK_test.txt, line 1: no column 'relatedness_score'; .*is SICK_test_annotated.txt"
    with pytest.raises(DataError, match=message):
        data(folder, trees="left").prepare_data()
    assert folders(cache_dir) == []


# Parsed

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


def conllu(words, heads):
    rows = [
        f"{n}\t{word}\t_\t_\t_\t_\t{head}\t_\t_\t_" for n, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    return "\n".join(["# a sentence", *rows, ""])


CONLLU = {
    "a.conllu": f"{conllu(['A', 'dog', 'runs'], [2, 3, 0])}\n{conllu(['It', 'sits'], [2, 0])}",
    "b.conllu": f"{conllu(['Dogs', 'run'], [2, 0])}\n{conllu(['It', 'stands', 'up'], [2, 0, 2])}",
    "sim.txt": "4.5\n1\n\n",
}


def parsed(folder, files=PARSED, splits=("train", "dev", "test"), **changes):
    """The same pairs in each split; `changes` are of the files of `train`."""
    for split in splits:
        for name, content in files.items():
            (folder / split).mkdir(parents=True, exist_ok=True)
            (folder / split / name).write_text(
                changes.get(name.replace(".", "_"), content) if split == "train" else content
            )
    return folder


def test_parses_of_dependencies(tmp_path, cache_dir):
    folder = parsed(tmp_path / "sick")
    subject = prepared(data(folder))
    assert subject.sizes == {"train": 2, "val": 2, "test": 2}
    for split in ("train", "val", "test"):
        (one, other, score), (_, last, _) = pairs(subject, split)
        assert (one.words, one.parent, one.word, score) == (["A", "dog", "runs", "."], [1, 2, -1], [0, 1, 2], 4.5)
        assert (other.parent, last.parent) == ([1, -1], [1, -1, 1])
    assert (subject.spec.arity, subject.spec.binary, subject.spec.words_inside) == (2, False, True)
    assert subject.describe()["source"] == f"path: {folder}, dependency parses, 6 pairs"
    said = ["val: all 2 pairs are in train too: a score on them shows nothing about new ones"]
    assert subject.describe()["notes"][:1] == said


def test_parses_of_constituents(tmp_path, cache_dir):
    subject = prepared(data(parsed(tmp_path / "sick"), parse="constituency"))
    (one, other, _), (_, last, _) = pairs(subject, "test")
    assert [joined(tree) for tree in (one, other, last)] == ["(((A dog) runs) .)", "(Dogs run)", "(It (stands up))"]
    assert (subject.spec.binary, subject.spec.words_inside) == (True, False)


def test_parses_with_two_children(tmp_path, cache_dir):
    subject = prepared(data(parsed(tmp_path / "sick"), trees="binarised"))
    (one, other, _), (_, last, _) = pairs(subject, "train")
    assert [joined(tree) for tree in (one, other, last)] == ["((A dog) runs)", "(Dogs run)", "(It (stands up))"]
    assert (subject.spec.binary, subject.spec.words_inside) == (True, False)
    batch = subject.encoder([("(2 a b c)", "(2 a b)")])  # what is typed is of the same kind
    assert batch.trees.plain()[0][1].count(-1) == 2


def test_other_trees_on_parsed_sentences(tmp_path, cache_dir):
    subject = prepared(data(parsed(tmp_path / "sick"), trees="right"))
    (one, *_), _ = pairs(subject, "train")
    assert (one.words, one.parent) == (["A", "dog", "runs", "."], [-1, 0, 1, 2])


def test_conllu(tmp_path, cache_dir):
    by_hand = pairs(
        prepared(data(parsed(tmp_path / "theirs", a_toks="A dog runs\nIt sits\n", a_parents="2 3 0\n2 0\n"))), "train"
    )
    subject = prepared(data(parsed(tmp_path / "sick", CONLLU, ("train", "trial", "test"))))
    assert subject.sizes == {"train": 2, "val": 2, "test": 2}
    assert pairs(subject, "train") == pairs(subject, "val") == by_hand
    with pytest.raises(DataError, match=f"^{tmp_path}/sick/train: no a.toks; expected a.toks, a.cparents, b.toks"):
        data(tmp_path / "sick", parse="constituency").prepare_data()


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.conllu", conllu(["A", "b"], [0, 0]), 3, "two roots: tokens 1 and 2 have head 0"),
        ("b.conllu", conllu(["A", "b", "c"], [2, 1, 0]), 2, "a cycle: tokens 1 -> 2 -> 1"),
    ],
)
def test_a_broken_sentence_leaves_out_its_pair_alone(tmp_path, cache_dir, name, content, line, message):
    """The sentences after it keep their partners and scores."""
    second = CONLLU[name].split("\n\n", 1)[1]
    folder = parsed(tmp_path / "sick", CONLLU, **{name.replace(".", "_"): f"{content}\n{second}"})
    with pytest.raises(DataError, match=f"^{folder}/train/{name}, line {line}: {message}.*on_bad_row=skip"):
        data(folder).prepare_data()
    assert folders(cache_dir) == []
    ((first, other, score),) = pairs(prepared(data(folder, **SKIP)), "train")
    assert (first.words, other.words, score) == (["It", "sits"], ["It", "stands", "up"], 1.0)


@pytest.mark.parametrize(
    ("files", "name", "content", "message"),
    [
        (PARSED, "a.parents", "2 3 0 -1\n0 0\n", "two roots: tokens 1 and 2"),
        (PARSED, "a.parents", "2 3 0 -1\n1 0\n", "a cycle: tokens 1 -> 1"),
        (PARSED, "b.parents", "2 0\n2 3 2\n", "no root"),
        (PARSED, "b.parents", "2 0\n9 0 2\n", "head beyond the sentence: token 1 has head 9"),
        (PARSED, "b.parents", "2 0\n3 0 -1\n", "head outside the tree: token 1 has head 3, whose own head is -1"),
        (PARSED, "sim.txt", "4\n5.5\n", "score out of range: found '5.5'"),
        (CONLLU, "sim.txt", "4.5\n0\n", "score out of range: found '0', expected a number from 1 to 5"),
    ],
)
def test_pairs_that_cannot_be_used(tmp_path, cache_dir, files, name, content, message):
    folder = parsed(tmp_path / "sick", files, **{name.replace(".", "_"): content})
    with pytest.raises(DataError, match=f"^{folder}/train/{name}, line 2: {message}.*on_bad_row=skip"):
        data(folder).prepare_data()
    assert folders(cache_dir) == []
    subject = prepared(data(folder, **SKIP))
    assert subject.sizes == {"train": 1, "val": 2, "test": 2}
    assert sum(subject.describe()["skipped"].values()) == 1


@pytest.mark.parametrize("name", ["a.conllu", "b.conllu", "sim.txt"])
def test_as_many_sentences_as_scores(tmp_path, cache_dir, name):
    more = {"sim.txt": "4.5\n1\n2\n"}.get(name, CONLLU[name] + "\n" + conllu(["a"], [0]))
    folder = parsed(tmp_path / "sick", CONLLU, **{name.replace(".", "_"): more})
    with pytest.raises(
        DataError, match=rf"^{folder}/train: \d sentences in a.conllu, \d in b.conllu, \d scores in sim"
    ):
        data(folder).prepare_data()
    for path in folder.glob(f"*/{name}"):
        path.unlink()
    missing = "no a.toks" if name == "a.conllu" else f"no {name}; expected a.conllu, b.conllu"
    with pytest.raises(DataError, match=f"^{folder}/train.*{missing}"):
        data(folder).prepare_data()


# The sample, and what is neither


def test_the_sample(cache_dir):
    sizes = {"train": 12, "val": 4, "test": 6}
    for parse, inside in (("dependency", True), ("constituency", False)):
        subject = prepared(SICK(sample=sizes, parse=parse, **SMALL))
        assert (subject.sizes, subject.tasks) == (sizes, ("relatedness",))
        assert (subject.spec.words_inside, subject.spec.binary) == (inside, not inside)
        json.dumps(subject.describe())
        assert "known size" not in str(subject.describe()["contents"])
        batch = next(iter(loader(subject, "test")))
        assert len(batch) == 2 and len(batch.trees) == len(batch.text) == 4
        assert [[len(words)] for words in batch.text] == batch.trees.words_in.view(4, 1).tolist()


def test_where_nothing_is(tmp_path, cache_dir):
    layout = "folders train, dev and test with a.toks, .* or, with data.trees=balanced .*SICK.txt"
    with pytest.raises(
        DataError, match=rf"none: No such file .*\(data\.source\); expected: sample, or the path of {layout}"
    ):
        data(tmp_path / "none").prepare_data()
    with pytest.raises(ConfigError, match=f"data.source is not set; expected: sample, or the path of {layout}"):
        SICK(source=None).prepare_data()
    written(tmp_path / "other", SICK_trial=[SEMEVAL], readme="x")
    with pytest.raises(
        DataError,
        match=f"^{tmp_path}/other: found SICK_trial.txt, readme.txt; expected {layout}.*; or use data.source=sam",
    ):
        data(tmp_path / "other").prepare_data()
    with pytest.raises(ConfigError, match=r"data\.parse=tree: expected dependency or constituency"):
        SICK(parse="tree")
    assert not cache_dir.exists()


def test_prepared_once_for_the_same_files_and_options(tmp_path, cache_dir):
    folder = parsed(tmp_path / "sick")
    known = set()

    def new(**options):
        subject = prepared(data(folder, **options))
        now, before = set(folders(cache_dir)), set(known)
        known.update(now)
        assert len(now - before) <= 1 and subject.sizes["test"] == 2
        return now != before

    assert new()
    assert not new()
    assert not new(loader={"batch_size": 1, "seed": 3, "max_tokens": 50})
    for options in ({"trees": "left"}, {"trees": "binarised"}, {"parse": "constituency"}, {"text": {"lower": True}}):
        assert new(**options), options
        assert not new(**options), options
    assert new(loader={"on_bad_row": "skip"})  # who did not ask for that is never given such a set
    assert not new()
    (folder / "test" / "sim.txt").write_text("4.5\n2.25\n")
    assert new()
    assert [score for *_, score in pairs(prepared(data(folder)), "test")] == [4.5, 2.25]
