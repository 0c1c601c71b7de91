"""Rules that count words, worked by hand."""

from math import log

from results.cloze_rules import BASELINES, maximum_overlap, most_frequent, most_of, word_distance
from zoo.data.cloze.batch import BLANK, Shown


def text(document, query, candidates):
    return Shown(document.split(), query.split(), candidates.split(), [])


def test_most_frequent():
    assert most_frequent(text("Ann . Bob . Bob . ann ann", f"{BLANK} left", "Ann Bob Cat")) == 1
    assert most_frequent(text("Bob . Ann .", f"{BLANK} left", "Ann Bob")) == 0
    assert most_frequent(text("a b", f"{BLANK} left", "Ann Bob")) == 0
    assert most_of([2, -1, 2, 0, -1, -1], 4) == 2


def test_maximum_overlap_counts_the_words_beside_a_candidate():
    # the query has four tokens, so that a place sees four words on either side
    query = f"then {BLANK} sang loudly"
    assert maximum_overlap(text("Ann sang here x x x x x then Bob sang", query, "Ann Bob")) == 1
    assert maximum_overlap(text("Ann x x x sang x x x x x x x x x x Bob x x x x sang", query, "Bob Ann")) == 1
    assert maximum_overlap(text("Bob x . SANG . x x x x x x Ann x", query, "Ann Bob")) == 1


def test_a_rare_word_says_more():
    # log(1 + 1) for loudly against 2 log(1 + 1/3) for then and sang, which occur three times each
    assert log(2) > 2 * log(4 / 3)
    document = "Ann then sang x x x x x x Bob loudly x x x x x x x then sang x then sang"
    assert maximum_overlap(text(document, f"then {BLANK} sang loudly", "Ann Bob")) == 1


def test_punctuation_and_the_blank_say_nothing():
    document = f"Ann {BLANK} , . x x x x x x x x Bob home"
    assert maximum_overlap(text(document, f", {BLANK} . home", "Ann Bob")) == 1


def test_a_candidate_is_no_witness_of_itself():
    assert maximum_overlap(text("Ann x x x x x x x x x Bob home", f"Ann saw {BLANK} home", "Ann Bob")) == 1


def test_word_distance_by_hand():
    # query "saw XXXXX home": saw at -1, home at +1. Ann at 1: saw 0 away, home 4 - 2 = 2 away, together 2.
    # Bob at 6: saw 0 - 5 = 5 away, home 4 - 7 = 3 away, together 8.
    document = "saw Ann x x home x Bob x"
    assert word_distance(text(document, f"saw {BLANK} home", "Bob Ann")) == 1
    # far words cost 8 at most: Ann has 0 + 8, Bob 5 + 5
    document = "saw Ann x x x x x x x x x x x x home x x x x"
    assert word_distance(text(document, f"saw {BLANK} home", "Bob Ann")) == 1


def test_a_word_that_is_not_in_the_document_costs_all_the_same():
    assert word_distance(text("Ann Bob left", f"{BLANK} left suddenly", "Ann Bob")) == 1


def test_a_candidate_that_stands_nowhere_is_never_taken():
    for baseline in BASELINES.values():
        assert baseline(text("x Bob y", f"{BLANK} y", "Ann Bob Cat")) == 1
