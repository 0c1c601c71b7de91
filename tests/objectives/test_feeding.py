"""Scheduled sampling and soft feedback against loops over sentences and tokens, and against teacher forcing."""

import math

import pytest
import torch

from tests.objectives.toy import SPEC, TARGETS, Toy, gradients, pairs
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.errors import ConfigError
from zoo.objectives import CrossEntropy, ScheduledSampling, SoftFeedback
from zoo.objectives.feeding import likeliest, sampled, schedule

ALMOST = 1 - 1e-12
"""Steps are taken, and every coin says that the true token is read."""


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def terms(objective, network, batch, step=0, spec=SPEC):
    return objective(network, batch, spec=spec, step=step, need_weights=True)


def literal(network, batch, feed):
    """-log p of every target, one sentence and one token after the other; `feed` (log-probabilities (V,), true token)
    gives what is read next: an id or a distribution (V,)."""
    total, weights = torch.zeros((), dtype=torch.float64), {}
    for b, length in enumerate(batch.target_mask.sum(1).tolist()):
        only = PairBatch(batch.source[b, None], batch.source_mask[b, None])
        state, token = network.start(only), torch.tensor(SPEC.begin)
        for t in range(length):
            log_probs, state, attention = network.step(token[None, None], state)
            total = total - log_probs[0, 0, batch.target[b, t]]
            weights[b, t] = attention["source"][0, 0]
            token = torch.as_tensor(feed(log_probs[0, 0], batch.target[b, t]))
    return total, weights


def hold_to(loss, network, total, weights):
    """The loss, its gradient and its attention are those of the loop."""
    cross_entropy, nll = loss.terms
    close(cross_entropy.total, total)
    close(nll.total, total.detach())
    assert cross_entropy.count == nll.count == sum(map(len, TARGETS))
    for ours, theirs in zip(
        gradients(cross_entropy.total, network).values(), gradients(total, network).values(), strict=True
    ):
        close(ours, theirs)
    attention = loss.output.attention["source"]
    assert attention.shape == (4, 5, 5)
    for (b, t), row in weights.items():
        close(attention[b, t], row)
    assert attention.sum().item() == pytest.approx(len(weights))  # zero at padding


@pytest.mark.parametrize("objective", [ScheduledSampling, SoftFeedback])
@pytest.mark.parametrize("share", [1.0, ALMOST])
def test_the_true_tokens_alone_are_teacher_forcing(objective, share):
    network, batch = Toy(), pairs()
    forced = terms(CrossEntropy(label_smoothing=0.1), network, batch)
    stepped = terms(objective(decay="constant", k=share, label_smoothing=0.1), network, batch)
    close(stepped.output.attention["source"], forced.output.attention["source"])
    close(stepped.output.logits.log_softmax(-1), forced.output.logits.log_softmax(-1))
    for ours, theirs in zip(stepped.terms, forced.terms, strict=True):
        close(ours.total, theirs.total)
        assert ours.count == theirs.count
    found = [gradients(loss.terms[0].total, network) for loss in (stepped, forced)]
    for name, gradient in found[0].items():
        close(gradient, found[1][name])


def test_teacher_forcing_goes_through_forward_and_all_else_through_steps():
    network, batch, calls = Toy(), pairs(), []
    network.register_forward_hook(lambda *_: calls.append(1))
    for objective in (ScheduledSampling(decay="constant", k=1.0), SoftFeedback(decay="constant", k=1.0)):
        calls.clear()
        terms(objective, network, batch)
        assert calls
    for objective in (ScheduledSampling(decay="constant", k=0.9), SoftFeedback()):
        calls.clear()
        terms(objective, network, batch)
        assert not calls


