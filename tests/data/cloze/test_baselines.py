"""Rules that count words, worked by hand."""

import pytest

from results.cloze_rules import BASELINES, maximum_overlap, most_frequent, most_of, word_distance
from zoo.data.cloze.batch import BLANK, Shown

SANG = f"then {BLANK} sang loudly"
"""It has four tokens, so that a place sees four words on either side."""


@pytest.mark.parametrize(
    ("rule", "document", "query", "candidates", "right"),
    [
        (most_frequent, "Ann . Bob . Bob . ann ann", f"{BLANK} left", "Ann Bob Cat", 1),
        (most_frequent, "Bob . Ann .", f"{BLANK} left", "Ann Bob", 0),
        (most_frequent, "a b", f"{BLANK} left", "Ann Bob", 0),
        (maximum_overlap, "Ann sang here x x x x x then Bob sang", SANG, "Ann Bob", 1),
        (maximum_overlap, "Ann x x x sang x x x x x x x x x x Bob x x x x sang", SANG, "Bob Ann", 1),
        (maximum_overlap, "Bob x . SANG . x x x x x x Ann x", SANG, "Ann Bob", 1),
        # a rare word counts more: log(1 + 1) for loudly, 2 log(1 + 1/3) for then and sang, which occur three times each
        (maximum_overlap, "Ann then sang x x x x x x Bob loudly x x x x x x then sang x then sang", SANG, "Ann Bob", 1),
        # punctuation and the blank do not count
        (maximum_overlap, f"Ann {BLANK} , . x x x x x x x x Bob home", f", {BLANK} . home", "Ann Bob", 1),
        # a candidate is not evidence for itself
        (maximum_overlap, "Ann x x x x x x x x x Bob home", f"Ann saw {BLANK} home", "Ann Bob", 1),
        # saw is at -1, home at +1. Ann at 1: saw 0 away, home 4 - 2 = 2 away, together 2.
        # Bob at 6: saw 0 - 5 = 5 away, home 4 - 7 = 3 away, together 8.
        (word_distance, "saw Ann x x home x Bob x", f"saw {BLANK} home", "Bob Ann", 1),
        # far words cost 8 at most: Ann has 0 + 8, Bob 5 + 5
        (word_distance, "saw Ann x x x x x x x x x x x x home x x x x", f"saw {BLANK} home", "Bob Ann", 1),
        # a word that is not in the document costs all the same
        (word_distance, "Ann Bob left", f"{BLANK} left suddenly", "Ann Bob", 1),
        # a candidate that is not in the document is never chosen
        *((rule, "x Bob y", f"{BLANK} y", "Ann Bob Cat", 1) for rule in BASELINES.values()),
    ],
)
def test_rules_by_hand(rule, document, query, candidates, right):
    assert rule(Shown(document.split(), query.split(), candidates.split(), [])) == right


def test_the_most_frequent_number():
    assert most_of([2, -1, 2, 0, -1, -1], 4) == 2
