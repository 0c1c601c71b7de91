"""The result of decoding: a sequence of tokens, its probability and the attention of each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from zoo.attention.source import source_attention
from zoo.layers.state import Memories


@dataclass(frozen=True)
class Hypothesis:
    """One written sequence of T tokens."""

    ids: tuple[int, ...]
    """(T,) the tokens with the end, if it was written; without begin, padding and the prompt."""
    log_prob: float
    """Sum of the network's own log-probabilities of `ids`, the end included."""
    score: float
    """The number that it was ranked by: `log_prob` unless a beam search adds penalties."""
    finished: bool
    """Whether it ends in the end token. It does not where the rules and the network let nothing follow, and where a
    text that is continued, or has no end token, was cut at the maximum length."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """(T, S) weights by name, the mean of the heads, on the CPU. Row t belongs to the step that wrote token t, and the
    columns are the positions that exist in the memory of this name. Empty where the network gives none."""
    aligned: bool = True
    """Whether the columns of `source` are the positions of the batch's memory, such as source tokens."""

    @property
    def alignment(self) -> Tensor | None:
        """(T, S) the mean of the layers' attention on the batch's memory, for pictures and unknown words. None
        where the network has none, or chooses the positions itself."""
        return source_attention(self.attention) if self.aligned else None


def heads_mean(attention: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a step, (B, K, S) or with heads (B, K, H, S) -> (B, K, S)."""
    return {name: weights.mean(2) if weights.dim() == 4 else weights for name, weights in attention.items()}


def as_hypotheses(
    ids: Tensor,
    lengths: Tensor,
    log_probs: Tensor,
    scores: Tensor,
    finished: Tensor,
    attention: Mapping[str, Tensor],
    memories: Memories,
) -> list[list[Hypothesis]]:
    """For each of B examples the hypotheses whose score is above -inf, in the order given.

    `ids` (B, N, T), `lengths` (B, N) tokens of each, `log_probs` and `scores` (B, N), `finished` (B, N), `attention`
    (B, N, T, S) by name, and in `memories` the positions of each of these names.
    Raises FloatingPointError where a log-probability is NaN.
    """
    if log_probs.isnan().any():
        raise FloatingPointError("the network gave NaN as the log-probability of a token")
    weights = {name: (values.cpu(), memories[name].mask.cpu()) for name, values in attention.items()}
    aligned = not any(memories[name].own for name in attention if name.split(".")[0] == "source")
    rows = zip(*(part.tolist() for part in (ids, lengths, log_probs, scores, finished)), strict=True)
    result: list[list[Hypothesis]] = []
    for b, columns in enumerate(rows):
        result.append([])
        for n, (tokens, length, log_prob, score, ended) in enumerate(zip(*columns, strict=True)):
            if score > -torch.inf:
                seen = {name: values[b, n, :length, real[b]] for name, (values, real) in weights.items()}
                result[b].append(Hypothesis(tuple(tokens[:length]), log_prob, score, ended, seen, aligned))
    return result
