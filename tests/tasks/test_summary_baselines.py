"""Baselines of summaries: the first sentences, the best one, and a greedy extract, against all possible ones."""

from itertools import chain, combinations

import pytest

from zoo.metrics.rouge import rouge, rouge_1
from zoo.tasks.summary_baselines import Sentences, baselines, oracle

TEXT = ["It rained in Rome .", "Ann met Bob in Oslo .", "They talked .", "Bob bought a boat for Ann ."]
REFERENCES = [["Ann met Bob .", "He bought a boat ."], ["Rain in Rome ."]]


def test_each_row_is_the_rouge_of_its_sentences():
    found = baselines([Sentences(TEXT, REFERENCES), Sentences(["One .", "Two ."], [["Two ."]])], 1)
    joined = ["\n".join(one) for one in REFERENCES]
    best = max(TEXT, key=lambda one: max(rouge_1(one, other) for other in joined))
    rows = {"lead-1": (TEXT[0], "One ."), "best sentence": (best, "Two ."), "oracle extract": (None, "Two .")}
    assert list(found) == list(rows)
    for name, (first, second) in rows.items():
        first = "\n".join(oracle(TEXT, joined)) if first is None else first
        scores = [rouge(first, joined), rouge(second, ["Two ."])]
        for kind in ("rouge_1", "rouge_2", "rouge_l", "rouge_lsum"):
            assert found[name][kind] == pytest.approx(50 * sum(one[kind] for one in scores))
        assert found[name]["length"] == pytest.approx((len(first.split()) + 2) / 2)


def test_the_extract_is_in_the_order_of_the_text_and_no_sentence_improves_it():
    reference = "Bob bought a boat . Ann met Bob ."
    chosen = oracle(TEXT, [reference])
    assert chosen == [TEXT[1], TEXT[3]]
    sets = chain.from_iterable(combinations(TEXT, size) for size in range(1, 5))
    best = max(sets, key=lambda one: sum(list(rouge(" ".join(one), [reference]).values())[:2]))
    assert list(best) == chosen  # of all 15
    assert oracle(TEXT, ["rome"]) == [TEXT[0]]
    assert oracle(TEXT, ["nothing"]) == [TEXT[0]]  # at least one
    assert oracle(TEXT, ["rome", reference]) == chosen  # the reference that can be reached best


def test_a_word_that_a_sentence_repeats_counts_as_often_as_in_the_reference():
    assert oracle(["boat boat boat boat boat .", "his boat ."], ["a boat"]) == ["his boat ."]
