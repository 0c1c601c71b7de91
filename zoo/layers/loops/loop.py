"""The base of the loops: an autograd Function whose passes are methods of one object; time steps; the LSTM.

Notation: N packed positions, T time steps.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils._pytree import tree_flatten, tree_unflatten

softmax_backward = torch.ops.aten._softmax_backward_data  # (gradient, softmax, dim, dtype)
tanh_backward = torch.ops.aten.tanh_backward  # (gradient, tanh) -> gradient * (1 - tanh^2)
sigmoid_backward = torch.ops.aten.sigmoid_backward  # (gradient, sigmoid) -> gradient * sigmoid * (1 - sigmoid)


P = ParamSpec("P")
R = TypeVar("R")


def uncompiled(function: Callable[P, R]) -> Callable[P, R]:
    """`torch.compiler.disable`, but without importing `torch._dynamo` before something is compiled: that import takes
    as long as that of torch itself."""
    disabled: Callable[P, R] | None = None

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal disabled
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if disabled is None:
            disabled = torch.compiler.disable(function)
        return disabled(*args, **kwargs)

    return run


class Loop:
    """A recurrence whose backward pass is derived by hand; an object serves one call.

    `forward` reads tensors and NamedTuples of tensors, and leaves in attributes what `backward` reads. `backward` reads
    the gradients of the outputs and returns those of the inputs, in the same structure, with None for inputs without a
    gradient. Between the two autograd stores all tensors among the attributes, except those in lists. Both run without
    autocast, which would change the dtype of products, and `torch.compile` leaves them as they are. Asking for the
    gradient of a gradient raises an error.
    """

    forward: Callable[..., Any]
    backward: Callable[..., tuple[Any, ...]]
    needs: tuple[Any, ...]
    """Set for `backward`: whether each input requires a gradient, in the structure of the inputs."""

    @uncompiled
    def __call__(self, *inputs: Any) -> Any:
        leaves, structure = tree_flatten(inputs)
        return _LoopFunction.apply(self, structure, *leaves)


def outside_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run an autograd Function's forward or backward without autocast, which would change the dtype of its products."""

    @wraps(function)
    def run(ctx: Any, *inputs: Any) -> Any:
        first = next(part for part in inputs if isinstance(part, Tensor))
        with torch.autocast(first.device.type, enabled=False):
            return function(ctx, *inputs)

    return run


class _LoopFunction(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, loop: Loop, structure: Any, *leaves: Any) -> Any:
        outputs = loop.forward(*tree_unflatten(leaves, structure))
        parts, ctx.attributes = tree_flatten(vars(loop), is_leaf=lambda part: isinstance(part, list))
        ctx.save_for_backward(*(part if isinstance(part, Tensor) else None for part in parts))
        ctx.others = [None if isinstance(part, Tensor) else part for part in parts]
        vars(loop).clear()
        ctx.loop, ctx.structure = loop, structure
        return outputs

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        loop: Loop = ctx.loop
        pairs = zip(ctx.saved_tensors, ctx.others, strict=True)
        vars(loop).update(tree_unflatten([other if saved is None else saved for saved, other in pairs], ctx.attributes))
        loop.needs = tree_unflatten(ctx.needs_input_grad[2:], ctx.structure)
        found, _ = tree_flatten(loop.backward(*gradients))
        vars(loop).clear()
        return None, None, *found


@dataclass(frozen=True)
class PackedSteps:
    """The time steps of packed rows, the longest row first."""

    sizes: tuple[int, ...]  # Rows at each time step
    dim: ClassVar[int] = 0  # The dimension of the packed positions in a tensor

    def steps(self, *parts: Tensor) -> list[tuple[Tensor, ...]]:
        """The views (..., b, ...) of each (..., N, ...) tensor at each time step."""
        return list(zip(*(part.split(self.sizes, self.dim) for part in parts), strict=True))

    def previous(self, start: Tensor, states: Tensor) -> Tensor:
        """(..., N, H) the state before each position: `start` (..., R, H), then that of the step before in `states`."""
        before = zip(states.split(self.sizes, self.dim), self.sizes[1:], strict=False)
        return torch.cat([start, *(state.narrow(self.dim, 0, size) for state, size in before)], self.dim)


class LSTMSteps:
    """The gates i, f, g, o and the states of an LSTM at all time steps, for the forward pass.

    `gates` (..., N, 4H) hold the sums in the gates and become the gates; `cells` and `hidden` (..., N, H) are filled.
    """

    def __init__(self, time_steps: PackedSteps, gates: Tensor, cells: Tensor, hidden: Tensor) -> None:
        width = hidden.shape[-1]
        self.steps = time_steps.steps(gates[..., : 2 * width], *gates.split(width, -1), cells, hidden)

    def forward(self, t: int, c: Tensor) -> tuple[Tensor, Tensor]:
        """h' and c' of step t from c, (..., b, H) each."""
        i_f, i, f, g, o, cell, hidden = self.steps[t]
        i_f.sigmoid_()
        g.tanh_()
        o.sigmoid_()
        torch.mul(f, c, out=cell).addcmul_(i, g)
        return torch.tanh(cell, out=hidden).mul_(o), cell


class LSTMStepsBackward:
    """The backward pass of `LSTMSteps`, last step first.

    It reads the gates, c before each step and c' after it (..., N, H), and fills `d_gates` (..., N, 4H) with the
    gradient of the sums in the gates.
    """

    def __init__(self, time_steps: PackedSteps, gates: Tensor, before: Tensor, cells: Tensor, d_gates: Tensor) -> None:
        width = cells.shape[-1]
        i, f, g, o = gates.split(width, -1)
        d_i, d_f, d_g, d_o = d_gates.split(width, -1)  # first the derivatives of c', and of h' by the sum in o
        tanh_c = cells.tanh()
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        sigmoid_backward.grad_input(before, f, grad_input=d_f)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
        h_by_c, d_ifg = tanh_backward(o, tanh_c), d_gates[..., : 3 * width].unflatten(-1, (3, width))
        self.steps = time_steps.steps(h_by_c, f, d_ifg, d_o, d_gates)

    def backward(self, t: int, d_h: Tensor, d_c: Tensor) -> Tensor:
        """The gradient of the sums in the gates at step t (..., b, 4H), from those of h' and c'. `d_c` becomes the
        gradient of c."""
        h_by_c, f, d_ifg, d_o, d_gates = self.steps[t]
        d_c.addcmul_(d_h, h_by_c)
        d_ifg.mul_(d_c.unsqueeze(-2))
        d_o.mul_(d_h)
        d_c.mul_(f)
        return d_gates
