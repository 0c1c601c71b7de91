"""End-To-End Memory Networks, as a language model.

Sainbayar Sukhbaatar, Arthur Szlam, Jason Weston, Rob Fergus. NIPS 2015. https://arxiv.org/abs/1503.08895

Equations: match, read and answer (1)-(3), hops (4), with the changes of section 5. A memory is one word:
m_i = A w_i + T_A(i), c_i = C w_i + T_C(i). The query u^1 has 0.1 everywhere. All hops share A and C, which are computed
once, and H: u^(k+1) = H u^k + o^k. In the second half of u^(k+1) a ReLU follows. The next word has
p = softmax(W u^(K+1)).

What differs from the paper:
- The authors' code (facebookarchive/MemNN) trains on 128 random positions with M words before each. Here a window of a
  column is read, so that each position predicts, and each word is embedded once for all of them.
- The first words of a column have fewer than M words before them. Empty places have the weight 0. That code skips
  these positions.
- The loss is a mean over tokens. The authors sum it over 128 positions, so that their rate of 0.01 is a rate of 1.28
  here, and their clipping at 50 one at 50 / 128.

Notation: B columns, T tokens of a window, N of all columns, M memory_size, d embedding_dim, K hops (K hypotheses of an
example in a step), V vocabulary, G blocks of Q tokens; u, m, c, p, o as in the paper.
"""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.attention import masked_softmax
from zoo.attention.softmax import needed
from zoo.data.language.batch import LanguageSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import Read, StreamNetwork

QUERY = 0.1
INIT_STD = 0.05


class MemN2NLanguageModel(StreamNetwork):
    """Attends in K hops to the last M words, the word that it reads included."""

    tasks = ("language_modeling",)
    attends = {"hop": "target_mask"}

    def __init__(
        self, spec: LanguageSpec, *, embedding_dim: Count = 150, hops: Count = 6, memory_size: Count = 100
    ) -> None:
        super().__init__()
        self.hops, self.memory_size = hops, memory_size
        self.context = memory_size
        self.matched, self.returned = (TokenEmbedding(spec.vocabulary_size, embedding_dim) for _ in range(2))  # A, C
        self.matched_time, self.returned_time = (
            nn.Parameter(torch.empty(memory_size, embedding_dim)) for _ in range(2)
        )
        self.hop = nn.Parameter(torch.empty(embedding_dim, embedding_dim))  # H
        self.vocabulary = Linear(embedding_dim, spec.vocabulary_size, bias=False)  # W
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=INIT_STD)

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """u^(K+1) of each token (N, d), attention `hop.0` ... (B, T, S), and the last M - 1 `words` (B, M - 1) of each
        column, oldest first, -1 where there are none. The tokens are ids; a step reads probabilities too."""
        (rows, length), before = packing.shape, self.memory_size - 1
        old = packing.cell.new_full((rows, before), -1) if carried is None else carried["words"]
        if not length:
            return Read(self.hop.new_empty(0, len(self.hop)), {"words": old})
        real = packing.numbers() > 0  # (B, T)
        queries = min(length, self.memory_size)
        padding = -length % queries
        # a block of Q tokens sees Q + M - 1 words, each token M of them: a band of the block's scores
        words = F.pad(torch.cat([old, packing.unpack(tokens).where(real, -1)], 1), (0, padding), value=-1)
        seen = (words >= 0).unfold(1, self.memory_size, 1).unflatten(1, (-1, queries))  # (B, G, Q, M)
        m, c = (
            table(words.clamp(min=0)).unfold(1, queries + before, queries)  # (B, G, d, Q + M - 1)
            for table in (self.matched, self.returned)
        )
        u, attention = self.hop.new_full((*seen.shape[:3], len(self.hop)), QUERY), {}  # (B, G, Q, d)
        for k in range(self.hops):
            p = masked_softmax(band(u @ m) + u @ self.matched_time.T, seen)  # (B, G, Q, M)    (1)
            u = self._next(u, block(p) @ c.mT + p @ self.returned_time)  # (2)
            if need_weights:
                columns = block(p.flatten(1, 2)[:, :length] * real[..., None])  # (B, T, M - 1 + T)
                attention[f"hop.{k}"] = columns[..., before:] if carried is None else columns
        ends = real.sum(1, keepdim=True) + torch.arange(before, device=words.device)
        return Read(packing.pack(u.flatten(1, 2)[:, :length]), {"words": words.gather(1, ends)}, attention)

    def start(self, batch: Any) -> State:
        """Reads the prompts, and embeds the last words."""
        state = super().start(batch)
        words = state.hypotheses["words"]  # (B, 1, M - 1)
        tables = {"matched": self.matched, "returned": self.returned}
        embedded = {name: table(words.clamp(min=0)) for name, table in tables.items()}  # (B, 1, M - 1, d)
        return State({}, {**embedded, "seen": words >= 0}, first=state.first)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities."""
        before = state.hypotheses
        a = torch.cat([before["matched"], self.matched(tokens)[:, :, None]], 2)  # (B, K, M, d)
        b = torch.cat([before["returned"], self.returned(tokens)[:, :, None]], 2)
        seen = F.pad(before["seen"], (0, 1), value=True)  # (B, K, M)
        mask = needed(seen)
        m, c = a + self.matched_time, b + self.returned_time
        u = a.new_full((*tokens.shape[:2], a.shape[-1]), QUERY)  # (B, K, d)
        for _ in range(self.hops):
            p = masked_softmax((m @ u[..., None]).squeeze(-1), mask)  # (B, K, M)    (1)
            u = self._next(u, (p[:, :, None] @ c).squeeze(2))  # (2)
        after = {"matched": a[:, :, 1:], "returned": b[:, :, 1:], "seen": seen[:, :, 1:]}
        return Step(log_probabilities(self.vocabulary(u)), State({}, after), {})  # (3)

    def _next(self, u: Tensor, o: Tensor) -> Tensor:
        """H u + o (4), with a ReLU on the second half."""
        linear, rest = (u @ self.hop.T + o).tensor_split([u.shape[-1] // 2], -1)
        return torch.cat([linear, rest.relu()], -1)


def band(scores: Tensor) -> Tensor:
    """Scores (..., Q, Q + M - 1) of a block -> (..., Q, M): row q has the columns q to q + M - 1."""
    queries, columns = scores.shape[-2:]
    # a row that is one longer begins one column later in the row before
    longer = F.pad(scores.flatten(-2), (0, queries)).unflatten(-1, (queries, columns + 1))
    return longer[..., : columns + 1 - queries]


def block(weights: Tensor) -> Tensor:
    """The inverse of `band`: (..., Q, M) -> (..., Q, Q + M - 1), 0 outside the band."""
    queries, columns = weights.shape[-2], sum(weights.shape[-2:]) - 1
    flat = F.pad(weights, (0, queries)).flatten(-2)
    return flat[..., : queries * columns].unflatten(-1, (queries, columns))
