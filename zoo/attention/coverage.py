"""Attention that remembers what it has looked at.

Tu et al. 2016, section 3, with the previous decoder state as the query:
e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j + V_a C_{i-1,j})

The coverage C_{i-1} comes from the weights before step i alone, and C_0 = 0. It goes in and comes out; it is never kept
on a module nor changed in place, so that a beam can reorder it.

Notation: B sentences, K queries (hypotheses) of each, S positions, C width of the coverage, D_q and D_k widths of query
and key, A of the attention, D_v of a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.attend import per_query, weighted_mean
from zoo.attention.softmax import masked_softmax
from zoo.precision import precise_dtype


class CoverageMemory(NamedTuple):
    """What is computed once of a source; its hypotheses share it."""

    keys: Tensor
    """(B, S, A) U_a h."""
    values: Tensor
    """(B, S, D_v)."""
    mask: Tensor
    """(B, S) True at real positions."""
    sources: Tensor
    """(B, S, P) what the coverage needs of each position."""


class Coverage(nn.Module, ABC):
    """The protocol of a coverage `width` numbers wide: what it needs of the source, and how it grows with a step."""

    width: int

    @abstractmethod
    def prepare(self, keys: Tensor) -> Tensor:
        """(B, S, D_k) -> (B, S, P), once per source."""

    @abstractmethod
    def forward(self, coverage: Tensor, weights: Tensor, query: Tensor, sources: Tensor) -> Tensor:
        """C_{i-1} (B, K, S, C), alpha_i (B, K, S), s_{i-1} (B, K, D_q), (B, S, P) -> C_i (B, K, S, C)."""


class SumCoverage(Coverage):
    """C_ij = C_{i-1,j} + alpha_ij: linguistic coverage without fertility."""

    width = 1

    def prepare(self, keys: Tensor) -> Tensor:
        """(B, S, D_k) -> (B, S, 0)."""
        return keys[..., :0]

    def forward(self, coverage: Tensor, weights: Tensor, query: Tensor, sources: Tensor) -> Tensor:
        return coverage + weights.unsqueeze(-1)


class FertilityCoverage(Coverage):
    """C_ij = C_{i-1,j} + alpha_ij / Phi_j, Phi_j = N sigmoid(U_f h_j): linguistic coverage

    Phi_j, the fertility, is the number of target words that the source word is expected to give, at most N = `most`.
    """

    width = 1

    def __init__(self, key_dim: Count, most: Positive = 2.0) -> None:
        super().__init__()
        self.most = most
        self.fertility = nn.Linear(key_dim, 1, bias=False)

    def prepare(self, keys: Tensor) -> Tensor:
        """(B, S, D_k) -> (B, S, 1) the fertilities."""
        return self.most * self.fertility(keys).sigmoid()

    def forward(self, coverage: Tensor, weights: Tensor, query: Tensor, sources: Tensor) -> Tensor:
        return coverage + weights.unsqueeze(-1) / sources.unsqueeze(1)


class NeuralCoverage(Coverage):
    """C_ij = GRU(C_{i-1,j}; alpha_ij, h_j, s_{i-1}): neural coverage

    The GRU is torch's, its input [alpha; h; s]; the part of h is computed once per source, the part of s once per step.
    """

    def __init__(self, query_dim: Count, key_dim: Count, width: Count = 10) -> None:
        super().__init__()
        self.width = width
        self.gru = nn.GRUCell(1 + key_dim + query_dim, width)
        self.parts = (1, key_dim, query_dim)

    def prepare(self, keys: Tensor) -> Tensor:
        """(B, S, D_k) -> (B, S, 3C) W h + b."""
        _, of_key, _ = self.gru.weight_ih.split(self.parts, 1)
        return nn.functional.linear(keys, of_key, self.gru.bias_ih)

    def forward(self, coverage: Tensor, weights: Tensor, query: Tensor, sources: Tensor) -> Tensor:
        of_weight, _, of_query = self.gru.weight_ih.split(self.parts, 1)
        of_step = weights.unsqueeze(-1) * of_weight[:, 0] + nn.functional.linear(query, of_query).unsqueeze(-2)
        x_r, x_z, x_n = (sources.unsqueeze(1) + of_step).chunk(3, -1)  # (B, K, S, C) each
        h_r, h_z, h_n = nn.functional.linear(coverage.to(sources.dtype), self.gru.weight_hh, self.gru.bias_hh).chunk(
            3, -1
        )
        z = (x_z + h_z).sigmoid()
        n = (x_n + (x_r + h_r).sigmoid() * h_n).tanh()
        return n + z * (coverage - n)


class CoverageAttention(nn.Module):
    """Additive attention that also reads the coverage of each position; no biases, as in the equation."""

    def __init__(self, query_dim: Count, key_dim: Count, attention_dim: Count, coverage: Coverage) -> None:
        super().__init__()
        self.query_projection = nn.Linear(query_dim, attention_dim, bias=False)
        self.key_projection = nn.Linear(key_dim, attention_dim, bias=False)
        self.coverage_projection = nn.Linear(coverage.width, attention_dim, bias=False)
        self.v = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim**0.5)
        self.coverage = coverage

    def prepare(self, keys: Tensor, mask: Tensor, values: Tensor | None = None) -> CoverageMemory:
        """Keys (B, S, D_k) and mask (B, S) -> the memory. The values are the keys unless given, (B, S, D_v)."""
        values = keys if values is None else values
        return CoverageMemory(self.key_projection(keys), values, mask, self.coverage.prepare(keys))

    def start(self, memory: CoverageMemory, hypotheses: int = 1) -> Tensor:
        """C_0 = 0, (B, K, S, C), in float32 at least: half precision would lose what late steps add."""
        shape = len(memory.mask), hypotheses, memory.mask.shape[1], self.coverage.width
        return memory.keys.new_zeros(shape, dtype=precise_dtype(memory.keys.dtype))

    def forward(self, query: Tensor, memory: CoverageMemory, coverage: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One step: s_{i-1} (B, K, D_q), C_{i-1} (B, K, S, C) -> contexts (B, K, D_v), weights (B, K, S), C_i.

        The rows of a sentence without real positions are zero.
        """
        pairs = self.query_projection(query).unsqueeze(-2) + memory.keys.unsqueeze(1)  # (B, K, S, A)
        scores = (pairs + self.coverage_projection(coverage.to(pairs.dtype))).tanh() @ self.v
        weights = masked_softmax(scores, per_query(memory.mask, scores))
        after = self.coverage(coverage, weights, query, memory.sources)
        return weighted_mean(weights, memory.values), weights, after
