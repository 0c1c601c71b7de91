"""The contract of every network of the zoo: one function per clause, which raises AssertionError if it is broken."""

import copy
import io
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from tests.families import Family
from zoo.layers.pretrained import pretrained_parts
from zoo.models.output import Output

EXACT = 1e-12  # How far apart two results in double precision may lie that the mathematics says are equal


@dataclass(frozen=True)
class Case:
    """A network and the data of one task that it serves."""

    build: Callable[[], nn.Module]
    family: Family

    def network(self, *, seed: int = 0) -> nn.Module:
        torch.manual_seed(seed)
        return self.family.started(self.build())

    def exact(self) -> nn.Module:
        return self.network().double().eval()


def equal(found: Tensor, expected: Tensor, tolerance: float = EXACT) -> None:
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def scores(case: Case, network: nn.Module, batch: Any) -> Tensor:
    """The scores of the network, one example per row."""
    return case.family.scores(network(batch), batch)


def like(mask: Tensor, weights: Tensor) -> Tensor:
    """A mask (B, ...) for weights that may have heads, (B, H, ...)."""
    return mask if mask.dim() == weights.dim() else mask[:, None].expand(-1, weights.shape[1], *mask.shape[1:])


def kind(name: str) -> str:
    """The name of an attention without the layer number: the part before the dot."""
    return name.split(".")[0]


def unnormalised(network: nn.Module) -> tuple[str, ...]:
    """The attention whose rows sum to less than 1, as the paper has it."""
    return getattr(network, "unnormalised", ())


def by_steps(network: Any, batch: Any, without_targets: Any) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """Log-probabilities (B, T, V) and attention of each step, while the true tokens are read one by one."""
    state, found, attention = network.start(without_targets), [], {}
    for tokens in batch.forced.read.split(1, 1):
        log_probs, state, weights = network.step(tokens, state)
        found.append(log_probs[:, 0])
        for name, part in weights.items():
            attention.setdefault(name, []).append(part[:, 0])
    return torch.stack(found, 1), attention


def seen(network: Any, output: Output, batch: Any, name: str) -> Tensor:
    """(B, S) the mask of the positions that the attention `name` looks at: the batch's or the network's own."""
    mask = network.attends[kind(name)]
    return output.memories[kind(name)].mask if mask is None else getattr(batch, mask)


def returns_an_output(case: Case) -> None:
    """An `Output` with finite scores and attention. The network's `attends` has every name, with a mask of the batch
    or with None and positions in the output."""
    batch = case.family.batch(1)
    network = case.network().eval()
    output = network(batch)
    assert isinstance(output, Output)
    assert len(case.family.scores(output, batch)) == len(batch)
    assert case.family.scores(output, batch).isfinite().all()
    for name in output.attention:
        assert kind(name) in network.attends, f"{name}: say in `attends` which mask of the batch this attention sees"
    for name, mask in network.attends.items():
        own = name in output.memories
        assert own if mask is None else not own and getattr(batch, mask, None) is not None, f"{name}: no {mask}"
    assert set(unnormalised(network)) <= set(output.attention), "`unnormalised` names attention that is not returned"
    assert all(loss.dim() == 0 for loss in output.losses.values())


def attention_is_a_distribution(case: Case) -> None:
    """Weights are >= 0, sum to 1 in each row that holds something, and are exactly 0 elsewhere, in training too."""
    batch = case.family.batch(1)
    for network in (case.exact(), case.network().double().train()):
        output = network(batch)
        for name, weights in output.attention.items():
            mask = like(case.family.rows(batch, kind(name), seen(network, output, batch, name)), weights)
            assert weights.shape[:-1] == mask.shape[:-1], name
            assert mask.shape[-1] in (1, weights.shape[-1]), name
            mask = mask.expand_as(weights)
            assert weights.isfinite().all(), f"{name}: not finite"
            assert (weights >= 0).all(), f"{name}: negative"
            assert (weights[~mask] == 0).all(), f"{name}: attention on padding"
            if name in unnormalised(network):
                assert (weights.sum(-1) < 1).all(), f"{name}: sums to 1 after all"
            else:
                equal(weights.sum(-1), mask.any(-1).double())


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
    """Every parameter gets a finite gradient that is not all zero, with an empty example in the batch; a frozen one,
    none."""
    batch, network = case.family.batch(1), case.network().train()
    case.family.loss(network(batch), batch).backward()
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            assert any(parameter is one for part in pretrained_parts(network).values() for one in part.parameters()), (
                f"{name} is frozen, and is no part that brings its weights along"
            )
            assert parameter.grad is None
            continue
        assert parameter.grad is not None, f"{name} gets no gradient: build only what the configuration uses"
        assert parameter.grad.isfinite().all(), f"the gradient of {name} is not finite"
        assert parameter.grad.any(), f"the gradient of {name} is zero"