def test_without_true_tokens_the_likeliest_are_free_running():
    network, batch = Toy(), pairs()
    loss = terms(ScheduledSampling(decay="constant", k=0.0, greedy=True), network, batch)
    tokens = [v for v in range(SPEC.target_size) if v not in (SPEC.padding, SPEC.begin)]
    hold_to(
        loss, network, *literal(network, batch, lambda log_probs, _: max(tokens, key=lambda v: log_probs[v].item()))
    )


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("detach", [False, True])
def test_soft_feedback_is_the_mixture_of_embeddings(share, detach):
    network, batch = Toy(), pairs()
    loss = terms(SoftFeedback(decay="constant", k=share, detach=detach), network, batch)

    def feed(log_probs, truth):
        own = log_probs.detach() if detach else log_probs
        return share * torch.eye(SPEC.target_size, dtype=torch.float64)[truth] + (1 - share) * own.exp()

    hold_to(loss, network, *literal(network, batch, feed))


class Deaf(Toy):
    """Always likeliest to write 7, whatever it reads; keeps what it was fed."""

    def __init__(self, spec):
        super().__init__(spec)
        self.fed = []
        with torch.no_grad():
            self.output.weight.zero_()
            self.output.bias.zero_()
            self.output.bias[7] = 1

    def step(self, tokens, state):
        self.fed.append(tokens[:, 0])
        return super().step(tokens, state)


def test_every_token_has_a_coin_of_its_own():
    """60 sentences of 50 tokens, none of them 7, and a network that writes 7: a 7 was fed where the coin decided so."""
    torch.manual_seed(0)
    spec = PairSpec(source_size=9, target_size=8, longest_source=6, longest_target=50)
    network = Deaf(spec)
    batch = pairs([[4, 3]] * 60, [[5] * 49 + [3]] * 60)
    epsilon = 0.7
    terms(ScheduledSampling(decay="constant", k=epsilon, greedy=True), network, batch, spec=spec)
    fed = torch.stack(network.fed, 1)
    assert (fed[:, 0] == spec.begin).all()
    told = (fed[:, 1:] != 7).double()
    assert set(fed[:, 1:].unique().tolist()) == {5, 7}
    deviation = (epsilon * (1 - epsilon)) ** 0.5
    assert abs(told.mean().item() - epsilon) < 4 * deviation / told.numel() ** 0.5
    for dim in (0, 1):  # a coin for a whole batch or a whole sentence would give shares of 0 or 1
        shares = told.mean(dim)
        assert shares.std().item() == pytest.approx(deviation / told.shape[dim] ** 0.5, rel=0.35)


def test_epsilon_follows_the_step():
    network, batch = Toy(), pairs()
    objective = ScheduledSampling(decay="linear", k=1.0, slope=0.01, floor=0.3)
    for step, epsilon in ((0, 1.0), (40, 0.6), (10**6, 0.3)):
        assert terms(objective, network, batch, step).logs["epsilon"].item() == pytest.approx(epsilon)


def test_tokens_are_drawn_from_the_distribution_without_padding_and_begin():
    torch.manual_seed(0)
    log_probs = torch.randn(3, 8).mul(1.5).log_softmax(-1)
    log_probs[1, 5] = -torch.inf
    log_probs[2] = torch.tensor([5.0, 0, 5, 0, 0, 0, 0, 0]).log_softmax(-1)
    drawn = sampled(log_probs[:, None].expand(3, 40_000, 8), SPEC)
    for row, tokens in zip(log_probs.exp(), drawn, strict=True):
        right = row.clone()
        right[[SPEC.padding, SPEC.begin]] = 0
        right /= right.sum()
        counts = tokens.bincount(minlength=8)
        assert (counts[right == 0] == 0).all()
        likely = right > 0
        expected = right[likely] * len(tokens)
        assert ((counts[likely] - expected) ** 2 / expected).sum().item() < 24  # chi-square, 5 degrees: p = 2e-4


