"""Networks over trees as their papers define them, by a function that calls itself, one node at a time; their heads."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch

from tests.families.relatedness import FAMILY as PAIRS
from tests.families.tree_classification import FAMILY
from tests.families.trees import random_trees
from tests.models.equations import assert_equal, assert_same_gradients
from zoo.data.trees.batch import LabelledTreeSpec, TreeBatch, Trees
from zoo.errors import ConfigError
from zoo.layers.trees.head import NodeClassifier, Similarity
from zoo.models import MVRNN, RNTN, PhraseMean, Recursive, TreeLSTM
from zoo.models.tree_network import tree_head

DEPENDENCIES = LabelledTreeSpec(30, arity=7, binary=False, words_inside=True, classes=("a", "b", "c"))
BATCH, NOTHING = FAMILY.batch(1), torch.zeros(3).double()


def shaken(cls, spec=FAMILY.spec, **settings):
    """A network in double precision, every parameter random, biases too, and nothing dropped."""
    model, generator = cls(spec, **settings).double().eval(), torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.5, generator=generator)
    model.embedding.weight.data[0] = 0
    return model


def batch_of(parent, word, ids):
    """A batch of one tree."""
    trees = Trees.of(parent, [len(parent)], word, np.asarray(ids), [len(ids)])
    return TreeBatch(trees, torch.arange(1), None, None)


def dependencies(arity=7):
    """Trees with a word at each node: a chain, a star, a single word, none, and random ones."""
    draw = np.random.default_rng(1)
    trees = [[-1, *range(5)], [-1, *[0] * arity], [-1], []]
    trees += [[-1, *(int(draw.integers(max(0, k - 2), k)) for k in range(1, size))] for size in (4, 11)]
    words, lengths = [list(range(len(tree))) for tree in trees], [len(tree) for tree in trees]
    ids = draw.integers(1, 30, sum(lengths))
    built = Trees.of([*chain(*trees)], lengths, [*chain(*words)], ids, lengths)
    return TreeBatch(built, torch.arange(len(trees)), torch.zeros(len(ids), dtype=torch.long), None)


def recursively(trees, state):
    """The state of every node of every tree, one tree after the other; `state` takes the id of a node's word, or None,
    and the states of its children."""
    found = []
    for (parent, word), ids in zip(trees.plain(), trees.ids(), strict=True):
        states = {}

        def visit(node, parent=parent, word=word, ids=ids, states=states):
            below = [visit(child) for child, above in enumerate(parent) if above == node]
            states[node] = state(ids[word[node]] if word[node] >= 0 else None, below)
            return states[node]

        if parent:
            visit(parent.index(-1))
        found += [states[node] for node in range(len(parent))]
    return found


def words_below(word, below):
    """The state of a node that is the words under it."""
    return [word] if word is not None else [*chain(*below)]


def assert_equals_the_definition(model, batch, state, of=lambda state: state):
    """The scores of all nodes and the gradients of all parameters; `of` takes the classified vector out of a state."""
    expected = model.head.classifier(torch.stack([of(one) for one in recursively(batch.trees, state)]))
    found = model(batch).logits[batch.trees.forest.cells.cell.argsort()]
    assert_equal(found, expected)
    weights = torch.randn(expected.shape, dtype=expected.dtype, generator=torch.Generator().manual_seed(3))
    assert_same_gradients(model, (found * weights).sum(), (expected * weights).sum())


@pytest.mark.parametrize("activation", ["tanh", "identity"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_recursive_network(activation, quadratic):
    model = shaken(Recursive, hidden_dim=4, activation=activation, quadratic=quadratic)

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word]
        v = torch.cat(children)
        total = model.composition.weight @ v + model.composition.bias
        if quadratic:
            q, r = model.forms.weight.split(4)
            total = total + (q @ v) * (r @ v)
        return total.tanh() if activation == "tanh" else total

    assert_equals_the_definition(model, BATCH, state)


def test_rntn():
    model = shaken(RNTN, hidden_dim=3)

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word].tanh()
        v = torch.cat(children)
        forms = torch.stack([v @ model.tensor[i] @ v for i in range(3)])
        return (forms + model.composition.weight @ v + model.composition.bias).tanh()

    assert_equals_the_definition(model, BATCH, state)


@pytest.mark.parametrize("rank", [2, None])
def test_mv_rnn(rank):
    model = shaken(MVRNN, hidden_dim=3, rank=rank, matrices=12)

    def matrix(word):
        row = 0 if word > model.last else word - 1
        if rank is None:
            return model.matrix.weight[row].view(3, 3)
        u, v = model.factors.weight[row].view(2, 3, rank)
        return u @ v.T + torch.diag(model.diagonal.weight[row])

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word], matrix(word)
        (a, A), (b, B) = children
        p = (model.composition.weight @ torch.cat([B @ a, A @ b]) + model.composition.bias).tanh()
        return p, model.of_matrices.weight @ torch.cat([A, B])

    assert_equals_the_definition(model, BATCH, state, lambda h: h[0])


def test_rare_words_share_the_matrix_of_the_unknown_word():
    model = MVRNN(FAMILY.spec, hidden_dim=3, matrices=4)
    rows = model._matrices(torch.tensor([1, 2, 5, 6, 29]))
    assert len(model.diagonal.weight) == 5  # of the ids 1 to 5
    assert torch.equal(rows[0], rows[3]) and torch.equal(rows[0], rows[4])
    assert len({tuple(row.flatten().tolist()) for row in rows[:3]}) == 3


@pytest.mark.parametrize(("network", "name"), [(Recursive, "recursive"), (MVRNN, "mv_rnn"), (RNTN, "rntn")])
def test_trees_that_are_not_binary_are_refused(network, name):
    for changes, message in (
        ({"arity": 3, "words_inside": False}, rf"model={name} .* up to 3 children.*data.trees=binarised"),
        ({"arity": 2}, r"words at nodes that have children: use data\.parse=constituency with"),
        ({"arity": 2, "words_inside": False}, r"nodes with one child: use data\.trees=binarised, or"),
    ):
        with pytest.raises(ConfigError, match=message):
            network(replace(DEPENDENCIES, **changes))


# Tree-LSTMs


def split(rows, names):
    return dict(zip(names, rows.split([3] * len(names)), strict=True))


def cell(gates, memories, forgotten):
    """c and h of a node by its gates before their bends, and the c of its children, each by its own forget gate."""
    c = gates["i"].sigmoid() * gates["u"].tanh()
    for memory, forget in zip(memories, forgotten, strict=True):
        c = c + forget.sigmoid() * memory
    return c, (gates["o"].sigmoid() if "o" in gates else 1) * c.tanh()


CHILD_SUM = [
    (DEPENDENCIES, {"output_gate": gate, "biases": biases}) for gate in (True, False) for biases in ("one", "two")
]
CHILD_SUM += [(FAMILY.spec, {"composition": "child_sum"})]  # inner nodes of binary trees have only the biases


@pytest.mark.parametrize(("spec", "options"), CHILD_SUM, ids=str)
def test_child_sum_tree_lstm(spec, options):
    model = shaken(TreeLSTM, spec, embedding_dim=4, hidden_dim=3, **options)
    names = ["u", "i", *["o"] * options.get("output_gate", True)]
    assert len(model.bias) == {"one": 1, "two": 2}[options.get("biases", "one")]

    def state(word, children):
        read = model.bias.sum(0)
        if word is not None:
            x = model.word.weight @ model.embedding.weight[word]
            read = read + torch.cat([x, read.new_zeros(len(read) - len(x))])
        total = sum((h for _, h in children), NOTHING)
        gates = split(read[: 3 * len(names)] + model.state.weight @ total, names)
        forgotten = [read[3 * len(names) :] + model.forget.weight @ h for _, h in children]
        return cell(gates, [c for c, _ in children], forgotten)

    batch = dependencies() if spec is DEPENDENCIES else BATCH
    assert_equals_the_definition(model, batch, state, lambda state: state[1])


@pytest.mark.parametrize("output_gate", [True, False])
@pytest.mark.parametrize("leaf", ["gated", "linear"])
def test_n_ary_tree_lstm(output_gate, leaf):
    model = shaken(TreeLSTM, embedding_dim=4, hidden_dim=3, output_gate=output_gate, leaf=leaf, biases="two")
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

    assert_equals_the_definition(model, BATCH, state, lambda state: state[1])


def test_n_ary_tree_lstm_with_words_inside_and_missing_children():
    model = shaken(TreeLSTM, replace(DEPENDENCIES, arity=3), embedding_dim=4, hidden_dim=3, composition="n_ary")

    def state(word, children):
        children = [*children, *[(NOTHING, NOTHING)] * (3 - len(children))]
        sums = model.word.weight @ model.embedding.weight[word] + model.bias[0]
        sums = sums + model.state.weight @ torch.cat([h for _, h in children])
        gates = split(sums, ["u", "i", "o", "f1", "f2", "f3"])
        return cell(gates, [c for c, _ in children], [gates["f1"], gates["f2"], gates["f3"]])

    assert_equals_the_definition(model, dependencies(arity=3), state, lambda state: state[1])


def test_over_a_chain_a_tree_lstm_is_the_lstm():
    """Each word below the next one, as data.trees=left builds it of dependencies: torch's LSTM from left to right."""
    ids = np.random.default_rng(0).integers(1, 30, 6)
    model = shaken(TreeLSTM, DEPENDENCIES, embedding_dim=4, hidden_dim=3, biases="two")
    lstm = torch.nn.LSTM(4, 3).double()
    u, i, o = model.state.weight.split(3)
    theirs = {lstm.weight_ih_l0: model.word.weight, lstm.weight_hh_l0: torch.cat([u, i, o, model.forget.weight])}
    theirs |= dict(zip((lstm.bias_ih_l0, lstm.bias_hh_l0), model.bias, strict=True))
    with torch.no_grad():
        for parameter, ours in theirs.items():
            u, i, o, f = ours.split(3)
            parameter.copy_(torch.cat([i, f, u, o]))
    states, _ = lstm(model.embedding.weight[torch.from_numpy(ids)])
    found = model(batch_of([*range(1, 6), -1], range(6), ids)).logits
    assert_equal(found, model.head.classifier(states))


