"""Neural Combinatorial Optimization with Reinforcement Learning.

Irwan Bello, Hieu Pham, Quoc V. Le, Mohammad Norouzi, Samy Bengio. 2016. https://arxiv.org/abs/1611.09940

Equations (sections 3 and 4, appendix A; r_i the encoder's state after point i, q_j the decoder's at step j):
- Encoder and decoder: r_i = LSTM(W p_i + b, r_{i-1}), q_0 = r_n, q_j = LSTM(the point that step j - 1 pointed at,
  q_{j-1}); the first input of the decoder is learned.
- Attention: u_i(q) = v . tanh(W_ref r_i + W_q q).
- Glimpse: g = sum_i softmax(u'(q_j))_i W'_ref r_i, with its own weights, is the query instead of q_j.
- Pointing: p(point | ...) = softmax of C tanh(u(g)).
- `Critic`: starts from the (h, c) after the last point; P times, a glimpse at the r_i is the next input of an LSTM.
  Two layers follow, one of d units with ReLU and one of a single unit.

What differs from the paper:
- The search forbids visited points by its constraint; the network does not. In the paper they are masked in the
  glimpse too; here the glimpse sees all points.
- A tour ends with a token: r_0, a learned vector, is one more place for the glimpse and for pointing. When the
  constraint makes the end certain, no probability of a tour changes.
- The temperature of the softmax is that of sampling (`decoding=sampling`); it is 1 in training, as in the paper.
- Each LSTM has torch's two biases.
- `init_range=None` and the paper's U(-0.08, 0.08) are those of `pointer_net`.

Notation: B sets, n points of the largest, S = n + 1 places, V = n + 3 tokens, M and N real points and target tokens of
the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.layers.packing import Packing
from zoo.layers.pointing import PointReader, glimpse_of, start_pointing_
from zoo.layers.recurrent import LSTM
from zoo.models.pointer_net import Memory, PointingNetwork


class NeuralCombinatorial(PointingNetwork):
    """A pointer network with a glimpse at all points before it points, and scores between -`clip` and `clip`.

    `clip=None` leaves the scores unclipped. All weights start in [-init_range, init_range].
    """

    def __init__(
        self,
        spec: PointSpec,
        *,
        embedding_dim: Count = 128,
        hidden_dim: Count = 128,
        glimpses: Literal[0, 1] = 1,
        clip: Positive | None = 10.0,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        self.reader = PointReader(spec.width, embedding_dim)  # W, b and the first input
        self.encoder = LSTM(embedding_dim, hidden_dim)
        self.end = nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1) / hidden_dim**0.5)  # r_0
        self.decoder = LSTM(embedding_dim, hidden_dim)
        self.glimpse = AdditiveScore(hidden_dim, hidden_dim, hidden_dim) if glimpses else None  # v', W'_q, W'_ref
        self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_q, W_ref
        self.clip = clip
        start_pointing_(self, init_range)

    def query(self, d: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """The glimpse g (..., H) of the state q_j."""
        if self.glimpse is None:
            return d
        return glimpse_of(self.glimpse, d, memory["refs"], memory["refs"], memory["mask"], packing)

    def scores(self, query: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """Clipped scores (..., S) of the places."""
        u = super().scores(query, memory, packing)
        return u if self.clip is None else self.clip * u.tanh()


class Critic(nn.Module):
    """Expected tour length by a network with the same kind of encoder: the baseline of REINFORCE.

    All weights start in [-init_range, init_range]. Raises ValueError for an invalid range.
    """

    def __init__(
        self,
        spec: PointSpec,
        *,
        embedding_dim: Count = 128,
        hidden_dim: Count = 128,
        process_steps: Natural = 3,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        self.embedding = nn.Linear(spec.width, embedding_dim)
        self.encoder = LSTM(embedding_dim, hidden_dim)
        self.process_steps = process_steps
        if process_steps:
            self.glimpse = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)
            self.process = nn.LSTMCell(hidden_dim, hidden_dim)
        self.prediction = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 1))
        start_pointing_(self, init_range)

    def forward(self, batch: PointBatch) -> Tensor:
        """The expected lengths (B,), in the units of the batch's coordinates."""
        points = batch.point_packing
        r, (h, c) = self.encoder(self.embedding(points.pack(batch.points).to(self.embedding.weight.dtype)), points)
        h, c = h[0], c[0]  # (B, H)
        if self.process_steps:
            refs = points.unpack(self.glimpse.prepare(r))  # (B, n, H)
        for _ in range(self.process_steps):
            weights = masked_softmax(self.glimpse(h, refs), batch.point_mask)  # (B, n)
            h, c = self.process((weights[:, None] @ refs)[:, 0], (h, c))
        return self.prediction(h)[:, 0]
