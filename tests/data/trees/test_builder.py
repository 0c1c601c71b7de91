"""From a tree, a text or a typed line to the tree that a network reads, in each way."""

import sys
from types import SimpleNamespace

import pytest

from tests.data.trees.grown import joined
from zoo.data.trees import builder as module
from zoo.data.trees.brackets import parse
from zoo.data.trees.builder import TreeBuilder, TreeTextOptions, builds, check_way, parsed
from zoo.data.trees.dependency_files import dependency_tree
from zoo.data.trees.tree import Tree, flat
from zoo.errors import ConfigError, UnusableInput

TREE = parse("(4 (2 The) (3 (2 film) (2 was) (3 good)))")


def way(trees, *, inside=False, **text):
    return TreeBuilder(trees, TreeTextOptions(**text), inside=inside)


# Trees of the data


def test_each_way_of_a_tree():
    assert way("given").of_tree(TREE) is TREE
    assert way("binarised").of_tree(TREE) == parse("(4 (2 The) (3 (2 film) ( (2 was) (3 good))))")
    for trees, shape in (("balanced", "((The film) (was good))"), ("left", "(((The film) was) good)")):
        built = way(trees).of_tree(TREE)
        assert joined(built) == shape
        assert built.label == ["4", *[None] * 6]  # of the root: what is below says nothing of other trees
    built = way("right", inside=True).of_tree(TREE)
    assert (built.parent, built.label) == ([-1, 0, 1, 2], ["4", None, None, None])


def test_words_that_are_not_in_the_tree_come_into_one_that_is_built():
    tree = dependency_tree(["Dogs", "run", "."], [2, 0, -1])
    assert way("given", inside=True).of_tree(tree).word == [0, 1]
    assert joined(way("left").of_tree(tree)) == "((Dogs run) .)"


def test_the_ways():
    for name in ("given", "binarised", "balanced", "left", "right", "spacy:en_core_web_sm"):
        assert check_way(name) == name
        assert builds(name) == (name not in ("given", "binarised"))
    ways = "given, binarised, balanced, left, right, or spacy:MODEL"
    for name in ("Balanced", "spacy:", "spacy:a b", "", 3):
        with pytest.raises(ConfigError, match=rf"^data\.trees={name}: expected {ways}"):
            check_way(name)
    with pytest.raises(ConfigError, match=r"data\.text\.tokenizer=bpe: the leaves of trees are words; use words"):
        TreeTextOptions(tokenizer="bpe")


# Texts


def test_a_text_becomes_words_and_a_tree():
    assert joined(way("balanced").of_line("It isn't bad.", None)[0]) == "(((It is) n't) (bad .))"
    short = way("left", max_words=3).of_line("The film was good", None)[0]
    assert joined(short) == "((The film) was)" and short.words == ["The", "film", "was", "good"]
    assert joined(way("right", tokenizer="whitespace").of_line(" a  b.c ", None)[0]) == "(a b.c)"
    assert way("right").of_line("good", None)[0] == Tree(["good"], [-1], [0], [None])


# What is typed


@pytest.mark.parametrize(
    ("trees", "spare", "line", "expected", "by"),
    [
        ("balanced", None, "a b c", "(_ (_ a b) c)", "balanced"),
        ("right", "left", "a b c", "(_ a (_ b c))", "right"),  # the trees of the data come first
        ("given", "left", "a b c", "(_ (_ a b) c)", "left"),
        ("binarised", "right", "a b c", "(_ a (_ b c))", "right"),
        ("given", "right", "(2 a b c)", "(2 a b c)", None),  # brackets are kept
        ("left", None, "  (4 (2 a) (3 (2 b) (2 c)))\n", "(4 (2 a) (3 (2 b) (2 c)))", None),
        ("binarised", None, "(2 (1 a) (1 b) (1 c))", "(2 (1 a) ( (1 b) (1 c)))", None),
    ],
)
def test_the_tree_of_a_typed_line(trees, spare, line, expected, by):
    expected = parse(expected)
    unlabelled = expected._replace(label=[None if label == "_" else label for label in expected.label])
    assert way(trees).of_line(line, spare) == (unlabelled, by)
    assert way(trees, inside=True).of_line("a b c", "left")[0].word == [0, 1, 2]


