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
- `init_range=None` is for short runs: weights start as by `zoo.layers.init.start_network_`, W_1 and W_2 with the gain.
  The paper draws all weights from U(-0.08, 0.08).

As in the paper, the network may point at a point twice, or end at once: valid hulls and tours are a constraint of the
search.

Notation: B sets, n points of the largest, S = n + 1 places, V = n + 3 tokens, M and N real points and target tokens of
the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.layers.packing import Packing
from zoo.layers.pointing import (
    PointReader,
    at_places,
    possible_tokens,
    scores_of,
    start_pointing_,
    token_logits,
)
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Memory = dict[str, Tensor]
"""`keys` of the places (B, S, H), with a glimpse also `refs` (B, S, H), the `mask` of the places (B, S), and `tokens`,
which the decoder reads."""


class PointingNetwork(WritingNetwork):
    """A decoder that points at one place per step. Its encoder is an LSTM, unless a subclass encodes the points.

    `packing` is that of all target positions, whose rows are then (N, ...); it is None in a step, with (B, K, ...).
    """

    tasks = ("pointing",)
    attends = {"source": "memory_mask"}
    reader: Any  # A `PointReader`
    encoder: LSTM
    end: nn.Parameter
    decoder: LSTM
    score: AdditiveScore
    glimpse: AdditiveScore | None

    def encode(self, batch: PointBatch) -> tuple[Memory, tuple[Tensor, Tensor]]:
        """The memory of the sets, and the first (h, c) of the decoder, (1, B, H) each."""
        points = batch.point_packing
        e, state = self.encoder(self.reader(points.pack(batch.points)), points)  # (M, H)
        memory = {"tokens": self.reader.table(batch.points), "mask": batch.memory_mask}
        for name, score in (("keys", self.score), ("refs", self.glimpse)):
            if score is not None:
                memory[name] = at_places(score.prepare(e), score.prepare(self.end), points)  # (B, S, H)
        return memory, state

    def inputs(self, tokens: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """Vectors (..., E) of ids (B, T) or (B, K), or of probabilities (B, K, V), which give their mean point."""
        return self.reader.tokens(tokens, memory["tokens"], packing)

    def query(self, d: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """The query (..., H) of the decoder's state d (..., H)."""
        return d

    def scores(self, query: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """Scores (..., S) of the places."""
        return scores_of(self.score, query, memory["keys"], packing)

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding, at begin and
        at points that a set does not have; attention `source` (B, T, S)."""
        read, _, targets = batch.forced
        memory, state = self.encode(batch)
        d, _ = self.decoder(self.inputs(read, memory, targets), targets, state)  # (N, H)
        u = self.scores(self.query(d, memory, targets), memory, targets)  # (N, S)
        mask = memory["mask"].index_select(0, targets.row)
        attention = {"source": targets.unpack(masked_softmax(u, mask))} if need_weights else {}
        return Output(token_logits(u, mask), attention, possible=possible_tokens(memory["mask"]))

    def start(self, batch: PointBatch) -> State:
        memory, state = self.encode(batch)
        return State(memory, self.decoder.hypotheses(state), possible=possible_tokens(memory["mask"]))

    def step(self, tokens: Tensor, state: State) -> Step:
        memory = dict(state.memory)
        d, after = self.decoder.read(self.inputs(tokens, memory), state.hypotheses)  # (B, K, H)
        u, mask = self.scores(self.query(d, memory), memory), memory["mask"][:, None]  # (B, K, S)
        log_probs = log_probabilities(token_logits(u, mask))  # (B, K, V)
        return Step(log_probs, State(memory, after), {"source": masked_softmax(u, mask)})


class PointerNet(PointingNetwork):
    """An LSTM reads the points; a second LSTM starts from its last state and points at one point per step.

    `embedding_dim=0` reads the coordinates directly. All weights start in [-init_range, init_range].
    """

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
        self.glimpse = None
        self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_2, W_1
        start_pointing_(self, init_range)
