"""Learning from a reward: the estimate against the exact gradient of the expected reward, all sequences enumerated."""

import itertools
import random

import pytest
import sacrebleu
import torch
from nltk.translate.bleu_score import sentence_bleu
from torch import nn

import zoo.objectives.policy_gradient as module
from tests.objectives.toy import Toy, gradients, pairs
from zoo.data.pairs.batch import PairSpec
from zoo.decoding import Rollout
from zoo.errors import ConfigError
from zoo.objectives import CrossEntropy, Reinforce, ReinforceCritic, SelfCritical, SentenceBLEU

SPEC = PairSpec(source_size=9, target_size=5, longest_source=6, longest_target=3)
WORDS = (SPEC.unknown, 4)
LONGEST = 3


def worth(hypotheses, references, batch):
    """A reward with another number for every sequence, and for every reference."""
    return [
        sum((n + 1) * token for n, token in enumerate(ours)) % 7 / 7 + 0.1 * len(theirs)
        for ours, theirs in zip(hypotheses, references, strict=True)
    ]


def sequences():
    """All that can be written in three tokens, the end among them."""
    return [words for length in range(LONGEST) for words in itertools.product(WORDS, repeat=length)]


def log_probability(network, batch, words):
    """The log-probability of the first sentence's sequence, without padding and begin. The last token is surely the
    end."""
    state, token, total = network.start(batch), SPEC.begin, torch.zeros((), dtype=torch.float64)
    for t, written in enumerate((*words, SPEC.end)):
        log_probs, state, _ = network.step(torch.tensor([[token]]), state)
        possible = torch.tensor([v for v in range(SPEC.target_size) if v not in (SPEC.padding, SPEC.begin)])
        if t < LONGEST - 1:
            total = total + log_probs[0, 0, written] - log_probs[0, 0, possible].logsumexp(0)
        token = written
    return total


def case(seed=0):
    """A network that is sure of some things, its batch of one pair, and each sequence's log-probability and reward."""
    network = Toy(SPEC, seed=seed)
    with torch.no_grad():
        network.output.weight *= 3
    batch = pairs([[5, 6, 3]], [[4, 1, 3]])
    log_probs = torch.stack([log_probability(network, batch, words) for words in sequences()])
    rewards = worth([list(words) for words in sequences()], [[4, 1]] * len(sequences()), batch)
    return network, batch, log_probs, torch.tensor(rewards, dtype=torch.float64)


def exact(network, log_probs, rewards):
    """The gradient of the expected reward."""
    return gradients((log_probs.exp() * rewards).sum(), network)


def flat(found):
    return torch.cat([gradient.flatten() for gradient in found.values()])


class Given:
    """In place of ancestral sampling: these sequences, with the log-probabilities that the loop found."""

    def __init__(self, drawn, log_probs):
        self.drawn, self.log_probs = drawn, log_probs

    def __call__(self, *, samples, max_length):
        assert samples == len(self.drawn)
        assert max_length == (0, LONGEST)
        return self

    def draw(self, network, batch, spec):
        tokens = torch.zeros(1, len(self.drawn), LONGEST, dtype=torch.long)
        for k, words in enumerate(self.drawn):
            tokens[0, k, : len(words) + 1] = torch.tensor([*words, SPEC.end])
        log_probs = torch.stack([self.log_probs, *[torch.zeros_like(self.log_probs)] * (LONGEST - 1)], 1)[None]
        return Rollout(tokens, tokens != 0, log_probs, log_probs, {}, {})


def expectation(network, batch, objective, count, log_probs, monkeypatch):
    """The mean of the objective's gradient over all draws of `count` sequences, and the mean of its square's norm."""
    mean, square = 0.0, 0.0
    for drawn in itertools.product(range(len(sequences())), repeat=count):
        given = Given([sequences()[k] for k in drawn], log_probs[list(drawn)])
        monkeypatch.setattr(module, "Sampling", given)
        term, *_ = objective(network, batch, spec=SPEC, step=0, need_weights=False).terms
        gradient = flat(gradients(term.total / term.count, network))
        share = log_probs[list(drawn)].sum().exp().detach()
        mean, square = mean + share * gradient, square + share * gradient.square().sum()
    return mean, square


class Constant(nn.Module):
    """A critic that predicts one cost for all examples."""

    def __init__(self, spec):
        super().__init__()
        self.cost = nn.Parameter(torch.tensor(0.3))

    def forward(self, batch):
        return self.cost.expand(len(batch))


def with_critic():
    objective = ReinforceCritic(reward=worth, critic=Constant)
    objective.build(SPEC)
    return objective


def test_the_sequences_are_all_that_there_are():
    _, _, log_probs, rewards = case()
    assert len(log_probs) == 1 + 2 + 4
    assert log_probs.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert rewards.std() > 0.2


