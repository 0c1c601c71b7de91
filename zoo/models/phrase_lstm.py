"""LSTMs over phrases: the sequence baselines of the Tree-LSTM's paper.

Kai Sheng Tai, Richard Socher, Christopher D. Manning. ACL 2015. https://arxiv.org/abs/1503.00075, sections 2 and 5;
the LSTM of Sepp Hochreiter, Juergen Schmidhuber, Neural Computation 1997, in the form of (1).

Equations: (1) over the words of a phrase alone. The state after the last word represents the node that covers the
phrase; it is classified or compared as in a Tree-LSTM (sections 4.1, 4.2). Bidirectional: the states of both directions
are concatenated.

What differs from the paper:
- A phrase is read from its first word with a state of 0, as in the paper. Phrases that begin at the same word are read
  together: the state after the k-th word is that of the phrase of k words.
- If a node of a dependency tree covers words with a gap, the gap is read too, as the paper labels it.
- `directions=both_tied` is the paper's bidirectional network, whose directions share their weights. `both` has separate
  weights, `forward` has one direction.
- `biases`: torch's LSTM and the released code have two per gate; the paper's equation has one.
- With several `layers` the states of all layers together represent a phrase, as in the released code; the paper does
  not say. As there, no dropout acts between layers. State matrices start orthogonal.

Notation: N nodes, W words, U distinct ones, P positions that are read, E embedding, H hidden units, L layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Unpack

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.layers.init import start_lstm_, start_uniform_
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.layers.trees.head import Similarity
from zoo.models.tree_network import HeadArguments, TreeNetwork

Directions = Literal["forward", "both", "both_tied"]


class Readings(NamedTuple):
    """All phrases from their first word to their last."""

    packing: Packing  # One row per word; the row of a word is empty if no phrase begins there
    word: Tensor  # (P,) the word that each packed position reads
    at: Tensor  # (N,) the packed position where each phrase ends

    @classmethod
    def of(cls, first: Tensor, last: Tensor, words: int, *, backward: bool = False) -> Readings:
        """The readings of phrases from the word `first` (N,) to the word `last` (N,), inclusive, among `words` words.
        With `backward` they are read from their last word to their first. On other devices than the CPU this waits."""
        begin, end = (last, first) if backward else (first, last)
        length = (end - begin).abs() + 1
        longest = torch.zeros(words, dtype=torch.long, device=first.device).scatter_reduce(0, begin, length, "amax")
        steps = torch.arange(int(longest.max()) if words else 0, device=first.device)
        packing = Packing.of(steps < longest[:, None])
        word = packing.row - packing.time if backward else packing.row + packing.time
        position = packing.unpack(torch.arange(len(packing.cell), device=first.device))  # (W, steps)
        return cls(packing, word, position[begin, length - 1])


class PhraseLSTM(TreeNetwork):
    """An LSTM that reads the words below each node in order, without the tree between them."""

    tasks = ("tree_classification", "relatedness")

    def __init__(
        self,
        spec: TreeSpec,
        *,
        embedding_dim: Count = 300,
        hidden_dim: Count = 150,
        layers: Count = 1,
        directions: Directions = "forward",
        dropout: Share = 0.5,
        init_range: Positive = 0.05,
        **head: Unpack[HeadArguments],
    ) -> None:
        super().__init__(spec, embedding_dim, dropout=dropout, **head)
        start_uniform_(self.embedding, init_range)
        self.lstm, self.upper = _stack(embedding_dim, hidden_dim, layers)
        self.backward_lstm, self.backward_upper = None, None
        if directions == "both":
            self.backward_lstm, self.backward_upper = _stack(embedding_dim, hidden_dim, layers)
        for module in self.modules():
            if isinstance(module, LSTM):
                start_lstm_(module)
        self.both = directions != "forward"
        self.add_head(hidden_dim * layers * (1 + self.both))
        self.roots_alone = isinstance(self.head, Similarity) and self.head.pooling is None

    def states(self, trees: Trees) -> Tensor:
        x = self.embedding(trees.distinct)  # (U, E)
        forward = [self.lstm, *self.upper]
        h = self._read(x, trees, forward, backward=False)
        if self.both:
            own = [self.backward_lstm, *self.backward_upper] if self.backward_upper is not None else forward
            h += self._read(x, trees, own, backward=True)
        return torch.cat(h, 1)

    def _read(self, x: Tensor, trees: Trees, lstms: Iterable[nn.Module], *, backward: bool) -> list[Tensor]:
        """The states (N, H) of each layer after the phrases of all nodes, or of roots alone (0 elsewhere), from word
        vectors (U, E)."""
        first, last = trees.first, trees.past - 1
        if self.roots_alone:
            first, last = first.index_select(0, trees.forest.root), last.index_select(0, trees.forest.root)
        readings = Readings.of(first, last, len(trees.word_at), backward=backward)
        at: Tensor | None = trees.word_at.index_select(0, readings.word)
        found = []
        for lstm in lstms:
            x, _ = lstm(x, readings.packing, at=at)  # (P, H)
            found.append(x.index_select(0, readings.at))
            at = None  # the next layer reads these states, not words
        if self.roots_alone:
            nodes, root = len(trees.forest), trees.forest.root
            found = [h.new_zeros(nodes, h.shape[1]).index_copy(0, root, h) for h in found]
        return found


def _stack(embedding_dim: int, hidden_dim: int, layers: int) -> tuple[LSTM, nn.ModuleList]:
    """The LSTM that reads words, and those above it, which read the states of the layer below."""
    upper = nn.ModuleList(LSTM(hidden_dim, hidden_dim) for _ in range(layers - 1))
    return LSTM(embedding_dim, hidden_dim), upper
