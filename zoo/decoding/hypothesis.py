"""What decoding gives: a sequence of tokens, how probable it is and where the network looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zoo.attention.source import source_attention


@dataclass(frozen=True)
class Hypothesis:
    """One sequence of T tokens written from a memory of S positions."""

    ids: tuple[int, ...]
    """(T,) with the end token where it was written, without begin and padding."""
    log_prob: float
    """Sum of the network's own log-probabilities of `ids`, the end among them."""
    score: float
    """What it was ranked by: `log_prob` unless a beam search adds penalties."""
    finished: bool
    """Whether it ends in the end token. False only where the rules and the network let nothing follow."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """(T, S) weights on the memory by name, the mean of the heads, on the CPU. Row t is of the step that wrote token t,
    and columns are the positions that exist. Empty where the network gives none."""

    @property
    def alignment(self) -> Tensor | None:
        """(T, S) the mean of the layers' attention on the memory, for pictures and unknown words; None where there is
        none."""
        return source_attention(self.attention)


def heads_mean(attention: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Of a step's weights (B, K, S) or (B, K, H, S), (B, K, S)."""
    return {name: weights.mean(2) if weights.dim() == 4 else weights for name, weights in attention.items()}


def as_hypotheses(
    ids: Tensor,
    lengths: Tensor,
    log_probs: Tensor,
    scores: Tensor,
    finished: Tensor,
    attention: Mapping[str, Tensor],
    memory_mask: Tensor,
) -> list[list[Hypothesis]]:
    """For each of B examples the hypotheses whose score is above -inf, in the order given.

    `ids` (B, N, T), `lengths` (B, N) tokens of each, `log_probs` and `scores` (B, N), `finished` (B, N), `attention`
    (B, N, T, S) by name, `memory_mask` (B, S).
    Raises FloatingPointError where a log-probability is NaN.
    """
    if log_probs.isnan().any():
        raise FloatingPointError("the network gave NaN as the log-probability of a token")
    weights, real = {name: values.cpu() for name, values in attention.items()}, memory_mask.cpu()
    rows = zip(*(part.tolist() for part in (ids, lengths, log_probs, scores, finished)), strict=True)
    result: list[list[Hypothesis]] = []
    for b, columns in enumerate(rows):
        result.append([])
        for n, (tokens, length, log_prob, score, ended) in enumerate(zip(*columns, strict=True)):
            if score > -torch.inf:
                seen = {name: values[b, n, :length, real[b]] for name, values in weights.items()}
                result[b].append(Hypothesis(tuple(tokens[:length]), log_prob, score, ended, seen))
    return result