@pytest.mark.parametrize(
    ("objective", "count"),
    [
        (lambda: Reinforce(reward=worth, weight=1.0, samples=2), 2),
        (lambda: Reinforce(reward=worth, weight=1.0, samples=1, baseline="moving_average").eval(), 1),
        (lambda: Reinforce(reward=worth, weight=1.0, samples=2, baseline="moving_average").eval(), 2),
        (with_critic, 1),
        (lambda: SelfCritical(reward=worth, weight=1.0), 1),
        (lambda: SelfCritical(reward=worth, weight=1.0, samples=2), 2),
    ],
)
def test_the_expected_gradient_is_that_of_minus_the_expected_reward(objective, count, monkeypatch):
    network, batch, log_probs, rewards = case()
    estimate, _ = expectation(network, batch, objective(), count, log_probs, monkeypatch)
    torch.testing.assert_close(estimate, -flat(exact(network, log_probs, rewards)), rtol=0, atol=1e-12)


def test_a_baseline_lowers_the_variance(monkeypatch):
    network, batch, log_probs, _ = case()
    plain = Reinforce(reward=worth, weight=1.0, samples=2, baseline="moving_average").eval()  # 0 before any batch
    others = Reinforce(reward=worth, weight=1.0, samples=2)
    squares = [expectation(network, batch, o, 2, log_probs, monkeypatch)[1].item() for o in (plain, others)]
    assert squares[1] < 0.8 * squares[0]


@pytest.mark.parametrize(
    "objective",
    [Reinforce(reward=worth, weight=1.0, samples=20_000), SelfCritical(reward=worth, weight=1.0, samples=20_000)],
)
def test_drawn_samples_come_near_the_exact_gradient(objective):
    torch.manual_seed(0)
    network, batch, log_probs, rewards = case()
    loss = objective(network, batch, spec=SPEC, step=0, need_weights=False)
    (term,) = loss.terms
    right = -flat(exact(network, log_probs, rewards))
    found = flat(gradients(term.total / term.count, network))
    assert (found - right).norm() < 0.05 * right.norm()
    assert loss.output is None
    assert loss.logs["reward"].item() == pytest.approx((log_probs.exp() * rewards).sum().item(), abs=0.01)


def test_the_greedy_baseline_is_the_reward_of_the_likeliest_tokens_without_dropout():
    network, batch, _, _ = case()
    network.dropout.p = 0.9
    network.eval()
    words, state, token = [], network.start(batch), SPEC.begin
    while len(words) < LONGEST - 1:
        scores, state, _ = network.step(torch.tensor([[token]]), state)
        token = max((SPEC.unknown, SPEC.end, 4), key=lambda v: scores[0, 0, v].item())
        if token == SPEC.end:
            break
        words.append(token)
    network.train()
    network.cell.eval()  # as if it were frozen
    torch.manual_seed(0)
    for _ in range(5):
        loss = SelfCritical(reward=worth, weight=1.0)(network, batch, spec=SPEC, step=0, need_weights=False)
        assert loss.logs["baseline"].item() == pytest.approx(*worth([words], [[4, 1]], batch))
    assert network.training and network.dropout.training and not network.cell.training


def test_leave_one_out_is_the_mean_of_the_other_samples():
    objective = Reinforce(reward=worth, samples=3)
    rewards = torch.tensor([[0.1, 0.4, 0.7], [1.0, 0.0, 0.5]])
    right = torch.tensor([[0.55, 0.4, 0.25], [0.25, 0.75, 0.5]])
    torch.testing.assert_close(objective.expected(None, rewards, lambda: rewards)[0], right)


def test_moving_average_is_that_of_the_batches_before_and_travels_in_the_state():
    objective = Reinforce(reward=worth, samples=2, baseline="moving_average", momentum=0.75)
    found = [objective.expected(None, torch.full((4, 2), r), lambda: None)[0].item() for r in (0.8, 0.4, 0.0)]
    assert found == pytest.approx([0, 0.8, (0.8 * 0.75 + 0.4) / 1.75])
    other = Reinforce(reward=worth, samples=2, baseline="moving_average", momentum=0.75)
    other.load_state_dict(objective.state_dict())
    rewards = torch.full((4, 2), 0.3)
    baselines = [each.expected(None, rewards, lambda: None)[0].item() for each in (other, objective)]
    assert baselines[0] == baselines[1]
    assert not Reinforce(reward=worth).state_dict()  # the others carry nothing


