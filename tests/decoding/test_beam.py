"""Beam search against all sequences written out and against a slow search: when it stops, ties, order, numbers, rules.
The contract tests hold a beam of one against greedy decoding, and the results against the rest of the batch."""

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decoding.toys import (
    SPEC,
    Table,
    assert_recomputable,
    batch_of,
    decoder,
    every_sequence,
    literal_score,
    pick,
    repeats,
    slow_beam,
)
from zoo.decoding import BeamSearch, Greedy, Sampling
from zoo.decoding.beam import best
from zoo.errors import ConfigError

ALL = {"length_penalty": 0.8, "coverage_penalty": 0.3, "length_reward": 0.1}
PENALTIES = [
    {},
    {"length_penalty": 0.6},
    {"length_penalty": 1.0, "length_form": "average"},
    {"coverage_penalty": 0.4},
    {"length_reward": 0.3},
    {"length_reward": -0.2, "length_penalty": 1.2},
    {"length_reward": -1.0},
    {"length_reward": 1.0},
    ALL,
]
LENGTHS = (3, 1, 6, 2, 6, 4, 5, 3)


# room for everything

WIDE = 4**5
SENTENCES = batch_of(4, 2, 0)
NETWORKS = {"table": Table(seed=3), "recurrent": decoder(seed=1)}
RULES = [{"min_length": (0, 3)}, {"no_repeat_ngram": 1}, {"no_repeat_ngram": 2, "min_length": (0.5, 0)}]


@functools.cache
def everything(name, row, longest):
    """All sequences of a sentence, with what is needed to score them."""
    return list(every_sequence(NETWORKS[name], SENTENCES, row, longest))


@pytest.mark.parametrize(
    ("name", "longest", "rules", "penalties"),
    [
        ("table", 5, {}, {}),
        (
            "table",
            5,
            {},
            {"length_reward": 0.3, "coverage_penalty": 0.2, "length_penalty": 0.4, "length_form": "average"},
        ),
        *(
            (name, 4, rules, {"length_penalty": 0.7, "coverage_penalty": 0.2})
            for name in NETWORKS
            for rules in [*RULES, {"no_repeat_ngram": 3}]
        ),
    ],
    ids=str,
)
def test_equals_exhaustive_search(name, longest, rules, penalties):
    """One of the sources has no token."""
    search = BeamSearch(beam_size=WIDE, nbest=WIDE, max_length=(0, longest), **penalties, **rules)
    (a, b), n = rules.get("min_length", (0, 0)), rules.get("no_repeat_ngram", 0)
    for row, hypotheses in enumerate(search(NETWORKS[name], SENTENCES, SPEC)):
        shortest = int(a * SENTENCES.source_mask[row].sum() + b)
        right = sorted(
            (
                (literal_score(log_probs, attention, **penalties), ids)
                for ids, log_probs, attention in everything(name, row, longest)
                if len(ids) >= shortest and not (n and repeats(ids, n))
            ),
            reverse=True,
        )
        assert [h.ids for h in hypotheses] == [ids for _, ids in right]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in right], abs=1e-10)
        assert all(h.finished for h in hypotheses)


# the stop


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 6),
    nbest=st.integers(1, 6),
    longest=st.integers(1, 9),
    end_bias=st.floats(-2, 2),
    penalties=st.sampled_from(PENALTIES),
)
def test_stopping_early_gives_what_running_to_the_longest_length_gives(seed, size, nbest, longest, end_bias, penalties):
    table, batch, nbest = Table(seed, end_bias=end_bias), batch_of(4, 1, 2), min(size, nbest)
    found = BeamSearch(beam_size=size, nbest=nbest, max_length=(0, longest), **penalties)(table, batch, SPEC)
    for row, hypotheses in enumerate(found):
        slow = slow_beam(table, batch, row, size=size, nbest=nbest, longest=longest, **penalties)
        assert [h.ids for h in hypotheses] == [ids for _, ids in slow]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in slow], abs=1e-12)


def test_stopping_at_as_many_ends_as_the_beam_holds_loses_what_this_finds():
    """The public rule's fault shows on these tables, and it is not ours."""
    lost = 0
    settings = {"length_penalty": 1.0, "length_form": "average"}
    for seed in range(25):
        table, batch = Table(seed, sentences=1, end_bias=0.5), batch_of(3)
        ((best,),) = BeamSearch(beam_size=5, max_length=(0, 12), **settings)(table, batch, SPEC)
        ((public, _),) = slow_beam(table, batch, 0, size=5, nbest=1, longest=12, stop_at=5, **settings)
        assert best.score >= public - 1e-12
        lost += best.score > public + 1e-12
    assert lost > 2


