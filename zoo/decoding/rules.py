"""What may be written next: lengths relative to the memory, and n-grams that must not come back.

Notation: B examples, K hypotheses of each, V vocabulary, t tokens written, L length of the memory
as the batch counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.arguments import NonNegative
from zoo.decoding.protocol import Specials
from zoo.errors import ConfigError

Bound = tuple[NonNegative, NonNegative]
"""(a, b) stands for a L + b tokens, L being the length of what is written from."""


class Lengths(NamedTuple):
    """(B,) each, on the CPU: how many tokens may be written for each example, the end counted."""

    shortest: Tensor
    longest: Tensor

    def examples(self, rows: Tensor) -> Lengths:
        """The lengths of the examples `rows` (B',), on the CPU too."""
        return Lengths(*(part[rows] for part in self))


class Rules:
    """The rules that every way of decoding obeys. They act on the scores before anything is chosen."""

    def __init__(self, min_length: Sequence[float], max_length: Sequence[float], no_repeat_ngram: int) -> None:
        """`min_length` and `max_length` (a, b): a L + b tokens, rounded down, at least 1, with the end counted; where
        they cross, the maximum holds. No n-gram of `no_repeat_ngram` tokens comes twice in a hypothesis; 0 lets
        all come. Raises ConfigError where a value makes no sense."""
        for name, bounds in (("min_length", min_length), ("max_length", max_length)):
            if len(bounds) != 2 or min(bounds) < 0:
                raise ConfigError(f"{name}={list(bounds)}: give [a, b], both at least 0, for a L + b tokens")
        if no_repeat_ngram < 0:
            raise ConfigError(f"no_repeat_ngram={no_repeat_ngram}: give 0 (off) or the length of the n-grams")
        self.min_length, self.max_length, self.no_repeat_ngram = tuple(min_length), tuple(max_length), no_repeat_ngram

    def lengths(self, memory_length: Tensor) -> Lengths:
        """What memories of these lengths (B,) let be written."""
        memory = memory_length.cpu().double()

        def bound(pair: Sequence[float]) -> Tensor:
            # 1e-9: 1.15 * 100 is a little less than 115
            return (pair[0] * memory + pair[1] + 1e-9).floor().long().clamp(min=1)

        longest = bound(self.max_length)
        return Lengths(bound(self.min_length).minimum(longest), longest)

    def forbid(self, scores: Tensor, prefix: Tensor, lengths: Lengths, specials: Specials) -> None:
        """Sets to -inf, in place, the `scores` (B, K, V) of tokens that may not follow `prefix` (B, K, t).

        Padding and begin may never. The end may not before the shortest length, and at the longest nothing else may: it
        keeps its own log-probability.
        """
        position, end = prefix.shape[2] + 1, specials.end
        scores[:, :, specials.padding] = -torch.inf
        scores[:, :, specials.begin] = -torch.inf
        size = self.no_repeat_ngram
        if 0 < size < position:
            ngrams = prefix.unfold(2, size, 1)  # (B, K, t - n + 1, n)
            again = (ngrams[..., :-1] == prefix[:, :, None, position - size :]).all(-1)
            scores.scatter_(2, ngrams[..., -1].where(again, specials.padding), -torch.inf)
        early = (lengths.shortest > position).nonzero().squeeze(1).to(scores.device)
        if len(early):
            scores[early, :, end] = -torch.inf
        late = (lengths.longest <= position).nonzero().squeeze(1).to(scores.device)
        if len(late):
            ends = scores[late, :, end]
            scores[late] = -torch.inf
            scores[late, :, end] = ends
