"""Order Matters: Sequence to sequence for sets.

Oriol Vinyals, Samy Bengio, Manjunath Kudlur. ICLR 2016. https://arxiv.org/abs/1511.06391

Equations (section 4.2):
- Read: m_i = MLP(x_i), one point at a time.
- Process (3)-(7), t = 1, ..., P, from q*_0 = 0: q_t = LSTM(q*_{t-1}), e_ti = m_i . q_t, a_t = softmax of e_t over the
  points, r_t = sum_i a_ti m_i, q*_t = [q_t; r_t]. The order of the points has no influence.
- Write: a pointer network (Vinyals et al. 2015) over the m_i that starts from q*_P. With a glimpse, d_i reads the
  points once before it points: d_i + sum_j softmax(v' . tanh(W_1' m_j + W_2' d_i)) m_j is the query instead of d_i.

What differs from the paper:
- The paper's LSTM of the process has a state of 2H numbers and no input. Here q_{t-1} is the state and r_{t-1} the
  input, which gives the same products.
- The paper does not say how 2H numbers start an LSTM of H units. Here its (h, c) is a linear map of q*_P; for P = 0,
  where q* is empty, it is learned.
- The MLP has two hidden layers of H units with ReLU. The decoder reads m of the point that it pointed at; begin is a
  learned vector. The end is a learned vector m_0: it can be pointed at, but takes no part in process or glimpse.
- Each LSTM has torch's two biases. `init_range=None` starts the decoder orthogonal for states and by Glorot and Bengio
  (2010) for inputs. The MLP and the parts of the scores that read states start likewise, with a gain. Every unit of the
  first layer starts to act somewhere inside the unit square; otherwise near points are hard to distinguish.

Notation: B sets, n points of the largest, S = n + 1 places, V = n + 3 tokens, M and N real points and target tokens of
the batch, T target tokens, K hypotheses, H hidden units.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural, Positive
from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.layers.init import STATE_GAIN, start_network_
from zoo.layers.packing import Packing
from zoo.layers.pointing import at_places, glimpse_of, read_tokens, token_table
from zoo.layers.recurrent import LSTM
from zoo.models.pointer_net import Memory, PointingNetwork


class ReadProcessWrite(PointingNetwork):
    """Reads points as a set, attends to all of them `process_steps` times, and points at one point per step.

    All weights start in [-init_range, init_range].
    """

    def __init__(
        self,
        spec: PointSpec,
        *,
        hidden_dim: Count = 256,
        process_steps: Natural = 5,
        glimpses: Literal[0, 1] = 1,
        init_range: Positive | None = None,
    ) -> None:
        super().__init__()
        widths = (spec.width, hidden_dim, hidden_dim, hidden_dim)
        layers = [part for sizes in pairwise(widths) for part in (nn.Linear(*sizes), nn.ReLU())]
        self.reader = nn.Sequential(*layers[:-1])  # MLP
        self.process_steps = process_steps
        if process_steps:
            self.process = nn.LSTMCell(hidden_dim, hidden_dim)
            self.hand_over = nn.Linear(2 * hidden_dim, 2 * hidden_dim)
        else:
            self.initial = nn.Parameter(torch.empty(2 * hidden_dim).uniform_(-1, 1) / hidden_dim**0.5)
        self.begin, self.end = (nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1)) for _ in range(2))  # ..., m_0
        self.decoder = LSTM(hidden_dim, hidden_dim)
        self.glimpse = AdditiveScore(hidden_dim, hidden_dim, hidden_dim) if glimpses else None  # v', W_2', W_1'
        self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_2, W_1
        start_network_(self, init_range)
        if init_range is None:
            self._start_reading()

    def encode(self, batch: PointBatch) -> tuple[Memory, tuple[Tensor, Tensor]]:
        """Reads each point alone, then processes all. Adds m of the places, `states` (B, S, H), to the memory."""
        points = batch.point_packing
        m = self.reader(points.pack(batch.points).to(self.begin.dtype))  # (M, H)
        memory = {
            "states": at_places(m, self.end, points),
            "keys": at_places(self.score.prepare(m), self.score.prepare(self.end), points),
            "tokens": token_table(points.unpack(m), self.begin.to(m.dtype)),  # (B, V, H)
            "mask": batch.memory_mask,
            "content": batch.content_mask,
        }
        if self.glimpse is not None:
            memory["refs"] = at_places(self.glimpse.prepare(m), torch.zeros_like(self.end), points)
        h, c = self._process(memory)
        return memory, (h[None], c[None])

    def inputs(self, tokens: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        return read_tokens(tokens, memory["tokens"], packing)  # m (..., H) of the points that are pointed at

    def query(self, d: Tensor, memory: Memory, packing: Packing | None = None) -> Tensor:
        """The state d (..., H), to which a glimpse is added."""
        if self.glimpse is None:
            return d
        return d + glimpse_of(self.glimpse, d, memory["refs"], memory["states"], memory["content"], packing)

    def _process(self, memory: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The (h, c), (B, H) each, from which the decoder starts."""
        states, content = memory["states"], memory["content"]
        if not self.process_steps:
            h, c = self.initial.expand(states.shape[0], -1).chunk(2, 1)
            return h, c
        r = q = c = states.new_zeros(states.shape[0], states.shape[2])
        for _ in range(self.process_steps):
            q, c = self.process(r, (q, c))  # (B, H)    (3)
            weights = masked_softmax((states @ q.to(states.dtype)[:, :, None])[:, :, 0], content)  # (B, S)    (4), (5)
            r = (weights[:, None] @ states)[:, 0]  # (B, H)    (6)
        h, c = self.hand_over(torch.cat([q, r], 1)).chunk(2, 1)
        return h, c

    @torch.no_grad()
    def _start_reading(self) -> None:
        linears = [layer for layer in self.reader if isinstance(layer, nn.Linear)]
        for linear, gain in zip(linears, (4.0, 2.0, 2.0), strict=True):
            nn.init.xavier_uniform_(linear.weight, gain)
        first = linears[0]
        first.bias.copy_(-(first.weight * torch.rand_like(first.weight)).sum(1))
        for score in (self.glimpse, self.score):
            if score is not None:
                nn.init.xavier_uniform_(score.query_projection.weight, STATE_GAIN)
