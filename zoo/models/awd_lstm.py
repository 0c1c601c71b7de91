"""AWD-LSTM: regularized LSTMs as a language model, for training by averaged gradient descent.

Stephen Merity, Nitish Shirish Keskar, Richard Socher. Regularizing and Optimizing LSTM Language Models. 2017.
https://arxiv.org/abs/1708.02182

Equations: layer l reads x = h^(l-1) with one dropout mask for all time steps (variational dropout, section 4.2):
(i, f, o, g) = (sigmoid, sigmoid, sigmoid, tanh)(W x_t + (M * U) h_(t-1) + b), where the mask M of the recurrent weights
is drawn once for a window (DropConnect, section 2); c_t = f c_(t-1) + i g; h_t = o tanh(c_t). The last layer is as wide
as the embedding, and p = softmax(E h^L_t + b) has the embedding E as its matrix (section 4.5). Embedding dropout drops
whole words for a window (section 4.3). Penalties (section 4.6): alpha mean((m * h^L_t)^2) with the mask m of the output
and beta mean((h^L_t - h^L_(t-1))^2) without it.

What differs from the paper:
- The penalties are means over all numbers, as in the authors' code. The paper writes L2 norms.
- The embedding and the bias of the output start as in the authors' code, in [-0.1, 0.1] and at 0.
- The stored U is never overwritten: the layer is called with masked weights in its place.
- Random lengths of windows, and the rate that follows them, are options of the data (`data.window`). The optimiser that
  averages is `optimizer=nt_asgd`.

Notation: B columns, N tokens of a window, L layers, E embedding_dim, n_l units of layer l, V vocabulary.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.func import functional_call

from zoo.arguments import Count, NonNegative, Share
from zoo.data.language.batch import LanguageSpec
from zoo.layers.dropout import dropout, locked_dropout, scaled_mask
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.linear import Linear
from zoo.models.network import Read, StreamNetwork


class AWDLSTM(StreamNetwork):
    """LSTMs E -> n -> ... -> n -> E over a stream of tokens. Their states are carried from window to window.

    `dropout` acts on the output, `input_dropout` on embeddings, `hidden_dropout` between layers: one mask for all steps
    of a window. `embedding_dropout` drops words, `weight_dropout` recurrent weights. `activation_penalty` is alpha,
    `slowness_penalty` is beta.
    """

    tasks = ("language_modeling",)

    def __init__(
        self,
        spec: LanguageSpec,
        *,
        embedding_dim: Count = 400,
        hidden_dim: Count = 1150,
        num_layers: Count = 3,
        dropout: Share = 0.4,
        input_dropout: Share = 0.4,
        hidden_dropout: Share = 0.25,
        embedding_dropout: Share = 0.1,
        weight_dropout: Share = 0.5,
        activation_penalty: NonNegative = 2.0,
        slowness_penalty: NonNegative = 1.0,
    ) -> None:
        super().__init__()
        self.dropout, self.input_dropout, self.hidden_dropout = dropout, input_dropout, hidden_dropout
        self.embedding_dropout, self.weight_dropout = embedding_dropout, weight_dropout
        self.activation_penalty, self.slowness_penalty = activation_penalty, slowness_penalty
        self.embedding = TokenEmbedding(spec.vocabulary_size, embedding_dim)
        widths = [embedding_dim, *[hidden_dim] * (num_layers - 1), embedding_dim]
        self.layers: Sequence[LSTM] = nn.ModuleList(LSTM(*pair) for pair in pairwise(widths))  # type: ignore[assignment]
        self.vocabulary = Linear(embedding_dim, spec.vocabulary_size)
        self.vocabulary.weight = self.embedding.weight
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.zeros_(self.vocabulary.bias)

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """h^L_t of each token (N, E), the states `hidden.l` and `cell.l` (B, n_l) of each layer, and in training the
        penalties `activation` and `slowness`."""
        output = self.embedded(tokens)  # (N, E)
        if carried is None:
            carried = dict(self._states(packing.shape[0], output))
        if not len(output):
            return Read(output, dict(carried))
        found: dict[str, Tensor] = {}
        for number, layer in enumerate(self.layers):
            x = locked_dropout(output, packing, self.hidden_dropout if number else self.input_dropout, self.training)
            names = f"hidden.{number}", f"cell.{number}"
            masked = {"weight_hh_l0": dropout(layer.weight_hh_l0, self.weight_dropout, self.training)}
            states = tuple(carried[name][None] for name in names)  # (1, B, n_l) each
            output, after = functional_call(layer, masked, (x, packing, states))  # (N, n_l)
            found |= {name: part[0] for name, part in zip(names, after, strict=True)}
        dropped = locked_dropout(output, packing, self.dropout, self.training)
        losses = dict(self._penalties(output, dropped, packing)) if self.training else {}
        return Read(dropped, self.kept(packing, carried, found), {}, losses)

    def embedded(self, tokens: Tensor) -> Tensor:
        """(N,) ids or (N, V) probabilities -> (N, E), in training without some of the words."""
        if not self.training or not self.embedding_dropout:
            return self.embedding(tokens)
        words = scaled_mask((self.embedding.num_embeddings,), self.embedding_dropout, self.embedding.weight)
        if tokens.is_floating_point():
            return self.embedding(tokens * words)
        return self.embedding(tokens) * words.index_select(0, tokens)[:, None]

    def _penalties(self, output: Tensor, dropped: Tensor, packing: Packing) -> Iterator[tuple[str, Tensor]]:
        if self.activation_penalty:
            yield "activation", self.activation_penalty * dropped.square().mean()
        if self.slowness_penalty and len(packing.batch_sizes) > 1:
            steps = output.split(packing.batch_sizes)
            changes = torch.cat([after - before[: len(after)] for before, after in pairwise(steps)])
            yield "slowness", self.slowness_penalty * changes.square().mean()

    def _states(self, rows: int, like: Tensor) -> Iterator[tuple[str, Tensor]]:
        for number, layer in enumerate(self.layers):
            for name in ("hidden", "cell"):
                yield f"{name}.{number}", like.new_zeros(rows, layer.hidden_size)
