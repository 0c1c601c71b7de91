"""Words and ids."""

import pytest

from zoo.data.text.vocabulary import Vocabulary


def test_most_frequent_first_ties_by_alphabet():
    vocabulary = Vocabulary.of_counts({"b": 2, "a": 2, "rare": 1, "c": 5}, minimum_frequency=2)
    assert vocabulary.words == ["<pad>", "<unk>", "c", "a", "b"]
    assert len(vocabulary) == 5
    assert vocabulary.encode(["a", "rare", "c"]) == [3, 1, 2]
    assert vocabulary.decode([3, 1, 0]) == ["a", "<unk>", "<pad>"]
    assert "a" in vocabulary
    assert "rare" not in vocabulary
    limited = Vocabulary.of_counts({"b": 2, "a": 2, "rare": 1, "c": 5}, size=4)
    assert limited.words == ["<pad>", "<unk>", "c", "a"]
    assert len(Vocabulary.of_counts({"a": 1}, size=1)) == 2


def test_the_order_of_counting_does_not_matter():
    assert (
        Vocabulary.of_counts({"x": 1, "y": 1}).state() == Vocabulary.of_counts({"y": 1, "x": 1}).state() == ["x", "y"]
    )


def test_a_text_cannot_write_padding():
    assert Vocabulary(["a"]).encode(["<pad>", "<unk>"]) == [1, 1]


def test_state_is_plain_and_comes_back():
    state = Vocabulary(["é", "a b", ""]).state()
    assert state == ["é", "a b", ""]
    assert Vocabulary.from_state(state).words == ["<pad>", "<unk>", "é", "a b", ""]


def test_a_word_stands_once():
    with pytest.raises(ValueError, match="each word once"):
        Vocabulary(["a", "b", "a"])
