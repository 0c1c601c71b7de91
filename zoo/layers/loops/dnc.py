"""The time loop of a differentiable neural computer over packed rows: one autograd Function over the whole sequence.

`DNC.cell` in `zoo/models/dnc.py` defines a step. The loop computes the same numbers with half the operations: all heads
share one product, the lengths of the memory's rows are computed once per step, and the memory and the links change by
one fused operation each. On a CPU these matrices are so small that a step takes as long as it has operations.

Notation: b sequences that still run at a step, n steps of all sequences, C units of the controller, R heads that read,
N rows of the memory, W their width, P numbers of the interface. Weightings sum to at most 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.attention.addressing import CLIP, LENGTH_FLOOR
from zoo.attention.allocation import USAGE_FLOOR
from zoo.layers.loops.recurrent import outside_autocast
from zoo.layers.uncompiled import uncompiled

softmax_backward = torch.ops.aten._softmax_backward_data  # (gradient, softmax, dimension, dtype) -> gradient


class Weights(NamedTuple):
    """The matrices of the recurrence, the same at all steps."""

    feedback: Tensor
    """(4C, C + R W), for [h; reads]; the gates are output, input, forget, candidate."""
    interface: Tensor
    """(P, C), its rows in the order of `Interface`."""
    interface_bias: Tensor
    """(P,)."""


class Interface(NamedTuple):
    """How many heads read, and how many numbers of the interface each part of it has."""

    heads: int
    width: int

    @property
    def sizes(self) -> list[int]:
        """Keys of the reading heads and of the writing head, their strengths, gates, the vector to add, modes."""
        heads, width = self.heads, self.width
        return [(heads + 1) * width, heads + 1, sum(self.gates), width, 3 * heads]

    @property
    def gates(self) -> list[int]:
        """The vector to erase, free gates, allocation gate, write gate."""
        return [self.width, self.heads, 1, 1]

    def order(self) -> Tensor:
        """(P,) the row of the paper's interface vector for each row here."""
        heads, width = self.heads, self.width
        sizes = [heads * width, heads, width, 1, width, width, heads, 1, 1, 3 * heads]
        part = torch.arange(sum(sizes)).split(sizes)
        return torch.cat([part[at] for at in (0, 2, 1, 3, 4, 6, 7, 8, 5, 9)])


class StepState(NamedTuple):
    """The state that a step passes on; in the backward pass, its gradients."""

    output: Tensor
    """(b, C + R W) [h; reads]."""
    cell: Tensor
    """(b, C)."""
    memory: Tensor
    """(b, N, W)."""
    used: Tensor
    """(b, N)."""
    link: Tensor
    """(b, N, N)."""
    precedence: Tensor
    """(b, N)."""
    read: Tensor
    """(b, R, N)."""
    write: Tensor
    """(b, N)."""
    inverse_length: Tensor
    """(b, 1, N) 1 / length of each row of the memory."""

    def first(self, size: int) -> StepState:
        """The state of the first `size` sequences."""
        return self if len(self.output) == size else StepState(*(part[:size] for part in self))


class SavedForBackward(NamedTuple):
    """Intermediate results that the backward pass of a step reads besides the states before and after it."""

    lstm_gates: Tensor
    """(b, 4C)."""
    raw: Tensor
    """(b, P) the interface before it is clamped."""
    key: Tensor
    """(b, R + 1, W)."""
    strength: Tensor
    """(b, R + 1)."""
    inverse_key: Tensor
    """(b, R + 1) 1 / length of each key."""
    scaled: Tensor
    """(b, R + 1, W) each key divided by its length, times its strength."""
    gates: Tensor
    """(b, W + R + 2)."""
    mode: Tensor
    """(b, R, 1, 3)."""
    kept: Tensor
    """(b, R, N) the share of each row's usage that a reading head does not free."""
    grown: Tensor
    """(b, N) the usage before rows are freed."""
    by_use: Tensor
    """(b, N) the rows in the order of their usage."""
    ordered: Tensor
    """(b, N) the usages in this order."""
    ahead: Tensor
    """(b, N) the product of all smaller usages, in this order."""
    allocation: Tensor
    """(b, N)."""
    write_scores: Tensor
    """(b, 1, N) strength times cosine."""
    write_content: Tensor
    """(b, 1, N)."""
    mixed: Tensor
    """(b, N) the mixture of allocation and content."""
    change: Tensor
    """(b, N, W) what a row gains where it is written with weight 1."""
    read_scores: Tensor
    """(b, R, N)."""
    ways: Tensor
    """(b, R, 3, N) weightings backward, by content and forward."""


