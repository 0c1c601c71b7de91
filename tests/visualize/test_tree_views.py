"""The two views of trees: rows, inputs, and the tree that is built for a text."""

import io
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.visualize.reading import texts as drawn
from tests.visualize.trees import FINE, PAIR, TEXT, examined, prediction
from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.builder import TreeTextOptions
from zoo.data.trees.encoding import TreeEncoder, TreePairEncoder
from zoo.errors import ConfigError, UnusableInput
from zoo.predicting.relatedness import ExaminedPair, RelatednessPrediction
from zoo.predicting.trees import ReadTree, read_trees
from zoo.tasks.relatedness import Relatedness
from zoo.tasks.tree_classification import TreeClassification
from zoo.visualize.relatedness import RelatednessView
from zoo.visualize.tree_classification import TreeClassificationView
from zoo.visualize.tree_view import CHOICE, LIMIT
from zoo.visualize.view import view_of

TREES, PAIRS = view_of(TreeClassification), view_of(Relatedness)


def predictor(trees="given", encoding=TreeEncoder, *, inside=False):
    words, shape = [Vocabulary(["it", "works"])], {"inside": inside, "arity": 2, "binary": not inside}
    encoder = encoding(TreeTextOptions(), words, trees=trees, **shape)
    encoder.spare = "balanced"  # as --trees balanced makes it
    return SimpleNamespace(task=None, checkpoint=None, encoder=encoder)


def prepared(view, given, *typed):
    """The view after `zoo predict` with these options."""
    parser = ArgumentParser()
    view.options(parser.add_argument_group("trees"))
    parser.add_argument("--attention")
    view.prepare(given, parser.parse_args(typed))
    return view


def said_of(given, line):
    """A prediction of a line, with the tree that the encoder put on it."""
    batch = given.encoder([line])
    (tree,) = read_trees(batch, [given.encoder.display(line)], 1, None)
    return prediction(tree, [FINE[node % 5] for node in range(len(tree.parent))])


# rows and tables


def test_rows_and_unknown_words():
    assert (TREES.columns, TREES.noun) == (("text", "predicted", "probability"), "text")
    one = examined(wrong=[0])
    assert TREES.examined_columns() == ["index", "text", "true", "predicted", "probability"]
    assert TREES.examined_row(one) == [0, "The film was not bad at all", "neutral", "very positive", 0.75]
    assert (PAIRS.columns, PAIRS.noun) == (("first", "second", "score"), "pair")
    one = ExaminedPair(3, PAIR, "4.5", 4.5)
    assert PAIRS.examined_columns() == ["index", "first", "second", "true", "score"]
    assert PAIRS.examined_row(one) == [3, "A brown dog is running", "The cat <runs>", "4.5", 4.25]
    assert PAIRS.unknown(PAIR) == ["<runs>"]
    given = predictor()
    assert TREES.unknown(said_of(given, "it never works")) == ["never"]


# inputs


NO_PAIRS = {
    "one sentence": ("A dog runs", "a|||b"),
    "3 sentences": ("a ||| b ||| c", "a\tb ||| c"),
    "an empty sentence": ("a ||| ", "\tb"),
}


def test_a_pair_is_two_sentences_with_a_tab_or_bars_between_them():
    """Other lines are refused by the encoder, so that of a file only such a line has no score."""
    for line in ("A dog runs ||| It is running", "A dog runs\tIt is running", " A dog runs\t It is running "):
        assert PAIRS.parse(line) == ("A dog runs", "It is running")
    encoder = predictor(encoding=TreePairEncoder).encoder
    for found, lines in NO_PAIRS.items():
        expected = rf"found {found}; expected two, on the command line with a tab or \|\|\| between them: "
        for line in lines:
            with pytest.raises(UnusableInput, match=expected):
                encoder.display(PAIRS.parse(line))
    with pytest.raises(UnusableInput, match="'A dog runs': found one sentence"):
        encoder.display("A dog runs")


