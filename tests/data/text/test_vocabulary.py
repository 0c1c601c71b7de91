"""Words and ids."""

import pyarrow as pa
import pytest

from zoo.data.text.vocabulary import READ_SPECIAL, WRITTEN_SPECIAL, Vocabulary


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


@pytest.mark.parametrize("special", [READ_SPECIAL, WRITTEN_SPECIAL])
def test_ids_of_a_column_are_those_of_its_words(special):
    known = Vocabulary(["garden", "the", "<pad>"], special)
    tokens = ["the", "garden", "nowhere", "<unk>", "<pad>", "the"]
    ids = known.ids(pa.array(tokens))
    assert ids.type == pa.int32()
    assert ids.to_pylist() == known.encode(tokens)


def test_a_text_cannot_write_padding():
    assert Vocabulary(["a"]).encode(["<pad>", "<unk>"]) == [1, 1]


def test_state_is_plain_and_comes_back():
    state = Vocabulary(["é", "a b", ""]).state()
    assert state == ["é", "a b", ""]
    assert Vocabulary.from_state(state).words == ["<pad>", "<unk>", "é", "a b", ""]


def test_a_word_stands_once():
    with pytest.raises(ValueError, match="each word once"):
        Vocabulary(["a", "b", "a"])
