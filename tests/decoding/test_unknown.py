"""Unknown words are replaced by the source word that was looked at most."""

import pytest
import torch

from zoo.decoding import Hypothesis, replace_unknown
from zoo.errors import ConfigError

SOURCE = ["Anna", "sieht", "Berlin"]
ONE = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.0, 0.2, 0.3, 0.5], [0.0, 0.0, 0.1, 0.9]])
OTHER = torch.tensor([[0.0, 0.9, 0.1, 0.0], [0.1, 0.6, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2], [0.0, 0.0, 0.1, 0.9]])


def hypothesis(**attention):
    return Hypothesis((1, 7, 1, 3), -1.0, -1.0, True, attention)


def test_takes_the_source_word_of_most_attention_and_never_the_end():
    words = ["<unk>", "sees", "<unk>", "</s>"]
    assert replace_unknown(words, hypothesis(source=ONE), SOURCE, unknown=1) == ["Anna", "sees", "Berlin", "</s>"]


def test_takes_the_mean_over_layers():
    """.35, .5, .1 and .2, .15, .3 of the source words."""
    words, two = ["<unk>", "sees", "<unk>", "</s>"], hypothesis(**{"source.0": ONE, "source.1": OTHER})
    assert replace_unknown(words, two, SOURCE, unknown=1) == ["sieht", "sees", "Berlin", "</s>"]
    torch.testing.assert_close(two.alignment, (ONE + OTHER) / 2)


def test_goes_through_the_dictionary():
    found = replace_unknown(
        list("abcd"), hypothesis(source=ONE), SOURCE, unknown=1, dictionary={"Anna": "Ann", "x": "y"}
    )
    assert found == ["Ann", "b", "Berlin", "d"]


def test_of_equals_the_first():
    even = torch.full((4, 4), 0.25)
    assert replace_unknown(list("abcd"), hypothesis(source=even), SOURCE, unknown=1) == ["Anna", "b", "Anna", "d"]


def test_known_words_stay():
    assert replace_unknown(list("abcd"), hypothesis(source=ONE), SOURCE, unknown=9) == list("abcd")
    assert replace_unknown(list("abcd"), hypothesis(), SOURCE, unknown=9) == list("abcd")
    assert replace_unknown(list("abcd"), hypothesis(source=ONE), [], unknown=1) == list("abcd")


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ConfigError, match="attention"):
        replace_unknown(list("abcd"), hypothesis(), SOURCE, unknown=1)
    with pytest.raises(ValueError, match="3 words for 4 ids"):
        replace_unknown(list("abc"), hypothesis(source=ONE), SOURCE, unknown=1)
    with pytest.raises(ValueError, match="5 words were read"):
        replace_unknown(list("abcd"), hypothesis(source=ONE), list("abcde"), unknown=1)
