"""The share of different n-grams in all written texts (Li et al. 2016, https://arxiv.org/abs/1510.03055)."""

from collections.abc import Sequence
from hashlib import blake2b

import torch
from torch import Tensor
from torchmetrics import Metric


class Distinct(Metric):
    """Different n-grams divided by all n-grams, in the texts of a split together; NaN without any.

    An n-gram is stored as 63 bits of a checksum, so that the n-grams of all ranks can be compared."""

    full_state_update = False
    higher_is_better = True
    total: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.add_state("different", [], dist_reduce_fx="cat")
        self.add_state("total", torch.zeros((), dtype=torch.long), dist_reduce_fx="sum")
        self.different: list[Tensor] | Tensor

    def update(self, texts: Sequence[Sequence[str]]) -> None:
        """Count the n-grams of texts, each a list of tokens."""
        ngrams = [tuple(text[at : at + self.size]) for text in texts for at in range(len(text) - self.size + 1)]
        self.total += len(ngrams)
        numbers = [_number(one) for one in dict.fromkeys(ngrams)]
        assert isinstance(self.different, list)
        self.different.append(torch.tensor(numbers, dtype=torch.long, device=self.total.device))

    def compute(self) -> Tensor:
        """The share."""
        found = (
            self.different
            if isinstance(self.different, Tensor)
            else torch.cat([*self.different, self.total.new_empty(0)])
        )
        return found.unique().numel() / self.total


def _number(ngram: tuple[str, ...]) -> int:
    return int.from_bytes(blake2b("\0".join(ngram).encode(), digest_size=8).digest(), "big") >> 1
