"""The Tree-LSTM's whole training step by the products that it needs, and by a node after the other. Run:
python -m benchmarks.tree_lstm

Step: forward, loss, backward, AdaGrad, on 25 trees as large and as deep as those of the Stanford Sentiment Treebank,
d = 150, words 300. Floor: the products of all heights alone, forward and backward: that of the words at the leaves, of
the children's states at each height above, and of the classifier, as torch's linear layers do them. Bare floor: the
same products without autograd, the gradient of U by one product for all heights and each distinct word once, as our
step does it.

It is measured with vectors of words that stay as they are, as in the paper on SICK, and that are tuned, as there on
SST: then the floor has the gradient by the words, too, and the step in addition the dense one of the whole vocabulary.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.timing import options, paired, prepare, ratio, write
from benchmarks.trees_straightforward import NodeByNode
from zoo.data.trees.batch import LabelledTreeSpec, TreeBatch, Trees
from zoo.layers.trees.forest import Forest
from zoo.models.tree_lstm import TreeLSTM
from zoo.optimizers.adagrad import Adagrad
from zoo.tasks.tree_classification import total_loss

VOCABULARY, WORDS, HIDDEN, TREES = 19_536, 300, 150, 25
LENGTH, SPREAD, LONGEST = 19.1, 9.3, 52
"""Words of a sentence of SST: their mean, standard deviation and most."""
RIGHT = 0.62
"""How often the right one of two children is the larger one: English branches to the right, and so deeply."""


def parse(words: int, draw: np.random.Generator) -> list[int]:
    """Parents of a binary tree over some words, numbered from the top, about as deep as a sentence of SST."""
    parent: list[int] = []
    waiting = [(words, -1)]
    while waiting:
        size, above = waiting.pop()
        parent.append(above)
        if size > 1:
            smaller = min(1 + int(draw.geometric(0.45) - 1), size - 1)
            left = smaller if draw.random() < RIGHT else size - smaller
            me = len(parent) - 1
            waiting += [(size - left, me), (left, me)]
    return parent


def sentiment_batch(seed: int) -> TreeBatch:
    """Binary trees over words as frequent as in text, with a class at each node."""
    draw = np.random.default_rng(seed)
    lengths = lengths_of_sentences(draw)
    parents = [np.array(parse(int(words), draw)) for words in lengths]
    leaf = [~np.isin(np.arange(len(parent)), parent) for parent in parents]
    word = np.concatenate([np.where(one, one.cumsum() - 1, -1) for one in leaf])
    nodes = [len(parent) for parent in parents]
    return labelled(Trees.of(np.concatenate(parents), nodes, word, drawn_words(lengths.sum(), draw), lengths), draw)


def lengths_of_sentences(draw: np.random.Generator) -> NDArray[np.int64]:
    """Words of each of the sentences of a batch."""
    shape, scale = (LENGTH / SPREAD) ** 2, SPREAD**2 / LENGTH
    return np.clip(np.rint(draw.gamma(shape, scale, TREES)), 2, LONGEST).astype(np.int64)


def drawn_words(count: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Ids, as frequent as words are in text."""
    frequency = (np.arange(VOCABULARY - 2) + 2.7) ** -1.15
    return 2 + draw.choice(VOCABULARY - 2, int(count), p=frequency / frequency.sum())


def labelled(trees: Trees, draw: np.random.Generator) -> TreeBatch:
    """With a class at each node."""
    return TreeBatch(trees, torch.arange(TREES), trees.in_forest(draw.integers(0, 5, len(trees.forest))), None)


def network(*, tuned: bool) -> TreeLSTM:
    """The constituency network of the paper."""
    spec = LabelledTreeSpec(VOCABULARY, arity=2, binary=True, words_inside=False, classes=tuple("01234"))
    torch.manual_seed(0)
    model = TreeLSTM(spec, embedding_dim=WORDS, hidden_dim=HIDDEN, dropout=0.5)
    model.embedding.weight.requires_grad_(tuned)
    return model


