"""Pointer Networks: the baseline with content-based attention.

Oriol Vinyals, Meire Fortunato, Navdeep Jaitly. NIPS 2015. https://arxiv.org/abs/1506.03134

Equations (2) (section 2.2; e_j the encoder's state after point j, d_i the decoder's at step i):
- u_ij = v . tanh(W_1 e_j + W_2 d_i), a_i = softmax of u_i over the points, d'_i = sum_j a_ij e_j.
- [d_i; d'_i] gives the prediction, softmax(W [d_i; d'_i] + b) over a fixed dictionary of n positions and the end. It is
  fed to the next step: d'_i as input together with the position, d_i as the state of the LSTM.

What differs from the paper:
- The paper does not give d'_0, which is 0 here.
- With `init_range=None` W_1 and W_2 start with the gain, too.
- Everything else as in the header of `position_lstm`, whose encoder, embeddings and vocabulary are used.

Notation: B sets, S places, the first that of the end, V = 3 + the points of the data's largest set, M and N real points
and target tokens of the batch, T target tokens, K hypotheses, E embedding, H hidden units.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch
from zoo.layers.pointing import scores_of
from zoo.layers.state import State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.models.output import Output
from zoo.models.position_lstm import PositionLSTM


class PositionAttention(PositionLSTM):
    """An LSTM reads the points; a second LSTM starts from its last state, attends and predicts positions.

    All weights start in [-init_range, init_range]. Raises DataError for a set with more points than the data had
    when the network was built.
    """

    attends = {"source": "content_mask"}

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Log-probabilities (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding,
        at begin and at points that a set does not have; attention `source` (B, T, S).

        It repeats `step`, because each step reads the context of the step before.
        """
        read, _, targets = batch.forced
        start = self.start(batch)
        return Output(*walk(self.step, start, read, targets, need_weights=need_weights), possible=start.possible)

    def start(self, batch: PointBatch) -> State:
        e, state = self.encode(batch)
        states, keys = (F.pad(batch.point_packing.unpack(part), (0, 0, 1, 0)) for part in (e, self.score.prepare(e)))
        memory = {"states": states, "keys": keys, "content": batch.content_mask, "mask": batch.memory_mask}  # (B, S, H)
        context = torch.zeros_like(state[0][0])[:, None]  # d'_0 (B, 1, H)
        hypotheses = {**self.decoder.hypotheses(state), "context": context}
        return State(memory, hypotheses, possible=self.vocabulary.possible(batch.memory_mask))

    def step(self, tokens: Tensor, state: State) -> Step:
        memory = state.memory
        y = torch.cat([self.position_embedding(tokens), state.hypotheses["context"]], -1)  # (B, K, E + H)
        d, after = self.decoder.read(y, state.hypotheses)  # (B, K, H)
        weights = masked_softmax(scores_of(self.score, d, memory["keys"]), memory["content"][:, None])  # (B, K, S)
        context = weights.to(d.dtype) @ memory["states"]  # d' (B, K, H)
        logits = self.vocabulary.logits(torch.cat([d, context], -1), memory["mask"][:, None])  # (B, K, V)
        hypotheses = {"hidden": d[:, :, None], "cell": after["cell"], "context": context}
        return Step(log_probabilities(logits), State(memory, hypotheses), {"source": weights})