def test_the_help_names_the_ways_and_the_typed_proposals_are_read(monkeypatch):
    for view in (TREES, PAIRS):
        assert view.typed[0] == view.typed[-1] == '"'
    assert PAIRS.read([PAIRS.typed.strip('"'), " "], None) == [("the monkey is crying .", "an ape is weeping ."), None]
    given = predictor(encoding=TreePairEncoder)
    assert len(given.encoder(PAIRS.read([PAIRS.typed.strip('"')], None))) == 1
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\tb\n\n")))
    assert PAIRS.read([], None) == [("a", "b"), None]
    monkeypatch.setenv("COLUMNS", "200")
    parser = ArgumentParser()
    PAIRS.options(parser.add_argument_group("relatedness"))
    help_ = parser.format_help()
    assert "--trees balanced|left|right|spacy:MODEL" in help_
    assert "a pair without brackets" in help_ and "plain text is" in help_


# which tree


def shape(given, line="a b c d e"):
    """Which tree a text gets."""
    return said_of(given, line).tree.parent


def test_trees_says_which_tree_is_put_on_a_text_if_the_training_built_none():
    found = {}
    for way in ("balanced", "left", "right"):
        given = predictor()
        prepared(TreeClassificationView(), given, "--trees", way)
        assert said_of(given, "a b c d e").tree.built == way
        found[way] = shape(given)
    assert len(set(found.values())) == 3
    given = predictor()
    prepared(TreeClassificationView(), given)
    assert shape(given) == found["balanced"], "where nothing is said"
    assert said_of(given, TEXT).tree.built is None
    given = predictor("left")
    left = shape(given)
    for typed in ((), ("--trees", "left")):
        prepared(TreeClassificationView(), given, *typed)
        assert shape(given) == left != shape(predictor())
    refused = r"--trees right: .* trained on texts with a left-branching tree.* data\.trees=right"
    with pytest.raises(ConfigError, match=refused):
        prepared(TreeClassificationView(), given, "--trees", "right")


@pytest.mark.parametrize(
    ("way", "inside", "message"),
    [
        ("middle", False, "--trees middle: expected balanced, left, right or spacy:MODEL"),
        ("given", True, "--trees given: expected balanced"),
        ("spacy:xx_no_such_model", True, "--trees spacy:xx_no_such_model: spaCy"),
        ("spacy:xx_no_such_model", False, "--trees spacy:xx_no_such_model builds trees with words at inner nodes"),
    ],
)
def test_a_way_that_is_none_is_refused_before_anything_is_predicted(way, inside, message):
    given = predictor(inside=inside)
    with pytest.raises(ConfigError, match=message) as caught:
        prepared(TreeClassificationView(), given, "--trees", way)
    assert "data.trees" not in str(caught.value)
    assert given.encoder.spare == "balanced"


@pytest.mark.parametrize(("way", "warned"), [("balanced", True), ("left", True), (None, False)])
def test_another_kind_of_tree_than_in_training_is_warned_of(way, warned, capsys):
    prepared(TreeClassificationView(), predictor(), *([] if way is None else ["--trees", way]))
    prepared(TreeClassificationView(), predictor("left"), *(["--trees", "left"] if way == "left" else []))
    said = capsys.readouterr().err
    assert said.count("about as good as those of a bag of words (on the samples, SICK's Pearson falls from") == warned


def test_that_a_tree_was_built_is_said_once_on_the_terminal_and_on_page_and_picture(capsys):
    note = "read along a balanced tree: none was given"
    given = predictor()
    view = prepared(TreeClassificationView(), given)
    text, bracketed = said_of(given, "it works well"), said_of(given, TEXT)
    for number, said in enumerate((bracketed, text, text)):
        view.terminal(said, number, Namespace())
    heard = capsys.readouterr()
    assert heard.err == f"{note} (--trees chooses another)\n" and heard.out == ""
    assert view.page([text, bracketed]).count(note) == 1
    assert note in drawn(view.picture(text)) and note not in drawn(view.picture(bracketed))


