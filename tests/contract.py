"""What holds for every network of the zoo: one function per clause, each raising AssertionError where it is broken."""

from __future__ import annotations

import copy
import dataclasses
import io
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tests.families import Family
from zoo.decoding import BeamSearch, Greedy
from zoo.models.output import Output

EXACT = 1e-12
"""How far apart two results in double precision may lie that the mathematics says are equal."""


@dataclass(frozen=True)
class Case:
    """A network and the data of one task that it serves."""

    build: Callable[[], nn.Module]
    family: Family
    sums_to_one: bool = True
    """False where the paper's attention weights sum to less."""

    def network(self, *, seed: int = 0) -> nn.Module:
        torch.manual_seed(seed)
        return self.build()

    def exact(self) -> nn.Module:
        return self.network().double().eval()


def equal(found: Tensor, expected: Tensor, tolerance: float = EXACT) -> None:
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def scores(case: Case, network: nn.Module, batch: Any) -> Tensor:
    """What the network says, an example a row."""
    return case.family.scores(network(batch), batch)


def like(mask: Tensor, weights: Tensor) -> Tensor:
    """A mask (B, ...) for weights that may have heads, (B, H, ...)."""
    return mask if mask.dim() == weights.dim() else mask[:, None].expand(-1, weights.shape[1], *mask.shape[1:])


def returns_an_output(case: Case) -> None:
    """An `Output` with finite scores, and attention under names that the family knows."""
    batch = case.family.batch(1)
    output = case.network().eval()(batch)
    assert isinstance(output, Output)
    assert len(case.family.scores(output, batch)) == len(batch)
    assert output.logits.isfinite().all()
    assert set(output.attention) <= set(case.family.masks(batch)), (
        "tell tests/families.py which mask this attention has"
    )
    assert all(loss.dim() == 0 for loss in output.losses.values())


def attention_is_a_distribution(case: Case) -> None:
    """Weights are >= 0, sum to 1 in each row that holds something, and are exactly 0 elsewhere, in training too."""
    batch = case.family.batch(1)
    masks = case.family.masks(batch)
    for network in (case.exact(), case.network().double().train()):
        for name, weights in network(batch).attention.items():
            mask = masks[name]
            if name == "source" and not getattr(network, "attends_to_end", True):
                mask = mask & batch.source_words[:, None]
            mask = like(mask, weights)
            assert weights.shape == mask.shape, name
            assert weights.isfinite().all(), f"{name}: not finite"
            assert (weights >= 0).all(), f"{name}: negative"
            assert (weights[~mask] == 0).all(), f"{name}: attention on padding"
            if case.sums_to_one:
                equal(weights.sum(-1), mask.any(-1).double())
            else:
                assert (weights.sum(-1) < 1).all(), f"{name}: sums to 1 after all"


def padding_changes_nothing(case: Case) -> None:
    """More padding, and other content under the padding, leave scores and attention alone."""
    batch, network = case.family.batch(1), case.exact()
    before = network(batch)
    for other in (case.family.padded(batch), case.family.scribbled(batch)):
        after = network(other)
        expected = case.family.scores(before, batch)
        found = case.family.scores(after, other)
        equal(found[tuple(slice(size) for size in expected.shape)], expected)
        equal(found.sum(), expected.sum())
        for name, weights in before.attention.items():
            real = tuple(slice(size) for size in weights.shape)
            equal(after.attention[name][real], weights)
            equal(after.attention[name].sum(), weights.sum())


def examples_do_not_meet(case: Case) -> None:
    """An example alone, or in another order, scores as in the batch."""
    batch, network = case.family.batch(1), case.exact()
    together = scores(case, network, batch)
    for row in range(len(batch)):
        alone = scores(case, network, case.family.part(batch, [row]))[0]
        equal(alone, together[row][tuple(slice(size) for size in alone.shape)])
    order = [*range(1, len(batch)), 0]
    equal(scores(case, network, case.family.part(batch, order)), together[order])


def targets_are_not_read(case: Case) -> None:
    """Predicting, without targets, gives what testing gives."""
    batch, network = case.family.batch(1), case.exact()
    equal(network(case.family.without_targets(batch)).logits, network(batch).logits)


