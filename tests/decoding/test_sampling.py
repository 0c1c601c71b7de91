"""Sampling: the distribution, its numbers, its gradient; and greedy decoding, its limit."""

import math
from collections import Counter

import pytest
import torch

from tests.decoding.toys import DOUBLE, SPEC, WORDS, Table, assert_recomputable, batch_of, decoder, pick, repeats
from zoo.decoding import Greedy, Sampling

LENGTHS = (3, 1, 6, 2)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def slow_distribution(after, allowed, temperature=1.0, top_k=0, top_p=1.0):
    """Token -> probability, from log-probabilities of all tokens, one rule after the other."""
    weight = {token: math.exp(after[token] / temperature) for token in allowed}
    ranked = sorted(weight, key=lambda token: (-weight[token], token))[: top_k or None]
    total, kept, held = sum(weight[token] for token in ranked), [], 0.0
    for token in ranked:
        if held < top_p:
            kept.append(token)
            held += weight[token] / total
    total = sum(weight[token] for token in kept)
    return {token: weight[token] / total for token in kept}


def all_probabilities(table, longest, **options):
    """Sequence -> probability of being drawn."""

    def extend(ids, probability):
        allowed = (*WORDS, SPEC.end) if len(ids) < longest - 1 else (SPEC.end,)
        for token, p in slow_distribution(table.after(0, ids), allowed, **options).items():
            if token == SPEC.end:
                yield (*ids, token), probability * p
            else:
                yield from extend((*ids, token), probability * p)

    return dict(extend((), 1.0))


OPTIONS = [{}, {"temperature": 0.6}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.7}]
OPTIONS += [{"temperature": 1.5, "top_k": 3, "top_p": 0.8}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_sequences_come_as_often_as_they_are_probable(options):
    table, draws = Table(seed=1), 4000
    sampling = Sampling(samples=draws, max_length=(0, 3), **options)
    found = sampling.draw(table, batch_of(3), SPEC)
    expected = all_probabilities(table, 3, **options)
    assert sum(expected.values()) == pytest.approx(1.0)
    sequences = [tuple(ids[mask].tolist()) for ids, mask in zip(found.tokens[0], found.mask[0], strict=True)]
    count = Counter(sequences)
    assert set(count) <= set(expected)
    for ids, log_prob in zip(sequences, found.log_probs[0].sum(1).tolist(), strict=True):
        assert math.exp(log_prob) == pytest.approx(expected[ids], rel=1e-9)
    often = {ids: p for ids, p in expected.items() if p * draws >= 5}
    chi_square = sum((count[ids] - p * draws) ** 2 / (p * draws) for ids, p in often.items())
    assert chi_square < len(often) + 4 * math.sqrt(2 * len(often))  # its mean and four standard deviations


def test_top_k_and_top_p_of_worked_numbers():
    log_probs = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=DOUBLE).log()

    def kept(**options):
        return [round(p, 6) for p in Sampling(**options).distribution(log_probs).exp().tolist()]

    assert kept() == [0.1, 0.4, 0.2, 0.3]
    assert kept(top_k=2) == [0.0, 0.571429, 0.0, 0.428571]
    assert kept(top_p=0.69) == [0.0, 0.571429, 0.0, 0.428571]
    assert kept(top_p=0.71) == [0.0, 0.444444, 0.222222, 0.333333]
    assert kept(top_p=1e-6) == [0.0, 1.0, 0.0, 0.0]
    assert kept(top_k=2, top_p=0.57) == [0.0, 1.0, 0.0, 0.0]  # 4/7 of what the first rule left
    assert kept(temperature=0.5) == [0.033333, 0.533333, 0.133333, 0.3]


def test_of_equally_probable_tokens_the_lower_ids_stay():
    log_probs = torch.full((2, 3, 100), 0.01, dtype=DOUBLE).log()
    for options in ({"top_k": 4}, {"top_p": 0.0399}):
        assert (Sampling(**options).distribution(log_probs)[..., :4].exp() > 0.2).all()
        assert (Sampling(**options).distribution(log_probs)[..., 4:] == -torch.inf).all()


@pytest.mark.parametrize("network", [Table(2), decoder(2)], ids=["table", "recurrent"])
def test_numbers_are_recomputable(network):
    batch = batch_of(*LENGTHS)
    found = Sampling(samples=5, temperature=1.3)(network, batch, SPEC)
    for row, hypotheses in enumerate(found):
        assert len(hypotheses) == 5
        for h in hypotheses:
            assert_recomputable(network, batch, row, h)
            assert h.finished and h.score == h.log_prob
        scores = [h.score for h in hypotheses]
        assert len(set(scores)) > 1 and scores == sorted(scores, reverse=True)


