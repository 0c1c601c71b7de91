"""Names, numbers and variety of what was written in dialogues."""

import pytest
import torch

from zoo.metrics.distinct import Distinct
from zoo.tasks.dialogue import entities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You live in Oslo.", ["oslo"]),
        ("It's at 1 Lincoln Field Way at 7:30 pm.", ["1", "lincoln", "field", "way", "7:30"]),
        ("OK. Sure, I think I'm fine! Ann is, too: Bob", []),
        ('"Well," he said to Ann', ["ann"]),
        ("the 3rd of March costs $45.50, or 2,000", ["3rd", "march", "45.50", "2,000"]),
        ("", []),
    ],
)
def test_entities(text, expected):
    assert entities(text) == expected


def test_distinct_ngrams_of_all_texts_together():
    metric = Distinct(2)
    metric.update([["a"]])
    assert metric.compute().isnan()
    metric.update([["a", "b", "a", "b"], ["c"]])  # ab ba ab
    metric.update([["a", "b"], ["b", "a", "c"]])  # ab, ba ac
    assert metric.compute().item() == pytest.approx(3 / 6)
    words = Distinct(1)
    words.update([["a b"], ["a", "b"]])
    assert words.compute().item() == 1  # no text can imitate another n-gram


def test_distinct_ngrams_of_two_ranks():
    """The n-grams of all ranks are joined before different n-grams are counted."""
    one, other, both = Distinct(1), Distinct(1), Distinct(1)
    one.update([["a", "b"]])
    other.update([["b", "c"]])
    both.different = torch.cat([*one.different, *other.different])  # as torchmetrics reduces it
    both.total = one.total + other.total
    both._update_count = 1
    assert both.compute().item() == pytest.approx(3 / 4)