def every_parameter_learns(case: Case) -> None:
    """Every parameter gets a finite gradient that is not all zero, with an empty example in the batch."""
    batch, network = case.family.batch(1), case.network().train()
    case.family.loss(network(batch), batch).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, f"{name} gets no gradient: build only what the configuration uses"
        assert parameter.grad.isfinite().all(), f"the gradient of {name} is not finite"
        assert parameter.grad.any(), f"the gradient of {name} is zero"


def one_batch_can_be_learned(case: Case) -> None:
    """A network that cannot learn five examples by heart has a defect."""
    batch, network = case.family.batch(1, empty=False), case.network().train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(200):
        loss = case.family.loss(network(batch), batch)
        if loss < 0.05:
            return
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    raise AssertionError(f"the loss of one batch is still {loss:.3f} after 200 steps")


def a_saved_network_is_the_same(case: Case) -> None:
    """Weights written, read as plain data and loaded into a network built anew give the same scores."""
    batch, network = case.family.batch(1), case.network(seed=0).eval()
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    again = case.network(seed=1).eval()
    again.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(again(batch).logits, network(batch).logits)


def bf16_autocast_runs(case: Case) -> None:
    """Forward, steps and backward under bf16 autocast: close to float32, attention sums to 1, gradients are finite."""
    batch, network = case.family.batch(1), case.network().eval()
    expected = network(batch)
    with torch.autocast("cpu", torch.bfloat16):
        output = network(batch)
        if case.family.generates:
            log_probs, _ = by_steps(network, batch, case.family.without_targets(batch))
            found = batch.target_packing.pack(log_probs.float())
            equal(found, expected.logits.log_softmax(-1), 0.05)
    equal(output.logits.float(), expected.logits, 0.05)
    for name, weights in output.attention.items():
        equal(weights.float(), expected.attention[name], 0.05)
        equal(weights.float().sum(-1), expected.attention[name].sum(-1), 0.01)
    case.family.loss(output, batch).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())


def nothing_is_parked(case: Case) -> None:
    """A call leaves no state on a module, changes nothing in the batch, and a second call gives the same."""
    batch, network = case.family.batch(1), case.network().eval()
    modules, given = _attributes(network), copy.deepcopy(batch)
    first = network(batch).logits
    assert _attributes(network) == modules, "the call left something on a module: return it instead"
    assert _same(batch, given), "the call changed the batch"
    assert torch.equal(network(batch).logits, first)


