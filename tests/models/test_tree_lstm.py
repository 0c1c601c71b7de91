"""The Tree-LSTMs against their equations, a node at a time, and against the sizes of the paper's table."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.data.trees.batch import LabelledTreeSpec, TreeBatch, Trees
from zoo.models import TreeLSTM

DEPENDENCIES = LabelledTreeSpec(30, arity=7, binary=False, words_inside=True, classes=("a", "b", "c"))


def dependency_batch(seed: int = 1, *, arity: int = 7) -> TreeBatch:
    """Trees with a word at each node: a chain, a star, a single word, none, and random ones."""
    draw = np.random.default_rng(seed)
    trees = [[-1, *range(5)], [-1, *[0] * arity], [-1], []]
    trees += [[-1, *(int(draw.integers(max(0, k - 2), k)) for k in range(1, size))] for size in (4, 11)]
    words = [list(range(len(tree))) for tree in trees]
    ids = draw.integers(1, 30, sum(map(len, trees)))
    lengths = [len(tree) for tree in trees]
    built = Trees.of([*chain(*trees)], lengths, [*chain(*words)], ids, lengths)
    return TreeBatch(built, torch.arange(len(trees)), torch.zeros(len(ids), dtype=torch.long), None)


def split(rows, names, hidden=3):
    return dict(zip(names, rows.split([hidden] * len(names)), strict=True))


def cell(gates, memories, forgotten):
    """c and h of a node by its gates before their bends, and the c of its children, each by its own forget gate."""
    c = gates["i"].sigmoid() * gates["u"].tanh()
    for memory, forget in zip(memories, forgotten, strict=True):
        c = c + forget.sigmoid() * memory
    return c, (gates["o"].sigmoid() if "o" in gates else 1) * c.tanh()


@pytest.mark.parametrize("output_gate", [True, False])
@pytest.mark.parametrize("biases", ["one", "two"])
def test_child_sum_equals_the_equations(output_gate, biases):
    model = shaken(TreeLSTM(DEPENDENCIES, embedding_dim=4, hidden_dim=3, output_gate=output_gate, biases=biases))
    names = ["u", "i", *["o"] * output_gate]
    assert len(model.bias) == {"one": 1, "two": 2}[biases]

    def state(word, children):
        read = model.word.weight @ model.embedding.weight[word] + model.bias.sum(0)
        total = sum((h for _, h in children), torch.zeros(3).double())
        gates = split(read[: 3 * len(names)] + model.state.weight @ total, names)
        forgotten = [read[3 * len(names) :] + model.forget.weight @ h for _, h in children]
        return cell(gates, [c for c, _ in children], forgotten)

    assert_equals_the_definition(model, dependency_batch(), state, lambda state: state[1])


def test_child_sum_over_nodes_without_a_word():
    """In binary trees with words at the leaves, inner nodes have only the biases."""
    model = shaken(TreeLSTM(FAMILY.spec, embedding_dim=4, hidden_dim=3, composition="child_sum"))

    def state(word, children):
        read = model.bias[0]
        if word is not None:
            read = torch.cat([model.word.weight @ model.embedding.weight[word], torch.zeros(3).double()]) + read
        total = sum((h for _, h in children), torch.zeros(3).double())
        gates = split(read[:9] + model.state.weight @ total, ["u", "i", "o"])
        return cell(gates, [c for c, _ in children], [read[9:] + model.forget.weight @ h for _, h in children])

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda state: state[1])


@pytest.mark.parametrize("output_gate", [True, False])
@pytest.mark.parametrize("leaf", ["gated", "linear"])
def test_n_ary_equals_the_equations(output_gate, leaf):
    model = shaken(
        TreeLSTM(FAMILY.spec, embedding_dim=4, hidden_dim=3, output_gate=output_gate, leaf=leaf, biases="two")
    )
    names = ["u", "i", *["o"] * output_gate]
    of_all = [*names, "f1", "f2"]

    def state(word, children):
        bias = split(model.bias.sum(0), of_all)
        if word is None:
            sums = split(model.state.weight @ torch.cat([h for _, h in children]) + model.bias.sum(0), of_all)
            return cell(sums, [c for c, _ in children], [sums["f1"], sums["f2"]])
        x = model.embedding.weight[word]
        if leaf == "linear":
            c = model.leaf_cell(x)
            return c, (model.leaf_output(x).sigmoid() if output_gate else 1) * c.tanh()
        return cell({name: part + bias[name] for name, part in split(model.word.weight @ x, names).items()}, [], [])

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda state: state[1])


def test_n_ary_with_words_inside_and_missing_children():
    spec = replace(DEPENDENCIES, arity=3)
    model = shaken(TreeLSTM(spec, embedding_dim=4, hidden_dim=3, composition="n_ary"))
    names, nothing = ["u", "i", "o", "f1", "f2", "f3"], torch.zeros(3).double()

    def state(word, children):
        children = [*children, *[(nothing, nothing)] * (3 - len(children))]
        sums = model.word.weight @ model.embedding.weight[word] + model.bias[0]
        sums = split(sums + model.state.weight @ torch.cat([h for _, h in children]), names)
        return cell(sums, [c for c, _ in children], [sums["f1"], sums["f2"], sums["f3"]])

    assert_equals_the_definition(model, dependency_batch(arity=3), state, lambda state: state[1])


def test_over_a_chain_it_is_the_lstm():
    """Each word below the next one, as data.trees=left builds it of dependencies: torch's LSTM from left to right."""
    words = 6
    parent = [*range(1, words), -1]
    ids = np.random.default_rng(0).integers(1, 30, words)
    batch = TreeBatch(Trees.of(parent, [words], range(words), ids, [words]), torch.arange(1), None, None)
    model = shaken(TreeLSTM(DEPENDENCIES, embedding_dim=4, hidden_dim=3, biases="two"))
    lstm = torch.nn.LSTM(4, 3).double()
    u, i, o, f = model.word.weight.split(3)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(torch.cat([i, f, u, o]))
        u, i, o = model.state.weight.split(3)
        lstm.weight_hh_l0.copy_(torch.cat([i, model.forget.weight, u, o]))
        for biases, found in zip((lstm.bias_ih_l0, lstm.bias_hh_l0), model.bias, strict=True):
            u, i, o, f = found.split(3)
            biases.copy_(torch.cat([i, f, u, o]))
    states, _ = lstm(model.embedding.weight[torch.from_numpy(ids)])
    torch.testing.assert_close(model(batch).logits, model.head.classifier(states), rtol=1e-12, atol=1e-12)