@uncompiled
def dnc_loop(interface: Interface, sizes: Sequence[int], rows: int, x: Tensor, weights: Weights) -> tuple[Tensor, ...]:
    """The outputs of all steps, from a state of zeros.

    Args:
        interface: The sizes of the interface.
        sizes: Sequences that run at each step, falling.
        rows: N.
        x: (n, 4C) packed inputs, already multiplied with their matrix.
        weights: The matrices, in the dtype of x.

    Returns:
        [h; reads] (n, C + R W), the read weightings (n, R, N) and the write weightings (n, N).
    """
    output, read, write = _Loop.apply(interface, tuple(sizes), rows, torch.is_grad_enabled(), x, *weights)
    return output, read, write


class _Loop(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, interface: Interface, sizes: tuple[int, ...], rows: int, keeps: bool, x: Tensor, *matrices: Tensor
    ) -> tuple[Tensor, ...]:
        state, weights = _start(interface, sizes[0] if sizes else 0, rows, x), Weights(*matrices)
        outputs, steps = [(state.output[:0], state.read[:0], state.write[:0])], []
        for x_t in x.split(sizes):
            before = state.first(len(x_t))
            state, saved = _step(interface, x_t, before, weights)
            outputs.append((state.output, state.read, state.write))
            if keeps:
                steps.append((before, state, saved))
        ctx.interface, ctx.sizes, ctx.steps = interface, sizes, steps
        ctx.save_for_backward(x, *matrices)
        return tuple(torch.cat(parts) for parts in zip(*outputs, strict=True))

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        x, *matrices = ctx.saved_tensors
        if not ctx.steps:
            return None, None, None, None, *map(torch.zeros_like, (x, *matrices))
        weights, steps = Weights(*matrices), ctx.steps
        derivatives = _derivatives(ctx.interface, steps, ctx.sizes)
        d_after = StepState(*map(torch.zeros_like, steps[0][1]))  # a row joins at its last step
        d_sums, d_raw = [], []
        outside = list(zip(*(part.split(ctx.sizes) for part in d_outputs), strict=True))
        for t in reversed(range(len(steps))):
            d, (before, after, saved) = d_after.first(ctx.sizes[t]), steps[t]
            d_sums_t, d_raw_t = _step_backward(
                ctx.interface, d, outside[t], before, after, saved, derivatives[t], weights
            )
            d_sums.append(d_sums_t)
            d_raw.append(d_raw_t)
        d_x, d_raw_all = torch.cat(d_sums[::-1]), torch.cat(d_raw[::-1])
        read = torch.cat([before.output for before, _, _ in steps])
        hidden = torch.cat([after.output for _, after, _ in steps])[:, : weights.interface.shape[1]]
        return None, None, None, None, d_x, d_x.T @ read, d_raw_all.T @ hidden, d_raw_all.sum(0)


def _start(interface: Interface, size: int, rows: int, x: Tensor) -> StepState:
    """The state of zeros before the first step."""
    heads, width, hidden = interface.heads, interface.width, x.shape[1] // 4
    return StepState(
        output=x.new_zeros(size, hidden + heads * width),
        cell=x.new_zeros(size, hidden),
        memory=x.new_zeros(size, rows, width),
        used=x.new_zeros(size, rows),
        link=x.new_zeros(size, rows, rows),
        precedence=x.new_zeros(size, rows),
        read=x.new_zeros(size, heads, rows),
        write=x.new_zeros(size, rows),
        inverse_length=x.new_full((size, 1, rows), LENGTH_FLOOR**-0.5),
    )