def _attributes(network: nn.Module) -> dict[str, dict[str, int]]:
    """Identity of all that hangs on each module, tensors of its own included."""
    return {
        name: {key: id(value) for key, value in {**vars(module), **module._buffers, **module._parameters}.items()}
        for name, module in network.named_modules()
    }


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return torch.equal(a, b)
    if is_dataclass(a):
        return all(_same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    return bool(a == b)


# networks that generate


def by_steps(network: Any, batch: Any, without_targets: Any) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """Log-probabilities (B, T, V) and attention of each step, the true tokens being read one after the other."""
    state, found, attention = network.start(without_targets), [], {}
    for tokens in batch.target_input.split(1, 1):
        log_probs, state, weights = network.step(tokens, state)
        found.append(log_probs[:, 0])
        for name, part in weights.items():
            attention.setdefault(name, []).append(part[:, 0])
    return torch.stack(found, 1), attention


def steps_equal_the_parallel_pass(case: Case) -> None:
    """Reading token by token gives the scores, the attention and the gradients of reading all at once."""
    batch, network = case.family.batch(1), case.exact()
    output = network(batch)
    log_probs, attention = by_steps(network, batch, case.family.without_targets(batch))
    mask = batch.target_mask[..., None]
    expected = case.family.scores(output, batch).log_softmax(-1)
    equal(log_probs.where(mask, 0.0), expected.where(mask, 0.0))
    assert set(attention) == {name for name in output.attention if name.split(".")[0] == "source"}
    for name, parts in attention.items():
        weights = torch.stack(parts, -2)  # heads stand before the target positions
        real = like(batch.target_mask[..., None].expand(-1, -1, weights.shape[-1]), weights)
        equal(weights.where(real, 0.0), output.attention[name])
    chosen = log_probs.gather(-1, batch.target[..., None]).where(mask, 0.0)
    parameters = dict(network.named_parameters())
    found = torch.autograd.grad(-chosen.sum() / mask.sum(), list(parameters.values()), allow_unused=True)
    gradients = torch.autograd.grad(case.family.loss(output, batch), list(parameters.values()))
    for name, one, other in zip(parameters, found, gradients, strict=True):
        assert one is not None, f"{name} gets no gradient from the steps"
        torch.testing.assert_close(one, other, rtol=1e-10, atol=EXACT, msg=lambda text, name=name: f"{name}: {text}")


def later_tokens_are_not_read(case: Case) -> None:
    """Another token at a position changes what is said after it, and nothing before."""
    batch, network = case.family.batch(1), case.exact()
    before = scores(case, network, batch)
    length = batch.target_mask.sum(1)
    place = 2
    target = batch.target.clone()
    target[:, place] = target[:, place] % (case.family.spec.target_size - 5) + 4
    changed = dataclasses.replace(batch, target_input=torch.cat([batch.target_input[:, :1], target[:, :-1]], 1))
    after = scores(case, network, changed)
    assert torch.equal(after[:, : place + 1], before[:, : place + 1]), "a later token was read"
    longer = length > place + 1
    assert longer.any()
    assert (after[longer, place + 1] != before[longer, place + 1]).any(-1).all(), "the token before was not read"


def hypotheses_do_not_meet(case: Case) -> None:
    """Several hypotheses of a sentence score as each alone, share its memory, and can be reordered; sentences can
    leave."""
    batch, network = case.family.without_targets(case.family.batch(1)), case.exact()
    generator = torch.Generator().manual_seed(0)
    size, count = len(batch), 3
    tokens = torch.randint(4, case.family.spec.target_size, (3, size, count), generator=generator)
    begin = torch.full((size, 1), case.family.spec.begin)
    start = network.start(batch)
    first = network.step(begin, start)
    state = first.state.follow(torch.zeros(size, count, dtype=torch.long))
    rows, parents = torch.tensor([3, 0]), torch.tensor([[2, 0, 0], [1, 1, 2]])
    state = network.step(tokens[0], state).state
    for name, part in state.memory.items():
        assert part is start.memory[name], f"{name} of the memory was copied"
    state = state.sentences(rows).follow(parents)
    log_probs, state, attention = network.step(tokens[1][rows], state)
    again = network.step(tokens[2][rows], state)
    for i, row in enumerate(rows):
        for k in range(count):
            alone = network.start(case.family.without_targets(case.family.part(case.family.batch(1), [int(row)])))
            history = [begin[0, 0], tokens[0][row, parents[i, k]], tokens[1][row, k], tokens[2][row, k]]
            for number, token in enumerate(history):
                step = network.step(token.view(1, 1), alone)
                alone = step.state
                if number == 2:
                    equal(log_probs[i, k], step.log_probs[0, 0])
                    for name, weights in step.attention.items():
                        found = attention[name][i, k]
                        equal(found[..., : weights.shape[-1]], weights[0, 0])
            equal(again.log_probs[i, k], step.log_probs[0, 0])


@torch.no_grad()
def a_step_leaves_its_state_alone(case: Case) -> None:
    """Two steps from one state give the same: nothing in it was changed."""
    batch, network = case.family.without_targets(case.family.batch(1)), case.exact()
    state = network.start(batch)
    tokens = torch.full((len(batch), 1), case.family.spec.begin)
    for _ in range(3):
        kept = copy.deepcopy(state)
        first, second = network.step(tokens, state), network.step(tokens, state)
        assert torch.equal(first.log_probs, second.log_probs)
        for part in ("memory", "hypotheses"):
            for name, value in getattr(kept, part).items():
                assert torch.equal(getattr(state, part)[name], value), f"{part} {name} was changed in place"
        equal(first.log_probs.exp().sum(-1), torch.ones(len(batch), 1, dtype=torch.float64))
        state, tokens = first.state, tokens + 2


def a_certain_distribution_is_a_token(case: Case) -> None:
    """A one-hot distribution read in place of a token gives what the token gives."""
    batch, network = case.family.without_targets(case.family.batch(1)), case.exact()
    tokens = torch.full((len(batch), 1), case.family.spec.begin)
    state = network.start(batch)
    for _ in range(2):
        certain = torch.nn.functional.one_hot(tokens, case.family.spec.target_size).double()
        log_probs, after, _ = network.step(tokens, state)
        equal(network.step(certain, state).log_probs, log_probs)
        state, tokens = after, tokens + 5


class Cost(NamedTuple):
    """Of one step."""

    operations: int
    kept: int
    """How many numbers it keeps of the tokens read."""
    memory: int
    """How many numbers it has of the source."""
    looks: int
    """How many attentions there are."""

    @classmethod
    def of_steps(cls, network: Any, batch: Any, count: int) -> list[Cost]:
        """The costs of the first steps."""
        state, costs = network.start(batch), []
        for number in range(count):
            with FlopCounterMode(display=False) as counter:
                _, state, attention = network.step(torch.full((len(batch), 1), 4 + number), state)
            parts = state.hypotheses, state.memory
            kept, memory = (sum(part.numel() for part in group.values()) for group in parts)
            costs.append(cls(counter.get_total_flops(), kept, memory, max(1, len(attention))))
        return costs


@torch.no_grad()
def a_step_does_no_work_twice(case: Case) -> None:
    """Earlier tokens cost a step one product with each number that is kept of them, the source two with each number of
    its memory in each attention: nothing of either is computed or projected again."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    costs = Cost.of_steps(network, case.family.without_targets(batch), 6)
    assert costs[0].operations > 0
    for one, other in pairwise(costs):
        assert other.operations - one.operations <= 2 * (other.kept - one.kept), costs
    (wider,) = Cost.of_steps(network, case.family.without_targets(case.family.padded(batch)), 1)
    grown = wider.memory - costs[0].memory
    assert wider.operations - costs[0].operations <= 2 * 2 * wider.looks * grown, (costs[0], wider)


@torch.no_grad()
def decoding_agrees_with_the_parallel_pass(case: Case) -> None:
    """What beam search finds has the log-probability that the parallel pass gives it, whatever else is in the batch; a
    beam of one is greedy decoding."""
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
            target = torch.tensor([other.ids])
            read = type(batch).of(part.source, part.source_mask, target, target > 0, begin=family.spec.begin)
            log_probs = scores(case, network, read).log_softmax(-1).gather(-1, target[..., None])
            assert abs(log_probs.sum() - other.log_prob) < EXACT
    rules = {"max_length": (1.0, 3.0), "min_length": (0.0, 2.0)}
    narrow = BeamSearch(beam_size=1, **rules)(network, family.without_targets(batch), family.spec)
    greedy = Greedy(**rules)(network, family.without_targets(batch), family.spec)
    assert [[h.ids for h in row] for row in narrow] == [[h.ids for h in row] for row in greedy]


FOR_ALL: tuple[Callable[[Case], None], ...] = (
    returns_an_output,
    attention_is_a_distribution,
    padding_changes_nothing,
    examples_do_not_meet,
    every_parameter_learns,
    one_batch_can_be_learned,
    a_saved_network_is_the_same,
    bf16_autocast_runs,
    nothing_is_parked,
)
FOR_CLASSES: tuple[Callable[[Case], None], ...] = (targets_are_not_read,)
FOR_GENERATION: tuple[Callable[[Case], None], ...] = (
    steps_equal_the_parallel_pass,
    later_tokens_are_not_read,
    hypotheses_do_not_meet,
    a_step_leaves_its_state_alone,
    a_certain_distribution_is_a_token,
    a_step_does_no_work_twice,
    decoding_agrees_with_the_parallel_pass,
)


def clauses(family: Family) -> tuple[Callable[[Case], None], ...]:
    """What a network of this family has to keep."""
    return FOR_ALL + (FOR_GENERATION if family.generates else FOR_CLASSES)