@pytest.mark.parametrize("composition", ["n_ary", "child_sum"])
def test_a_chain_of_five_hundred_words(composition):
    """No recursion limit, and the last word still counts at the root where nothing is forgotten."""
    words, inner = 501, 500
    # node k is inner and joins leaf 500 + k with inner node k + 1
    parent = [-1, *range(inner - 1), *range(inner), inner - 1]
    batch = batch_of(parent, [-1] * inner + list(range(words)), [3] * words)
    model = TreeLSTM(FAMILY.spec, embedding_dim=4, hidden_dim=3, composition=composition).double().eval()
    model.bias.data[:, -3 * (2 if composition == "n_ary" else 1) :] = 30.0  # all forget gates open
    logits = model(batch).logits
    assert logits.isfinite().all() and len(logits) == words + inner
    (gradient,) = torch.autograd.grad(logits[batch.trees.forest.root].sum(), model.embedding.weight)
    assert gradient[3].isfinite().all() and gradient[3].any()


# Heads


def head(spec, dropout=0.0):
    torch.manual_seed(0)
    return tree_head(spec, dropout, None, 2, 3).double()


def test_the_score_of_two_trees_by_hand():
    """Equation 15 of Tai et al. for roots (1, -2, 0.5) and (2, 1, 0.5): products 2, -2, 0.25, distances 1, 3, 0."""
    forest, similarity = random_trees([1, 1], 0).forest, head(PAIRS.spec)
    assert isinstance(similarity, Similarity)
    states = torch.tensor([[1.0, -2, 0.5], [2, 1, 0.5]], dtype=torch.double)
    assert torch.equal(similarity(states, forest)[0], similarity(states.flip(0), forest)[0])  # in either order
    with torch.no_grad():
        for parameter in similarity.parameters():
            parameter.zero_()
        similarity.product.weight.copy_(torch.tensor([[1.0, 0, 4], [0, 0, 0]]))  # 2 + 1 = 3
        similarity.product.bias.copy_(torch.tensor([-1.0, 0.5]))
        similarity.distance.weight.copy_(torch.tensor([[0, 1.0, 9], [-0.5, 0, 0]]))  # 3 + 0, and -0.5
        similarity.grade.weight[4].copy_(torch.tensor([1.0, 2]))
        similarity.grade.bias[4] = 0.25
    scores, attention = similarity(states, forest)
    h = torch.tensor([3.0 - 1 + 3, 0.5 - 0.5]).double().sigmoid()
    assert attention == {} and scores.shape == (1, 5) and not scores[0, :4].any()
    assert scores[0, 4].item() == pytest.approx((h[0] + 2 * h[1] + 0.25).item())


@pytest.mark.parametrize("spec", [PAIRS.spec, FAMILY.spec])
def test_states_are_dropped_before_they_are_classified_or_compared(spec):
    forest, model = random_trees([1, 1], 0).forest, head(spec, dropout=1.0).train()
    assert isinstance(model, NodeClassifier if spec is FAMILY.spec else Similarity)
    states = torch.randn(2, 3, dtype=torch.double)
    dropped, nothing = model(states, forest)[0], model(torch.zeros_like(states), forest)[0]
    assert torch.equal(dropped, nothing)
    assert not torch.equal(model.eval()(states, forest)[0], nothing)


@pytest.mark.parametrize(("pooling", "names"), [("root", set()), ("attention", {"node"})])
def test_pooling_by_attention_returns_its_weights(pooling, names):
    assert set(PhraseMean(FAMILY.spec, hidden_dim=3, pooling=pooling)(BATCH).attention) == names