def gradients_share_no_memory(case: Case) -> None:
    """Each gradient that is scaled in place is scaled once, as clipping does it: autograd may give two parameters views
    of one tensor, such as two biases that are added after indexing."""
    batch, network = case.family.batch(1), case.network().train()
    case.family.loss(network(batch), batch).backward()
    gradients = {name: one.grad for name, one in network.named_parameters() if one.grad is not None}
    expected = {name: 2 * gradient for name, gradient in gradients.items()}
    for gradient in gradients.values():
        gradient.mul_(2)
    for name, gradient in gradients.items():
        assert torch.equal(gradient, expected[name]), f"the gradient of {name} shares its memory with another"


def an_example_alone_reaches_every_parameter(case: Case) -> None:
    """A batch of one example gives every parameter a gradient, if of zeros: DDP waits for all of them."""
    batch, network = case.family.batch(1, empty=False), case.network().train()
    for row in range(len(batch)):
        network.zero_grad()
        alone = case.family.part(batch, [row])
        case.family.loss(network(alone), alone).backward()
        without = [name for name, one in network.named_parameters() if one.requires_grad and one.grad is None]
        assert not without, f"from example {row} alone, no gradient reaches {', '.join(without)}"


def one_batch_can_be_learned(case: Case) -> None:
    """A network that cannot learn five examples by heart has a defect. Where no network can, since the batch does not
    determine every target, the family gives the `floor` of the loss."""
    batch, network = case.family.batch(1, empty=False), case.network().train()
    floor = case.family.floor(batch) if hasattr(case.family, "floor") else 0.0
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(200):
        loss = case.family.loss(network(batch), batch)
        if loss < floor + 0.05:
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
    """Forward, steps and backward under bf16 autocast: close to float32, attention sums to what it does there, in rows
    of hundreds of positions to 1, gradients are finite."""
    batch, network = case.family.batch(1), case.network().eval()
    expected = network(batch)
    with torch.autocast("cpu", torch.bfloat16):
        output = network(batch)
        if case.family.generates:
            log_probs, _ = by_steps(network, batch, case.family.without_targets(batch))
            found = batch.forced.packing.pack(log_probs.float())
            equal(found, expected.logits.log_softmax(-1), 0.05)
    equal(output.logits.float(), expected.logits, 0.05)
    for name, weights in output.attention.items():
        equal(weights.float(), expected.attention[name], 0.05)
        equal(weights.float().sum(-1), expected.attention[name].sum(-1), 0.01)
    case.family.loss(output, batch).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        attention = network(case.family.long_batch()).attention
    for name, weights in attention.items():
        if name not in unnormalised(network):
            sums = weights.float().sum(-1)
            equal(sums, (sums > 0).float(), 0.01)


def nothing_is_parked(case: Case) -> None:
    """A call leaves no state on a module and changes nothing in the batch, in training too; a second call gives the
    same."""
    batch, network = case.family.batch(1), case.network()
    given = copy.deepcopy(batch)
    for training in (True, False):
        network.train(training)
        modules = _attributes(network)
        first = network(batch).logits
        assert _attributes(network) == modules, "the call left something on a module: return it instead"
        assert _same(batch, given), "the call changed the batch"
    assert torch.equal(network(batch).logits, first)


