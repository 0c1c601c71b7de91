"""How strongly words and sentences are shown, by hand."""

import pytest

from tests.visualize.documents import even, prediction, without_weights
from zoo.predicting.classification import AttendedSentence
from zoo.visualize.blocks import Passage, top_words


def test_the_papers_display_is_the_root_of_the_sentence_times_the_word():
    first, second = Passage(prediction().sentences).shades("paper")
    strongest = 0.8 * 0.75
    assert first == pytest.approx([0.8 * 0.05 / strongest, 0.8 * 0.2 / strongest, 0, 1])
    assert second == pytest.approx([0.6 * 0.1 / strongest, 0.6 * 0.4 / strongest, 0.6 * 0.5 / strongest])
    assert top_words(prediction().sentences, 3) == "great 0.48, outside 0.18, sat 0.14"
    with pytest.raises(ValueError, match="zip"):
        Passage(prediction(sentences=(AttendedSentence(("a", "b"), 1.0, (1.0,)),)).sentences).shades()


@pytest.mark.parametrize("weighing", ["paper", "joint", "word"])
def test_even_attention_stays_pale(weighing):
    strengths = Passage(even(8, 12).sentences).shades(weighing)
    assert max(map(max, strengths)) < 0.35
    assert max(Passage(even(8, 12).sentences).bars) == pytest.approx((1 / 8) / 0.4)


def test_missing_attention_is_not_zero_attention():
    assert Passage(without_weights("a b", "c").sentences).shades() is None
    assert Passage(without_weights("a b", "c").sentences).bars is None
    assert top_words(without_weights("a b", "c").sentences, 3) == ""
    only_words = prediction(sentences=(AttendedSentence(("a", "b"), None, (0.2, 0.8)),))
    assert Passage(only_words.sentences).shades() == [[pytest.approx(0.25), 1]]
    assert Passage(only_words.sentences).bars is None