def _step(interface: Interface, x: Tensor, before: StepState, weights: Weights) -> tuple[StepState, SavedForBackward]:
    """One step of inputs x (b, 4C): the state after it."""
    heads, width, hidden_dim = interface.heads, interface.width, before.cell.shape[1]
    memory = before.memory
    lstm_gates = torch.addmm(x, before.output, weights.feedback.T)
    lstm_gates[:, : 3 * hidden_dim].sigmoid_()
    lstm_gates[:, 3 * hidden_dim :].tanh_()
    o, i, f, g = lstm_gates.chunk(4, 1)
    cell = torch.addcmul(f * before.cell, i, g)
    hidden = o * cell.tanh()

    raw = torch.addmm(weights.interface_bias, hidden, weights.interface.T)
    key, strength, gates, add, mode = raw.clamp(-CLIP, CLIP).split(interface.sizes, 1)
    key, mode = key.unflatten(1, (heads + 1, width)), mode.unflatten(1, (heads, 1, 3)).softmax(3)
    strength, gates = F.softplus(strength).add_(1), gates.sigmoid()
    erase, free, allocated, gate = gates.split(interface.gates, 1)
    inverse_key = key.square().sum(2).add_(LENGTH_FLOOR).rsqrt_()
    scaled = key * (strength * inverse_key)[:, :, None]

    # Fused operations round the last numbers of a tensor otherwise: rows of equal usage would no longer be equal.
    kept = 1 - free[:, :, None] * before.read
    grown = before.used + before.write - before.used * before.write
    used = grown * (kept[:, 0] if heads == 1 else kept.prod(1))
    ordered, by_use = (USAGE_FLOOR + (1 - USAGE_FLOOR) * used).sort(dim=1, stable=True)
    ahead = F.pad(ordered.cumprod(1)[:, :-1], (1, 0), value=1.0)
    allocation = torch.empty_like(used).scatter_(1, by_use, (1 - ordered) * ahead)
    write_scores = torch.bmm(scaled[:, heads:], memory.mT).mul_(before.inverse_length)
    write_content = write_scores.softmax(2)
    mixed = allocated * allocation + (1 - allocated) * write_content[:, 0]
    write = gate * mixed

    change = add[:, None] - memory * erase[:, None]
    memory = memory + write[:, :, None] * change
    inverse_length = memory.square().sum(2).add_(LENGTH_FLOOR).rsqrt_()[:, None]
    link = torch.addcmul(before.link, write[:, :, None], before.precedence[:, None] - before.link)
    link.addcmul_(before.link, write[:, None], value=-1).diagonal(dim1=1, dim2=2).zero_()
    precedence = torch.addcmul(write, before.precedence, 1 - write.sum(1, keepdim=True))

    read_scores = torch.bmm(scaled[:, :heads], memory.mT).mul_(inverse_length)
    back, forward = torch.bmm(before.read, link), torch.bmm(before.read, link.mT)
    ways = torch.stack([back, read_scores.softmax(2), forward], 2)
    read = (mode @ ways)[:, :, 0]
    output = torch.cat([hidden, torch.bmm(read, memory).flatten(1)], 1)
    state = StepState(output, cell, memory, used, link, precedence, read, write, inverse_length)
    demands = raw, key, strength, inverse_key, scaled, gates, mode
    usages = kept, grown, by_use, ordered, ahead, allocation
    comparisons = write_scores, write_content, mixed, change, read_scores, ways
    return state, SavedForBackward(lstm_gates, *demands, *usages, *comparisons)


class StepDerivatives(NamedTuple):
    """The derivatives that depend only on the forward pass, computed for all steps at once."""

    cell: Tensor
    """(b, 3, C) of c' by the sums in i, f and g."""
    output_gate: Tensor
    """(b, C) of h' by the sum in o."""
    hidden: Tensor
    """(b, C) of h' by c'."""
    activation: Tensor
    """(b, P) of the activations of the interface, by the numbers before they are clamped; 1 for keys and modes."""
    used_by_read: Tensor
    """(b, R, N) of the usage by the last read weightings."""
    used_by_free: Tensor
    """(b, R, N) of the usage by the free gates."""
    used_by_used: Tensor
    """(b, N) of the usage by the last usage."""