def training_step(
    model: nn.Module, loss: Callable[[], Tensor], groups: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Forward, loss, backward and AdaGrad."""
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    optimizer = Adagrad(named, lr=0.05, weight_decay=1e-4, groups=groups)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    return step


def floor_step(model: TreeLSTM, batch: TreeBatch) -> Callable[[], None]:
    """The products of all heights, each forward and backward, by the words where these are tuned."""
    assert model.word is not None
    forest, tuned = batch.trees.forest, model.embedding.weight.requires_grad
    layers = [(model.word, forest.leaves, tuned), *((model.state, rows, True) for rows in forest.sizes[1:])]
    return alone([*linears(layers), *linears([(model.head.classifier, len(forest), True)])])  # type: ignore[union-attr, list-item]


Call = tuple[Callable[..., Tensor], tuple[Tensor, ...]]
"""A product and its operands."""


def linears(layers: Iterable[tuple[nn.Linear, int, bool]]) -> list[Call]:
    """The products of layers with given numbers of rows, and whether each input needs a gradient.

    A layer that occurs more than once has one weight.
    """
    weights: dict[int, Tensor] = {}
    found: list[Call] = []
    for layer, rows, wanted in layers:
        weight = weights.setdefault(id(layer), layer.weight.detach().clone().requires_grad_())
        found.append((F.linear, (torch.randn(rows, layer.in_features, requires_grad=wanted), weight)))
    return found


def alone(calls: Sequence[Call]) -> Callable[[], None]:
    """All of these products, forward and backward, and nothing else."""
    with torch.no_grad():
        back = [torch.randn_like(product(*given)) for product, given in calls]

    def step() -> None:
        for _, given in calls:
            for part in given:
                part.grad = None
        torch.autograd.backward([product(*given) for product, given in calls], back)

    return step


def bare_step(model: TreeLSTM, batch: TreeBatch) -> Callable[[], None]:
    """The products that our step does."""
    assert model.word is not None
    forest: Forest = batch.trees.forest
    distinct, inner = len(batch.trees.distinct), len(forest) - forest.leaves
    once, gates = model.word.out_features, model.state.out_features
    w, u = model.word.weight.detach(), model.state.weight.detach()
    classify = model.head.classifier.weight.detach()  # type: ignore[union-attr]
    x, d_x = torch.randn(distinct, WORDS), torch.randn(distinct, once)
    below, d_gates = torch.randn(inner, 2 * HIDDEN), torch.randn(inner, gates)
    h, d_logits = torch.randn(len(forest), HIDDEN), torch.randn(len(forest), 5)
    heights = list(zip(below.split(forest.sizes[1:]), d_gates.split(forest.sizes[1:]), strict=True))

    def step() -> None:
        x @ w.T
        for below_t, _ in heights:
            below_t @ u.T
        h @ classify.T
        d_logits @ classify
        d_logits.T @ h
        for _, d_gates_t in reversed(heights):
            d_gates_t @ u
        d_gates.T @ below
        d_x.T @ x

    return step


def largest_difference(model: nn.Module, batch: TreeBatch) -> float:
    """Largest difference of the gradients of both implementations, relative to the largest gradient."""
    model.eval()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    losses = total_loss(model(batch).logits, batch) / len(batch), NodeByNode(model).loss(batch)
    one, other = (torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)]) for loss in losses)
    model.train()
    return float((one - other).abs().max() / other.abs().max())


def measure(seed: int, rounds: int) -> dict[str, Any]:
    """Ratios on one batch."""
    batch, model = sentiment_batch(seed), network(tuned=False)
    difference = largest_difference(model, batch)
    if difference > 1e-4:
        raise AssertionError(f"the two ways to write it give different gradients: {difference}")
    tuned = network(tuned=True)
    groups = {"embedding": {"lr": 0.1, "plain": True, "weight_decay": 0.0}}
    steps = {
        "step": training_step(model, lambda: total_loss(model(batch).logits, batch) / TREES),
        "tuned": training_step(tuned, lambda: total_loss(tuned(batch).logits, batch) / TREES, groups),
        "floor": floor_step(model, batch),
        "tuned_floor": floor_step(tuned, batch),
        "bare": bare_step(model, batch),
    }
    seconds = paired(steps, rounds=rounds)
    node_by_node = training_step(model, lambda: NodeByNode(model).loss(batch))
    slow = paired({"step": steps["step"], "nodes": node_by_node}, rounds=max(4, rounds // 8), warmup=1)
    return {
        "shape": {
            "nodes": len(batch.trees.forest),
            "heights": len(batch.trees.forest.sizes),
            "distinct_words": len(batch.trees.distinct),
        },
        "step_by_floor": ratio(seconds, "step", "floor"),
        "step_by_bare_floor": ratio(seconds, "step", "bare"),
        "tuned_step_by_floor": ratio(seconds, "tuned", "tuned_floor"),
        "node_by_node_by_step": ratio(slow, "nodes", "step"),
        "trees_per_second": round(TREES / statistics.median(seconds["step"]), 1),
        "largest_gradient_difference": difference,
    }


def linear(rounds: int) -> dict[str, Any]:
    """The cost of four times the trees, and of trees four times as deep, as chains."""

    def chains(count: int, words: int) -> TreeBatch:
        inner = words - 1
        parent = [-1, *range(inner - 1), *range(inner), inner - 1]
        word = [-1] * inner + list(range(words))
        ids = np.random.default_rng(0).integers(2, 200, count * words)
        trees = Trees.of(parent * count, [len(parent)] * count, word * count, ids, [words] * count)
        return TreeBatch(trees, torch.arange(count), torch.zeros(len(trees.forest), dtype=torch.long), None)

    model = network(tuned=False)

    def step(batch: TreeBatch) -> Callable[[], None]:
        return training_step(model, lambda: total_loss(model(batch).logits, batch))

    steps = {"chains": step(chains(8, 100)), "deeper": step(chains(8, 400)), "more": step(chains(32, 100))}
    seconds = paired(steps, rounds=rounds)
    return {
        "four_times_as_deep": ratio(seconds, "deeper", "chains"),
        "four_times_as_many": ratio(seconds, "more", "chains"),
    }


def main() -> None:
    """Measure on several batches, print and write the result."""
    arguments = options(__doc__, rounds=60, threads=1, examples="trees")
    environment = prepare(arguments.threads)
    batches = []
    for seed in range(arguments.batches):
        batches.append(measure(seed, arguments.rounds))
        print(batches[-1], flush=True)
    found = {
        name: statistics.median([batch[name][1] for batch in batches])
        for name in ("step_by_floor", "tuned_step_by_floor", "step_by_bare_floor", "node_by_node_by_step")
    }
    cost = linear(max(4, arguments.rounds // 10))
    print(f"medians of the batches: {found} (bars 1.3, 1.3, -, 10); nodes: {cost}")
    write(
        "tree_lstm", {"environment": environment, "rounds": arguments.rounds, **found, "cost": cost, "batches": batches}
    )


if __name__ == "__main__":
    main()