def test_the_trees_choose_the_composition():
    assert TreeLSTM(FAMILY.spec).n_ary
    assert not TreeLSTM(DEPENDENCIES).n_ary
    assert not TreeLSTM(FAMILY.spec, composition="child_sum").n_ary


@pytest.mark.parametrize("composition", ["n_ary", "child_sum"])
def test_a_chain_of_five_hundred_words(composition):
    """No recursion limit, and the last word still counts at the root where nothing is forgotten."""
    words, inner = 501, 500
    # node k is inner and joins leaf 500 + k with inner node k + 1
    parent = [-1, *range(inner - 1), *range(inner), inner - 1]
    word = [-1] * inner + list(range(words))
    trees = Trees.of(parent, [len(parent)], word, np.full(words, 3), [words])
    model = TreeLSTM(FAMILY.spec, embedding_dim=4, hidden_dim=3, composition=composition).double().eval()
    model.bias.data[:, -3 * (2 if composition == "n_ary" else 1) :] = 30.0  # all forget gates open
    x = model.embedding.weight
    logits = model(TreeBatch(trees, torch.arange(1), None, None)).logits
    assert logits.isfinite().all() and len(logits) == words + inner
    (gradient,) = torch.autograd.grad(logits[trees.forest.root].sum(), x)
    assert gradient[3].isfinite().all() and gradient[3].any()
