"""Trees in brackets: reading, writing, and each broken line with its file, line and letter."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.serving import one_bad_row
from zoo.data.rows import BadRows
from zoo.data.trees.brackets import parse, read_trees, written
from zoo.data.trees.tree import Tree
from zoo.errors import DataError

TINY = "(3 (2 It) (4 (2 really) (4 works)))"


# parse


@pytest.mark.parametrize(
    ("text", "parent", "word", "label"),
    [
        (TINY, [-1, 0, 0, 2, 2], [-1, 0, -1, 1, 2], ["3", "2", "4", "2", "4"]),
        ("  (4\t good )\n", [-1], [0], ["4"]),
        (r"(A\/B x)", [-1], [0], [r"A\/B"]),  # a label keeps its backslash
        ("(S a b)", [-1, 0, 0], [-1, 0, 1], ["S", None, None]),
        ("(S a (X b) c)", [-1, 0, 0, 0], [-1, 0, 1, 2], ["S", None, "X", None]),
        ("(S (X a))", [-1, 0], [-1, 0], ["S", "X"]),
        ("((X a) b)", [-1, 0, 0], [-1, 0, 1], [None, "X", None]),
        ("(S ((X a) (Y b)) c)", [-1, 0, 1, 1, 0], [-1, -1, 0, 1, 2], ["S", None, "X", "Y", None]),
    ],
)
def test_nodes_labels_and_bare_words(text, parent, word, label):
    tree = parse(text)
    assert (tree.parent, tree.word, tree.label) == (parent, word, label)


@pytest.mark.parametrize("text", ["( {} )", "({})", "(({}))", "( ( ( {} ) ) )"])
@pytest.mark.parametrize("inner", [TINY, "(S a)", "((X a) b)"])
def test_brackets_without_a_label_around_one_tree_are_removed(text, inner):
    assert parse(text.format(inner)) == parse(inner)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"(S (X and\/or) (X \*) (X a\\b))", ["and/or", "*", r"a\\b"]),
        ("(S (X a)b) (X c))", ["a)b", "c"]),
        ("(S (X )a) (X ):b))", [")a", "):b"]),
        ("(S (X a)(Y b)c))", ["a", "b)c"]),
        ("(S (X 2\xa01\\/2) (X caf\u00e9\u2028x))", ["2\xa01/2", "caf\u00e9\u2028x"]),
    ],
)
def test_tokens(text, expected):
    assert parse(text).words == expected


def test_depth():
    depth = 10_000
    text = "(S a " * depth + "(T b)" + ")" * depth
    tree = parse(text)
    assert len(tree.parent) == 2 * depth + 1
    assert tree.parent[-1] == len(tree.parent) - 3
    assert written(tree) == text
    assert parse("(" * depth + "S a" + ")" * depth) == parse("(S a)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found nothing, expected a tree such as"),
        ("good", r"found 'good' at letter 1, expected '\('"),
        (") (2 a)", r"found '\)' at letter 1, expected '\('"),
        ("(2 )", r"found '\)' at letter 4 after the label '2', expected a word or a subtree"),
        ("(3 (2 a) (2))", r"found '\)' at letter 12 after the label '2'"),
        ("(S (X a) ())", r"found '\)' at letter 11 after '\('"),
        ("(2 a) (2 b)", r"found '\(' at letter 7, expected the end of the line after the first tree; .*one tree per"),
        ("(2 a) b", "found 'b' at letter 7, expected the end of the line after the tree"),
        ("(2 a))", r"found '\)' at letter 6, expected the end of the line: every '\(' before it is closed"),
        ("(2 a", r"found the end of the line, expected '\)' for the '\(' at letter 1$"),
        ("(3 (2 a) (2 b", r"expected '\)' for the '\(' at letter 10, the last of 2 open brackets$"),
        ("(S (X a)(Y b)c)", r"for the '\(' at letter 1; a '\)' directly before a letter is part .* as in 'b\)c'$"),
    ],
)
def test_texts_that_are_not_a_tree(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


# written


@pytest.mark.parametrize("text", [TINY, "(S a (X b) c)", "( (X a) b)", r"(S (X a\\/b) (Y *))", "(S ( (X a)) b)"])
def test_written_as_it_was_read(text):
    tree = parse(text)
    assert written(tree) == written(tree.numbered(range(len(tree.parent))[::-1])) == text


TOKENS = st.sampled_from(["a", "b", "2", r"\/", "/", r"\\*", "a)b", ")a", "-LRB-", "\xa0", "\\", "caf\u00e9\u2028"])
NESTED = st.recursive(
    TOKENS,
    lambda below: st.tuples(st.just("") | TOKENS, st.lists(below, min_size=1, max_size=4)).map(
        lambda node: f"({node[0]} {' '.join(node[1])})"
    ),
    max_leaves=20,
)


@given(NESTED | st.text("()ab \\/\t", max_size=30))
def test_any_text_is_a_tree_that_can_be_written_or_an_error(text):
    try:
        tree = parse(text)
    except ValueError:
        return
    assert parse(written(tree)) == tree


@pytest.mark.parametrize(
    "tree",
    [
        Tree(["a", "b"], [-1, 0], [0, 1], ["S", "X"]),  # a word and children
        Tree(["a"], [-1, 0, 0], [-1, 0, -1], ["S", "X", "Y"]),  # neither a word nor children
        Tree(["a", "b"], [-1, 0], [-1, 0], ["S", "X"]),  # b is not at a leaf
        Tree(["a", "b", "c"], [-1, 0, 0, 1, 1], [-1, -1, 1, 0, 2], ["S", *"WXYZ"]),  # a and c surround b
        Tree(["a"], [-1], [0], [None]),  # one word without a label
        Tree(["a"], [-1, 0], [-1, 0], ["S", None]),  # a leaf that needs a label
        Tree(["a", "b"], [-1, 0, 0], [-1, 0, 1], [None, None, "X"]),
        Tree(["a", "b"], [-1, 0, 1, 1], [-1, -1, 0, 1], [None, "X", None, None]),  # such outer brackets are removed
        *(Tree([word], [-1], [0], ["S"]) for word in ("(", "a)", "a b", "")),
        Tree(["a"], [-1], [0], ["S T"]),
    ],
)
def test_trees_that_brackets_cannot_hold(tree):
    words = re.escape(repr(" ".join(tree.words)))
    with pytest.raises(DataError, match=rf"^{words}: brackets cannot hold this tree; expected each word at a leaf, "):
        written(tree)


# read_trees


def test_one_tree_per_line(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"\xef\xbb\xbf" + f"{TINY}\r\n\n  \n(4 caf\u00e9\u2028)\n(2 a)".encode())
    rows = list(read_trees(path, BadRows()))
    assert [row.tree for row in rows] == [parse(TINY), parse("(4 caf\u00e9\u2028)"), parse("(2 a)")]
    assert [row.place for row in rows] == [f"{path}, line {number}" for number in (1, 4, 5)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"(2 a) (2 b)", "bad tree: found '(' at letter 7"),
        (b"(2 caf\xe9)", "not UTF-8: byte 0xe9 at offset 13 of the file"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_broken_lines_are_named_and_can_be_left_out(tmp_path, line, message):
    path = tmp_path / "dev.txt"
    path.write_bytes(b"(2 a)\n\n" + line + b"\n(3 b)\n")
    rows = one_bad_row(lambda bad: read_trees(path, bad), f"{path}, line 3: {message}")
    assert [row.tree.words for row in rows] == [["a"], ["b"]]


MRG = """
( (S
    (NP (DT The) (NN dog))
    (VP (VBZ runs))
    (. .)) )