def test_rows_are_drawn_independently():
    torch.manual_seed(0)
    probs = torch.tensor([0.0, 0.2, 0.0, 0.5, 0.3])
    drawn = sampled(probs.log().expand(40_000, 2, 5), SPEC)
    for first, second in ((drawn[:, 0], drawn[:, 1]), (drawn[1:, 0], drawn[:-1, 0])):
        assert (first == second).double().mean().item() == pytest.approx(0.04 + 0.25 + 0.09, abs=0.012)


def test_the_likeliest_token_is_never_padding_or_begin():
    log_probs = torch.tensor([[0.4, 0.1, 0.3, 0.05, 0.15], [0.1, 0.1, 0.5, 0.1, 0.2]]).log()
    before = log_probs.clone()
    assert likeliest(log_probs, SPEC).tolist() == [4, 4]
    assert torch.equal(log_probs, before)


def test_a_pair_without_a_target_is_left_out():
    network, batch = Toy(), pairs([[4, 3], [5, 6, 3]], [[], [4, 3]])
    loss = terms(SoftFeedback(), network, batch)
    assert loss.terms[0].count == 2
    close(loss.terms[0].total, terms(SoftFeedback(), network, pairs([[5, 6, 3]], [[4, 3]])).terms[0].total)


def test_weights_of_several_heads_are_laid_out_as_forward_gives_them():
    class Heads(Toy):
        def step(self, tokens, state):
            step = super().step(tokens, state)
            weights = step.attention["source"]
            return step._replace(attention={"source": torch.stack([weights, 2 * weights], 2)})

    batch = pairs()
    one = terms(SoftFeedback(), Toy(), batch).output.attention["source"]
    two = terms(SoftFeedback(), Heads(), batch).output.attention["source"]
    assert two.shape == (4, 2, 5, 5)
    close(two[:, 0], one)
    close(two[:, 1], 2 * one)


@pytest.mark.parametrize(
    ("name", "constants", "step", "share"),
    [
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 0, 1.0),
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 100, 0.9),
        ("linear", dict(k=1.0, slope=1e-3, floor=0.25), 800, 0.25),
        ("linear", dict(k=0.8, slope=0.1), 10**9, 0.0),
        ("linear", dict(k=1.5, slope=1e-2, floor=0.25), 50, 1.0),
        ("linear", dict(k=1.5, slope=1e-2, floor=0.25), 80, 0.7),
        ("exponential", dict(k=0.99), 0, 1.0),
        ("exponential", dict(k=0.99), 3, 0.970299),
        ("exponential", dict(k=0.99, floor=0.1), 10**6, 0.1),
        ("inverse_sigmoid", dict(k=100.0), 0, 100 / 101),
        ("inverse_sigmoid", dict(k=100.0), 200, 100 / (100 + math.exp(2))),
        ("inverse_sigmoid", dict(k=100.0), 1000, 100 / (100 + math.exp(10))),
        ("inverse_sigmoid", dict(k=1.0), 700, math.exp(-700)),
        ("inverse_sigmoid", dict(k=1.0), 10**6, 0.0),
        ("inverse_sigmoid", dict(k=10.0, floor=0.2), 10**9, 0.2),
        ("constant", dict(k=0.3), 12345, 0.3),
        ("constant", dict(k=0.1, floor=0.3), 0, 0.3),
    ],
)
def test_the_papers_formulas(name, constants, step, share):
    assert schedule(name, **constants)(step) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("linear", dict(k=-0.5, slope=1e-3)),
        ("linear", dict(k=1.0)),
        ("exponential", dict(k=1.0)),
        ("exponential", dict(k=0.9, slope=0.1)),
        ("inverse_sigmoid", dict(k=0.5)),
        ("constant", dict(k=1.5)),
        ("constant", dict(k=0.5, floor=1.5)),
    ],
)
def test_constants_of_another_schedule_raise(name, constants):
    with pytest.raises(ConfigError, match=f"decay={name}"):
        schedule(name, **constants)


def test_another_name_raises():
    with pytest.raises(ConfigError, match=r"decay=cosine: expected .*linear.*, found 'cosine'"):
        schedule("cosine", k=1.0)
