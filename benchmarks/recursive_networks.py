"""The whole training steps of the other networks over trees, relative to their products and to one node at a time.

Run: python -m benchmarks.recursive_networks

Step: forward, loss, backward and AdaGrad as in each paper's experiment, on 25 trees as large and as deep as those of
the Stanford Sentiment Treebank. Floor: the products of all heights and of the classifier alone, forward and backward,
as torch's linear layers and bmm compute them. The sizes are the papers': 25 numbers per node, and 168 for the
dependency Tree-LSTM over fixed words of 300.
"""

import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.timing import options, paired, prepare, ratio, write
from benchmarks.tree_lstm import (
    TREES,
    VOCABULARY,
    WORDS,
    Call,
    alone,
    drawn_words,
    labelled,
    largest_difference,
    lengths_of_sentences,
    linears,
    parse,
    sentiment_batch,
    training_step,
)
from benchmarks.trees_straightforward import NodeByNode
from zoo.data.trees.batch import LabelledTreeSpec, TreeBatch, Trees
from zoo.models import MVRNN, RNTN, Recursive, TreeLSTM
from zoo.tasks.tree_classification import total_loss

HIDDEN, OF_DEPENDENCIES = 25, 168


def dependency_batch(seed: int) -> TreeBatch:
    """The parses as dependencies: the word of one of two children, drawn at random, is the head of the other's."""
    draw = np.random.default_rng(seed)
    lengths = lengths_of_sentences(draw)
    heads = [dependencies(parse(int(words), draw), draw) for words in lengths]
    words = np.concatenate([np.arange(length) for length in lengths])
    trees = Trees.of(np.concatenate(heads), lengths, words, drawn_words(lengths.sum(), draw), lengths)
    return labelled(trees, draw)


def dependencies(parent: list[int], draw: np.random.Generator) -> list[int]:
    """The head of each word of a binary tree that is numbered from the top, -1 of one."""
    below: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent):
        if above >= 0:
            below[above].append(node)
    number = {leaf: word for word, leaf in enumerate(node for node, children in enumerate(below) if not children)}
    head, found = [-1] * len(parent), [-1] * len(number)
    for node in reversed(range(len(parent))):
        if below[node]:
            over, under = below[node] if draw.random() < 0.5 else reversed(below[node])
            head[node] = head[over]
            found[head[under]] = head[over]
        else:
            head[node] = number[node]
    return found


class Network(NamedTuple):
    """One to be measured."""

    model: nn.Module
    batch: TreeBatch
    floor: Callable[[], None]
    groups: dict[str, Any] | None = None
    """Parameter groups of the optimiser."""


def networks(seed: int) -> dict[str, Network]:
    """All of them, by their names in the catalogue."""
    binary = LabelledTreeSpec(VOCABULARY, arity=2, binary=True, words_inside=False, classes=tuple("01234"))
    batch, words = sentiment_batch(seed), {"embedding": {"weight_decay": 0.0, "row_decay": 1e-4}}
    found = {}
    for name, network, products in (
        ("recursive", Recursive, _of_recursive),
        ("mv_rnn", MVRNN, _of_mv_rnn),
        ("rntn", RNTN, _of_rntn),
    ):
        torch.manual_seed(0)
        model: Any = network(binary, hidden_dim=HIDDEN)
        calls = [call for rows in batch.trees.forest.sizes[1:] for call in products(rows)]
        classifier = linears([(model.head.classifier, len(batch.trees.forest), True)])
        found[name] = Network(model, batch, alone([*calls, *classifier]), words)
    return found | {"tree_lstm, dependencies": _dependency_network(seed)}


def _drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, requires_grad=True)


def _of_recursive(rows: int) -> list[Call]:
    return [(torch.matmul, (_drawn(rows, 2 * HIDDEN), _drawn(2 * HIDDEN, HIDDEN)))]


def _of_rntn(rows: int) -> list[Call]:
    width = 2 * HIDDEN
    return [
        (torch.matmul, (_drawn(rows, width), _drawn(width, HIDDEN * width + HIDDEN))),
        (torch.bmm, (_drawn(rows, HIDDEN, width), _drawn(rows, width, 1))),
    ]


def _of_mv_rnn(rows: int) -> list[Call]:
    return [
        (torch.matmul, (_drawn(rows, 2 * HIDDEN), _drawn(2 * HIDDEN, HIDDEN))),
        (torch.matmul, (_drawn(rows * HIDDEN, 2 * HIDDEN), _drawn(2 * HIDDEN, HIDDEN))),
        (torch.bmm, (_drawn(2 * rows, HIDDEN, HIDDEN), _drawn(2 * rows, HIDDEN, 1))),
    ]


def _dependency_network(seed: int) -> Network:
    batch = dependency_batch(seed)
    forest = batch.trees.forest
    spec = LabelledTreeSpec(VOCABULARY, arity=forest.arity, binary=False, words_inside=True, classes=tuple("01234"))
    torch.manual_seed(0)
    model: Any = TreeLSTM(spec, embedding_dim=WORDS, hidden_dim=OF_DEPENDENCIES, dropout=0.5)
    model.embedding.weight.requires_grad_(False)
    sums = [(model.state, rows, True) for rows in forest.sizes[1:]]
    forgotten = [(model.forget, rows, True) for rows in forest.fans[1:]]
    once = [(model.word, len(forest), False), (model.head.classifier, len(forest), True)]
    return Network(model, batch, alone(linears([*once, *sums, *forgotten])))


def measure(network: Network, rounds: int) -> dict[str, Any]:
    """Ratios on one batch."""
    model, batch = network.model, network.batch
    difference = largest_difference(model, batch)
    if difference > 1e-4:
        raise AssertionError(f"the two ways to write it give different gradients: {difference}")
    step = training_step(model, lambda: total_loss(model(batch).logits, batch) / TREES, network.groups)
    slow = training_step(model, lambda: NodeByNode(model).loss(batch), network.groups)
    fast = paired({"step": step, "floor": network.floor}, rounds=rounds)
    both = paired({"step": step, "nodes": slow}, rounds=max(4, rounds // 8), warmup=1)
    return {
        "step_by_floor": ratio(fast, "step", "floor"),
        "node_by_node_by_step": ratio(both, "nodes", "step"),
        "trees_per_second": round(TREES / statistics.median(fast["step"]), 1),
        "largest_gradient_difference": difference,
    }


def main() -> None:
    """Measure on several batches, print and write the result."""
    arguments = options(__doc__, rounds=60, threads=1, examples="trees")
    environment = prepare(arguments.threads)
    found: dict[str, Any] = {}
    for seed in range(arguments.batches):
        for name, network in networks(seed).items():
            found.setdefault(name, []).append(measure(network, arguments.rounds))
            print(name, found[name][-1], flush=True)
    medians = {
        name: {
            key: statistics.median([batch[key][1] for batch in batches])
            for key in ("step_by_floor", "node_by_node_by_step")
        }
        for name, batches in found.items()
    }
    print(f"medians of the batches: {medians}")
    write(
        "recursive_networks",
        {"environment": environment, "rounds": arguments.rounds, **medians, "batches": found},
    )


if __name__ == "__main__":
    main()
