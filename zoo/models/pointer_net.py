"""Pointer Networks.

Oriol Vinyals, Meire Fortunato, Navdeep Jaitly. NIPS 2015. https://arxiv.org/abs/1506.03134

Equations (section 2.3; e_j the encoder's state after point j, d_i the decoder's at step i):
- Encoder and decoder: e_j = LSTM(P_j, e_{j-1}) in the order of the input, d_0 = e_n, and
      d_i = LSTM(P of the point that step i - 1 pointed at, d_{i-1}).
- Attention (3): u_ij = v . tanh(W_1 e_j + W_2 d_i), p(C_i | C_1, ..., C_{i-1}, P) = softmax of u_i over the places.

What differs from the paper:
- The paper does not say which place stands for the end, nor what the decoder reads first. Here e_0, a learned vector
  before the states, is the place of the end, and begin is a learned vector.
- Encoder and decoder embed points before they read them, W p + b. The paper does not mention an embedding;
  `embedding_dim=0` reads the coordinates directly.
- Each LSTM has torch's two biases.
- `init_range=None` starts LSTMs orthogonal for states and by Glorot and Bengio (2010) for inputs. W_1 and W_2 start
  likewise with a gain, everything else as torch's layers do. The paper draws all weights from U(-0.08, 0.08).

As in the paper, the network may point at a point twice, or end at once: valid hulls and tours are a constraint of the
search.

Notation: B sets, n points of the largest, S = n + 1 places, V = n + 3 tokens, M and N real points and target tokens of
the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec
from zoo.layers.pointing import (
    PointReader,
    all_scores,
    at_places,
    decoder_step,
    start_pointing_,
    step_scores,
    token_logits,
)
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.output import Output


class PointerNet(nn.Module):
    """An LSTM reads the points; a second LSTM starts from its last state and points at one point per step.

    `embedding_dim=0` reads the coordinates directly. All weights start in [-init_range, init_range]. Raises ValueError
    for an invalid range.
    """

    tasks = ("pointing",)
    attends: ClassVar[Mapping[str, str]] = {"source": "memory_mask"}

    def __init__(
        self,
        spec: PointSpec,
        *,
        embedding_dim: Count | Literal[0] = 256,
        hidden_dim: Count = 256,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        self.reader = PointReader(spec.width, embedding_dim)
        self.encoder = LSTM(self.reader.width, hidden_dim)
        self.end = nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1) / hidden_dim**0.5)  # e_0
        self.decoder = LSTM(self.reader.width, hidden_dim)
        self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_2, W_1
        start_pointing_(self, init_range)

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding, at begin and
        at points that a set does not have; attention `source` (B, T, S)."""
        read, _, targets = batch.forced
        keys, state = self._encode(batch)  # (B, S, H), (1, B, H) twice
        x = self.reader.packed(read, self.reader.table(batch.points), targets)  # (N, E)
        d, _ = self.decoder(x, targets, state)  # (N, H)
        u = all_scores(self.score, d, keys, targets)  # (N, S)    (3)
        mask = batch.memory_mask.index_select(0, targets.row)  # (N, S)
        attention = {"source": targets.unpack(masked_softmax(u, mask))} if need_weights else {}
        return Output(token_logits(u, mask), attention)

    def start(self, batch: PointBatch) -> State:
        """The state before the first token."""
        keys, (h, c) = self._encode(batch)
        memory = {"keys": keys, "mask": batch.memory_mask, "tokens": self.reader.table(batch.points)}
        return State(memory, {"hidden": h[0, :, None], "cell": c[0, :, None]})  # (B, 1, H)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens`, (B, K) ids or (B, K, V) probabilities; probabilities give their mean point."""
        memory = state.memory
        h, c = (state.hypotheses[part] for part in ("hidden", "cell"))  # (B, K, H)
        x = self.reader.tokens(tokens, memory["tokens"])  # (B, K, E)
        d, c = decoder_step(self.decoder, x, h, c)
        u, mask = step_scores(self.score, d, memory["keys"]), memory["mask"][:, None]  # (B, K, S)    (3)
        log_probs = log_probabilities(token_logits(u, mask))  # (B, K, V)
        return Step(log_probs, State(memory, {"hidden": d, "cell": c}), {"source": masked_softmax(u, mask)})

    def _encode(self, batch: PointBatch) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """W_1 e of all places (B, S, H), and the last (h, c), (1, B, H) each."""
        points = batch.point_packing
        e, state = self.encoder(self.reader(points.pack(batch.points)), points)  # (M, H)
        return at_places(self.score.prepare(e), self.score.prepare(self.end), points), state
