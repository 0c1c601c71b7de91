"""The additional contract of networks that write token by token: `start` and `step`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from tests.contract import EXACT, IN_ORDER, Case, by_steps, equal, kind, like
from tests.families import IMPOSSIBLE
from zoo.decoding import BeamSearch, Greedy
from zoo.decoding.protocol import first_tokens
from zoo.objectives import CrossEntropy, SoftFeedback


def within(log_probs: Tensor, width: int) -> Tensor:
    """Log-probabilities (..., V) over a vocabulary of `width`, what cannot be written at IMPOSSIBLE."""
    return F.pad(log_probs, (0, width - log_probs.shape[-1]), value=-torch.inf).clamp(min=IMPOSSIBLE)


def some(readable: Tensor, count: int, seed: int = 0) -> Tensor:
    """(count, B) tokens, each of those that its example can read, `readable` (B, V)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.multinomial(readable.double(), count, replacement=True, generator=generator).T


def steps_equal_the_parallel_pass(case: Case) -> None:
    """Reading token by token gives the scores, the attention and the gradients of reading all at once."""
    batch, network = case.family.batch(1), case.exact()
    output = network(batch)
    log_probs, attention = by_steps(network, batch, case.family.without_targets(batch))
    _, real, packing = batch.forced
    mask = real[..., None]
    expected = case.family.scores(output, batch).log_softmax(-1)
    equal(within(log_probs, expected.shape[-1]).where(mask, 0.0), expected.where(mask, 0.0))
    looking = {"source", *output.memories}
    assert {name for name in attention if kind(name) in looking} == {n for n in output.attention if kind(n) in looking}
    assert set(attention) <= set(output.attention), "a step looks where `forward` does not"
    for name, parts in attention.items():
        weights = torch.stack(parts, -2)  # heads come before the target positions
        rows = like(mask.expand(-1, -1, weights.shape[-1]), weights)
        equal(weights.where(rows, 0.0), output.attention[name])
    target = packing.unpack(output.true_tokens(batch))
    chosen = log_probs.gather(-1, target[..., None]).where(mask, 0.0)
    parameters = dict(network.named_parameters())
    found = torch.autograd.grad(-chosen.sum() / mask.sum(), list(parameters.values()), allow_unused=True)
    gradients = torch.autograd.grad(case.family.loss(output, batch), list(parameters.values()))
    for name, one, other in zip(parameters, found, gradients, strict=True):
        assert one is not None, f"{name} gets no gradient from the steps"
        torch.testing.assert_close(one, other, rtol=1e-10, atol=EXACT, msg=lambda text, name=name: f"{name}: {text}")


def hypotheses_do_not_meet(case: Case) -> None:
    """Several hypotheses of a sentence score as each alone, share its memory, and can be reordered; sentences can
    leave."""
    batch, network = case.family.without_targets(case.family.batch(1, empty=False)), case.exact()
    size, count = len(batch), 3
    tokens = some(case.family.readable(batch), 3 * count).view(3, count, size).transpose(1, 2)
    start = network.start(batch)
    begin = first_tokens(start, case.family.spec, size)
    first = network.step(begin, start)
    state = first.state.reorder(torch.zeros(size, count, dtype=torch.long))
    rows, parents = torch.tensor([3, 0]), torch.tensor([[2, 0, 0], [1, 1, 2]])
    state = network.step(tokens[0], state).state
    for name, part in state.memory.items():
        assert part is start.memory[name], f"{name} of the memory was copied"
    state = state.examples(rows).reorder(parents)
    log_probs, state, attention = network.step(tokens[1][rows], state)
    again = network.step(tokens[2][rows], state)
    for i, row in enumerate(rows):
        for k in range(count):
            alone = network.start(case.family.without_targets(case.family.part(case.family.batch(1), [int(row)])))
            history = [begin[row, 0], tokens[0][row, parents[i, k]], tokens[1][row, k], tokens[2][row, k]]
            for number, token in enumerate(history):
                step = network.step(token.view(1, 1), alone)
                alone = step.state
                if number == 2:
                    one = within(step.log_probs[0, 0], log_probs.shape[-1])
                    equal(within(log_probs[i, k], len(one)), one)
                    for name, weights in step.attention.items():
                        found = attention[name][i, k]
                        equal(found[..., : weights.shape[-1]], weights[0, 0])
            one = within(step.log_probs[0, 0], again.log_probs.shape[-1])
            equal(within(again.log_probs[i, k], len(one)), one)


@torch.no_grad()
def a_step_leaves_its_state_alone(case: Case) -> None:
    """Two steps from one state give the same: nothing in it was changed."""
    batch, network = case.family.without_targets(case.family.batch(1, empty=False)), case.exact()
    state = network.start(batch)
    tokens = first_tokens(state, case.family.spec, len(batch))
    for following in some(case.family.readable(batch), 3):
        kept = copy.deepcopy(state)
        first, second = network.step(tokens, state), network.step(tokens, state)
        assert torch.equal(first.log_probs, second.log_probs)
        for part in ("memory", "hypotheses", "history"):
            for name, value in getattr(kept, part).items():
                assert torch.equal(getattr(state, part)[name], value), f"{part} {name} was changed in place"
        equal(first.log_probs.exp().sum(-1), torch.ones(len(batch), 1, dtype=torch.float64))
        state, tokens = first.state, following[:, None]


