"""Unknown words are replaced by the source word with the most attention."""

import pytest
import torch

from zoo.decoding import Hypothesis, replace_unknown
from zoo.errors import ConfigError

SOURCE = ["Anna", "sieht", "Berlin"]
ONE = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.0, 0.2, 0.3, 0.5], [0.0, 0.0, 0.1, 0.9]])
OTHER = torch.tensor([[0.0, 0.9, 0.1, 0.0], [0.1, 0.6, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2], [0.0, 0.0, 0.1, 0.9]])
EVEN = torch.full((4, 4), 0.25)
TWO = {"source.0": ONE, "source.1": OTHER}
"""The means over both layers are .35, .5, .1 and .2, .15, .3 of the source words."""


@pytest.mark.parametrize(
    ("attention", "read", "options", "expected"),
    [
        ({"source": ONE}, SOURCE, {}, ["Anna", "b", "Berlin", "d"]),  # never the end mark
        (TWO, SOURCE, {}, ["sieht", "b", "Berlin", "d"]),
        ({"source": EVEN}, SOURCE, {}, ["Anna", "b", "Anna", "d"]),  # of equal ones the first
        ({"source": ONE}, SOURCE, {"dictionary": {"Anna": "Ann", "x": "y"}}, ["Ann", "b", "Berlin", "d"]),
        ({"source": ONE}, SOURCE, {"unknown": 9}, list("abcd")),
        ({}, SOURCE, {"unknown": 9}, list("abcd")),
        ({"source": ONE}, [], {}, list("abcd")),
    ],
)
def test_unknown_words_become_words_of_the_source(attention, read, options, expected):
    hypothesis = Hypothesis((1, 7, 1, 3), -1.0, -1.0, True, attention)
    assert replace_unknown(list("abcd"), hypothesis, read, **{"unknown": 1, **options}) == expected


@pytest.mark.parametrize(
    ("words", "read", "attention", "error", "message"),
    [
        ("abcd", SOURCE, {}, ConfigError, "attention"),
        ("abc", SOURCE, {"source": ONE}, ValueError, "3 words for 4 ids"),
        ("abcd", list("abcde"), {"source": ONE}, ValueError, "5 words were read"),
    ],
)
def test_words_or_attention_that_do_not_fit_are_an_error(words, read, attention, error, message):
    hypothesis = Hypothesis((1, 7, 1, 3), -1.0, -1.0, True, attention)
    with pytest.raises(error, match=message):
        replace_unknown(list(words), hypothesis, read, unknown=1)
