"""The time loop of a differentiable neural computer over packed rows.

`DNC.cell` in `zoo/models/dnc.py` defines a step. The loop computes the same numbers with half the operations: all heads
share one product, the lengths of the memory's rows are computed once per step, and the memory and the links change by
one fused operation each. On a CPU these matrices are so small that a step takes as long as it has operations.

Notation: b sequences that still run at a step, n steps of all sequences, C units of the controller, R heads that read,
N rows of the memory, W their width, P numbers of the interface. Weightings sum to at most 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.attention.addressing import CLIP, LENGTH_FLOOR, USAGE_FLOOR
from zoo.layers.loops.loop import Loop, softmax_backward


class Weights(NamedTuple):
    """The matrices of the recurrence, the same at all steps."""

    feedback: Tensor  # (4C, C + R W), for [h; reads]; the gates are output, input, forget, candidate
    interface: Tensor  # (P, C), its rows in the order of `Interface`
    interface_bias: Tensor  # (P,)


class Interface(NamedTuple):
    """The sizes of the parts of the interface vector, for R = `heads` reading heads and a memory of `width` W."""

    heads: int
    width: int

    @property
    def sizes(self) -> list[int]:
        """Sizes of the keys (reading heads first), the strengths, the gates, the vector to add and the modes."""
        heads, width = self.heads, self.width
        return [(heads + 1) * width, heads + 1, sum(self.gates), width, 3 * heads]

    @property
    def gates(self) -> list[int]:
        """Sizes of the erase vector, the free gates, the allocation gate and the write gate."""
        return [self.width, self.heads, 1, 1]

    def order(self) -> Tensor:
        """(P,) for each row of this order, its index in the paper's interface vector."""
        heads, width = self.heads, self.width
        sizes = [heads * width, heads, width, 1, width, width, heads, 1, 1, 3 * heads]
        part = torch.arange(sum(sizes)).split(sizes)
        return torch.cat([part[at] for at in (0, 2, 1, 3, 4, 6, 7, 8, 5, 9)])


class StepState(NamedTuple):
    """The state that one step gives to the next; in the backward pass, the gradients of the state."""

    output: Tensor  # (b, C + R W) [h; reads]
    cell: Tensor  # (b, C)
    memory: Tensor  # (b, N, W)
    used: Tensor  # (b, N)
    link: Tensor  # (b, N, N)
    precedence: Tensor  # (b, N)
    read: Tensor  # (b, R, N)
    write: Tensor  # (b, N)
    inverse_length: Tensor  # (b, 1, N) 1 / length of each row of the memory

    def first(self, size: int) -> StepState:
        """The state of the first `size` sequences."""
        return self if len(self.output) == size else StepState(*(part[:size] for part in self))


class DNCLoop(Loop):
    """The outputs of all steps, from a state of zeros.

    `sizes` has the number of sequences that still run at each step, and `rows` is N. The inputs are x (n, 4C), which is
    packed and already multiplied by its matrix, and the matrices, in the dtype of x. The outputs are [h; reads]
    (n, C + R W), the read weightings (n, R, N) and the write weightings (n, N).
    """

    def __init__(self, interface: Interface, sizes: Sequence[int], rows: int) -> None:
        self.interface, self.sizes, self.rows, self.keeps = interface, list(sizes), rows, torch.is_grad_enabled()

    def forward(self, x: Tensor, weights: Weights) -> tuple[Tensor, ...]:
        state = _start(self.interface, self.sizes[0] if self.sizes else 0, self.rows, x)
        outputs, steps = [(state.output[:0], state.read[:0], state.write[:0])], []
        for x_t in x.split(self.sizes):
            step = _Step(self.interface, x_t, state.first(len(x_t)), weights)
            state = step.after
            outputs.append((state.output, state.read, state.write))
            if self.keeps:
                steps.append(step)
        self.steps, self.x, self.weights = steps, x, weights
        return tuple(torch.cat(parts) for parts in zip(*outputs, strict=True))

    def backward(self, *d_outputs: Tensor) -> tuple[Any, ...]:
        weights, steps = self.weights, self.steps
        if not steps:
            return torch.zeros_like(self.x), Weights(*map(torch.zeros_like, weights))
        derivatives = _derivatives(self.interface, steps, self.sizes)
        d_after = StepState(*map(torch.zeros_like, steps[0].after))  # a row joins at its last step
        d_sums, d_raw = [], []
        outside = list(zip(*(part.split(self.sizes) for part in d_outputs), strict=True))
        for t in reversed(range(len(steps))):
            d = d_after.first(self.sizes[t])
            d_sums_t, d_raw_t = steps[t].backward(d, outside[t], derivatives[t], weights)
            d_sums.append(d_sums_t)
            d_raw.append(d_raw_t)
        d_x, d_raw_all = torch.cat(d_sums[::-1]), torch.cat(d_raw[::-1])
        read = torch.cat([step.before.output for step in steps])
        hidden = torch.cat([step.after.output for step in steps])[:, : weights.interface.shape[1]]
        return d_x, Weights(d_x.T @ read, d_raw_all.T @ hidden, d_raw_all.sum(0))


