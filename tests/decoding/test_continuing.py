"""Texts that are continued from tokens of their own, texts without an end, and reports of progress."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from tests.decoding.toys import SPEC, WORDS, Table, batch_of
from zoo.decoding import BeamSearch, Greedy, Sampling, reporting

BATCH = batch_of(3, 2, 4)
FIRST = (5, 4, 6)
ENDLESS = SimpleNamespace(padding=SPEC.padding, begin=SPEC.begin, end=None)
LENGTH = (0.0, 3.0)
EVERY = {"beam_size": 200, "nbest": 200, "max_length": LENGTH}
"""A beam that holds every sequence of three tokens."""


class Continues(Table):
    """Goes on from a token of each example."""

    def start(self, batch):
        return replace(super().start(batch), first=torch.tensor(FIRST)[batch.index])

    def after(self, sentence, ids):
        return self.log_probs[sentence][(SPEC.padding, FIRST[sentence], *ids)[-2:]].tolist()


def log_prob(table, sentence, ids):
    return sum(table.after(sentence, ids[:t])[token] for t, token in enumerate(ids))


def sequences(tokens, length):
    return [tuple(ids) for ids in product(tokens, repeat=length)]


def test_the_first_step_reads_the_token_of_each_example():
    table = Continues()
    for sentence, (best,) in enumerate(Greedy(max_length=LENGTH)(table, BATCH, SPEC)):
        for t, token in enumerate(best.ids):
            after = table.after(sentence, best.ids[:t])
            assert token == max((1, *WORDS, SPEC.end), key=lambda token, after=after: after[token])
        assert best.log_prob == pytest.approx(log_prob(table, sentence, best.ids))
    assert table.read[0] == (3, 1)


@pytest.mark.parametrize("network", [Table(), Continues()], ids=lambda network: type(network).__name__)
def test_a_text_without_an_end_is_cut_at_the_maximum_length(network):
    """The end's id is a token like any other; every sequence of the length is found, with its probability."""
    for sentence, found in enumerate(BeamSearch(**EVERY)(network, BATCH, ENDLESS)):
        expected = {ids: log_prob(network, sentence, ids) for ids in sequences((*WORDS, SPEC.end), 3)}
        assert {hypothesis.ids: hypothesis.log_prob for hypothesis in found} == pytest.approx(expected)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        assert not any(hypothesis.finished for hypothesis in found)
        assert all(weights.shape[0] == 3 for h in found for weights in h.attention.values())
    for way in (Greedy(max_length=LENGTH), Sampling(samples=4, max_length=LENGTH)):
        for sentence, found in enumerate(way(network, BATCH, ENDLESS)):
            for hypothesis in found:
                assert len(hypothesis.ids) == 3 and not hypothesis.finished
                assert hypothesis.log_prob == pytest.approx(log_prob(network, sentence, hypothesis.ids))


def test_nothing_is_forced_on_a_continued_text():
    """Among the texts of up to three tokens, finished and truncated ones are ranked together."""
    network = Continues()
    for sentence, found in enumerate(BeamSearch(**EVERY, length_penalty=0.6)(network, BATCH, SPEC)):
        ended = [(*ids, SPEC.end) for length in range(3) for ids in sequences(WORDS, length)]
        texts = [*ended, *sequences(WORDS, 3)]
        scores = {ids: log_prob(network, sentence, ids) / ((5 + len(ids)) / 6) ** 0.6 for ids in texts}
        assert {hypothesis.ids: hypothesis.score for hypothesis in found} == pytest.approx(scores)
        assert [h.ids for h in found] == sorted(scores, key=lambda ids: -scores[ids])
        assert all(hypothesis.finished == (hypothesis.ids[-1] == SPEC.end) for hypothesis in found)
        for hypothesis in found:
            for weights in hypothesis.attention.values():
                torch.testing.assert_close(weights.sum(1), torch.ones(len(hypothesis.ids), dtype=torch.float64))


def test_the_coverage_of_a_cut_text_counts_all_its_tokens():
    network, cover = Table(), 0.9
    for found in BeamSearch(**EVERY, coverage_penalty=cover)(network, BATCH, ENDLESS):
        for hypothesis in found[:20]:
            attended = hypothesis.alignment.sum(0)[:-1].clamp(max=1.0)  # the last position is an end mark
            expected = hypothesis.log_prob + cover * float(attended.log().sum())
            assert hypothesis.score == pytest.approx(expected)


@pytest.mark.parametrize("way", [Greedy, BeamSearch], ids=lambda way: way.__name__)
def test_every_step_is_reported_and_their_number_is_bounded_by_the_source(way):
    reported, limits = [], {"min_length": (2.0, 1.0), "max_length": (2.0, 1.0)}
    with reporting(lambda step, most: reported.append((step, most))):
        way(**limits)(Table(), BATCH, SPEC)
    assert reported == [(step, 9) for step in range(1, 10)]  # 2 * 4 + 1 tokens of the longest source
    way(**limits)(Table(), BATCH, SPEC)
    assert len(reported) == 9
