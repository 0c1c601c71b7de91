"""The time loop of a neural Turing machine over packed rows: one autograd Function over the whole sequence.

Autograd records one operation instead of a hundred a time step, and the gradient of each matrix is one product at the
end. It is differentiable once: asking for the gradient of a gradient raises.

Notation: as in `turing_steps`; B sequences that are not empty, T positions of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.attention.addressing import Heads
from zoo.layers.loops import turing_steps
from zoo.layers.loops.recurrent import outside_autocast
from zoo.layers.loops.turing_steps import SavedForBackward, StepDerivatives, StepState, Weights
from zoo.layers.uncompiled import uncompiled


class Compiled(NamedTuple):
    """The two halves of a step, compiled."""

    forward: Callable[..., tuple[StepState, SavedForBackward]]
    backward: Callable[..., tuple[StepState, list[Tensor], Tensor]]

    @classmethod
    def of(cls, *args: Any, **options: Any) -> Compiled:
        """`options` are those of torch.compile."""
        return cls(
            forward=torch.compile(turing_steps.forward, *args, **options),
            backward=torch.compile(turing_steps.backward_of_one, *args, **options),
        )


@uncompiled
def turing_loop(
    heads: Heads, sizes: Sequence[int], x: Tensor, start: StepState, weights: Weights, compiled: Compiled | None
) -> tuple[Tensor, Tensor, Tensor]:
    """From `start` with B rows, longest sequence first, over packed inputs x (T, G), `sizes` of them at each time step:
    the highest layer's h (T, C), what was read (T, R W) and the weightings of all heads (T, H, N).

    All in one dtype; the memory of `start` is (B, W, N).
    """
    plan = _Plan(heads, tuple(sizes), len(weights.layers), bool(start.cells), compiled)
    same_strides = [part.contiguous() for part in flat(start)]  # as in later steps, so that nothing recompiles
    hidden, reads, weightings = _TuringLoop.apply(plan, x, *same_strides, *flat(weights))
    return hidden, reads, weightings


class _Plan(NamedTuple):
    heads: Heads
    sizes: tuple[int, ...]
    layers: int
    has_cells: bool
    compiled: Compiled | None

    def parted(self, tensors: Sequence[Tensor]) -> tuple[StepState, Weights]:
        """The inverse of `flat` for a state and weights."""
        last = 3 + self.layers * (1 + self.has_cells)
        layers = 2 * self.layers - 1
        of_weights = tensors[last:]
        weights = Weights(list(of_weights[: self.layers]), list(of_weights[self.layers : layers]), *of_weights[layers:])
        return self.carried(tensors[:last]), weights

    def carried(self, tensors: Sequence[Tensor]) -> StepState:
        """The inverse of `flat` for a state."""
        hidden, cells = tensors[1 : 1 + self.layers], tensors[1 + self.layers : -2]
        return StepState(tensors[0], list(hidden), list(cells), *tensors[-2:])


def flat(parts: Iterable[Tensor | Sequence[Tensor]]) -> list[Tensor]:
    """Tensors, and the tensors of lists among them, one by one, as autograd requires them."""
    return [tensor for part in parts for tensor in ([part] if isinstance(part, Tensor) else part)]


class _TuringLoop(torch.autograd.Function):
    """`tensors` are those of `StepState` and of `Weights`."""

    @staticmethod
    @outside_autocast
    def forward(ctx: Any, plan: _Plan, x: Tensor, *tensors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        start, weights = plan.parted([tensor.detach() for tensor in tensors])
        ctx.plan, ctx.walked = plan, []  # for each step the states before and after it, and what else it saved
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        after, x_of_steps = start, x.split(plan.sizes)
        for t, size in enumerate(plan.sizes):
            before, x_t = _first(after, size), x_of_steps[t]
            if plan.compiled is None:
                after, saved = turing_steps.forward(plan.heads, x_t, before, weights)
            else:
                x_t = x_t.clone()  # the offset of a view would be compiled too
                if t == 0 or size != plan.sizes[t - 1]:
                    _any_number(x_t, *flat(before))
                after, saved = plan.compiled.forward(plan.heads, x_t, before, weights)
            ctx.walked.append((before, after, saved))
        states = [after for _, after, _ in ctx.walked] or [_first(start, 0)]
        hidden = torch.cat([state.hidden[-1] for state in states])
        return hidden, torch.cat([state.reads for state in states]), torch.cat([state.weighting for state in states])

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *d_outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        plan: _Plan = ctx.plan
        if not plan.sizes:
            return None, *[None] * (1 + len(ctx.saved_tensors))
        start, weights = plan.parted([tensor.detach() for tensor in ctx.saved_tensors])
        d = plan.carried([torch.zeros_like(part[:0]) for part in flat(start)])
        of_steps = [[None] * len(plan.sizes) if part is None else part.split(plan.sizes) for part in d_outputs]
        found: list[Any] = []
        derivatives = _derivatives(plan, ctx.walked) if plan.compiled is None else []
        for t in reversed(range(len(plan.sizes))):
            before, after, saved = ctx.walked[t]
            new = d.reads.shape[0] != plan.sizes[t]
            d = _more(_widened(d, plan.sizes[t]), *(part[t] for part in of_steps))
            if plan.compiled is None:
                d, *sums = turing_steps.backward(plan.heads, d, before.memory, derivatives[t], weights)
            else:
                if new:
                    _any_number(*flat(d), *flat(before), *flat(saved), after.weighting)
                d, *sums = plan.compiled.backward(plan.heads, d, before, after.weighting, saved, weights)
            found.append(sums)
        found.reverse()
        d_raw = torch.cat([raw for _, raw in found])
        d_sums = _by_layer([sums for sums, _ in found])
        inputs = _by_layer([saved.inputs for _, _, saved in ctx.walked])
        d_weights = Weights(
            [sums.T @ given for sums, given in zip(d_sums, inputs, strict=True)],
            [sums.sum(0) for sums in d_sums[1:]],
            d_raw.T @ torch.cat([after.hidden[-1] for _, after, _ in ctx.walked]),
            d_raw.sum(0),
        )
        return None, d_sums[0], *flat(d), *flat(d_weights)


def _derivatives(plan: _Plan, walked: Sequence[tuple[StepState, StepState, SavedForBackward]]) -> list[StepDerivatives]:
    """The derivatives of each step, computed for all steps at once."""
    befores, afters, saveds = zip(*walked, strict=True)
    saved = SavedForBackward(*_together(saveds))
    cells = _by_layer([before.cells for before in befores])
    previous = torch.cat([before.weighting for before in befores])
    weighting = torch.cat([after.weighting for after in afters])
    found = turing_steps.derivatives(plan.heads, previous, cells, saved, weighting)
    of_layers = list(zip(*(part.split(plan.sizes) for part in found.of_layers), strict=True))
    others = zip(*(part.split(plan.sizes) for part in found[1:]), strict=True)
    return [StepDerivatives(layers, *rest) for layers, rest in zip(of_layers, others, strict=True)]


def _together(saveds: Sequence[SavedForBackward]) -> Iterator[Any]:
    """Every field of all steps in one tensor, or list of tensors."""
    for parts in zip(*saveds, strict=True):
        if isinstance(parts[0], Tensor):
            yield torch.cat(parts)
        else:
            yield _by_layer(parts)


def _by_layer(steps: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Tensors of each layer at each step -> one tensor of all steps for each layer."""
    return [torch.cat(of_layer) for of_layer in zip(*steps, strict=True)]


