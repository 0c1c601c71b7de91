"""The time loops of the Tree-LSTMs: derivatives by differences, and what a forest with empty trees gives."""

import pytest
import torch

from tests.families.trees import random_trees
from zoo.layers.loops.tree_lstm import ChildSumTreeLSTM, tree_lstm
from zoo.layers.trees.forest import Forest

DOUBLE = {"dtype": torch.double, "requires_grad": True}


@pytest.mark.parametrize("gates", [4, 5])
@pytest.mark.parametrize("shared", [True, False])
def test_n_ary_derivatives(gates, shared):
    forest = random_trees([3, 0, 1, 5], 2).forest
    inner = len(forest) - forest.leaves
    torch.manual_seed(0)
    leaves, at = [torch.randn(3, 2, **DOUBLE) for _ in range(2)], torch.randint(3, (forest.leaves,))
    table, weight = torch.randn(1 if shared else inner, 2 * gates, **DOUBLE), torch.randn(2 * gates, 4, **DOUBLE)
    assert torch.autograd.gradcheck(lambda h, c, t, w: tree_lstm(forest, (h, c), at, t, w), (*leaves, table, weight))


@pytest.fixture
def memory_of_nan():
    """New tensors hold NaN until something is written into them."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("memory_of_nan")
def test_a_missing_child_has_a_state_of_zero():
    """By hand, with leaves of h = c = 1, U = 0 and u = tanh(1): every gate is 1/2."""
    forest = Forest.of([-1, 0, 1, 1], [4])  # the root has one child, its child has two
    ones = torch.ones(1, 1, dtype=torch.double)
    table = torch.tensor([[1.0, 0, 0, 0, 0]], dtype=torch.double)  # u, i, o, f_1, f_2
    h = tree_lstm(forest, (ones, ones), torch.zeros(2, dtype=torch.long), table, torch.zeros(5, 2).double())
    u = torch.tensor(1.0, dtype=torch.double).tanh()
    lower = 0.5 * u + 0.5 + 0.5
    upper = 0.5 * u + 0.5 * lower
    expected = torch.stack([ones[0, 0], ones[0, 0], 0.5 * lower.tanh(), 0.5 * upper.tanh()])
    torch.testing.assert_close(h[:, 0], expected)


@pytest.mark.parametrize("gates", [2, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_child_sum_derivatives(gates, shared):
    forest = Forest.of([-1, 0, 0, 0, 2, -1, -1, 0], [5, 1, 2])
    inner = len(forest) - forest.leaves
    torch.manual_seed(0)
    sizes = [(len(forest), 2 * gates), (2 * gates, 2), (1 if shared else inner, 2), (2, 2)]
    inputs = tuple(torch.randn(*size, **DOUBLE) for size in sizes)
    assert torch.autograd.gradcheck(lambda *parts: ChildSumTreeLSTM(forest)(*parts), inputs)


def test_a_star_of_two_hundred_children():
    forest = Forest.of([-1, *[0] * 200], [201])
    table = torch.zeros(201, 6, **DOUBLE)
    weight, forget = torch.zeros(6, 2, **DOUBLE), torch.zeros(2, 2, **DOUBLE)
    with torch.no_grad():
        table[:200, :2] = 1.0  # u of the leaves: their c is tanh(1) / 2, and half of each is kept
    h = ChildSumTreeLSTM(forest)(table, weight, torch.zeros(1, 2).double(), forget)
    c = 200 * 0.5 * 0.5 * torch.tensor(1.0).double().tanh()
    torch.testing.assert_close(h[-1], 0.5 * c.tanh().expand(2))


def test_forests_without_a_node_or_without_an_edge():
    none = Forest.of([], [0, 0])
    empty = torch.zeros(0, 2)
    assert tree_lstm(none, (empty, empty), torch.arange(0), torch.zeros(1, 10), torch.zeros(10, 4)).shape == (0, 2)
    assert ChildSumTreeLSTM(none)(torch.zeros(0, 6), torch.zeros(6, 2), torch.zeros(1, 2), torch.eye(2)).shape == (0, 2)
    single = Forest.of([-1], [1])
    leaf = torch.ones(1, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(
        tree_lstm(single, (leaf, leaf), torch.tensor([0]), torch.zeros(1, 10), torch.zeros(10, 4)).sum(), leaf
    )
    assert gradient.tolist() == [[1, 1]]
