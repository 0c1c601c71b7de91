"""Recurrent Neural Network Regularization: language models of LSTMs.

Wojciech Zaremba, Ilya Sutskever, Oriol Vinyals. 2014. https://arxiv.org/abs/1409.2329

Equations: h^0_t = D(E x_t), and layer l reads D(h^(l-1)_t), where D is dropout. It acts on the edges between layers and
never on those from one time step to the next (section 3.2). Cells are the LSTM's of section 3.1. The next token has
p = softmax(W D(h^L_t) + b).

What differs from the paper:
- LSTMs have torch's two biases, and they start in [-r, r] as all weights do. In the authors' code a layer has two
  biases as well; the paper shows one.
- The loss is a mean over tokens. The authors sum it over the T steps of a window and average it over columns, so that
  their rate of 1 is a rate of T here, and their clipping at 5 one at 5 / T.
- `cell=elman` is the network of Mikolov et al. (Interspeech 2010), with tanh instead of its sigmoid. `cell=gru` is not
  in the paper.
- `tied` makes the embedding and the output layer one matrix (Press and Wolf, EACL 2017). It needs equal widths.

Notation: B columns, N tokens of a window, L layers, E embedding_dim, n hidden_dim, V vocabulary.
"""

from collections.abc import Mapping
from typing import Literal

from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.language.batch import LanguageSpec
from zoo.layers.dropout import dropout
from zoo.layers.elman import Elman
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM
from zoo.linear import Linear
from zoo.models.network import Read, StreamNetwork

CELLS = {"lstm": LSTM, "gru": GRU, "elman": Elman}


class RNNLanguageModel(StreamNetwork):
    """Recurrent layers over a stream of tokens. Their states are carried from window to window.

    `cell` = lstm (the paper's) | gru | elman. Raises ValueError for `tied` with unequal widths.
    """

    tasks = ("language_modeling",)

    def __init__(
        self,
        spec: LanguageSpec,
        *,
        embedding_dim: Count = 650,
        hidden_dim: Count = 650,
        num_layers: Count = 2,
        cell: Literal["lstm", "gru", "elman"] = "lstm",
        dropout: Share = 0.5,
        tied: bool = False,
        init_range: Positive = 0.05,
    ) -> None:
        super().__init__()
        if tied and embedding_dim != hidden_dim:
            raise ValueError(f"tied: the widths must be equal, embedding_dim={embedding_dim}, hidden_dim={hidden_dim}")
        self.dropout = dropout
        self.embedding = TokenEmbedding(spec.vocabulary_size, embedding_dim)
        self.recurrent = CELLS[cell](embedding_dim, hidden_dim, num_layers=num_layers, dropout=dropout)
        self.vocabulary = Linear(hidden_dim, spec.vocabulary_size)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -init_range, init_range)
        if tied:
            self.vocabulary.weight = self.embedding.weight

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """h^L_t of each token (N, n), and the states `hidden` and, of an LSTM, `cell` (B, L, n)."""
        x = dropout(self.embedding(tokens), self.dropout, self.training)  # (N, E)
        before = self._states(packing.shape[0], x) if carried is None else carried
        if not x.shape[0]:
            return Read(x.new_empty(0, self.recurrent.hidden_size), dict(before))
        states = tuple(part.transpose(0, 1) for part in before.values())  # (L, B, n)
        h, after = self.recurrent(x, packing, states if len(states) > 1 else states[0])  # (N, n)
        after = after if isinstance(after, tuple) else (after,)
        found = {name: new.transpose(0, 1) for name, new in zip(before, after, strict=True)}
        return Read(dropout(h, self.dropout, self.training), self.kept(packing, before, found))

    def _states(self, rows: int, like: Tensor) -> dict[str, Tensor]:
        names = ("hidden", "cell") if isinstance(self.recurrent, LSTM) else ("hidden",)
        return {name: like.new_zeros(rows, self.recurrent.num_layers, self.recurrent.hidden_size) for name in names}
