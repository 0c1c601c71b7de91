"""Words and ids; marks of the Penn Treebank and plain ones, as a vocabulary has them, and vectors for both."""

import pyarrow as pa
import pytest
import torch

from zoo.data.text.vectored import with_plain_marks
from zoo.data.text.vectors import WordVectors
from zoo.data.text.vocabulary import READ_SPECIAL, WRITTEN_SPECIAL, Spelling, Vocabulary


def test_most_frequent_first_ties_by_alphabet():
    counts = {"b": 2, "a": 2, "rare": 1, "c": 5}
    vocabulary = Vocabulary.of_counts(counts, minimum_frequency=2)
    assert vocabulary.words == ["<pad>", "<unk>", "c", "a", "b"]
    assert vocabulary.encode(["a", "rare", "c"]) == [3, 1, 2]
    assert vocabulary.decode([3, 1, 0]) == ["a", "<unk>", "<pad>"]
    assert "a" in vocabulary and "rare" not in vocabulary
    assert Vocabulary.of_counts(counts, size=4).words == ["<pad>", "<unk>", "c", "a"]
    assert len(Vocabulary.of_counts({"a": 1}, size=1)) == 2
    assert Vocabulary.of_counts({"x": 1, "y": 1}).state() == Vocabulary.of_counts({"y": 1, "x": 1}).state()


@pytest.mark.parametrize("special", [READ_SPECIAL, WRITTEN_SPECIAL])
def test_ids_of_a_column_are_those_of_its_words(special):
    known = Vocabulary(["garden", "the", "<pad>"], special)
    tokens = ["the", "garden", "nowhere", "<unk>", "<pad>", "the"]
    ids = known.ids(pa.array(tokens))
    assert ids.type == pa.int32()
    assert ids.to_pylist() == known.encode(tokens)


def test_a_vocabulary_has_each_word_once_and_its_state_is_plain():
    known = Vocabulary(["é", "a b", ""])
    assert known.state() == ["é", "a b", ""] and known.words == ["<pad>", "<unk>", "é", "a b", ""]
    with pytest.raises(ValueError, match="each word once"):
        Vocabulary(["a", "b", "a"])


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
