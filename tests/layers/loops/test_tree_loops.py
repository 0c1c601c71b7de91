"""The loops over forests: the walk from leaves to roots against loops, the Tree-LSTMs by differences and by hand."""

import pytest
import torch

from tests.families.trees import random_trees
from tests.layers.compared import Written
from zoo.layers.loops.climb import Product, climb
from zoo.layers.loops.tree_lstm import ChildSumTreeLSTM, tree_lstm
from zoo.layers.trees.forest import Forest


def forest_of_binary():
    return random_trees([1, 6, 0, 13, 2], 1).forest


def test_a_second_way_back_gives_the_same():
    forest = forest_of_binary()
    weight = torch.randn(4, 8, requires_grad=True)
    product = Product(weight)
    total = climb(forest, torch.randn(forest.leaves, 4), lambda c: product(c.flatten(1)).tanh()).sum()
    (first,), (second,) = (torch.autograd.grad(total, weight, retain_graph=True) for _ in range(2))
    assert torch.equal(first, second) and first.any()


def test_a_way_back_that_does_not_ask_for_the_matrix_leaves_nothing_to_the_next():
    forest = forest_of_binary()
    weight, leaves = torch.randn(4, 8, requires_grad=True), torch.randn(forest.leaves, 4, requires_grad=True)
    product = Product(weight)
    total = climb(forest, leaves, lambda c: product(c.flatten(1)).tanh()).sum()
    torch.autograd.grad(total, leaves, retain_graph=True)
    (after,) = torch.autograd.grad(total, weight, retain_graph=True)
    (alone,) = torch.autograd.grad(total, weight)
    assert torch.equal(after, alone) and alone.any()


def test_a_matrix_that_is_frozen_keeps_nothing():
    forest = forest_of_binary()
    product = Product(torch.randn(4, 8))
    climb(forest, torch.randn(forest.leaves, 4, requires_grad=True), lambda c: product(c.flatten(1))).sum().backward()
    assert not product._pairs


def test_the_way_back_is_in_float32_inside_autocast_too():
    forest = forest_of_binary()
    weight, leaves = torch.randn(4, 8, requires_grad=True), torch.randn(forest.leaves, 4, requires_grad=True)

    def gradients(*, autocast):
        product = Product(weight)
        total = climb(forest, leaves, lambda c: product(c.flatten(1)).tanh()).sum()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return torch.autograd.grad(total, (weight, leaves))

    for inside, outside in zip(gradients(autocast=True), gradients(autocast=False), strict=True):
        assert torch.equal(inside, outside)


def test_composes_once_a_height():
    forest, seen = forest_of_binary(), []
    climb(forest, torch.zeros(forest.leaves, 1), lambda c: seen.append(len(c)) or c.sum(1))
    assert tuple(seen) == forest.sizes[1:]


def test_a_forest_of_single_nodes_leaves_no_weight_without_a_gradient():
    """DDP waits for all of them."""
    forest = random_trees([1, 1], 1).forest
    weight, bias = torch.randn(4, 8, requires_grad=True), torch.randn(4, requires_grad=True)
    leaves = torch.randn(2, 4, requires_grad=True)
    product = Product(weight)
    states = climb(forest, leaves, lambda c: product(c.flatten(1)) + bias)
    gradients = torch.autograd.grad(states.sum(), (leaves, weight, bias))
    assert [gradient.unique().tolist() for gradient in gradients] == [[1], [0], [0]]


def test_the_way_back_is_linear_in_the_nodes():
    """A chain: what a height writes on the way back does not grow with the forest."""

    def written(words):
        inner = words - 1
        forest = Forest.of([-1, *range(inner - 1), *range(inner), inner - 1], [inner + words])
        total = climb(forest, torch.randn(words, 2, requires_grad=True), lambda c: c.sum(1)).sum()
        with Written() as count:
            total.backward()
        return count.count

    assert written(400) < 2.2 * written(200)


def test_trees_of_another_arity_are_refused():
    with pytest.raises(ValueError, match="inner nodes with another number of children, expected 2"):
        climb(Forest.of([-1, 0], [2]), torch.zeros(1, 3), lambda c: c.sum(1))


def test_half_precision_is_walked_in_float32():
    forest = Forest.of([-1, *range(299), *range(300), 299], [601])  # a chain: ones are counted up to 301
    with torch.autocast("cpu", torch.bfloat16):
        states = climb(forest, torch.ones(301, 1), lambda c: c.sum(1))
    assert states.dtype == torch.float32 and states[forest.root].item() == 301
    half = climb(forest, torch.ones(301, 1, dtype=torch.bfloat16), lambda c: c.sum(1))
    assert half.dtype == torch.bfloat16 and half[forest.root].item() == 300  # 301, rounded once; its sums end at 256


DOUBLE = {"dtype": torch.double, "requires_grad": True}


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
