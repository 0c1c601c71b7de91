"""Parsers of the samples' grammars against the trees of the samples, and plain text without a parser."""

import pytest

from zoo.data.text.vocabulary import Vocabulary
from zoo.data.trees.builder import TreeTextOptions
from zoo.data.trees.encoding import TreeEncoder, TreePairEncoder
from zoo.data.trees.samples import relatedness
from zoo.data.trees.samples.parsing import EXAMPLES, PARSERS, Parser
from zoo.data.trees.samples.phrases import then
from zoo.errors import UnusableInput


@pytest.mark.parametrize("parse", ["dependency", "constituency"])
def test_pairs_are_parsed_as_they_were_made(parse):
    for pair in relatedness.generate(400, seed=7, parse=parse):
        for tree in (pair.first, pair.second):
            assert PARSERS["sick"](tree.words, parse == "dependency") == tree
            assert parse == "dependency" or tree.binary


@pytest.mark.parametrize(("weight", "best"), [(1, then("a", then("a", "b"))), (3, then(then("a", "a"), "b"))])
def test_the_most_probable_tree(weight, best):
    rules = {"TEXT": {"x X": 2, "Y y": weight}, "X": {"x y": 1}, "Y": {"x x": 1}}
    assert Parser(rules, {"x": ["a"], "y": ["b"]})(["a", "a", "b"]) == best


def test_an_unambiguous_sentence_has_its_one_tree():
    tree = PARSERS["sst"](["critics", "loved", "this", "film", "."], False)
    # ((critics (loved (this film))) .)
    assert tree.parent == [-1, 0, 1, 1, 3, 3, 5, 5, 0]
    assert tree.word == [-1, -1, 0, -1, 1, -1, 2, 3, 4]


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("text", ["hello world", "the the the", "film", "is is a dog ."])
def test_other_words_have_no_tree(name, text):
    assert PARSERS[name](text.split(), True) is None


def encoder(kind, grammar, inside):
    words = [Vocabulary(["the", "film"])]
    return kind(TreeTextOptions(), words, trees="given", inside=inside, arity=9, binary=False, grammar=grammar)


def test_plain_text_goes_through_the_grammar_of_the_sample():
    pairs = encoder(TreePairEncoder, "sick", True)
    batch = pairs([("the clever monkey is crying .", "a smart ape is weeping")])  # the full stop may be missing
    assert [parent for parent, _ in batch.trees.plain()] == [[2, 2, 4, 4, -1]] * 2
    assert batch.built == ("grammar:sick", "grammar:sick")
    again = TreePairEncoder.from_state(pairs.state())
    assert again.spare == "grammar:sick"
    message = f"'hello world' is not a sentence of the sample's grammar, .* {EXAMPLES['sick']!r}; pass --trees spacy:M"
    with pytest.raises(UnusableInput, match=message):
        pairs([("hello world", "a smart ape is weeping .")])


@pytest.mark.parametrize(
    ("inside", "advice"),
    [(True, "pass --trees spacy:MODEL"), (False, "write its phrases in brackets, or pass --trees balanced")],
)
def test_without_a_parser_plain_text_is_refused_in_one_line(inside, advice):
    real = encoder(TreeEncoder, None, inside)
    with pytest.raises(UnusableInput, match=rf"'it works' has no tree, and .* on parses; {advice}.* bag of words$"):
        real("it works")
    assert len(real("film")) == 1  # all trees of one word are equal
    real.spare = "balanced"
    assert real("it works").built == ("balanced",)
