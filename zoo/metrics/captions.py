"""Captions against all references of their image, as coco-caption scores them: BLEU-1 to 4, ROUGE-L, CIDEr-D, METEOR.

All are scores of a corpus, exact over batches and ranks. They compare tokens: for published numbers, cut both sides by
`zoo.metrics.ptb_tokens` first. SPICE is left out, because it needs a download of 384 MB and Java.
"""

import shutil
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import zip_longest

import numpy as np
import torch
import torch.distributed as dist
from sacrebleu.metrics import BLEU
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities.data import dim_zero_cat

from zoo.errors import ZooError
from zoo.metrics.cider import DocumentFrequency, cider_d

Caption = str | Sequence[str]  # Tokens, as a list or joined by spaces
ORDERS = 4  # The longest n-grams of BLEU
BETA = 1.2  # The weight of recall over precision in ROUGE-L


class CaptionMetric(Metric):
    """A score of hypotheses against all references of their images, over a whole corpus."""

    full_state_update = False
    higher_is_better = True

    def update(self, hypotheses: Sequence[Caption], references: Sequence[Sequence[Caption]]) -> None:
        """One hypothesis of each image, and all of its references."""
        if len(hypotheses) != len(references):
            raise ValueError(f"{len(hypotheses)} hypotheses, but references of {len(references)} images")
        for number, several in enumerate(references):
            if isinstance(several, str) or not several:
                expected = "expected a list of references with one at least"
                raise ValueError(f"hypothesis {number}: {expected}, found {several!r}")
        captions = ((ours, *several) for ours, several in zip(hypotheses, references, strict=True))
        self.count([[one.split() if isinstance(one, str) else list(one) for one in row] for row in captions])

    @abstractmethod
    def count(self, rows: Sequence[Sequence[list[str]]]) -> None:
        """Add the words of some hypotheses, each followed by its references."""


