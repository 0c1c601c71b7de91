"""Networks over trees as their papers define them: a function that calls itself, one node at a time."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.models.equations import assert_same_gradients
from zoo.data.trees.batch import TreeBatch, Trees

State = Any


def recursively(trees: Trees, state: Callable[[int | None, list[State]], State]) -> list[list[State]]:
    """The state of every node of every tree, by its word's id, or None, and the states of its children."""
    found = []
    for (parent, word), ids in zip(trees.plain(), trees.ids(), strict=True):
        children = [[child for child, above in enumerate(parent) if above == node] for node in range(len(parent))]
        states: dict[int, State] = {}

        def visit(node: int, states=states, children=children, word=word, ids=ids) -> State:
            below = [visit(child) for child in children[node]]
            states[node] = state(ids[word[node]] if word[node] >= 0 else None, below)
            return states[node]

        if parent:
            visit(parent.index(-1))
        found.append([states[node] for node in range(len(parent))])
    return found


def assert_equals_the_definition(
    model: torch.nn.Module,
    batch: TreeBatch,
    state: Callable[[int | None, list[State]], State],
    of: Callable[..., Tensor],
) -> None:
    """The scores of all nodes and the gradients of all parameters are those of the recursive definition; `of` takes the
    vector that is classified out of a state."""
    states = recursively(batch.trees, state)
    flat = torch.stack([of(one) for tree in states for one in tree])
    expected = model.head.classifier(flat)
    found = torch.cat([torch.stack(tree) for tree in by_tree(batch.trees, model(batch).logits) if tree])
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    weights = torch.randn(expected.shape, dtype=expected.dtype, generator=torch.Generator().manual_seed(3))
    losses = ((scores * weights).sum() for scores in (found, expected))
    assert_same_gradients(model, *losses)


def by_tree(trees: Trees, values: Tensor) -> list[list[Tensor]]:
    """Values (N, ...) as those of each tree's nodes, by their numbers in it, with their gradients."""
    cells = trees.forest.cells
    ordered = values[cells.cell.argsort()]
    lengths = torch.bincount(cells.row, minlength=len(trees)).tolist()
    return [list(part) for part in ordered.split(lengths)]


def shaken(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """In double precision, every parameter random, biases too, and nothing dropped."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.double().parameters():
        parameter.data.normal_(std=0.5, generator=generator)
    model.embedding.weight.data[0] = 0
    return model.eval()
