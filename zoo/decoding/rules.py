"""The base of decoding methods, and the tokens that they may write next: limits on length relative to the memory, and
n-grams that must not repeat.

At the maximum length the end is forced, if the text is written whole from a source. A translation that stops in the
middle could not be compared with finished ones, neither by its log-probability nor by its score. Nothing is forced
where a text is continued from a prompt (`State.first`) and where it has no end token (`Specials.end` is None). Such a
text is cut there and is unfinished.

Notation: B examples, K hypotheses of each, V vocabulary, t tokens written, L length of the memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import torch
from torch import Tensor

from zoo.arguments import Natural, NonNegative
from zoo.decoding.fusion import WEIGHT
from zoo.decoding.hypothesis import Hypothesis
from zoo.decoding.protocol import Examples, Generating, Specials
from zoo.values import Checked

Bound = tuple[NonNegative, NonNegative]
"""(a, b) means a L + b tokens, where L is the length of the memory."""


class Lengths(NamedTuple):
    """The least and the largest number of tokens for each example, (B,) each, on the CPU; the end counts."""

    shortest: Tensor
    longest: Tensor

    def examples(self, rows: Tensor) -> Lengths:
        """The limits of the examples `rows` (B',), numbers on the CPU."""
        return Lengths(*(part[rows] for part in self))


class Rules(NamedTuple):
    """The rules that all decoding methods share. They act on the scores before a token is chosen."""

    min_length: Sequence[float]
    """(a, b): at least a L + b tokens, rounded down, at least 1, including the end."""
    max_length: Sequence[float]
    """(a, b): at most a L + b tokens. If the minimum is larger, the maximum holds."""
    no_repeat_ngram: int
    """No n-gram of this many tokens occurs twice; 0 allows repeats."""

    def lengths(self, memory_length: Tensor) -> Lengths:
        """The limits for memories of these lengths (B,)."""
        memory = memory_length.cpu().double()

        def bound(pair: Sequence[float]) -> Tensor:
            # 1e-9, because 1.15 * 100 is a little less than 115 in floating point
            return (pair[0] * memory + pair[1] + 1e-9).floor().long().clamp(min=1)

        longest = bound(self.max_length)
        return Lengths(bound(self.min_length).minimum(longest), longest)

    def forbid(
        self,
        scores: Tensor,
        position: int,
        prefix: Tensor,
        lengths: Lengths,
        specials: Specials,
        *,
        whole: bool = True,
    ) -> None:
        """Sets to -inf, in place, the `scores` (B, K, V) of tokens that may not be written at `position`, from 1.

        `prefix` (B, K, t) are the tokens written before; only the rule for n-grams reads them.

        Padding and begin never follow. The end does not follow before the shortest length. At the longest length, only
        the end may follow if the text is written `whole`; it keeps its log-probability.
        """
        scores[..., specials.padding] = -torch.inf
        scores[..., specials.begin] = -torch.inf
        end, size = specials.end, self.no_repeat_ngram
        if 0 < size < position:
            ngrams = prefix.unfold(2, size, 1)  # (B, K, t - n + 1, n)
            again = (ngrams[..., :-1] == prefix[:, :, None, position - size :]).all(-1)
            scores.scatter_(2, ngrams[..., -1].where(again, specials.padding), -torch.inf)
        if end is None:
            return
        early = [row for row, shortest in enumerate(lengths.shortest.tolist()) if position < shortest]
        late = [row for row, longest in enumerate(lengths.longest.tolist()) if longest <= position]
        if len(early) == len(scores):
            scores[..., end] = -torch.inf
        elif early:
            scores[torch.tensor(early, device=scores.device), :, end] = -torch.inf
        if whole and late:
            late_rows = torch.tensor(late, device=scores.device)
            ends = scores[late_rows, :, end]
            scores[late_rows] = -torch.inf
            scores[late_rows, :, end] = ends


class RuleArguments(TypedDict, total=False):
    """The arguments of all decoding methods."""

    min_length: Bound
    max_length: Bound
    no_repeat_ngram: Natural
    language_model: str | None
    language_weight: NonNegative


class Decoding(Checked, ABC):
    """A decoding method, chosen by `decoding=`. The class that a checkpoint names must derive from this one. Its
    arguments are those of `Rules`, and the checkpoint and the weight of a language model (`zoo.decoding.fusion`), which
    the task puts beside the network."""

    def __init__(
        self,
        *,
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
        language_model: str | None = None,
        language_weight: NonNegative = WEIGHT,
    ) -> None:
        self.rules = Rules(tuple(min_length), tuple(max_length), no_repeat_ngram)

    @abstractmethod
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """Return the hypotheses of each example, the best first."""
