"""Marks of the Penn Treebank and plain ones, as a vocabulary has them; vectors for both."""

import pytest
import torch

from zoo.data.text.vectored import with_plain_marks
from zoo.data.text.vectors import WordVectors
from zoo.data.text.vocabulary import Spelling, Vocabulary


@pytest.mark.parametrize(
    ("words", "typed", "read"),
    [
        (["``", "''", "-LRB-", "-RRB-"], '( " a " ) " b', ["-LRB-", "``", "a", "''", "-RRB-", "``", "b"]),
        (["``", "''", "-lrb-", "-rrb-"], "( a ) ``", ["-lrb-", "a", "-rrb-", "``"]),
        (['"', "(", ")"], "-LRB- `` a '' -rrb-", ["(", '"', "a", '"', ")"]),
        (['"', "``", "''", "(", "-LRB-"], '" `` ( -LRB- )', ['"', "``", "(", "-LRB-", ")"]),
        (["``"], '" a', ['"', "a"]),
    ],
)
def test_marks_are_spelled_as_the_vocabulary_has_them(words, typed, read):
    assert Spelling(Vocabulary(words))(typed.split()) == read


def test_a_mark_without_a_vector_has_that_of_the_plain_one():
    known = {"(": [1.0, 2.0], "a": [3.0, 4.0], '"': [5.0, 6.0], "''": [7.0, 8.0]}

    def read(words):
        found = torch.tensor([word in known for word in words])
        return WordVectors(torch.tensor([known.get(word, [0.0, 0.0]) for word in words]), found)

    words = ["-LRB-", "a", "-RRB-", "``", "''", "b", "-lrb-"]
    rows, found = with_plain_marks(words, read)
    assert found.tolist() == [True, True, False, True, True, False, True]
    assert rows.tolist() == [[1, 2], [3, 4], [0, 0], [5, 6], [7, 8], [0, 0], [1, 2]]
