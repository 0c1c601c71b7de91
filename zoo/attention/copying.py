"""Copying: a distribution over a vocabulary and the words of a source, whose unknown words have columns of their own.

P(w) = g P_vocab(w) + (1 - g) sum of a_i over the positions i of the source with word w, with g the sigmoid of a gate.

Notation: B sources, S positions, K hypotheses, V vocabulary, U the most unknown words of a source, N target tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.precision import precise_dtype

CLOSED = 1e4
"""The gate of a source without words: its sigmoid is 1, and the logarithm of 1 minus that is still finite."""


class Columns(NamedTuple):
    """The columns of the extended vocabulary in which the words of each source are."""

    slot: Tensor  # (B, S) the number of each position's word among the different words of its source
    column: Tensor  # (B, S) the column of each of these words, V + U where a source has fewer
    unknown: Tensor  # (B, U) True at the columns from V on that a source has

    @classmethod
    def of(cls, extended: Tensor, mask: Tensor, size: int) -> Columns:
        """Find the columns of `extended` ids (B, S), in which unknown words begin at V = `size`; `mask` (B, S) is True
        at words. Waits for the device, to know U."""
        known = extended.masked_fill(~mask, 0)
        exporting = torch.compiler.is_exporting() or not known.numel()
        most = 0 if exporting else max(0, int(known.max()) + 1 - size)
        words = extended.masked_fill(~mask, size + most)
        ordered, order = words.sort(dim=1)
        new = torch.ones_like(mask)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        rank = new.cumsum(1) - 1
        slot = torch.zeros_like(rank).scatter(1, order, rank)
        column = torch.full_like(ordered, size + most).scatter(1, rank, ordered)
        own = (known.amax(1, keepdim=True) - size) if known.shape[1] else known.new_full((len(known), 1), -1)
        return cls(slot, column, torch.arange(most, device=own.device) <= own)

    def rows(self, number: Tensor) -> Columns:
        """The columns of the sources `number` (N,)."""
        return Columns(*(part.index_select(0, number) for part in self))

    def log_probs(self, vocabulary: Tensor, gate: Tensor, weights: Tensor) -> Tensor:
        """log P (B, K, V + U), -inf at columns that a source does not have, from log-probabilities (B, K, V) of the
        vocabulary, gates (B, K) and weights (B, K, S) on the source. A word without weight has the least one above 0.
        """
        rows, (slot, column) = weights.shape, (part[:, None].expand(weights.shape) for part in self[:2])
        whole = F.pad(F.logsigmoid(gate)[..., None] + vocabulary, (0, self.unknown.shape[1] + 1), value=-torch.inf)
        mass = weights.new_zeros(rows).scatter_add(2, slot, weights)  # (B, K, S) by slot
        copied = F.logsigmoid(-gate)[..., None] + _log(mass)
        both = torch.logaddexp(whole.gather(2, column), copied)
        return whole.scatter(2, column, both)[..., :-1]

    def possible(self, size: int) -> Tensor:
        """(B, V + U) True at the columns that each source has, with V = `size`."""
        return F.pad(self.unknown, (size, 0), value=True)


def true_log_probs(
    logits: Tensor, gate: Tensor, weights: Tensor, words: Tensor, truth: Tensor
) -> tuple[Tensor, Tensor]:
    """Log P of each true word (N,), and the share of P that is copied, without the distribution over V + U columns.

    Args:
        logits: (N, V) scores of the vocabulary.
        gate: (N,) of p_gen.
        weights: (N, S) on the source, 0 at padding.
        words: (N, S) the column of each position's word.
        truth: (N,) the columns of the true words.
    """
    size = logits.shape[1]
    own = F.logsigmoid(gate) + TrueLogProb.apply(logits, truth.where(truth < size, torch.zeros_like(truth)))
    own = own.masked_fill(truth >= size, -torch.inf)
    copied = F.logsigmoid(-gate) + _log((weights * (words == truth[:, None])).sum(1))
    both = torch.logaddexp(own, copied)
    return both, (copied - both).detach().exp()


class TrueLogProb(torch.autograd.Function):
    """log softmax(logits) (N, V) at the columns `truth` (N,): (N,). Backward writes the gradient where the
    log-probabilities were, as the cross-entropy of `zoo.objectives` does, and works once per forward."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, truth: Tensor) -> Tensor:
        log_probs = logits.log_softmax(-1, dtype=precise_dtype(logits.dtype))
        ctx.save_for_backward(log_probs, truth)
        ctx.dtype = logits.dtype
        return log_probs.gather(1, truth[:, None]).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        log_probs, truth = ctx.saved_tensors
        difference = log_probs.exp_().mul_(-gradient[:, None])
        difference.scatter_add_(1, truth[:, None], gradient[:, None])
        return difference.to(ctx.dtype), None


def _log(mass: Tensor) -> Tensor:
    """The logarithm of a mass from 0 to 1, finite also at 0, where its gradient is 0."""
    return mass.clamp_min(torch.finfo(mass.dtype).tiny).log()
