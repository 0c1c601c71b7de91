"""Grid Long Short-Term Memory as a language model: two dimensions, time and depth.

Nal Kalchbrenner, Ivo Danihelka, Alex Graves. ICLR 2016. https://arxiv.org/abs/1507.01526

Equations: sections 3.1 and 3.2 for two dimensions, with H = [h_1, h_2] of time and depth and depth in priority:
    (h'_1, m'_1) = LSTM_1([h_1, h_2], m_1),  (h'_2, m'_2) = LSTM_2([h'_1, h_2], m_2),  h' = tanh(o m').
A token enters the first layer along depth, (h_2, m_2) = W E(x). The next one has a softmax over the h_2 of the top
layer. Both h_2 and m_2 go up, so that memory has a linear path along depth as along time.

What differs from the paper:
- `tied` shares one block between layers, as in the paper's experiments with characters. Without it each layer has its
  own.
- `dropout` acts on what enters and on the h before the softmax. The paper names none for characters.
- The softmax has a matrix of its own.
- The matrices between dimensions start orthogonal, with a gain of 2, and biases of forget gates at 1; the paper draws
  weights uniformly.

Notation: B columns, N tokens of a window, L layers, E embedding_dim, d hidden_dim, V vocabulary.
"""

from collections.abc import Mapping

from torch import Tensor

from zoo.arguments import Count, Share
from zoo.data.language.batch import LanguageSpec
from zoo.layers.dropout import dropout
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.grid_lstm import GridSequences, States
from zoo.layers.packing import Packing
from zoo.linear import Linear
from zoo.models.network import Read, StreamNetwork


class GridLSTMLanguageModel(StreamNetwork):
    """Blocks of time and depth over a stream of tokens. Their states along time are carried from window to window.

    With `tied`, all layers have the same weights.
    """

    tasks = ("language_modeling",)

    def __init__(
        self,
        spec: LanguageSpec,
        *,
        embedding_dim: Count = 1000,
        hidden_dim: Count = 1000,
        num_layers: Count = 6,
        tied: bool = True,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.embedding = TokenEmbedding(spec.vocabulary_size, embedding_dim)
        self.entry = Linear(embedding_dim, 2 * hidden_dim)
        self.grid = GridSequences(hidden_dim, num_layers, tied=tied)
        self.vocabulary = Linear(hidden_dim, spec.vocabulary_size)

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """The h of the top layer after each token (N, d), and the states along time `hidden` and `cell` (B, L, d)."""
        x = dropout(self.embedding(tokens), self.dropout, self.training)  # (N, E)
        below = States.of(self.entry(x))
        h, after = self.grid(packing, below, None if carried is None else States(carried["hidden"], carried["cell"]))
        return Read(dropout(h, self.dropout, self.training), {"hidden": after.h, "cell": after.m})
