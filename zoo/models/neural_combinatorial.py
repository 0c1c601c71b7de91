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
- `init_range=None` starts LSTMs orthogonal for states and by Glorot and Bengio (2010) for inputs. Score matrices start
  likewise with a gain, everything else as torch's layers do. The paper draws all weights from U(-0.08, 0.08).

Notation: B sets, n points of the largest, S = n + 1 places, V = n + 3 tokens, M and N real points and target tokens of
the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec
from zoo.layers.pointing import (
    PointReader,
    all_glimpses,
    all_scores,
    at_places,
    decoder_step,
    start_pointing_,
    step_glimpse,
    step_scores,
    token_logits,
)
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.output import Output


class NeuralCombinatorial(nn.Module):
    """A pointer network with a glimpse at all points before it points, and scores between -`clip` and `clip`.

    `clip=None` leaves the scores unclipped. All weights start in [-init_range, init_range]. Raises ValueError for an
    invalid range.
    """

    tasks = ("pointing",)
    attends: ClassVar[Mapping[str, str]] = {"source": "memory_mask"}

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

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding, at begin and
        at points that a set does not have; attention `source` (B, T, S)."""
        read, _, targets = batch.forced
        memory, (h, c) = self._encode(batch)
        x = self.reader.packed(read, memory["tokens"], targets)  # (N, E)
        q, _ = self.decoder(x, targets, (h, c))  # (N, H)
        if self.glimpse is not None:
            refs = memory["glimpse_keys"]  # (B, S, H)
            q = all_glimpses(self.glimpse, q, refs, refs, memory["mask"], targets)  # g
        u = self._clipped(all_scores(self.score, q, memory["keys"], targets))  # (N, S)
        mask = batch.memory_mask.index_select(0, targets.row)
        attention = {"source": targets.unpack(masked_softmax(u, mask))} if need_weights else {}
        return Output(token_logits(u, mask), attention)

    def start(self, batch: PointBatch) -> State:
        """The state before the first token."""
        memory, (h, c) = self._encode(batch)
        return State(memory, {"hidden": h[0, :, None], "cell": c[0, :, None]})  # (B, 1, H)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens`, (B, K) ids or (B, K, V) probabilities; probabilities give their mean point."""
        memory = state.memory
        h, c = (state.hypotheses[part] for part in ("hidden", "cell"))  # (B, K, H)
        x = self.reader.tokens(tokens, memory["tokens"])  # (B, K, E)
        h, c = decoder_step(self.decoder, x, h, c)
        q, mask = h, memory["mask"][:, None]
        if self.glimpse is not None:
            refs = memory["glimpse_keys"]
            q = step_glimpse(self.glimpse, h, refs, refs, memory["mask"])  # g (B, K, H)
        u = self._clipped(step_scores(self.score, q, memory["keys"]))  # (B, K, S)
        log_probs = log_probabilities(token_logits(u, mask))  # (B, K, V)
        return Step(log_probs, State(memory, {"hidden": h, "cell": c}), {"source": masked_softmax(u, mask)})

    def _encode(self, batch: PointBatch) -> tuple[dict[str, Tensor], tuple[Tensor, Tensor]]:
        """W_ref r and W'_ref r of all places (B, S, H), `tokens` (B, V, E + 2), the mask (B, S), and the last (h, c),
        (1, B, H) each."""
        points = batch.point_packing
        r, state = self.encoder(self.reader(points.pack(batch.points)), points)  # (M, H)
        memory = {
            "keys": at_places(self.score.prepare(r), self.score.prepare(self.end), points),
            "tokens": self.reader.table(batch.points),
            "mask": batch.memory_mask,
        }
        if self.glimpse is not None:
            memory["glimpse_keys"] = at_places(self.glimpse.prepare(r), self.glimpse.prepare(self.end), points)
        return memory, state

    def _clipped(self, scores: Tensor) -> Tensor:
        return scores if self.clip is None else self.clip * scores.tanh()


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
