"""Grid Long Short-Term Memory: the re-encoder, which translates without attention.

Nal Kalchbrenner, Ivo Danihelka, Alex Graves. ICLR 2016. https://arxiv.org/abs/1507.01526

Equations: sections 3.1 and 3.2, a block of three dimensions reads H = [h_1, h_2, h_3] and has an LSTM for each, with
(h'_k, m'_k) = LSTM_k(H, m_k) and h' = tanh(o m'). Depth has priority: its LSTM reads the h' of the other two. A layer
is a plane of blocks, one for each source word i and target word j. The first dimension leads from i - 1 to i, the
second from j - 1 to j, and depth from layer to layer. So the source is read anew for each target word. Even layers scan
the source backwards, and no layer scans the target backwards. Target word j is predicted by a softmax over the h along
depth of the top layer, at the last source cell of its scan.

What differs from the paper:
- How words enter is a working definition. `inputs: depth` projects each pair of words to the h and m that enter the
  first layer, (h, m) = W_s E(s_i) + W_t E(y_(j-1)). `inputs: sides` lets them enter every layer where a dimension
  begins: the source word at j = 1 and the target word at i = 1. Nothing then enters from below.
- Each source is scanned from its own first or last word, so that padding has no effect. A source without a word has
  h = 0.
- `tied` shares one block between layers, as the paper does in other tasks. `dropout` acts on what enters and on the h
  before the softmax.
- The matrices between dimensions start orthogonal, with a gain of 2, and biases of forget gates at 1; the paper draws
  weights uniformly.

Notation: B sentences, S source and T target tokens, N real target tokens, K hypotheses, L layers, E embedding_dim, d
hidden_dim, n = S T B cells in the order of anti-diagonals i + j, V words.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.grid_lstm import GridStack, Plane, States
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class GridLSTM(WritingNetwork):
    """Blocks of three dimensions: source, target and depth. No attention.

    `inputs`: `depth`, words enter the first layer | `sides`, words enter every layer where a dimension begins.
    """

    tasks = ("translation",)
    not_exported = "reads the source anew at each step, by a loop whose length is that of the source"

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 450,
        hidden_dim: Count = 450,
        num_layers: Count = 2,
        inputs: Literal["depth", "sides"] = "depth",
        tied: bool = False,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.width, self.sides = hidden_dim, inputs == "sides"
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        self.source_entry = Linear(embedding_dim, 2 * hidden_dim)  # W_s
        self.target_entry = Linear(embedding_dim, 2 * hidden_dim, bias=False)  # W_t
        self.grid = GridStack(hidden_dim, 3, num_layers, tied=tied)
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        read, mask, targets = batch.forced
        source, target = self._source(batch.source), self._target(read)  # (B, S, 2d), (B, T, 2d)
        plane = self._plane(batch.memory_length, mask.sum(1), (source.shape[1], target.shape[1]), beside=self.sides)
        entering = [target] if self.sides else []
        begins = [
            plane.begin(*entering, plane.turned(source, layer)) if self.sides else None
            for layer in range(self.grid.layers)
        ]
        h, _ = self._run(plane, source, target, begins, plane.ends(targets.row, targets.time))  # (N, d)
        return Output(self._scores(h, batch.memory_length.index_select(0, targets.row)))

    def start(self, batch: PairBatch) -> State:
        source, length = self._source(batch.source), batch.memory_length
        plane = self._plane(length, None, (source.shape[1], 1), beside=False)
        beside = source if self.sides else torch.zeros_like(source)
        states = [plane.turned(beside, layer) for layer in range(self.grid.layers)]
        h, m = States.of(torch.stack(states, 2)[:, None])  # (B, 1, S, L, d) each
        return State({"source": source, "length": length}, {"hidden": h, "cell": m})

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read one target word of each hypothesis, and with it the whole source: L S blocks. The states are those along
        the target (B, K, S, L, d), in the order in which a layer scans the source."""
        rows, count, longest = state.hypotheses["hidden"].shape[:3]
        target = self._target(tokens).flatten(0, 1)[:, None]  # (B K, 1, 2d)
        source = state.memory["source"].repeat_interleave(count, 0)  # (B K, S, 2d)
        length = state.memory["length"].repeat_interleave(count)
        plane = self._plane(length, None, (longest, 1), beside=True)
        before = torch.cat([state.hypotheses[name].flatten(0, 1) for name in ("hidden", "cell")], 3)  # (B K, S, L, 2d)
        entering = [target] if self.sides else []
        begins = [plane.begin(*entering, part) for part in before.unbind(2)]
        number = torch.arange(rows * count, device=tokens.device)
        h, found = self._run(plane, source, target, begins, plane.ends(number, torch.zeros_like(number)))
        after = {}
        for name, *parts in zip(("hidden", "cell"), *found, strict=True):
            layers = [plane.laid_out(part[:, self.width :]) for part in parts]  # (B K, S, d) each
            after[name] = torch.stack(layers, 2).unflatten(0, (rows, count))
        log_probs = log_probabilities(self._scores(h, length)).view(rows, count, -1)
        return Step(log_probs, State(state.memory, after), {})

    def _run(
        self, plane: Plane, source: Tensor, target: Tensor, begins: Sequence[States | None], ends: Tensor
    ) -> tuple[Tensor, list[States]]:
        """The h of the top layer at the cells `ends` (N, d), and of each layer the states along i and j (n, 2d)."""
        below = source.new_zeros(plane.cells, 2 * self.width) if self.sides else plane.pairs(source, target)
        depth, found = States.of(below), []
        for number, (block, begin) in enumerate(zip(self.grid, begins, strict=True)):
            if number:
                depth = depth.at(plane.mirror)
            plain = block.scan(plane.wave, depth.h, begin)
            found.append(plain)
            near = plain.h
            if number == self.grid.layers - 1:  # nothing reads the other cells of the top layer
                near, depth = near.index_select(0, ends), depth.at(ends)
            depth = block.rise(near, depth)
        return depth.h, found

    def _plane(self, source: Tensor, target: Tensor | None, size: tuple[int, int], *, beside: bool) -> Plane:
        """The plane of sources and targets of some lengths (B,). A source without a word has a cell, whose h is not
        read."""
        return Plane(source.clamp(min=1), target, size, sides=self.sides, beside=beside)

    def _scores(self, h: Tensor, length: Tensor) -> Tensor:
        """(N, V) from h (N, d) and the lengths (N,) of the sources."""
        return self.vocabulary(self.dropout(h.masked_fill(length[:, None] == 0, 0)))

    def _source(self, tokens: Tensor) -> Tensor:
        """W_s E(s) (B, S, 2d)."""
        return self.source_entry(self.dropout(self.source_embedding(tokens)))

    def _target(self, tokens: Tensor) -> Tensor:
        """W_t E(y) (B, T, 2d)."""
        return self.target_entry(self.dropout(self.target_embedding(tokens)))