def a_certain_distribution_is_a_token(case: Case) -> None:
    """A one-hot distribution read in place of a token gives what the token gives."""
    batch, network = case.family.without_targets(case.family.batch(1, empty=False)), case.exact()
    state, readable = network.start(batch), case.family.readable(batch)
    tokens = first_tokens(state, case.family.spec, len(batch))
    for following in some(readable, 2):
        certain = F.one_hot(tokens, readable.shape[1]).double()
        log_probs, after, _ = network.step(tokens, state)
        equal(network.step(certain, state).log_probs, log_probs)
        state, tokens = after, following[:, None]


def objectives_are_finite(case: Case) -> None:
    """A smoothed loss and one that feeds back distributions have finite gradients, with all weights in bfloat16 too:
    a column that an example does not have is named in `possible`."""
    for dtype in (torch.float32, torch.bfloat16):
        for objective in (CrossEntropy(label_smoothing=0.1), SoftFeedback(label_smoothing=0.1)):
            batch, network = case.family.batch(1).cast(dtype), case.network().to(dtype)
            loss = objective(network, batch, spec=case.family.spec, step=0, need_weights=False)
            loss.terms[0].total.backward()
            assert loss.terms[0].total.isfinite()
            assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())


class Cost(NamedTuple):
    """The cost of one step."""

    operations: int
    kept: int  # How many numbers it keeps of the tokens read
    memory: int  # How many numbers it has of the source
    looks: int  # How many attentions there are

    @classmethod
    def of_steps(cls, network: Any, batch: Any, readable: Tensor, count: int) -> list[Cost]:
        """The costs of the first steps, which read some of the `readable` (B, V) tokens."""
        state, costs = network.start(batch), []
        for tokens in some(readable, count):
            with FlopCounterMode(display=False) as counter:
                _, state, attention = network.step(tokens[:, None], state)
            parts = {**state.hypotheses, **state.history}, state.memory
            kept, memory = (sum(part.numel() for part in group.values()) for group in parts)
            costs.append(cls(counter.get_total_flops(), kept, memory, max(1, len(attention))))
        return costs


@torch.no_grad()
def a_step_does_no_work_twice(case: Case) -> None:
    """Earlier tokens cost a step one product with each number that is kept of them, the source two with each number of
    its memory in each attention: nothing of either is computed or projected again."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    readable = case.family.readable(batch)
    costs = Cost.of_steps(network, case.family.without_targets(batch), readable, 6)
    assert costs[0].operations > 0
    for one, other in pairwise(costs):
        assert other.operations - one.operations <= 2 * (other.kept - one.kept), costs
    (wider,) = Cost.of_steps(network, case.family.without_targets(case.family.padded(batch)), readable, 1)
    grown = wider.memory - costs[0].memory
    assert wider.operations - costs[0].operations <= 2 * 2 * wider.looks * grown, (costs[0], wider)


@torch.no_grad()
def decoding_agrees_with_the_parallel_pass(case: Case) -> None:
    """Every hypothesis of beam search has the log-probability that the parallel pass gives it, in any batch. A beam of
    one is greedy decoding."""
    family, network = case.family, case.exact()
    batch = family.batch(1)
    search = BeamSearch(beam_size=3, nbest=3, max_length=(0.0, 6.0))
    found = search(network, family.without_targets(batch), family.spec)
    for row, hypotheses in enumerate(found):
        part = family.part(batch, [row])
        (alone,) = search(network, family.without_targets(part), family.spec)
        assert [h.ids for h in alone] == [h.ids for h in hypotheses]
        for one, other in zip(alone, hypotheses, strict=True):
            assert abs(one.log_prob - other.log_prob) < EXACT
            read = family.with_target(part, other.ids)
            output = network(read)
            target = read.forced.packing.unpack(output.true_tokens(read))
            log_probs = family.scores(output, read).log_softmax(-1).gather(-1, target[..., None])
            assert abs(log_probs.sum() - other.log_prob) < EXACT
    rules = {"max_length": (1.0, 3.0), "min_length": (0.0, 2.0)}
    narrow = BeamSearch(beam_size=1, **rules)(network, family.without_targets(batch), family.spec)
    greedy = Greedy(**rules)(network, family.without_targets(batch), family.spec)
    assert [[h.ids for h in row] for row in narrow] == [[h.ids for h in row] for row in greedy]


FOR_GENERATION: tuple[Callable[[Case], None], ...] = (
    *IN_ORDER,
    steps_equal_the_parallel_pass,
    hypotheses_do_not_meet,
    a_step_leaves_its_state_alone,
    a_certain_distribution_is_a_token,
    objectives_are_finite,
    a_step_does_no_work_twice,
    decoding_agrees_with_the_parallel_pass,
)