Steps = Sequence[tuple[StepState, StepState, SavedForBackward]]
"""For each step the state before it, the state after it, and what else it saved."""


def _derivatives(interface: Interface, steps: Steps, sizes: Sequence[int]) -> list[StepDerivatives]:
    """The derivatives of each step."""
    befores, afters, saveds = zip(*steps, strict=True)

    def joined(parts: Sequence[Any], name: str) -> Tensor:
        return torch.cat([getattr(part, name) for part in parts])

    c, bounded = joined(befores, "cell"), joined(afters, "cell").tanh()
    o, i, f, g = joined(saveds, "lstm_gates").chunk(4, 1)
    raw, gates = joined(saveds, "raw"), joined(saveds, "gates")
    activation = torch.ones_like(raw)
    by_strength, by_gates = activation.split(interface.sizes, 1)[1:3]
    by_strength.copy_(raw.clamp(-CLIP, CLIP).split(interface.sizes, 1)[1].sigmoid())
    by_gates.copy_(gates - gates.square())
    kept, grown = joined(saveds, "kept"), joined(saveds, "grown")
    read, write = joined(befores, "read"), joined(befores, "write")
    heads = range(interface.heads)
    others = [kept[:, [other for other in heads if other != head]].prod(1) for head in heads]  # kept may be 0
    by_kept = -torch.stack(others, 1) * grown[:, None]
    free = gates.split(interface.gates, 1)[1]
    of_steps = StepDerivatives(
        cell=torch.stack([g * (i - i.square()), c * (f - f.square()), i * (1 - g.square())], 1),
        output_gate=bounded * (o - o.square()),
        hidden=o * (1 - bounded.square()),
        activation=activation * (raw.abs() <= CLIP),
        used_by_read=by_kept * free[:, :, None],
        used_by_free=by_kept * read,
        used_by_used=kept.prod(1) * (1 - write),
    )
    return [StepDerivatives(*parts) for parts in zip(*(part.split(list(sizes)) for part in of_steps), strict=True)]


