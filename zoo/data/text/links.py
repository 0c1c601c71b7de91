"""From links between the words of a generator to links between the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from zoo.data.parts import Padded, Ragged


def covering(words: Sequence[int], tokens: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The tokens that share a letter with each word. `words` has the begin and the end of each word in sequence, and
    `tokens` those of each token; words and tokens are in the order of the text."""
    found, first = [], 0
    for begin, end in zip(words[::2], words[1::2], strict=True):
        while first < len(tokens) and tokens[first][1] <= begin:
            first += 1
        after = first
        while after < len(tokens) and tokens[after][0] < end:
            after += 1
        found.append([number for number in range(first, after) if tokens[number][0] < tokens[number][1]])
    return found


def alignment(target: Padded, source: Padded, targets: Ragged, sources: Ragged) -> Tensor:
    """(B, T, S) True where a token of the first side is linked to one of the second."""
    linked = np.zeros((len(targets.lengths), target.values.shape[1], source.values.shape[1]), np.bool_)
    row = np.repeat(np.arange(len(linked)), targets.lengths)
    linked[row, targets.values, sources.values] = True
    return torch.from_numpy(linked)