(X a)
  (X (Y b)
\t(Y c))

( (S (NP (NN x))
"""


def test_a_tree_over_several_lines(tmp_path):
    """As in the Penn Treebank, lines after the first begin with a blank."""
    path = tmp_path / "wsj_0001.mrg"
    path.write_text(MRG)
    # the last one is not closed
    rows = one_bad_row(lambda bad: read_trees(path, bad), f"{path}, line 10: bad tree: found the end of the line")
    assert [row.tree for row in rows] == [
        parse("(S (NP (DT The) (NN dog)) (VP (VBZ runs)) (. .))"),
        parse("(X a)"),
        parse("(X (Y b) (Y c))"),
    ]
    assert [row.place for row in rows] == [f"{path}, line {number}" for number in (2, 6, 7)]


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.usefixtures("damaged")
def test_a_tree_with_a_damaged_line_is_one_bad_row(tmp_path, at):
    path = tmp_path / "trees.mrg"
    lines = [b"( (S", b"    (NP (NN dog))", b"    (VP (VBZ runs))))"]
    lines[at] += b" \xe9"
    path.write_bytes(b"\n".join([*lines, b"(X a)"]))
    rows = one_bad_row(lambda bad: read_trees(path, bad), f"{path}, line {at + 1}: not UTF-8")
    assert [row.tree.words for row in rows] == [["a"]]
