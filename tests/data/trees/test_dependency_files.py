"""Parses as heads and CoNLL-U files, and each error with its file and line."""

import pytest

from tests.data.serving import one_bad_row, written
from tests.data.trees.served import conllu
from zoo.data.rows import BadRows
from zoo.data.trees.brackets import parse
from zoo.data.trees.dependency_files import BadTree, aligned, binary_tree, dependency_tree, read_conllu, tree_of
from zoo.data.trees.tree import Tree
from zoo.errors import DataError


def read(words, heads, builder=dependency_tree):
    """The tree of two lines of the authors' files."""
    return tree_of(words, heads, builder, "a.parents, line 7", BadRows())


# Dependency trees


def test_tokens_outside_move_the_numbers_after_them():
    words = ["``", "dogs", ",", "bark", "loudly"]
    assert dependency_tree(words, [-1, 4, -1, 0, 4]) == Tree(words, [1, -1, 1], [1, 3, 4], [None] * 3)


def test_a_long_chain():
    count = 10_000
    tree = dependency_tree(["a"] * count, range(count))
    assert tree.parent == [-1, *range(count - 1)]
    with pytest.raises(BadTree, match="a cycle: tokens 2 -> 10000 -> 9999 -> "):
        dependency_tree(["a"] * count, [0, count, *range(2, count)])


@pytest.mark.parametrize("builder", [dependency_tree, binary_tree])
def test_no_words_are_not_a_tree(builder):
    with pytest.raises(BadTree):
        builder([], [])


def test_blanks_and_backslashes_of_a_line():
    tree = read("A  man\tis\\/was 2\xa01/2 ", "2 3 0 3 ")
    assert (tree.words, tree.parent) == (["A", "man", "is/was", "2\xa01/2"], [1, 2, -1, 2])


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ("0 1 0", "two roots: tokens 1 and 3 have head 0, expected one"),
        ("0 3 -1", "head outside the tree: token 2 has head 3, whose own head is -1"),
        ("2 3 2", "no root: no token has head 0"),
        ("0 3 2", "a cycle: tokens 2 -> 3 -> 2 are each other's heads"),
        ("0 2 1", "a cycle: tokens 2 -> 2"),
        ("0 4 1", "head beyond the sentence: token 2 has head 4, expected 0 for the root or 1 to 3"),
        ("0 -2 1", "head beyond the sentence: token 2 has head -2"),
        ("0 1", "numbers differ: found 3 tokens and 2 heads"),
        ("0 1 1 1", "numbers differ: found 3 tokens and 4 heads"),
        ("0 1.0 1", "not a number: found '1.0' in place 2, expected whole numbers"),
    ],
)
def test_heads_that_do_not_form_a_tree(heads, message):
    with pytest.raises(DataError, match=f"^a.parents, line 7: {message}"):
        read("c d e", heads)


# Constituency trees


@pytest.mark.parametrize(
    ("words", "parents", "expected"),
    [
        ("a b c", "4 4 5 5 0", "(0 (0 (0 a) (0 b)) (0 c))"),
        ("a b c", "5 4 4 5 0", "(0 (0 a) (0 (0 b) (0 c)))"),
        ("a b c", "4 5 5 0 4", "(0 (0 a) (0 (0 b) (0 c)))"),  # the root need not be last
        ("a b c d", "6 6 5 5 7 7 0", "(0 (0 (0 a) (0 b)) (0 (0 c) (0 d)))"),
        ("a", "0", "(0 a)"),
    ],
)
def test_constituents(words, parents, expected):
    """Children are in the order of their words, whatever their numbers in the file."""
    expected = parse(expected)
    tree = read(words, parents, binary_tree)
    assert tree == expected._replace(label=[None] * len(expected.parent)) and tree.binary


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ("4 4 5 5", "numbers differ: found 3 words and 4 parents, expected one for each of 5 nodes"),
        ("4 4 5 6 0", "parent beyond the tree: node 4 has parent 6, expected 0 for the root or 1 to 5"),
        ("4 4 -1 5 0", "parent beyond the tree: node 3 has parent -1"),
        ("0 5 5 5 4", "a cycle: nodes 4 -> 5 -> 4"),
        ("4 4 4 5 0", "not binary: node 4 is the parent of 3, expected 2"),
        ("2 4 4 5 0", "not binary: node 2 is the parent of 1, expected 0: nodes 1 to 3 are the words"),
    ],
)
def test_parents_that_do_not_form_a_tree(parents, message):
    with pytest.raises(DataError, match=f"^a.parents, line 7: {message}"):
        read("a b c", parents, binary_tree)


def test_lines_that_are_blank_in_every_file_are_skipped(tmp_path):
    (tmp_path / "a").write_text("x\n\ny\n \n")
    (tmp_path / "b").write_text("1\n\n\n")
    assert list(aligned([tmp_path / "a", tmp_path / "b"], BadRows())) == [(1, ["x", "1"]), (3, ["y", ""])]


# CoNLL-U

SENTENCES = """# sent_id = 1
1 They 2
2 buy 0
3-4 pieces _
3 a_book 2
3.1 bought _


# sent_id = 2
# text = Go
1 Go 0"""


def test_conllu(tmp_path):
    path = written(tmp_path / "en.conllu", conllu(SENTENCES))
    path.write_text(path.read_text("utf-8").replace("a_book", 'a "book'), "utf-8")  # only tabs separate columns
    assert list(read_conllu(path, BadRows())) == [
        (Tree(["They", "buy", 'a "book'], [1, -1, 1], [0, 1, 2], [None] * 3), f"{path}, line 2"),
        (Tree(["Go"], [-1], [0], [None]), f"{path}, line 11"),
    ]


@pytest.mark.parametrize(
    ("sentence", "line", "message"),
    [
        ("1 a 0\n2-3 bc _\n2 b 0\n3 c 1", 5, "two roots: tokens 1 and 2 have head 0"),
        ("1 a 0\n2 b -1", 4, "bad head: found '-1' in the seventh column"),
        ("1 a 0\n2 b _", 4, "bad head: found '_'"),
        ("1 a 0\n1 b 0", 4, "wrong token number: expected token 2, found '1'; a blank line separates sentences"),
        ("1 a 0\n2 b c d", 4, "wrong number of columns: found 1, expected 10 with tabs between"),
        ("1 a 0\n2\t \t_\t_\t_\t_\t1\t_\t_\t_", 4, "no word"),
    ],
)
def test_broken_sentences_of_conllu(tmp_path, sentence, line, message):
    path = written(tmp_path / "en.conllu", conllu(f"1 x 0\n\n{sentence}\n\n1 y 0\n"))
    rows = one_bad_row(lambda bad: read_conllu(path, bad), f"{path}, line {line}: {message}")
    assert [tree and tree.words for tree, _ in rows] == [["x"], None, ["y"]]


@pytest.mark.usefixtures("damaged")
def test_a_sentence_of_conllu_with_a_line_that_cannot_be_decoded(tmp_path):
    path = written(tmp_path / "en.conllu", conllu("1 x 0\n2 é 1\n3 z 1\n\n1 y 0\n"))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9"))
    rows = one_bad_row(lambda bad: read_conllu(path, bad), f"{path}, line 2: not UTF-8")
    assert [tree and tree.words for tree, _ in rows] == [None, ["y"]]
