"""Beam search with room for everything against all sequences written out and scored by the papers' formulas."""

import functools

import pytest

from tests.decoding.toys import SPEC, Decoder, Table, batch_of, every_sequence, literal_score, repeats
from zoo.decoding import BeamSearch

LONGEST, WIDE = 5, 4**5
BATCH = batch_of(4, 2)
NETWORKS = {"table": Table(seed=3), "recurrent": Decoder(seed=1)}
PENALTIES = [
    {},
    {"length_penalty": 0.6},
    {"length_penalty": 1.0},
    {"length_penalty": 1.0, "length_form": "average"},
    {"length_penalty": 0.4, "length_form": "average"},
    {"coverage_penalty": 0.3},
    {"length_penalty": 0.8, "coverage_penalty": 0.5},
    {"length_reward": 0.7},
    {"length_reward": -0.4, "length_penalty": 0.5},
    {"length_reward": 0.3, "coverage_penalty": 0.2, "length_penalty": 1.0, "length_form": "average"},
]
RULES = [{}, {"min_length": (0, 3)}, {"no_repeat_ngram": 1}, {"no_repeat_ngram": 2, "min_length": (0.5, 0)}]


@functools.cache
def everything(name, row, longest):
    """All sequences of a sentence of BATCH, with what is needed to score them."""
    return list(every_sequence(NETWORKS[name], BATCH, row, longest))


def best_of(name, row, longest, penalties, rules=None):
    """(score, ids) of the sequences that the rules let be written, best first."""
    a, b = (rules or {}).get("min_length", (0, 0))
    n = (rules or {}).get("no_repeat_ngram", 0)
    shortest = int(a * BATCH.source_mask[row].sum() + b)
    return sorted(
        (
            (literal_score(log_probs, attention, **penalties), ids)
            for ids, log_probs, attention in everything(name, row, longest)
            if len(ids) >= shortest and not (n and repeats(ids, n))
        ),
        reverse=True,
    )


def assert_best(name, nbest, longest, penalties, rules=None):
    search = BeamSearch(beam_size=WIDE, nbest=nbest, max_length=(0, longest), **penalties, **(rules or {}))
    for row, hypotheses in enumerate(search(NETWORKS[name], BATCH, SPEC)):
        best = best_of(name, row, longest, penalties, rules)[:nbest]
        assert [h.ids for h in hypotheses] == [ids for _, ids in best]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in best], abs=1e-10)


@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
def test_equals_exhaustive_search(penalties):
    assert_best("table", 12, LONGEST, penalties)


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("name", ["table", "recurrent"])
def test_equals_exhaustive_search_under_the_rules(name, rules):
    assert_best(name, 8, 4, {"length_penalty": 0.7, "coverage_penalty": 0.2}, rules)


def test_every_sequence_is_found_when_all_are_asked_for():
    found = BeamSearch(beam_size=WIDE, nbest=WIDE, max_length=(0, 3))(NETWORKS["table"], BATCH, SPEC)
    for row, hypotheses in enumerate(found):
        assert sorted(h.ids for h in hypotheses) == sorted(ids for ids, *_ in everything("table", row, 3))
        assert all(h.finished for h in hypotheses)