def _step_backward(
    interface: Interface,
    d: StepState,
    outside: tuple[Tensor, Tensor, Tensor],
    before: StepState,
    after: StepState,
    saved: SavedForBackward,
    derivatives: StepDerivatives,
    weights: Weights,
) -> tuple[Tensor, Tensor]:
    """The gradients of the sums in the LSTM (b, 4C) and of the interface (b, P). `d`, the gradients of the state after
    the step, becomes in place those of the state before it; `outside` are the gradients of the loop's outputs."""
    heads, hidden_dim = interface.heads, before.cell.shape[1]
    write, link = after.write, after.link
    erase, _, allocated, gate = saved.gates.split(interface.gates, 1)

    # reading
    d_hidden, d_reads = d.output.add_(outside[0]).split([hidden_dim, heads * interface.width], 1)
    d_reads = d_reads.unflatten(1, (heads, -1))
    d_read = d.read.add_(outside[1]).baddbmm_(d_reads, after.memory.mT)
    d.memory.baddbmm_(after.read.mT, d_reads)
    d_mode = softmax_backward((saved.ways @ d_read[..., None]).mT, saved.mode, 3, d_read.dtype)
    d_back, d_content, d_forward = (saved.mode.mT * d_read[:, :, None]).unbind(2)
    d_scores = softmax_backward(d_content, saved.ways[:, :, 1], 2, d_read.dtype)
    d_read_keys, read_shares = _compared_backward(d_scores, saved.read_scores, saved.scaled[:, :heads], after, d.memory)

    # links and precedence
    d.link.baddbmm_(before.read.mT, d_back).baddbmm_(d_forward.mT, before.read).diagonal(dim1=1, dim2=2).zero_()
    torch.bmm(d_back, link.mT, out=d_read).baddbmm_(d_forward, link)
    by_link = d.link * before.link
    d_write = torch.bmm(d.link, before.precedence[:, :, None])[:, :, 0].sub_(by_link.sum(2)).sub_(by_link.sum(1))
    d_write.add_(d.precedence).sub_((d.precedence * before.precedence).sum(1, keepdim=True)).add_(outside[2])
    d.precedence.mul_(1 - write.sum(1, keepdim=True)).add_(torch.bmm(write[:, None], d.link)[:, 0])
    d.link.addcmul_(d.link, write[:, :, None] + write[:, None], value=-1)

    # the memory, and where it is written
    d_write.add_((d.memory * saved.change).sum(2))
    by_change = write[:, :, None] * d.memory
    d_add, d_erase = by_change.sum(1), -(by_change * before.memory).sum(1)
    d.memory.addcmul_(by_change, erase[:, None], value=-1)
    d_gate, d_mixed = (d_write * saved.mixed).sum(1, keepdim=True), d_write * gate
    d_allocated = (d_mixed * (saved.allocation - saved.write_content[:, 0])).sum(1, keepdim=True)
    d_allocation = d_mixed * allocated
    d_scores = softmax_backward((d_mixed - d_allocation)[:, None], saved.write_content, 2, d_read.dtype)
    d_write_key, write_share = _compared_backward(
        d_scores, saved.write_scores, saved.scaled[:, heads:], before, d.memory
    )

    # allocation: a row's usage multiplies what all rows with a larger one get
    d_ordered, later = d_allocation.gather(1, saved.by_use), saved.allocation.gather(1, saved.by_use)
    later = later.mul_(d_ordered).flip(1).cumsum(1).flip(1)
    later = F.pad(later[:, 1:], (0, 1)) / saved.ordered
    d_ordered = torch.addcmul(later, d_ordered, saved.ahead, value=-1)
    d.used.add_(torch.empty_like(d_ordered).scatter_(1, saved.by_use, d_ordered), alpha=1 - USAGE_FLOOR)
    d_used = d.used[:, None]
    d_free = (d_used * derivatives.used_by_free).sum(2)
    d_read.addcmul_(d_used, derivatives.used_by_read)
    d.used.mul_(derivatives.used_by_used)

    # the interface and the controller
    d_scaled, shares = torch.cat([d_read_keys, d_write_key], 1), torch.cat([read_shares, write_share], 1)
    scale, by_length = saved.strength * saved.inverse_key, shares * saved.inverse_key.square()
    d_key = torch.addcmul(d_scaled * scale[:, :, None], saved.key, by_length[:, :, None], value=-1)
    parts = [d_key.flatten(1), shares / saved.strength, d_erase, d_free, d_allocated, d_gate, d_add, d_mode.flatten(1)]
    d_raw = torch.cat(parts, 1).mul_(derivatives.activation)
    d_hidden = torch.addmm(d_hidden, d_raw, weights.interface)
    d.cell.addcmul_(d_hidden, derivatives.hidden)
    d_sums = torch.cat([d_hidden * derivatives.output_gate, (derivatives.cell * d.cell[:, None]).flatten(1)], 1)
    d.cell.mul_(saved.lstm_gates[:, 2 * hidden_dim : 3 * hidden_dim])
    torch.mm(d_sums, weights.feedback, out=d.output)
    return d_sums, d_raw


def _compared_backward(
    d_scores: Tensor, scores: Tensor, scaled: Tensor, state: StepState, d_memory: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradient of scaled keys (b, H, W) from that of the scores (b, H, N), and sum d_score * score (b, H). The
    gradient of the memory of `state` is added to `d_memory`."""
    shares, d_dots = d_scores * scores, d_scores * state.inverse_length
    by_length = (shares.sum(1, keepdim=True) * state.inverse_length.square()).mT
    d_memory.baddbmm_(d_dots.mT, scaled).addcmul_(state.memory, by_length, value=-1)
    return torch.bmm(d_dots, state.memory), shares.sum(2)
