"""Pointer Networks: the sequence to sequence baseline.

Oriol Vinyals, Meire Fortunato, Navdeep Jaitly. NIPS 2015. https://arxiv.org/abs/1506.03134

Equations: (1) of section 2.1, as Sutskever et al. (2014) compute it. e_n, the encoder LSTM's state after the last
point, starts the decoder LSTM, which reads the position predicted before: p(C_i | ...) = softmax(W d_i + b) over a
fixed dictionary of n positions and the end.

What differs from the paper:
- Positions and begin are read as learned embeddings, points as W p + b; the paper does not say how it reads them.
- The paper trains a network for each n. Here the dictionary has as many positions as the largest set of the data, and
  the softmax of a set leaves out the positions that it does not have. With sets of one size this equals the paper.
- Each LSTM has torch's two biases, and the softmax has one.
- `init_range=None` starts position embeddings from N(0, 1), LSTMs orthogonal for states and by Glorot and Bengio (2010)
  for inputs. The softmax starts likewise with a gain. The paper draws all weights from U(-0.08, 0.08).

Notation: B sets, V = 3 + the points of the data's largest set, M and N real points and target tokens of the batch, K
hypotheses, E embedding, H hidden units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec
from zoo.layers.init import STATE_GAIN
from zoo.layers.pointing import PositionEmbedding, PositionVocabulary, decoder_step, start_pointing_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.output import Output


class PositionLSTM(nn.Module):
    """An LSTM reads the points; a second LSTM starts from its last state and predicts positions. No attention.

    All weights start in [-init_range, init_range]. Raises ValueError for an invalid range, and DataError for a set with
    more points than the largest set that the network was built for.
    """

    tasks = ("pointing",)
    attends: ClassVar[Mapping[str, str]] = {}

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
        self.decoder = LSTM(embedding_dim, hidden_dim)
        self.vocabulary = PositionVocabulary(hidden_dim, spec.longest)  # W, b
        start_pointing_(self, init_range)
        if init_range is None:
            nn.init.xavier_uniform_(self.vocabulary.weight, STATE_GAIN)

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding, at begin and
        at points that a set does not have; no attention."""
        read, _, targets = batch.forced
        y = self.position_embedding(targets.pack(read))  # (N, E)
        d, _ = self.decoder(y, targets, self._encode(batch))  # (N, H)
        return Output(self.vocabulary.logits(d, batch.memory_mask.index_select(0, targets.row)))

    def start(self, batch: PointBatch) -> State:
        """The state before the first token."""
        h, c = self._encode(batch)
        return State({"mask": batch.memory_mask}, {"hidden": h[0, :, None], "cell": c[0, :, None]})  # (B, 1, H)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens`, (B, K) ids or (B, K, V) probabilities."""
        h, c = (state.hypotheses[part] for part in ("hidden", "cell"))  # (B, K, H)
        y = self.position_embedding(tokens)  # (B, K, E)
        d, c = decoder_step(self.decoder, y, h, c)
        log_probs = log_probabilities(self.vocabulary.logits(d, state.memory["mask"][:, None]))  # (B, K, V)
        return Step(log_probs, State(state.memory, {"hidden": d, "cell": c}), {})

    def _encode(self, batch: PointBatch) -> tuple[Tensor, Tensor]:
        """The last (h, c) of the encoder, (1, B, H) each."""
        self.vocabulary.check(batch.memory_mask)
        points = batch.point_packing
        _, state = self.encoder(self.point_embedding(points.pack(batch.points).to(self.vocabulary.bias.dtype)), points)
        return state