def _first(state: StepState, size: int) -> StepState:
    """The state of the first `size` sequences."""
    if state.reads.shape[0] == size:
        return state
    hidden, cells = ([part[:size] for part in parts] for parts in (state.hidden, state.cells))
    return StepState(state.reads[:size], hidden, cells, state.memory[:size], state.weighting[:size])


def _widened(d: StepState, size: int) -> StepState:
    """Gradients of `size` sequences, zero for sequences that end at this step."""
    more = size - d.reads.shape[0]
    if not more:
        return d

    def with_zeros(part: Tensor) -> Tensor:
        return torch.cat([part, part.new_zeros(more, *part.shape[1:])])

    hidden, cells = ([with_zeros(part) for part in parts] for parts in (d.hidden, d.cells))
    return StepState(with_zeros(d.reads), hidden, cells, with_zeros(d.memory), with_zeros(d.weighting))


def _more(d: StepState, hidden: Tensor | None, reads: Tensor | None, weighting: Tensor | None) -> StepState:
    """`d` plus the gradients from outside the loop."""
    return d._replace(
        reads=d.reads if reads is None else d.reads + reads,
        hidden=d.hidden if hidden is None else [*d.hidden[:-1], d.hidden[-1] + hidden],
        weighting=d.weighting if weighting is None else d.weighting + weighting,
    )


def _any_number(*tensors: Tensor) -> None:
    """Mark the number of sequences as dynamic, so that it is compiled once. A single sequence is compiled
    separately."""
    for tensor in tensors:
        if tensor.shape[0] > 1:
            torch._dynamo.maybe_mark_dynamic(tensor, 0)