class CaptionBLEU(CaptionMetric):
    """BLEU-n of a corpus (Papineni et al. 2002), 0 to 100, the geometric mean of the precisions of 1- to n-grams.

    The reference length is the one nearest to the hypothesis, and the shorter of two equally near ones, as in sacrebleu
    and coco-caption (torchmetrics uses the first). Nothing is smoothed: without a match of some order the score is 0.
    coco-caption adds 1e-15 to each count and gives a little more. The score is not defined if neither a hypothesis nor
    a reference has n tokens.
    """

    statistics: Tensor
    defining: Tensor  # The number of captions with n tokens

    def __init__(self, order: int = ORDERS) -> None:
        """`order` is n, 1 to 4. The n-grams of a batch are counted once for all four."""
        super().__init__()
        if not 1 <= order <= ORDERS:
            raise ValueError(f"order={order}: expected 1 to {ORDERS}")
        self.order = order
        self.add_state("statistics", torch.zeros(2 + 2 * ORDERS, dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("defining", torch.tensor(0), dist_reduce_fx="sum")

    def count(self, rows: Sequence[Sequence[list[str]]]) -> None:
        if rows:
            texts = tuple(tuple(map(" ".join, row)) for row in rows)
            self.statistics += torch.tensor(_bleu_statistics(texts), device=self.statistics.device)
            self.defining += sum(len(one) >= self.order for row in rows for one in row)

    def compute(self) -> Tensor:
        """0 to 100; NaN if it is not defined."""
        written, expected, *counts = self.statistics.tolist()
        correct, total = counts[: self.order], counts[ORDERS : ORDERS + self.order]
        score = BLEU.compute_bleu(correct, total, written, expected, max_ngram_order=self.order).score
        return torch.tensor(score if self.defining else torch.nan, dtype=torch.float64, device=self.statistics.device)


@lru_cache(maxsize=1)
def _bleu_statistics(rows: tuple[tuple[str, ...], ...]) -> tuple[int, ...]:
    """Counts of a batch: tokens of hypotheses, tokens of references, matches of each order, n-grams of each order. The
    last result is cached, since BLEU-1 to 4 use the same one."""
    scorer = BLEU(tokenize="none", smooth_method="none", force=True)
    hypotheses, *references = zip_longest(*rows)  # None: has fewer references
    return tuple(map(sum, zip(*scorer._extract_corpus_statistics(hypotheses, references), strict=True)))


class RougeL(CaptionMetric):
    """ROUGE-L (Lin 2004), the mean over images, 0 to 100: 100 times the value of coco-caption.

    The score is F with beta = 1.2 of the best precision and the best recall of a longest common subsequence; they may
    come from two references. It is not defined if no reference has a word.
    """

    total: Tensor
    captions: Tensor
    words: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("total", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("captions", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("words", torch.tensor(0), dist_reduce_fx="sum")

    def count(self, rows: Sequence[Sequence[list[str]]]) -> None:
        for ours, *several in rows:
            self.total += rouge_l(ours, several)
            self.words += sum(map(len, several))
        self.captions += len(rows)

    def compute(self) -> Tensor:
        """0 to 100; NaN if it is not defined."""
        mean = 100 * self.total / self.captions
        return mean if self.words else torch.full_like(mean, torch.nan)


def rouge_l(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """ROUGE-L of one caption, 0 to 1."""
    precision = recall = 0.0
    for reference in references:
        if common := common_subsequence(hypothesis, reference):
            precision = max(precision, common / len(hypothesis))
            recall = max(recall, common / len(reference))
    square = BETA**2
    return (1 + square) * precision * recall / (recall + square * precision) if precision else 0.0


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence. Each row of the usual table is one integer, whose bits are 0 where
    the row grows (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for number, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << number
    all_ones = (1 << len(one)) - 1
    row = all_ones
    for token in other:
        matches = row & places.get(token, 0)
        row = (row + matches | row - matches) & all_ones
    return len(one) - row.bit_count()


class _Gathered(CaptionMetric):
    """A score that needs all captions at once: they are stored as text, which all ranks gather."""

    texts: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.add_state("texts", [], dist_reduce_fx="cat")

    def count(self, rows: Sequence[Sequence[list[str]]]) -> None:
        # str.split treats these separators as white space, so that no token contains one
        text = "".join("\x1f".join(map(" ".join, row)) + "\x1e" for row in rows)
        self.texts.append(torch.from_numpy(np.frombuffer(text.encode(), np.uint8).copy()).to(self.device))

    def rows(self) -> list[list[str]]:
        """The hypothesis and the references of each image, of all batches and, inside `compute`, of all ranks."""
        texts = dim_zero_cat(self.texts).cpu().numpy().tobytes().decode() if len(self.texts) else ""
        return [row.split("\x1f") for row in texts.split("\x1e")[:-1]]

    def _mean(self, score: float) -> Tensor:
        return torch.tensor(score, dtype=torch.float64, device=self.device)


class CiderD(_Gathered):
    """CIDEr-D (Vedantam et al. 2015), the mean over images, 0 to 10 as in coco-caption, which calls it CIDEr. Papers
    print 100 times this value.

    The rarity of an n-gram comes from the references of all scored images, or from a given table of document
    frequencies. A copy of one of n references without common n-grams scores 10 / n. Captions of less than four words
    score 0 in the missing orders. Lengths are compared in bigrams. CIDEr-D is not defined if every n-gram of the
    references is in all documents, for example with a single image.
    """

    def __init__(self, document_frequency: DocumentFrequency | None = None) -> None:
        """`document_frequency`: a table of words, such as that of all training captions; None: of the references."""
        super().__init__()
        self.document_frequency = document_frequency

    def compute(self) -> Tensor:
        """0 to 10; NaN if it is not defined."""
        rows = [[sentence.split() for sentence in row] for row in self.rows()]
        if not rows:
            return self._mean(torch.nan)
        hypotheses, references = [row[0] for row in rows], [row[1:] for row in rows]
        frequency = self.document_frequency or DocumentFrequency(references)
        score = cider_d(hypotheses, range(len(rows)), references, frequency).mean()
        if score == 0:
            copies = [max(several, key=len) for several in references]
            if not cider_d(copies, range(len(rows)), references, frequency).any():  # even a copy has no weight
                return self._mean(torch.nan)
        return self._mean(score)


class Meteor(_Gathered):
    """METEOR 1.5 (Denkowski and Lavie 2014), 0 to 100: 100 times the value of coco-caption.

    It is a Java program of the package pycocoevalcap, which uses up to 2 GB. Only the first rank runs it."""

    @staticmethod
    def missing() -> str | None:
        """One line that explains why METEOR cannot be computed here; None if it can."""
        if find_spec("pycocoevalcap") is None:
            return "METEOR is left out: it needs the package pycocoevalcap; pip install 'attention-zoo[captions]'"
        if shutil.which("java") is None:
            return "METEOR is left out: it needs Java, and the path has no program `java`; install one"
        return None

    def compute(self) -> Tensor:
        """NaN without a caption. Raises ZooError if Java or the package is missing, or the program fails."""
        rows = self.rows()
        score = self._mean(torch.nan)
        if not self._is_synced:
            return self._mean(meteor(rows)) if rows else score
        try:
            if dist.get_rank() == 0 and rows:
                score = self._mean(meteor(rows))
        finally:  # the other ranks wait for it even after an error
            dist.broadcast(score, 0)
        return score


def meteor(rows: Sequence[Sequence[str]]) -> float:
    """METEOR of a corpus, 0 to 100. Each row is a hypothesis and its references, tokens joined by spaces."""
    if line := Meteor.missing():
        raise ZooError(line)
    scorer = import_module("pycocoevalcap.meteor.meteor").Meteor()
    process = scorer.meteor_p
    try:
        hypotheses = {number: [row[0]] for number, row in enumerate(rows)}
        score, _ = scorer.compute_score({number: list(row[1:]) for number, row in enumerate(rows)}, hypotheses)
    except (OSError, ValueError) as error:
        process.kill()
        output = (process.stderr.read() or b"").decode(errors="replace").strip().splitlines()
        raise ZooError(
            f"METEOR: its Java program failed: {output[-1] if output else error}; it needs 2 GB of memory and "
            "Java 8 or later; leave METEOR out on a machine without them"
        ) from error
    finally:  # else it would wait for more input until the end of the run and keep its memory
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
    return 100 * float(score)
