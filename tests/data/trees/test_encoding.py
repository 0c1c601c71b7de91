"""Typed lines to batches: ids, the way in which a tree was built, unusable trees, and the state of an encoder."""

import json

import pytest

from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.builder import TreeTextOptions
from zoo.data.trees.encoding import TreeEncoder, TreePairEncoder
from zoo.errors import UnusableInput

WORDS = ("the", "film", "was", "good", "bad", "The")
"""Their ids begin with 2."""


def encoder(trees="given", kind=TreeEncoder, *, inside=False, arity=2, binary=True, spare="balanced", **text):
    options = TreeTextOptions(tokenizer="whitespace", **text)
    found = kind(options, [Vocabulary(WORDS)], trees=trees, inside=inside, arity=arity, binary=binary)
    found.spare = spare
    return found


def test_lines_to_a_batch():
    lines = ["(4 (2 the) good)", "The film was odd"]
    batch = encoder()(lines)
    assert len(batch) == 2
    assert batch.trees.plain() == [
        ([-1, 0, 0], [-1, 0, 1]),
        ([-1, 0, 1, 1, 0, 4, 4], [-1, -1, 0, 1, -1, 2, 3]),
    ]
    assert batch.trees.ids() == [[2, 5], [7, 3, 4, 1]]  # odd is not known
    assert batch.text == (["the", "good"], ["The", "film", "was", "odd"])
    assert batch.typed == (["4", "2", None], [None] * 7)
    assert batch.built == (None, "balanced")
    assert batch.index.tolist() == [0, 1]
    assert (batch.label, batch.evidence) == (None, None)
    assert [encoder().display(line) for line in lines] == list(batch.text)
    lower = encoder(lower=True)("(2 THE)")
    assert (lower.trees.ids(), lower.text) == ([[2]], (["THE"],))


def test_typed_marks_are_those_of_the_treebank():
    vocabulary = Vocabulary(["-LRB-", "-RRB-", "``", "''", "good"])
    subject = TreeEncoder(TreeTextOptions(), [vocabulary], trees="balanced", inside=False, arity=2)
    batch = subject('"good" (good)')
    assert batch.trees.ids() == [[4, 6, 5, 2, 6, 3]]
    assert batch.text == (['"', "good", '"', "(", "good", ")"],)


@pytest.mark.parametrize(
    ("shape", "line", "message"),
    [
        ({}, "(2 the film was)", "a node with 3 children; .* trained on trees with two children at each node"),
        ({}, "(2 (3 (3 the)) (2 film))", "a node with 1 child; .* two children at each node that has any"),
        ({"binary": False}, "(2 the film was)", "a node with 3 children; .* trained on trees with up to 2 children$"),
        (
            {"binary": False, "arity": 3, "inside": True},
            "(2 the (2 good bad))",
            "found nodes without a word, .* with a word at every node: give the words alone, and --trees builds such",
        ),
    ],
)
def test_trees_of_another_shape_than_in_training(shape, line, message):
    words = " ".join(word for word in line.replace("(", " ").replace(")", " ").split() if not word.isdigit())
    for read in (encoder(**shape), encoder(**shape).display):
        with pytest.raises(UnusableInput, match=f"^'{words}': {message}"):
            read(line)


@pytest.mark.parametrize("trees", ["given", "left"])
def test_no_words(trees):
    with pytest.raises(UnusableInput, match=r"^'  ': found no words, expected a text or a tree such as"):
        encoder(trees)(["the film", "  "])


@pytest.mark.parametrize("line", ["(2 the)", "(2 (3 the))", "(2 the film was)", "(2 (2 (1 the) film) was)", "bad"])
def test_smaller_trees_than_in_training(line):
    assert len(encoder(binary=False, arity=3)(line).trees) == 1
    assert len(encoder("binarised")(line).trees) == 1  # made to fit


@pytest.mark.parametrize("kind", [TreeEncoder, TreePairEncoder])
@pytest.mark.parametrize(
    "options",
    [
        {"trees": "right", "lower": True},
        {"trees": "left", "inside": True, "arity": 1, "binary": False, "max_words": 2},
    ],
)
def test_the_state_is_plain_data(kind, options):
    subject = encoder(kind=kind, **options)
    state = subject.state()
    other = kind.from_state(json.loads(json.dumps(state)))
    assert other.state() == state
    other.spare = subject.spare
    lines = ["the film was good", "(2 The)"]
    one, two = (made([lines] if kind is TreePairEncoder else lines) for made in (subject, other))
    assert (one.trees.plain(), one.trees.ids()) == (two.trees.plain(), two.trees.ids())
    assert (one.text, one.built) == (two.text, two.built)


def test_pairs():
    subject = encoder(kind=TreePairEncoder)
    pairs = [("the film", "(2 (2 good) (2 film))"), ("was", "bad")]
    batch = subject(pairs)
    assert len(batch) == 2
    assert batch.node_mask.sum(2).tolist() == [[3, 3], [1, 1]]
    assert batch.trees.ids() == [[2, 3], [5, 3], [4], [6]]
    assert batch.text == (["the", "film"], ["good", "film"], ["was"], ["bad"])
    assert batch.built == ("balanced", None, "balanced", "balanced")
    assert batch.score is None
    assert [subject.display(pair) for pair in pairs] == [(["the", "film"], ["good", "film"]), (["was"], ["bad"])]
    for read in (subject.display, lambda pair: subject([pair])):
        with pytest.raises(UnusableInput, match=r"^'the film was': a node with 3 children"):
            read(("the film", "(2 the film was)"))


@pytest.mark.parametrize(
    ("pair", "found"),
    [
        ("the film", "one sentence"),
        (["the film"], "one sentence"),
        (["the", "film", "was"], "3 sentences"),
        (["the", " "], "an empty sentence"),
    ],
)
def test_inputs_that_are_not_a_pair(pair, found):
    with pytest.raises(UnusableInput, match=f"^'the.*': found {found}; expected two"):
        encoder(kind=TreePairEncoder).display(pair)
