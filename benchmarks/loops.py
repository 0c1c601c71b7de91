"""Each hand-derived backward pass against the readable step that defines it. Run: python -m benchmarks.loops

`step`: the readable step under autograd, one call per time step or per height of the trees. `compiled`: the same with
`torch.compile` on the step. `loop`: the function of `zoo/layers/loops` that the network uses. All three compute forward
and backward of the same numbers. Times are of the processor, since other programs may run on the machine. All rows of a
batch have one length, so that a compiled step is compiled once. With `--only NAME ...` the results of other loops stay.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks import ntm, show_attend_tell
from benchmarks.recursive_networks import dependency_batch
from benchmarks.timing import RESULTS, paired, prepare, ratio, write
from benchmarks.tree_lstm import sentiment_batch
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.loops.climb import Product, climb
from zoo.layers.loops.tree_lstm import ChildSumTreeLSTM, tree_lstm
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM
from zoo.layers.trees.forest import Forest
from zoo.layers.walk import walk
from zoo.models import DNC, Luong, RNNSearch
from zoo.models.pointer_generator import PointerGenerator

ROWS, STEPS, HIDDEN, VOCABULARY = 32, 20, 128, 500
Ways = dict[str, Callable[[], Any]]
"""The ways to compute one thing, by name; each returns a tensor or tensors that have a gradient."""


def packed(layer: Any) -> Ways:
    """GRU or LSTM over rows of one length."""
    packing, x = Packing.of(torch.ones(ROWS, STEPS, dtype=torch.bool)), torch.randn(ROWS * STEPS, HIDDEN)

    def by(step: Callable[..., Any]) -> list[Tensor]:
        zeros = torch.zeros(1, ROWS, HIDDEN)
        state: Any = zeros if isinstance(layer, GRU) else (zeros, zeros)
        outputs = []
        for x_t in x.split(packing.batch_sizes):
            output, state = step(x_t, state)
            outputs.append(output)
        return outputs

    compiled = torch.compile(layer.step)
    return {"step": lambda: by(layer.step), "compiled": lambda: by(compiled), "loop": lambda: layer(x, packing)[0]}


def memory(network: DNC) -> Ways:
    """DNC on copies."""
    batch = ntm.copies(0, 16)

    def by(step: Callable[..., Any]) -> list[Tensor]:
        state, outputs = network.start(len(batch)), []
        for x_t in batch.inputs.unbind(1):
            logits, state, *_ = step(x_t, state)
            outputs.append(logits)
        return outputs

    compiled = torch.compile(network.step)
    return {"step": lambda: by(network.step), "compiled": lambda: by(compiled), "loop": lambda: network(batch).logits}


def decoder(model: Any, batch: Any) -> Ways:
    """A decoder that attends, its encoder included."""
    read, _, packing = batch.forced

    def by(step: Callable[..., Any]) -> Tensor:
        return walk(step, model.start(batch), read, packing, need_weights=False)[0]

    compiled = torch.compile(model.step)
    loop = lambda: model(batch, need_weights=False).logits.log_softmax(-1)  # noqa: E731
    return {"step": lambda: by(model.step), "compiled": lambda: by(compiled), "loop": loop}


def sentences() -> PairBatch:
    """Pairs of sentences of one length."""
    ids, mask = torch.randint(4, VOCABULARY, (2, ROWS, STEPS)), torch.ones(ROWS, STEPS, dtype=torch.bool)
    return PairBatch(ids[0], mask, target=ids[1], target_mask=mask)


def summaries() -> CopyBatch:
    """Sources and summaries of one length, as long as in See et al. 2017."""
    source, target = torch.randint(4, VOCABULARY, (16, 400)), torch.randint(4, VOCABULARY, (16, 100))
    masks = {"source_mask": torch.ones_like(source).bool(), "target_mask": torch.ones_like(target).bool()}
    return CopyBatch(source=source, target=target, **masks)


COPIES = CopySpec(vocabulary_size=VOCABULARY, longest_source=400, longest_target=100)
PAIRS = PairSpec(VOCABULARY, VOCABULARY, STEPS, STEPS)


def heights(forest: Forest, leaves: Tensor, compose: Callable[..., Tensor], *tables: Tensor) -> Tensor:
    """States of all nodes, one height after another. `compose` reads the states of the children (edges, D), the parent
    of each (edges,), counted within the height, and the rows of the `tables` for the height."""
    states = leaves
    for nodes, edges in forest.levels():
        parents = forest.parent[edges] - nodes.start
        states = torch.cat([states, compose(states[forest.child[edges]], parents, *(part[nodes] for part in tables))])
    return states


def n_ary() -> Ways:
    """The N-ary Tree-LSTM over binary trees."""
    forest, hidden = sentiment_batch(0).trees.forest, HIDDEN
    weight = nn.Parameter(torch.randn(5 * hidden, 2 * hidden) / hidden)
    leaves, table = torch.randn(forest.leaves, 2 * hidden, requires_grad=True), torch.zeros(1, 5 * hidden)

    def compose(below: Tensor, parents: Tensor) -> Tensor:
        h, c = below.view(-1, 2, 2, hidden).unbind(2)  # (m, 2, H)
        u, i, o, f, g = (table + h.flatten(1) @ weight.T).chunk(5, 1)
        new = i.sigmoid() * u.tanh() + f.sigmoid() * c[:, 0] + g.sigmoid() * c[:, 1]
        return torch.cat([o.sigmoid() * new.tanh(), new], 1)

    compiled, at = torch.compile(compose, dynamic=True), torch.arange(forest.leaves)
    h, c = leaves.split(hidden, 1)
    return {
        "step": lambda: heights(forest, leaves, compose)[:, :hidden],
        "compiled": lambda: heights(forest, leaves, compiled)[:, :hidden],
        "loop": lambda: tree_lstm(forest, (h, c), at, table, weight),
    }


def child_sum() -> Ways:
    """The Child-Sum Tree-LSTM over dependencies."""
    forest, hidden = dependency_batch(0).trees.forest, HIDDEN
    weight, of_child = nn.Parameter(torch.randn(3 * hidden, hidden) / 9), nn.Parameter(torch.randn(hidden, hidden) / 9)
    table, forget = torch.randn(len(forest), 3 * hidden, requires_grad=True), torch.zeros(1, hidden)

    def node(sums: Tensor, kept: Tensor) -> Tensor:
        u, i, o = sums.chunk(3, 1)
        c = i.sigmoid() * u.tanh() + kept
        return torch.cat([o.sigmoid() * c.tanh(), c], 1)

    def compose(below: Tensor, parents: Tensor, sums: Tensor) -> Tensor:
        h, c = below.chunk(2, 1)
        kept = (forget + h @ of_child.T).sigmoid() * c
        zeros = h.new_zeros(len(sums), hidden)
        return node(sums + zeros.index_add(0, parents, h) @ weight.T, zeros.index_add(0, parents, kept))

    def by(step: Callable[..., Tensor]) -> Tensor:
        leaves = node(table[: forest.leaves], table.new_zeros(()))
        return heights(forest, leaves, step, table)[:, :hidden]

    compiled = torch.compile(compose, dynamic=True)
    loop = lambda: ChildSumTreeLSTM(forest)(table, weight, forget, of_child)  # noqa: E731
    return {"step": lambda: by(compose), "compiled": lambda: by(compiled), "loop": loop}


def climbing() -> Ways:
    """A recursive network over binary trees."""
    forest, layer = sentiment_batch(0).trees.forest, nn.Linear(2 * HIDDEN, HIDDEN)
    leaves = torch.randn(forest.leaves, HIDDEN, requires_grad=True)

    def compose(below: Tensor, parents: Tensor) -> Tensor:
        return layer(below.view(-1, 2 * HIDDEN)).tanh()

    def loop() -> Tensor:
        product = Product(layer.weight)
        return climb(forest, leaves, lambda children: (product(children.flatten(1)) + layer.bias).tanh())

    compiled = torch.compile(compose, dynamic=True)
    return {
        "step": lambda: heights(forest, leaves, compose),
        "compiled": lambda: heights(forest, leaves, compiled),
        "loop": loop,
    }


CASES: dict[str, Callable[[], Ways]] = {
    "gru": lambda: packed(GRU(HIDDEN, HIDDEN)),
    "gru_reset_before": lambda: packed(GRU(HIDDEN, HIDDEN, reset="before", update="new")),
    "lstm": lambda: packed(LSTM(HIDDEN, HIDDEN, kernel="loop")),
    "attention_gru": lambda: decoder(
        RNNSearch(PAIRS, embedding_dim=HIDDEN, hidden_dim=HIDDEN, attention_dim=HIDDEN, maxout_dim=64), sentences()
    ),
    "attention_lstm": lambda: decoder(Luong(PAIRS, embedding_dim=HIDDEN, hidden_dim=HIDDEN, num_layers=1), sentences()),
    "pointer_lstm": lambda: decoder(PointerGenerator(COPIES, copy=False, coverage=True), summaries()),
    "attention_viewer": lambda: decoder(show_attend_tell.network(0.0), show_attend_tell.image_batch(0, 16)),
    "dnc": lambda: memory(DNC(ntm.SPEC)),
    "tree_lstm": n_ary,
    "child_sum": child_sum,
    "climb": climbing,
}


def training(way: Callable[[], Any]) -> Callable[[], None]:
    """Forward and backward."""

    def run() -> None:
        found = way()
        outputs: Iterable[Tensor] = [found] if isinstance(found, Tensor) else found
        torch.stack([output.square().sum() for output in outputs]).sum().backward()

    return run


def measure(name: str, rounds: int) -> dict[str, Any]:
    """The ratios of one loop."""
    torch.manual_seed(0)
    torch.compiler.reset()
    ways = CASES[name]()
    seconds = paired({key: training(way) for key, way in ways.items()}, rounds=rounds, clock=time.process_time)
    return {f"{way}_by_loop": ratio(seconds, way, "loop") for way in ("step", "compiled")}


def main() -> None:
    """Measure, print and write the ratios to results/loops.json."""
    parser = argparse.ArgumentParser(description="Each hand-derived backward pass against its readable step")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    environment, path = prepare(1), RESULTS / "loops.json"
    before: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    loops: dict[str, Any] = before.get("loops", {})
    for name in arguments.only:
        loops[name] = measure(name, arguments.rounds)
        print(name, loops[name], flush=True)
        write("loops", {"environment": environment, "rounds": arguments.rounds, "loops": loops})


if __name__ == "__main__":
    main()