def nothing_later_is_read(case: Case) -> None:
    """Where values such as tokens or pixels are predicted in an order, another value at a place changes the next score,
    and no score up to that place."""
    batch, network = case.family.batch(1), case.exact()
    before = scores(case, network, batch)
    for place in (2, before.shape[1] // 2):
        changed, rows = case.family.changed(batch, place)
        assert rows.any()
        after = scores(case, network, changed)
        assert torch.equal(after[:, : place + 1], before[:, : place + 1]), "a later value was read"
        differs = (after[rows, place + 1] != before[rows, place + 1]).flatten(1).any(1)
        assert differs.all(), "the value before was not read"


def pixel_by_pixel_is_the_whole(case: Case) -> None:
    """Scoring one pixel after another from stored activations gives the scores of `forward`. A pixel may be asked for
    again when its colours are known, and its own later colours are not read."""
    batch, network = case.family.batch(1), case.exact()
    expected = network(batch).logits
    _, colours, height, width = batch.image.shape
    with torch.no_grad():
        state = network.start(batch)
        for place in range(height * width):
            row, column = divmod(place, width)
            for colour in range(colours):
                values = batch.image.clone()
                values.flatten(2)[:, :, place + 1 :] = 0
                values[:, colour:, row, column] = 0
                found = network.step(values, row, column, state)
                equal(found[:, :, colour], expected[:, :, colour, row, column])


def sample_by_sample_is_the_whole(case: Case) -> None:
    """Scoring one sample after another from stored activations gives the scores of `forward`, from any begin."""
    batch, network = case.family.batch(1), case.exact()
    (longest,) = batch.sample_mask.sum(1).argmax(0, keepdim=True).tolist()
    alone = case.family.part(batch, [longest])
    expected = network(alone).logits
    for known in (0, 1, 5):
        with torch.no_grad():
            begin = replace(alone, samples=alone.samples[:, :known], sample_mask=alone.sample_mask[:, :known])
            found, state = network.start(begin)
            for place in range(known, alone.samples.shape[1]):
                equal(found, expected[:, place])
                found, state = network.step(alone.samples[:, place], state)


def windows_are_one_long_pass(case: Case) -> None:
    """Two windows score as the whole does if the second starts from the state that the first left."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    whole = network(batch)
    expected = case.family.scores(whole, batch)
    for at in (1, 2):
        first, second = case.family.windows(batch, at)
        begun = network(first)
        rest = network(second, begun.carried)
        equal(torch.cat([case.family.scores(begun, first), case.family.scores(rest, second)], 1), expected)
        for name, part in rest.carried.items():
            assert len(part) == len(batch), f"{name}: the state has no row for each row of the batch"
            equal(part, whole.carried[name])


def a_reset_changes_the_scores(case: Case) -> None:
    """A window scores otherwise when it begins a text than when it continues one."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    first, second = case.family.windows(batch, 2)
    continued = case.family.scores(network(second, network(first).carried), second)
    begun = case.family.scores(network(second), second)
    real = continued.flatten(1).any(1)  # a row without a token has no scores
    assert real.any()
    assert (continued != begun).flatten(1).any(1)[real].all(), "the state that was carried is not read"


def columns_do_not_meet(case: Case) -> None:
    """Another state of one column changes its scores and its next state, and no others."""
    batch, network = case.family.batch(1, empty=False), case.exact()
    first, second = case.family.windows(batch, 2)
    carried = network(first).carried
    expected, states = network(second, carried), tree_leaves(carried)
    for row in range(len(batch)):
        others = [other for other in range(len(batch)) if other != row]
        # equal rows of a batch may differ in the last bit
        (unlike, *_) = (n for n in others if not all(torch.allclose(part[n], part[row]) for part in states))

        def changed(part: Tensor, row: int = row, unlike: int = unlike) -> Tensor:
            return part.index_copy(0, torch.tensor([row]), part[[unlike]])

        found = network(second, tree_map_only(Tensor, changed, carried))
        before, after = (case.family.scores(one, second) for one in (expected, found))
        equal(after[others], before[others])
        assert not before[row].any() or not torch.equal(after[row], before[row]), "a column does not read its state"
        for one, other in zip(tree_leaves(found.carried), tree_leaves(expected.carried), strict=True):
            equal(one[others], other[others])


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


FOR_ALL: tuple[Callable[[Case], None], ...] = (
    returns_an_output,
    attention_is_a_distribution,
    padding_changes_nothing,
    examples_do_not_meet,
    every_parameter_learns,
    gradients_share_no_memory,
    one_batch_can_be_learned,
    a_saved_network_is_the_same,
    bf16_autocast_runs,
    nothing_is_parked,
)
IN_ORDER: tuple[Callable[[Case], None], ...] = (nothing_later_is_read,)
"""For networks that predict the values of an example in an order, with a source or without."""
FOR_PIXELS: tuple[Callable[[Case], None], ...] = (*IN_ORDER, pixel_by_pixel_is_the_whole)
"""For networks of the probability of a picture."""
FOR_SAMPLES: tuple[Callable[[Case], None], ...] = (*IN_ORDER, sample_by_sample_is_the_whole)
"""For networks of the probability of a sound."""
FOR_STREAMS: tuple[Callable[[Case], None], ...] = (
    *IN_ORDER,
    windows_are_one_long_pass,
    a_reset_changes_the_scores,
    columns_do_not_meet,
)
"""For networks that carry a state, in evaluation at least."""
FOR_CLASSES: tuple[Callable[[Case], None], ...] = (targets_are_not_read, an_example_alone_reaches_every_parameter)
