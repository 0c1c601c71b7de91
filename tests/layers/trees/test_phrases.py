"""Readings that serve many phrases."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from zoo.layers.trees.phrases import Readings


@st.composite
def phrases(draw):
    words = draw(st.integers(1, 12))
    count = draw(st.integers(1, 10))
    pairs = [sorted(draw(st.tuples(st.integers(0, words - 1), st.integers(0, words - 1)))) for _ in range(count)]
    return words, pairs


@given(phrases(), st.booleans())
def test_a_reading_up_to_its_end_is_the_phrase(given_phrases, backward):
    words, pairs = given_phrases
    first, last = torch.tensor(pairs).T
    readings = Readings.of(first, last, words, backward=backward)
    packing = readings.packing
    for (begin, end), at in zip(pairs, readings.at.tolist(), strict=True):
        row, time = int(packing.row[at]), int(packing.time[at])
        mine = (packing.row == row) & (packing.time <= time)
        read = readings.word[mine][packing.time[mine].argsort()].tolist()
        phrase = list(range(begin, end + 1))
        assert read == (phrase[::-1] if backward else phrase)


def test_phrases_with_one_begin_are_read_once():
    first, last = torch.tensor([0, 0, 0, 2]), torch.tensor([4, 2, 0, 3])
    assert len(Readings.of(first, last, 5).word) == 5 + 2
    assert len(Readings.of(first, last, 5, backward=True).word) == 5 + 3 + 1 + 2