def test_the_rules_hold_in_samples():
    batch = batch_of(2, 4, 5)
    sampling = Sampling(samples=50, min_length=(0.5, 2), max_length=(1, 2), no_repeat_ngram=2)
    for row, hypotheses in enumerate(sampling(Table(sharpness=2.5), batch, SPEC)):
        for h in hypotheses:
            assert (3, 4, 4)[row] <= len(h.ids) <= (4, 6, 7)[row]
            assert not repeats(h.ids, 2)


def test_gradient_is_that_of_reading_the_samples():
    """The gradient of the log-probability among writable tokens, sentence by sentence and token by token."""
    network, batch = decoder(3), batch_of(*LENGTHS)
    drawn = Sampling(samples=3, max_length=(1, 3)).draw(network, batch, SPEC)
    assert drawn.tokens.shape == drawn.mask.shape == drawn.log_probs.shape == drawn.network_log_probs.shape
    assert len(set(drawn.mask.sum(2).flatten().tolist())) > 2
    assert (drawn.tokens[~drawn.mask] == SPEC.padding).all()
    for part in (drawn.log_probs, drawn.network_log_probs, drawn.attention["source"]):
        assert (part[~drawn.mask] == 0).all()
    reward = torch.randn(len(batch), 3, dtype=DOUBLE)
    loss = (reward * drawn.log_probs.sum(2)).sum()
    own = (reward * drawn.network_log_probs.sum(2)).sum()

    slow = slow_own = 0.0
    for row in range(len(batch)):
        for k in range(3):
            ids = drawn.tokens[row, k][drawn.mask[row, k]].tolist()
            state, token = network.start(pick(batch, [row])), SPEC.begin
            for position, id in enumerate(ids, 1):
                log_probs, state, _ = network.step(torch.tensor([[token]]), state)
                writable = [SPEC.end] if position == LENGTHS[row] + 3 else [*WORDS, SPEC.end]
                slow_own = slow_own + reward[row, k] * log_probs[0, 0, id]
                slow = slow + reward[row, k] * (log_probs[0, 0, id] - log_probs[0, 0, writable].logsumexp(0))
                token = id
    parameters = list(network.parameters())
    for value, by_hand in ((loss, slow), (own, slow_own)):
        torch.testing.assert_close(value, by_hand)
        found = torch.autograd.grad(value, parameters, retain_graph=True)
        torch.testing.assert_close(found, torch.autograd.grad(by_hand, parameters, retain_graph=True))
        assert all(gradient.abs().sum() > 0 for gradient in found)


def test_sequences_that_nothing_may_follow_stop_unfinished():
    """In one sentence all four words are used up, and the end may not come yet."""
    batch = batch_of(1, 6)
    sampling = Sampling(samples=4, no_repeat_ngram=1, min_length=(1, 0), max_length=(1, 2))
    network = decoder()
    drawn = sampling.draw(network, batch, SPEC)
    assert not (drawn.tokens[1] == SPEC.end).any()
    assert (drawn.mask[1].sum(1) == 4).all()
    assert (drawn.tokens[0] == SPEC.end).sum() == 4
    drawn.log_probs.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
    assert [h.finished for h in drawn.hypotheses(SPEC)[1]] == [False] * 4


def test_greedy_takes_the_most_probable_token():
    table, batch = Table(6), batch_of(*LENGTHS)
    for row, (h,) in enumerate(Greedy(max_length=(0, 9))(table, batch, SPEC)):
        ids = ()
        while SPEC.end not in ids:
            after = table.after(row, ids)
            ids += (max((*WORDS, SPEC.end) if len(ids) < 8 else (SPEC.end,), key=lambda token: after[token]),)
        assert h.ids == ids
        assert_recomputable(table, batch, row, h)
        assert h.score == h.log_prob
    ((of_equals,),) = Greedy(max_length=(0, 4))(Table(sharpness=0.0), batch_of(2), SPEC)
    assert of_equals.ids == (1, 1, 1, SPEC.end)  # the lower id


def test_sentences_leave_the_batch_when_all_their_samples_have_ended():
    table = Table(0, end_bias=0.5)
    drawn = Sampling(samples=2).draw(table, batch_of(*LENGTHS), SPEC)
    lengths = drawn.mask.sum(2).amax(1)
    assert [rows for rows, _ in table.read] == [int((lengths >= t).sum()) for t in range(1, int(lengths.max()) + 1)]