@pytest.mark.parametrize("penalties", [{}, {"length_penalty": 0.6}, {"coverage_penalty": 0.05}], ids=str)
def test_stops_long_before_the_longest_length(penalties):
    table = Table(seed=2, end_bias=3.0)
    BeamSearch(beam_size=3, max_length=(0, 100), **penalties)(table, batch_of(*LENGTHS), SPEC)
    assert len(table.read) < 50


def test_plain_log_probability_stops_at_once_when_the_best_has_ended():
    table = Table(seed=2, end_bias=50.0)
    (hypotheses,) = BeamSearch(beam_size=4, max_length=(0, 50))(table, batch_of(3), SPEC)
    assert [h.ids for h in hypotheses] == [(SPEC.end,)]
    assert hypotheses[0].finished
    assert hypotheses[0].attention["source.0"].shape == (1, 3)
    assert len(table.read) == 1


def test_finished_sentences_leave_the_batch():
    table = Table(seed=0, end_bias=1.0)
    found = BeamSearch(beam_size=3, max_length=(0, 12))(table, batch_of(*LENGTHS), SPEC)
    sizes = [rows for rows, _ in table.read]
    assert table.read[0] == (8, 1)  # a single hypothesis at the first step
    assert {beams for _, beams in table.read[1:]} == {3}
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 2
    alone = []
    for row in range(8):
        table.read.clear()
        (one,) = BeamSearch(beam_size=3, max_length=(0, 12))(table, pick(batch_of(*LENGTHS), [row]), SPEC)[0]
        assert (one.ids, one.finished) == (found[row][0].ids, found[row][0].finished)
        alone.append(len(table.read))
    assert sizes == [sum(steps > number for steps in alone) for number in range(max(alone))]


# ties


@pytest.mark.parametrize("entries", [1, 2, 9, 10, 11, 97, 1000, 5003])
@pytest.mark.parametrize("levels", [1, 2, 30, 10**9])
def test_the_largest_entries_of_long_rows_are_those_of_a_full_sort(entries, levels):
    """The lower column is first where entries are equal. With few levels nearly all are."""
    generator = torch.Generator().manual_seed(entries)
    scores = torch.randint(levels, (3, entries), generator=generator).float()
    scores[torch.rand(3, entries, generator=generator) < 0.3] = -torch.inf
    scores[2] = -torch.inf
    for count in (1, 2, 10):
        values, columns = best(scores, count)
        for row, found in zip(scores.tolist(), zip(columns.tolist(), values.tolist(), strict=True), strict=True):
            right = sorted(enumerate(row), key=lambda entry: (-entry[1], entry[0]))[:count]
            assert list(zip(*found, strict=True)) == right


@pytest.mark.parametrize("penalties", [{}, {"length_penalty": 1.0}], ids=str)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_of_equals_the_lower_id_comes_first(levels, penalties):
    for seed in range(8):
        table, batch = Table(sharpness=0.0), batch_of(3, 2, 5)
        generator = torch.Generator().manual_seed(seed)
        table.log_probs = -torch.randint(1, levels + 1, table.log_probs.shape, generator=generator).double()
        found = BeamSearch(beam_size=4, nbest=4, max_length=(0, 6), **penalties)(table, batch, SPEC)
        for row, hypotheses in enumerate(found):
            slow = slow_beam(table, batch, row, size=4, nbest=4, longest=6, **penalties)
            assert [h.ids for h in hypotheses] == [ids for _, ids in slow]


# order and numbers


@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
@pytest.mark.parametrize("network", [Table(4), decoder(4)], ids=["table", "recurrent"])
def test_hypotheses_are_sorted_unique_and_recomputable(network, penalties):
    batch = batch_of(3, 1, 6)
    for row, hypotheses in enumerate(BeamSearch(beam_size=6, nbest=6, **penalties)(network, batch, SPEC)):
        assert len(hypotheses) == 6
        assert len({h.ids for h in hypotheses}) == 6
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            assert h.finished
            log_probs = assert_recomputable(network, batch, row, h)
            assert h.score == pytest.approx(literal_score(log_probs, h.alignment.tolist(), **penalties), abs=1e-10)


