"""States from the leaves of a forest to its roots, with any rule that computes a node's state from its children's.

The rule is plain differentiable code for all nodes of one height. The part around it has a backward pass by hand.
States are read and written in one tensor in both passes, so that the cost is linear in the nodes: autograd would copy a
tensor that is written in pieces once per piece. A `Product` computes the gradient of its matrix once, for all heights
together.

It is differentiable once, by a backward pass through all heights. Notation: as in `forest`; m nodes of one height, A
children each, D width of a state.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.loops.loop import outside_autocast, uncompiled
from zoo.layers.trees.forest import Forest, Level
from zoo.precision import precise

NO_NODES = Level(slice(0, 0), slice(0, 0))
"""Used if all trees are single nodes, so that the weights of the rule have a gradient of 0, as DDP requires."""


@uncompiled
def climb(forest: Forest, leaves: Tensor, compose: Callable[[Tensor], Tensor], arity: int = 2) -> Tensor:
    """States (N, D) of all nodes, from those of the leaves (n, D) and `compose`, (m, A, D) -> (m, D), which is called
    once per height, in float32 at least and without autocast. Raises ValueError if an inner node does not have
    A = `arity` children."""
    if any(fan != arity * size for fan, size in zip(forest.fans[1:], forest.sizes[1:], strict=True)):
        raise ValueError(f"found inner nodes with another number of children, expected {arity}")
    exact = precise(leaves)
    store = _NodeStates(exact.new_empty(len(forest), exact.shape[1]))
    done = _WriteStates.apply(exact, exact.new_empty(0), store, slice(0, forest.leaves))
    with torch.autocast(leaves.device.type, enabled=False):
        for nodes, edges in forest.levels() or [NO_NODES]:
            children = _ReadStates.apply(done, store, forest.child[edges]).view(-1, arity, exact.shape[1])
            done = _WriteStates.apply(compose(children), done, store, nodes)
    return _AllStates.apply(done, store).to(leaves.dtype)


class Product:
    """x -> x W' with one W (out, in) for all heights of one walk; its gradient is one product of all x at the end."""

    def __init__(self, weight: Tensor) -> None:
        self._pairs: Pairs = {}
        self._calls = 0
        exact = precise(weight)
        self._weight = _SharedMatrix.apply(exact, self._pairs)

    def __call__(self, x: Tensor) -> Tensor:
        """(m, in) -> (m, out)."""
        self._calls += 1
        return _Multiply.apply(x, self._weight, self._pairs, self._calls)


Pairs = dict[int, tuple[Tensor, Tensor]]
"""x and the gradient of its product, by the number of the call of a `Product`. Because of the numbers, a
backward pass without the gradient of the matrix leaves no entries that the next pass would count again."""


class _NodeStates:
    """The states of all nodes in the forward pass, and their gradients in the backward pass."""

    def __init__(self, states: Tensor) -> None:
        self.states = states
        self.gradients: Tensor | None = None


# Each step reads the mark of the step before, an empty tensor. The marks keep autograd in this order: a node's backward
# pass begins after the gradients from its parent have been added.


class _WriteStates(torch.autograd.Function):
    """Write the states of one height. Returns the next mark."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, mark: Tensor, store: _NodeStates, nodes: slice) -> Tensor:
        store.states[nodes] = states
        ctx.store, ctx.nodes = store, nodes
        return mark.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return ctx.store.gradients[ctx.nodes], ctx.store.states.new_empty(0), None, None


class _ReadStates(torch.autograd.Function):
    """(k, D) the states of some nodes."""

    @staticmethod
    def forward(ctx: Any, mark: Tensor, store: _NodeStates, nodes: Tensor) -> Tensor:
        ctx.store = store
        ctx.save_for_backward(nodes)
        return store.states.index_select(0, nodes)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.store.gradients.index_add_(0, ctx.saved_tensors[0], gradient)
        return gradient.new_empty(0), None, None


class _AllStates(torch.autograd.Function):
    """(N, D) the states of all nodes."""

    @staticmethod
    def forward(ctx: Any, mark: Tensor, store: _NodeStates) -> Tensor:
        ctx.store = store
        return store.states.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        ctx.store.gradients = gradient.clone()
        return gradient.new_empty(0), None


class _SharedMatrix(torch.autograd.Function):
    """The matrix itself; its gradient is computed after the backward passes of all its products."""

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