def test_brackets_that_are_none():
    message = r"bad tree: found 'b+' at letter 7, expected .* begins with '\(' is read as a tree\)"
    with pytest.raises(UnusableInput, match=rf"^'\(2 a\) b{{54}}'\.\.\.: {message}$"):
        way("balanced").of_line("(2 a) " + "b" * 99, None)


# A parser


@pytest.fixture(autouse=True)
def _other_parsers():
    """Parsers that were loaded before are forgotten."""
    module.parser.cache_clear()
    yield
    module.parser.cache_clear()


def no_model(name):
    raise OSError(f"[E050] Can't find model '{name}'.")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, r"spaCy is not installed; run pip install -e '\.\[spacy\]'"),
        (no_model, "spaCy has no such model; run python -m spacy download toy"),
        (lambda name: SimpleNamespace(pipe_names=["tok2vec", "tagger"]), "this model has no parser, only tok2vec, tag"),
        (lambda name: SimpleNamespace(pipe_names=[]), "this model has no parser, only nothing"),
    ],
)
def test_a_parser_that_is_missing(monkeypatch, found, message):
    monkeypatch.setitem(sys.modules, "spacy", found and SimpleNamespace(load=found))
    with pytest.raises(ConfigError, match=f"^data.trees=spacy:toy: {message}"):
        way("spacy:toy", inside=True)
    with pytest.raises(ConfigError, match=r"^data\.trees=spacy:toy .*need words only at leaves; use one of balanced"):
        way("spacy:toy")  # a parser gives words at any node


HEADS = {
    "Dogs run fast": [1, 1, 1],
    "He ran . She sat .": [1, 1, 1, 4, 4, 4],  # two sentences
    "ran": [0],
}


@pytest.fixture
def pipeline(monkeypatch):
    """spaCy with a model `toy` whose parser returns HEADS."""
    spacy = pytest.importorskip("spacy")
    from spacy.language import Language
    from spacy.tokens import Doc

    @Language.component("heads_by_hand")
    def heads_by_hand(document):
        words = [token.text for token in document]
        heads = HEADS[" ".join(words)]
        named = ["ROOT" if head == at else "dep" for at, head in enumerate(heads)]
        return Doc(document.vocab, words, heads=heads, deps=named)

    model = spacy.blank("en")
    model.add_pipe("heads_by_hand", name="parser")
    monkeypatch.setattr(spacy, "load", lambda name: model)


def test_a_parser_by_its_heads(pipeline):
    subject = way("spacy:toy", inside=True, tokenizer="whitespace")
    tree = Tree(["Dogs", "run", "fast"], [1, -1, 1], [0, 1, 2], [None] * 3)
    assert subject.of_line("Dogs run fast", None) == (tree, "spacy:toy")
    assert subject.of_line("ran", None)[0] == Tree(["ran"], [-1], [0], [None])
    assert subject.of_tree(flat(["Dogs", "run", "fast"], "bad")).label == [None, "bad", None]


def test_later_sentences_hang_on_the_first(pipeline):
    words = ["He", "ran", ".", "She", "sat", "."]
    label = [None, "fair", None, None, None, None]
    assert parsed(words, "toy", "fair") == Tree(words, [1, -1, 1, 4, 1, 4], list(range(6)), label)


def test_words_are_those_of_the_text_and_not_the_parsers(pipeline, monkeypatch):
    monkeypatch.setitem(HEADS, "don't stop.now", [1, 1])
    assert parsed(["don't", "stop.now"], "toy", None).words == ["don't", "stop.now"]