def test_worked_numbers_of_the_penalties():
    """|Y| = 3 with the end, log P = -2; two source words that got 0.5 and 1.4 of attention."""
    log_probs, attention = [-0.5, -1.0, -0.5], [[0.2, 0.6, 0.2], [0.1, 0.4, 0.5], [0.2, 0.4, 0.4]]
    assert literal_score(log_probs, attention) == -2
    assert literal_score(log_probs, attention, length_penalty=1.0) == pytest.approx(-2 / (8 / 6))
    assert literal_score(log_probs, attention, length_penalty=1.0, length_form="average") == pytest.approx(-2 / 3)
    assert literal_score(log_probs, attention, coverage_penalty=0.5) == pytest.approx(-2 + 0.5 * -0.6931471805599453)
    assert literal_score(log_probs, attention, length_reward=0.5) == -0.5


# rules


def test_lengths_follow_the_source():
    batch = batch_of(1, 3, 6)
    long, short = Table(end_bias=-50.0), Table(end_bias=50.0)
    for row, hypotheses in enumerate(BeamSearch(beam_size=2, max_length=(1.0, 1))(long, batch, SPEC)):
        assert len(hypotheses[0].ids) == (2, 4, 7)[row]  # the end is forced, with its own log-probability
        assert hypotheses[0].finished
        assert_recomputable(long, batch, row, hypotheses[0])
    for row, hypotheses in enumerate(BeamSearch(min_length=(1.5, 0))(short, batch, SPEC)):
        assert len(hypotheses[0].ids) == (1, 4, 9)[row]
    for hypotheses in BeamSearch(min_length=(9, 9), max_length=(0, 3))(short, batch, SPEC):
        assert len(hypotheses[0].ids) == 3  # the maximum holds


@pytest.mark.parametrize(
    "decode", [BeamSearch(beam_size=3, nbest=3, max_length=(1, 2), **ALL), Greedy(max_length=(1, 2))]
)
def test_where_nothing_can_end_the_best_live_ones_are_given(decode):
    table, batch = Table(3), batch_of(2, 4)
    table.log_probs[..., SPEC.end] = -torch.inf
    table.log_probs[1, ..., SPEC.end] = 0.0  # the second sentence can
    unfinished, (best, *_) = decode(table, batch, SPEC)
    assert best.finished
    for h in unfinished:
        assert not h.finished
        assert len(h.ids) == 3  # the fourth could only have been the end
        assert_recomputable(table, batch, 0, h)
    assert [h.score for h in unfinished] == sorted((h.score for h in unfinished), reverse=True)


def test_rules_that_leave_nothing_to_write():
    """After four different words none is left, and the end may not come yet."""
    rules = {"no_repeat_ngram": 1, "min_length": (0, 8), "max_length": (0, 9)}
    for decode in (BeamSearch(beam_size=2, **rules), Greedy(**rules)):
        for hypotheses in decode(Table(), batch_of(2, 3), SPEC):
            assert not hypotheses[0].finished
            assert sorted(hypotheses[0].ids) == [1, 4, 5, 6]


# errors


WRONG = [{"beam_size": 0}, {"beam_size": 2, "nbest": 3}, {"nbest": 0}, {"length_penalty": -1.0}]
WRONG += [{"coverage_penalty": -1.0}, {"length_form": "mean"}, {"max_length": [50]}, {"min_length": (-1, 0)}]
WRONG += [{"no_repeat_ngram": -1}]
WRONG_DRAWS = [{"samples": 0}, {"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}]


@pytest.mark.parametrize("options", [*WRONG, *WRONG_DRAWS], ids=str)
def test_an_option_that_makes_no_sense_is_an_error(options):
    with pytest.raises(ConfigError):
        (Sampling if options in WRONG_DRAWS else BeamSearch)(**options)


def test_coverage_needs_attention():
    class Blind(Table):
        def step(self, tokens, state):
            return super().step(tokens, state)._replace(attention={})

    with pytest.raises(ConfigError, match="coverage_penalty"):
        BeamSearch(coverage_penalty=0.1)(Blind(), batch_of(3), SPEC)
    ((best,),) = BeamSearch()(Blind(), batch_of(3), SPEC)
    assert best.attention == {} and best.alignment is None


def test_a_network_that_gives_nan_is_an_error():
    table = Table()
    table.log_probs[:] = torch.nan
    for decode in (BeamSearch(), Greedy(), Sampling(samples=2)):
        with pytest.raises(FloatingPointError):
            decode(table, batch_of(3), SPEC)
