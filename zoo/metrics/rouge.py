"""ROUGE of summaries (Lin 2004, https://aclanthology.org/W04-1013) by the package rouge-score: F1, 0 to 100.

Three scores are called ROUGE-L. `rouge_l` is one longest common subsequence of the whole texts, and ignores sentences.
`rouge_lsum` is the one of the original Perl program: each reference sentence is compared with all sentences of the
summary. It is the one that papers on CNN/Daily Mail print. `zoo.metrics.RougeL` scores captions and prefers recall.
"""

import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import torch
from absl.logging import get_absl_handler
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer
from torch import Tensor
from torchmetrics import Metric

# rouge-score imports absl, whose log handler keeps the standard error of that moment. When logging is set up again, it
# closes that stream, unless it is the one that the process began with.
get_absl_handler().python_handler.stream = sys.__stderr__

KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
"""The scores, and their names in the package."""


class Rouge(Metric):
    """The mean ROUGE of summaries, 0 to 100. It is not defined if no reference has a letter of a to z or a digit.

    With several references, the one with the highest ROUGE-1 gives every score, as in the official script of SciTLDR.
    """

    full_state_update = False
    higher_is_better = True
    total: Tensor
    count: Tensor
    defining: Tensor  # The number of references with a word

    def __init__(self, kind: str, *, stemming: bool = True, splitting: str = "lines") -> None:
        """`kind` is one of `KINDS`. With `stemming`, words of more than three letters are compared by their stems.
        `splitting` says how the given lines were found, for the signature."""
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}: expected one of {', '.join(KINDS)}")
        self.kind, self.stemming, self.splitting = kind, stemming, splitting
        self.add_state("total", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("count", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("defining", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, summaries: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        """One summary of each text, and all of its references. Sentences are on lines of their own."""
        if len(summaries) != len(references):
            raise ValueError(f"{len(summaries)} summaries, but references of {len(references)} texts")
        for several in references:
            if isinstance(several, str) or not several:
                raise ValueError(f"expected a list of references with one at least, found {several!r}")
        if summaries:
            found = _scores(tuple(summaries), tuple(map(tuple, references)), self.stemming)
            self.total += sum(scores[self.kind] for scores in found)
            self.count += len(found)
            self.defining += sum(any(map(_has_word, several)) for several in references)

    def compute(self) -> Tensor:
        """0 to 100; NaN if it is not defined."""
        mean = 100 * self.total / self.count
        return mean if self.defining else torch.full_like(mean, torch.nan)

    @property
    def signature(self) -> str:
        """The properties that must be equal for two scores to be compared."""
        stems = "porter" if self.stemming else "none"
        split = f"|split:{self.splitting}" if self.kind == "rouge_lsum" else ""
        return f"refs:best-rouge1|score:f1|case:lower|tok:a-z0-9|stem:{stems}{split}|version:{version('rouge-score')}"


@lru_cache(maxsize=1)
def _scores(
    summaries: tuple[str, ...], references: tuple[tuple[str, ...], ...], stemming: bool
) -> list[dict[str, float]]:
    """The scores of a batch. The last result is cached, since all kinds use the same one."""
    return [rouge(one, several, stemming=stemming) for one, several in zip(summaries, references, strict=True)]


def rouge(summary: str, references: Sequence[str], *, stemming: bool = True) -> dict[str, float]:
    """F1, 0 to 1, by the names of `KINDS`, of a summary against the reference with the highest ROUGE-1.

    Args:
        summary: a text with its sentences on lines of their own.
        references: one or more texts of this form.
        stemming: whether words of more than three letters are compared by their stems.
    """
    first = max(references, key=lambda one: rouge_1(summary, one, stemming)) if len(references) > 1 else references[0]
    found = _scorer(tuple(KINDS.values()), stemming).score(first, summary)
    return {name: found[kind].fmeasure for name, kind in KINDS.items()}


def rouge_1(summary: str, reference: str, stemming: bool = True) -> float:
    """ROUGE-1 of a text, F1, 0 to 1."""
    return float(_scorer((KINDS["rouge_1"],), stemming).score(reference, summary)["rouge1"].fmeasure)


def stems(text: str, stemming: bool = True) -> list[str]:
    """The words of a text in the form in which ROUGE compares them."""
    return list(_tokenizer(stemming).tokenize(text))


@cache
def _scorer(kinds: tuple[str, ...], stemming: bool) -> Any:
    return RougeScorer(kinds, tokenizer=_tokenizer(stemming))


@cache
def _tokenizer(stemming: bool) -> Any:
    return DefaultTokenizer(stemming)


def _has_word(text: str) -> bool:
    return any(letter.isascii() and letter.isalnum() for letter in text)