def test_both_losses_are_weighted():
    torch.manual_seed(0)
    network, spec = Toy(SPEC), SPEC
    batch = pairs([[5, 6, 3], [4, 3]], [[4, 1, 3], [3]])
    for objective, count in (
        (Reinforce(reward=worth, weight=0.3, samples=4), 8),
        (SelfCritical(reward=worth, weight=0.3), 2),
    ):
        loss = objective(network, batch, spec=spec, step=0, need_weights=True)
        earned, forced, nll = loss.terms
        right = CrossEntropy()(network, batch, spec=spec, step=0, need_weights=True)
        assert (earned.name, earned.count, earned.weight) == (objective.name, count, 0.3)
        assert (forced.count, forced.weight, nll.weight) == (4, 0.7, 0)
        assert forced.total.item() == right.terms[0].total.item()
        assert torch.equal(loss.output.attention["source"], right.output.attention["source"])
        assert set(loss.logs) == {"reward", "baseline", "advantage"}
        assert not any(value.requires_grad for value in loss.logs.values())


def test_cross_entropy_is_left_out_unless_a_regulariser_needs_the_attention():
    network, batch = Toy(SPEC), pairs([[5, 6, 3], [4, 3]], [[4, 1, 3], [3]])
    objective = SelfCritical(reward=worth, weight=1.0)
    loss = objective(network, batch, spec=SPEC, step=0, need_weights=False)
    assert [term.name for term in loss.terms] == ["self_critical"]
    assert loss.output is None
    loss = objective(network, batch, spec=SPEC, step=0, need_weights=True)
    assert {term.name: term.weight for term in loss.terms} == {"self_critical": 1, "cross_entropy": 0, "nll": 0}
    assert "source" in loss.output.attention


def test_every_sample_is_held_against_its_own_reference():
    seen = []

    def reward(hypotheses, references, batch):
        seen.append((len(hypotheses), references))
        return [0.0] * len(hypotheses)

    batch = pairs([[5, 6, 3], [4, 3]], [[4, 1, 3], [3]])
    Reinforce(reward=reward, weight=1.0, samples=2)(Toy(SPEC), batch, spec=SPEC, step=0, need_weights=False)
    assert seen == [(4, [[4, 1], [4, 1], [], []])]


def test_samples_are_no_longer_than_the_target_and_extra_and_the_data_allow():
    lengths = []

    def reward(hypotheses, references, batch):
        lengths.append(max(map(len, hypotheses)))
        return [0.0] * len(hypotheses)

    class Endless(Toy):
        def __init__(self, spec):
            super().__init__(spec)
            with torch.no_grad():
                self.output.bias[spec.end] = -1e3

    for longest, extra, right in ((30, 4, 6), (30, 0, 2), (5, 10, 4)):
        spec = PairSpec(source_size=9, target_size=6, longest_source=6, longest_target=longest)
        objective = SelfCritical(reward=reward, weight=1.0, extra=extra)
        objective(Endless(spec), pairs([[5, 3]], [[4, 1, 3]]), spec=spec, step=0, need_weights=False)
        assert lengths[-2:] == [right, right]


def test_sentence_bleu_is_sacrebleus_and_nltks():
    chance = random.Random(0)
    reward = SentenceBLEU()
    references = [[chance.randint(4, 20) for _ in range(chance.randint(4, 12))] for _ in range(50)]
    hypotheses = [[i if chance.random() < 0.8 else 4 for i in row][: chance.randint(4, 12)] for row in references]
    found = reward(hypotheses, references, None)
    assert 0.1 < sum(found) / len(found) < 0.9
    for ours, theirs, score in zip(hypotheses, references, found, strict=True):
        texts = " ".join(map(str, ours)), [" ".join(map(str, theirs))]
        assert score == sacrebleu.sentence_bleu(*texts, tokenize="none", use_effective_order=True).score / 100
        orders = [{tuple(side[n : n + 4]) for n in range(len(side) - 3)} for side in (ours, theirs)]
        if orders[0] & orders[1]:  # nothing to smooth
            assert score == pytest.approx(sentence_bleu([theirs], ours), rel=1e-12)
    assert reward([[4, 5], [4, 5], []], [[4, 5], [6], [4, 5]], None) == [pytest.approx(1), 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(weight=0.0), "weight=0.0: expected a number above 0 and up to 1"),
        (dict(samples=1), "leave_one_out needs"),
        (dict(baseline="mean"), "expected leave_one_out or moving_average"),
    ],
)
def test_options_that_make_no_sense_raise(options, message):
    with pytest.raises(ConfigError, match=message):
        Reinforce(reward=worth, **options)


def test_a_reward_may_be_a_module():
    class Length(nn.Module):
        def forward(self, hypotheses, references, batch):
            return [float(len(hypothesis)) for hypothesis in hypotheses]

    loss = Reinforce(reward=Length(), weight=1.0)(Toy(SPEC), pairs(), spec=SPEC, step=0, need_weights=False)
    assert 0 <= loss.logs["reward"].item() <= 2