@pytest.mark.parametrize(("trees", "text"), [("balanced", "it works well"), ("given", "works")])
def test_there_is_no_note_on_trees_built_as_in_training_or_on_a_single_word(trees, text, capsys):
    given = predictor(trees)
    view = prepared(TreeClassificationView(), given)
    said = said_of(given, text)
    assert said.tree.built == "balanced"
    view.terminal(said, 0, Namespace())
    assert capsys.readouterr().err == "" and view.notes(said) == {} and "none was given" not in view.page([said])


def test_a_grammar_that_leaves_out_the_full_stop_cuts_nothing():
    view, parent, word = prepared(TreeClassificationView(), predictor(inside=True)), (1, -1), (0, 1)
    parse = ReadTree(("it", "works", "."), parent, word, None, built="grammar:sick")
    assert view.notes(prediction(parse)) == {}
    assert view.notes(prediction(replace(parse, built="balanced")))[LIMIT] == "only the first 2 of 3 words were read"


def test_of_a_pair_it_is_said_if_one_of_them_had_no_tree(capsys):
    given = predictor(encoding=TreePairEncoder)
    view = prepared(RelatednessView(), given, "--trees", "right")
    pair = (TEXT, "it works well")
    trees = read_trees(given.encoder([pair]), list(given.encoder.display(pair)), 1, None)
    said = RelatednessPrediction(3.0, {"1": 0.5, "5": 0.5}, *trees)
    view.terminal(said, 0, Namespace())
    note = "one of the two was read along a right-branching tree: none was given for it"
    (warning,) = capsys.readouterr().err.splitlines()  # without the note, which would repeat it
    assert warning.startswith("warning: the network was trained on parses, not on a right-branching tree")
    assert note in view.page([said]) and note in drawn(view.picture(said))
    both = replace(said, first=said.second)
    assert view.notes(both) == {CHOICE: "read along a right-branching tree: none was given"}
    assert view.notes(replace(said, second=said.first)) == {}


# labels in the brackets


def labelled(wrong=()):
    """The prediction of TEXT, typed with its classes, which are neutral at the nodes `wrong`."""
    one = examined(wrong)
    return replace(one.prediction, given=one.labels)


def test_classes_that_were_typed_stand_beside_the_predicted_ones(capsys):
    view, said = prepared(TreeClassificationView(), predictor()), labelled(wrong=[0, 9])
    text = str(view.terminal(said, 0, Namespace()))
    assert "✗ true class neutral" in text.splitlines()[0]
    (word,) = (line.split() for line in text.splitlines() if line.split()[-1:] == ["bad"])
    assert word[0] == "++" and word[2] == "0"
    assert "true class" in "".join(drawn(view.picture(said))) and len(view.blocks(said)[1].true) == 13
    right = str(view.terminal(labelled(), 0, Namespace())).splitlines()
    assert right[0].endswith("✓ true class positive") and not [line for line in right if line.split()[-1:] == ["bad"]]
    assert "true" not in str(view.terminal(prediction(), 0, Namespace()))
    assert view.as_json(said)["given"][9] == "neutral" and capsys.readouterr().err == ""


def test_labels_that_are_no_classes_are_said_not_to_be_read(capsys):
    view = prepared(TreeClassificationView(), predictor())
    said = replace(prediction(), unread=("S", "NP", "VP", "<DT>", "NN"))
    note = "the labels in the brackets were not read: S, NP, VP, <DT> and 1 more are not classes"
    for number in (0, 1):
        assert "true class" not in str(view.terminal(said, number, Namespace()))
    assert capsys.readouterr().err == f"{note} (the classes are {', '.join(FINE)})\n"
    assert note in drawn(view.picture(said)) and note.replace("<DT>", "&lt;DT&gt;") in view.page([said])
    long = replace(said, unread=("x" * 1000,))
    assert view.blocks(long)[0].notes[-1] == f"the labels in the brackets were not read: {'x' * 59}… is not a class"
    built = replace(said, tree=replace(said.tree, built="left"), unread=("S",))
    assert view.blocks(built)[0].notes == (
        "read along a left-branching tree: none was given", "the labels in the brackets were not read: S is not a class"
    )  # fmt: skip