def _start(interface: Interface, size: int, rows: int, x: Tensor) -> StepState:
    """The state of zeros before the first step."""
    heads, width, hidden = interface.heads, interface.width, x.shape[1] // 4
    shapes = (hidden + heads * width,), (hidden,), (rows, width), (rows,), (rows, rows), (rows,), (heads, rows), (rows,)
    zeros = [x.new_zeros(size, *shape) for shape in shapes]
    return StepState._make([*zeros, x.new_full((size, 1, rows), LENGTH_FLOOR**-0.5)])


class StepDerivatives(NamedTuple):
    """Derivatives that depend on the forward pass alone, which are computed for all steps at once."""

    cell: Tensor  # (b, 3, C) of c' by the sums in i, f and g
    output_gate: Tensor  # (b, C) of h' by the sum in o
    hidden: Tensor  # (b, C) of h' by c'
    activation: Tensor
    """(b, P) of the activations of the interface, by the numbers before they are clamped; 1 for keys and modes."""
    used_by_read: Tensor  # (b, R, N) of the usage by the last read weightings
    used_by_free: Tensor  # (b, R, N) of the usage by the free gates
    used_by_used: Tensor  # (b, N) of the usage by the last usage


class _Step:
    """One step, from inputs x (b, 4C). The backward pass reads its attributes."""

    def __init__(self, interface: Interface, x: Tensor, before: StepState, weights: Weights) -> None:
        self.interface, self.before, memory = interface, before, before.memory
        heads, width, hidden_dim = interface.heads, interface.width, before.cell.shape[1]
        self.lstm_gates = torch.addmm(x, before.output, weights.feedback.T)  # (b, 4C)
        self.lstm_gates[:, : 3 * hidden_dim].sigmoid_()
        self.lstm_gates[:, 3 * hidden_dim :].tanh_()
        o, i, f, g = self.lstm_gates.chunk(4, 1)
        cell = torch.addcmul(f * before.cell, i, g)
        hidden = o * cell.tanh()

        self.raw = torch.addmm(weights.interface_bias, hidden, weights.interface.T)  # (b, P) before it is clamped
        key, strength, gates, add, mode = self.raw.clamp(-CLIP, CLIP).split(interface.sizes, 1)
        self.key = key.unflatten(1, (heads + 1, width))  # (b, R + 1, W)
        self.mode = mode.unflatten(1, (heads, 1, 3)).softmax(3)  # (b, R, 1, 3)
        self.strength, self.gates = F.softplus(strength).add_(1), gates.sigmoid()  # (b, R + 1), (b, W + R + 2)
        erase, free, allocated, gate = self.gates.split(interface.gates, 1)
        self.inverse_key = self.key.square().sum(2).add_(LENGTH_FLOOR).rsqrt_()  # (b, R + 1) 1 / length of each key
        # (b, R + 1, W) each key divided by its length, times its strength
        self.scaled = self.key * (self.strength * self.inverse_key)[:, :, None]

        # Fused operations round the last numbers of a tensor otherwise: rows of equal usage would no longer be equal.
        self.kept = 1 - free[:, :, None] * before.read  # (b, R, N) the share of a usage that a head does not free
        self.grown = before.used + before.write - before.used * before.write  # (b, N) the usage before rows are freed
        used = self.grown * (self.kept[:, 0] if heads == 1 else self.kept.prod(1))
        # (b, N) the usages from the smallest on, and their rows
        self.ordered, self.by_use = (USAGE_FLOOR + (1 - USAGE_FLOOR) * used).sort(dim=1, stable=True)
        self.ahead = F.pad(self.ordered.cumprod(1)[:, :-1], (1, 0), value=1.0)  # (b, N) product of all smaller usages
        self.allocation = torch.empty_like(used).scatter_(1, self.by_use, (1 - self.ordered) * self.ahead)  # (b, N)
        # (b, 1, N) strength times cosine
        self.write_scores = torch.bmm(self.scaled[:, heads:], memory.mT).mul_(before.inverse_length)
        self.write_content = self.write_scores.softmax(2)  # (b, 1, N)
        self.mixed = allocated * self.allocation + (1 - allocated) * self.write_content[:, 0]  # (b, N)
        write = gate * self.mixed

        self.change = add[:, None] - memory * erase[:, None]  # (b, N, W) what a row gains where the weight is 1
        memory = memory + write[:, :, None] * self.change
        inverse_length = memory.square().sum(2).add_(LENGTH_FLOOR).rsqrt_()[:, None]
        link = torch.addcmul(before.link, write[:, :, None], before.precedence[:, None] - before.link)
        link.addcmul_(before.link, write[:, None], value=-1).diagonal(dim1=1, dim2=2).zero_()
        precedence = torch.addcmul(write, before.precedence, 1 - write.sum(1, keepdim=True))

        self.read_scores = torch.bmm(self.scaled[:, :heads], memory.mT).mul_(inverse_length)  # (b, R, N)
        back, forward = torch.bmm(before.read, link), torch.bmm(before.read, link.mT)
        # (b, R, 3, N) weightings backward, by content and forward
        self.ways = torch.stack([back, self.read_scores.softmax(2), forward], 2)
        read = (self.mode @ self.ways)[:, :, 0]
        output = torch.cat([hidden, torch.bmm(read, memory).flatten(1)], 1)
        self.after = StepState(output, cell, memory, used, link, precedence, read, write, inverse_length)

    def backward(
        self, d: StepState, outside: tuple[Tensor, ...], derivatives: StepDerivatives, weights: Weights
    ) -> tuple[Tensor, Tensor]:
        """Return the gradients of the sums in the LSTM (b, 4C) and of the interface (b, P).

        `d` holds the gradients of the state after the step, and is changed in place to those of the state before it.
        `outside` are the gradients of the loop's outputs at this step.
        """
        interface, before, after = self.interface, self.before, self.after
        heads, hidden_dim = interface.heads, before.cell.shape[1]
        write, link = after.write, after.link
        erase, _, allocated, gate = self.gates.split(interface.gates, 1)

        # reading
        d_hidden, d_reads = d.output.add_(outside[0]).split([hidden_dim, heads * interface.width], 1)
        d_reads = d_reads.unflatten(1, (heads, -1))
        d_read = d.read.add_(outside[1]).baddbmm_(d_reads, after.memory.mT)
        d.memory.baddbmm_(after.read.mT, d_reads)
        d_mode = softmax_backward((self.ways @ d_read[..., None]).mT, self.mode, 3, d_read.dtype)
        d_back, d_content, d_forward = (self.mode.mT * d_read[:, :, None]).unbind(2)
        d_scores = softmax_backward(d_content, self.ways[:, :, 1], 2, d_read.dtype)
        d_read_keys, read_shares = _compared_backward(
            d_scores, self.read_scores, self.scaled[:, :heads], after, d.memory
        )

        # links and precedence
        d.link.baddbmm_(before.read.mT, d_back).baddbmm_(d_forward.mT, before.read).diagonal(dim1=1, dim2=2).zero_()
        torch.bmm(d_back, link.mT, out=d_read).baddbmm_(d_forward, link)
        by_link = d.link * before.link
        d_write = torch.bmm(d.link, before.precedence[:, :, None])[:, :, 0].sub_(by_link.sum(2)).sub_(by_link.sum(1))
        d_write.add_(d.precedence).sub_((d.precedence * before.precedence).sum(1, keepdim=True)).add_(outside[2])
        d.precedence.mul_(1 - write.sum(1, keepdim=True)).add_(torch.bmm(write[:, None], d.link)[:, 0])
        d.link.addcmul_(d.link, write[:, :, None] + write[:, None], value=-1)

        # the memory, and where it is written
        d_write.add_((d.memory * self.change).sum(2))
        by_change = write[:, :, None] * d.memory
        d_add, d_erase = by_change.sum(1), -(by_change * before.memory).sum(1)
        d.memory.addcmul_(by_change, erase[:, None], value=-1)
        d_gate, d_mixed = (d_write * self.mixed).sum(1, keepdim=True), d_write * gate
        d_allocated = (d_mixed * (self.allocation - self.write_content[:, 0])).sum(1, keepdim=True)
        d_allocation = d_mixed * allocated
        d_scores = softmax_backward((d_mixed - d_allocation)[:, None], self.write_content, 2, d_read.dtype)
        d_write_key, write_share = _compared_backward(
            d_scores, self.write_scores, self.scaled[:, heads:], before, d.memory
        )

        # allocation: a row's usage multiplies what all rows with a larger one get
        d_ordered, later = d_allocation.gather(1, self.by_use), self.allocation.gather(1, self.by_use)
        later = later.mul_(d_ordered).flip(1).cumsum(1).flip(1)
        later = F.pad(later[:, 1:], (0, 1)) / self.ordered
        d_ordered = torch.addcmul(later, d_ordered, self.ahead, value=-1)
        d.used.add_(torch.empty_like(d_ordered).scatter_(1, self.by_use, d_ordered), alpha=1 - USAGE_FLOOR)
        d_used = d.used[:, None]
        d_free = (d_used * derivatives.used_by_free).sum(2)
        d_read.addcmul_(d_used, derivatives.used_by_read)
        d.used.mul_(derivatives.used_by_used)

        # the interface and the controller
        d_scaled, shares = torch.cat([d_read_keys, d_write_key], 1), torch.cat([read_shares, write_share], 1)
        scale, by_length = self.strength * self.inverse_key, shares * self.inverse_key.square()
        d_key = torch.addcmul(d_scaled * scale[:, :, None], self.key, by_length[:, :, None], value=-1)
        parts = d_key.flatten(1), shares / self.strength, d_erase, d_free, d_allocated, d_gate, d_add, d_mode.flatten(1)
        d_raw = torch.cat(parts, 1).mul_(derivatives.activation)
        d_hidden = torch.addmm(d_hidden, d_raw, weights.interface)
        d.cell.addcmul_(d_hidden, derivatives.hidden)
        d_sums = torch.cat([d_hidden * derivatives.output_gate, (derivatives.cell * d.cell[:, None]).flatten(1)], 1)
        d.cell.mul_(self.lstm_gates[:, 2 * hidden_dim : 3 * hidden_dim])
        torch.mm(d_sums, weights.feedback, out=d.output)
        return d_sums, d_raw


