"""Pointer Networks: the baseline with content-based attention.

Oriol Vinyals, Meire Fortunato, Navdeep Jaitly. NIPS 2015. https://arxiv.org/abs/1506.03134

Equations (2) (section 2.2; e_j the encoder's state after point j, d_i the decoder's at step i):
- u_ij = v . tanh(W_1 e_j + W_2 d_i), a_i = softmax of u_i over the points, d'_i = sum_j a_ij e_j.
- [d_i; d'_i] gives the prediction, softmax(W [d_i; d'_i] + b) over a fixed dictionary of n positions and the end. It is
  fed to the next step: d'_i as input together with the position, d_i as the state of the LSTM.

What differs from the paper:
- Positions and begin are read as learned embeddings, points as W p + b; the paper does not say how it reads them. It
  does not give d'_0 either, which is 0 here.
- The paper trains a network for each n. Here the dictionary has as many positions as the largest set of the data, and
  the softmax of a set leaves out the positions that it does not have. With sets of one size this equals the paper.
- Each LSTM has torch's two biases, and the softmax has one.
- `init_range=None` starts position embeddings from N(0, 1), LSTMs orthogonal for states and by Glorot and Bengio (2010)
  for inputs. W_1, W_2 and the softmax start likewise with a gain. The paper draws all weights from U(-0.08, 0.08).

Notation: B sets, S places, the first that of the end, V = 3 + the points of the data's largest set, M and N real points
and target tokens of the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec
from zoo.layers.init import STATE_GAIN
from zoo.layers.pointing import PositionEmbedding, PositionVocabulary, decoder_step, start_pointing_, step_scores
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.models.output import Output


class PositionAttention(nn.Module):
    """An LSTM reads the points; a second LSTM starts from its last state, attends and predicts positions.

    All weights start in [-init_range, init_range]. Raises ValueError for an invalid range, and DataError for a set with
    more points than the largest set that the network was built for.
    """

    tasks = ("pointing",)
    attends: ClassVar[Mapping[str, str]] = {"source": "content_mask"}

    def __init__(
        self,
        spec: PointSpec,
        *,
        embedding_dim: Count = 256,
        hidden_dim: Count = 256,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        self.point_embedding = nn.Linear(spec.width, embedding_dim)
        self.encoder = LSTM(embedding_dim, hidden_dim)
        self.position_embedding = PositionEmbedding(spec.longest, embedding_dim, padding=spec.padding)
        self.decoder = LSTM(embedding_dim + hidden_dim, hidden_dim)
        self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_2, W_1
        self.vocabulary = PositionVocabulary(2 * hidden_dim, spec.longest)  # W, b
        start_pointing_(self, init_range)
        if init_range is None:
            nn.init.xavier_uniform_(self.vocabulary.weight, STATE_GAIN)

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Log-probabilities (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding,
        at begin and at points that a set does not have; attention `source` (B, T, S).

        It repeats `step`, because each step reads the context of the step before.
        """
        read, _, targets = batch.forced
        return Output(*walk(self.step, self.start(batch), read, targets, need_weights=need_weights))

    def start(self, batch: PointBatch) -> State:
        """The state before the first token."""
        self.vocabulary.check(batch.memory_mask)
        points = batch.point_packing
        x = self.point_embedding(points.pack(batch.points).to(self.vocabulary.bias.dtype))  # (M, E)
        e, (h, c) = self.encoder(x, points)  # (M, H), (1, B, H) twice
        states, keys = (F.pad(points.unpack(part), (0, 0, 1, 0)) for part in (e, self.score.prepare(e)))  # (B, S, H)
        memory = {"states": states, "keys": keys, "content": batch.content_mask, "mask": batch.memory_mask}
        context = torch.zeros_like(h)  # d'_0
        return State(memory, {"hidden": h[0, :, None], "cell": c[0, :, None], "context": context[0, :, None]})

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens`, (B, K) ids or (B, K, V) probabilities."""
        memory = state.memory
        h, c, context = (state.hypotheses[part] for part in ("hidden", "cell", "context"))  # (B, K, H)
        y = torch.cat([self.position_embedding(tokens), context], -1)  # (B, K, E + H)
        d, c = decoder_step(self.decoder, y, h, c)
        weights = masked_softmax(step_scores(self.score, d, memory["keys"]), memory["content"][:, None])  # (B, K, S)
        context = weights.to(d.dtype) @ memory["states"]  # d' (B, K, H)
        logits = self.vocabulary.logits(torch.cat([d, context], -1), memory["mask"][:, None])  # (B, K, V)
        hypotheses = {"hidden": d, "cell": c, "context": context}
        return Step(log_probabilities(logits), State(memory, hypotheses), {"source": weights})
