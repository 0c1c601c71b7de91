"""From the leaves of a forest to its roots, with any rule that makes a node's state of its children's.

The rule is plain differentiable code for all nodes of one height. What autograd would do badly around it is done by
hand: states are read and written in one tensor, forth and back, so that the cost is linear in the nodes (a tensor
written in pieces is copied whole for each of them on the way back), and a `Product` takes the gradient of its matrix
once, from all heights together.

It is differentiable once, by a pass back through all of a walk. Notation: as in `forest`; m nodes of one height, A
children each, D width of a state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.forest import Forest, Level
from zoo.layers.loops import outside_autocast
from zoo.precision import precise

NO_NODES = Level(slice(0, 0), slice(0, 0))
"""Walked where all trees are single nodes, so that the weights of the rule have a gradient, of 0, as DDP wants it."""


@torch.compiler.disable
def climb(forest: Forest, leaves: Tensor, compose: Callable[[Tensor], Tensor], arity: int = 2) -> Tensor:
    """States (N, D) of all nodes, from those of the leaves (n, D) and `compose`, (m, A, D) -> (m, D), which is called
    once a height, in float32 at least and without autocast. Raises ValueError where an inner node has more or fewer
    than A = `arity` children."""
    if any(fan != arity * size for fan, size in zip(forest.fans[1:], forest.sizes[1:], strict=True)):
        raise ValueError(f"an inner node has {arity} children")
    exact = precise(leaves)
    shelf = _Shelf(exact.new_empty(len(forest), exact.shape[1]))
    done = _Put.apply(exact, exact.new_empty(0), shelf, slice(0, forest.leaves))
    with torch.autocast(leaves.device.type, enabled=False):
        for nodes, edges in forest.levels() or [NO_NODES]:
            children = _Take.apply(done, shelf, forest.child[edges]).view(-1, arity, exact.shape[1])
            done = _Put.apply(compose(children), done, shelf, nodes)
    return _All.apply(done, shelf).to(leaves.dtype)


class Product:
    """x -> x W' with one W (out, in) for all heights of one walk; its gradient is one product of all x at the end."""

    def __init__(self, weight: Tensor) -> None:
        self._pairs: Pairs = {}
        self._calls = 0
        exact = precise(weight)
        self._weight = _Begin.apply(exact, self._pairs)

    def __call__(self, x: Tensor) -> Tensor:
        """(m, in) -> (m, out)."""
        self._calls += 1
        return _Multiply.apply(x, self._weight, self._pairs, self._calls)


Pairs = dict[int, tuple[Tensor, Tensor]]
"""x, and the derivative by its product, of each call of a `Product`. By its number, so that a way back that does not
ask for the matrix leaves nothing that the next one would count again."""


class _Shelf:
    """The states of all nodes on the way up, and the gradients by them on the way back."""

    def __init__(self, states: Tensor) -> None:
        self.states = states
        self.gradients: Tensor | None = None


# Each step takes the mark that the one before it gave, an empty tensor. By these autograd goes back in the same order:
# what a node's parent owes it has been added before the node's own way back begins.


class _Put(torch.autograd.Function):
    """Writes the states of one height; the next mark."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, mark: Tensor, shelf: _Shelf, nodes: slice) -> Tensor:
        shelf.states[nodes] = states
        ctx.shelf, ctx.nodes = shelf, nodes
        return mark.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return ctx.shelf.gradients[ctx.nodes], ctx.shelf.states.new_empty(0), None, None


class _Take(torch.autograd.Function):
    """(k, D) the states of some nodes."""

    @staticmethod
    def forward(ctx: Any, mark: Tensor, shelf: _Shelf, nodes: Tensor) -> Tensor:
        ctx.shelf = shelf
        ctx.save_for_backward(nodes)
        return shelf.states.index_select(0, nodes)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.shelf.gradients.index_add_(0, ctx.saved_tensors[0], gradient)
        return gradient.new_empty(0), None, None


class _All(torch.autograd.Function):
    """(N, D) the states of all nodes."""

    @staticmethod
    def forward(ctx: Any, mark: Tensor, shelf: _Shelf) -> Tensor:
        ctx.shelf = shelf
        return shelf.states.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        ctx.shelf.gradients = gradient.clone()
        return gradient.new_empty(0), None


class _Begin(torch.autograd.Function):
    """The matrix as it is; on the way back, when all of its products have been there, its gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, pairs: Pairs) -> Tensor:
        ctx.pairs = pairs
        return weight.view_as(weight)

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor | None) -> tuple[Tensor, None]:
        x, d_y = (torch.cat(parts) for parts in zip(*ctx.pairs.values(), strict=True))
        ctx.pairs.clear()
        return d_y.T @ x, None


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, pairs: Pairs, number: int) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.pairs, ctx.number = pairs, number
        return x @ weight.T

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_y: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        x, weight = ctx.saved_tensors
        if ctx.needs_input_grad[1]:
            ctx.pairs[ctx.number] = x, d_y
        return d_y @ weight, None, None, None