def _derivatives(interface: Interface, steps: Sequence[_Step], sizes: Sequence[int]) -> list[StepDerivatives]:
    def joined(name: str) -> Tensor:
        return torch.cat([attrgetter(name)(step) for step in steps])

    c, bounded = joined("before.cell"), joined("after.cell").tanh()
    o, i, f, g = joined("lstm_gates").chunk(4, 1)
    raw, gates = joined("raw"), joined("gates")
    activation = torch.ones_like(raw)
    by_strength, by_gates = activation.split(interface.sizes, 1)[1:3]
    by_strength.copy_(raw.clamp(-CLIP, CLIP).split(interface.sizes, 1)[1].sigmoid())
    by_gates.copy_(gates - gates.square())
    kept, grown, read, write = map(joined, ("kept", "grown", "before.read", "before.write"))
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


def _compared_backward(
    d_scores: Tensor, scores: Tensor, scaled: Tensor, state: StepState, d_memory: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the scaled keys (b, H, W), from that of the scores (b, H, N), and the sum of d_score *
    score over the rows (b, H). The gradient of the memory of `state` is added to `d_memory`."""
    shares, d_dots = d_scores * scores, d_scores * state.inverse_length
    by_length = (shares.sum(1, keepdim=True) * state.inverse_length.square()).mT
    d_memory.baddbmm_(d_dots.mT, scaled).addcmul_(state.memory, by_length, value=-1)
    return torch.bmm(d_dots, state.memory), shares.sum(2)
