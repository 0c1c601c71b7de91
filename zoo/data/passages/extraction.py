"""The order in which paragraphs are read, so that a cut leaves the best ones: the extraction of Liu et al. 2018,
section 4.1, https://arxiv.org/abs/1801.10198.

- `identity`: as they are found.
- `tf_idf`: by sum_w N_w log(N_d / N_dw) over the words w of the title. N_w counts w in the paragraph, N_d the
  paragraphs, N_dw those with w.
- `textrank`: by PageRank on paragraphs (Mihalcea and Tarau 2004, https://aclanthology.org/W04-3252), whose similarity
  is the number of words that both have, divided by the sum of the logarithms of their lengths.
- `sumbasic`: one after another the paragraph with the highest mean probability of its words; the probability of each of
  its words is then squared (Nenkova and Vanderwende 2005).
- `cheating`: by the share of the summary's bigrams that the paragraph has. It shows how much a better order could gain,
  and is of no use where the summary is not known.

Equal paragraphs keep their order. Words are runs of letters and digits in lower case.

Notation: P paragraphs, V different words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Extraction = Literal["identity", "tf_idf", "textrank", "sumbasic", "cheating"]
DAMPING, TOLERANCE = 0.85, 1e-9  # Of PageRank: the share of a paragraph's rank that it passes on; the last change
WORD = re.compile(r"\w+")


class Article(NamedTuple):
    """The words of a title, of its paragraphs and of the summary, which is empty where it is not known."""

    title: list[str]
    paragraphs: list[list[str]]
    summary: list[str]

    def counts(self) -> NDArray[np.float64]:
        """(P, V) how often each paragraph has each word."""
        ids = {word: number for number, word in enumerate(dict.fromkeys(w for text in self.paragraphs for w in text))}
        found = np.zeros((len(self.paragraphs), len(ids)))
        for row, text in zip(found, self.paragraphs, strict=True):
            np.add.at(row, [ids[word] for word in text], 1)
        return found


def words(text: str) -> list[str]:
    """The words by which paragraphs are compared."""
    return WORD.findall(text.lower())


def extracted(
    method: Extraction, title: str, paragraphs: Sequence[str], summary: str = "", most: int | None = None
) -> list[int]:
    """The numbers of the paragraphs in the order of `method`, as many as have `most` words together with the title, or
    all."""
    article = Article(words(title), [words(text) for text in paragraphs], words(summary))
    found, count = list[int](), len(article.title)
    for number in METHODS[method](article):
        if most is not None and count >= most:
            break
        found.append(number)
        count += len(article.paragraphs[number])
    return found


def _identity(article: Article) -> Iterator[int]:
    return iter(range(len(article.paragraphs)))


def _tf_idf(article: Article) -> Iterator[int]:
    total, scores = len(article.paragraphs), np.zeros(len(article.paragraphs))
    for word in dict.fromkeys(article.title):
        counts = np.array([text.count(word) for text in article.paragraphs])
        scores += counts * float(np.log(total / max(1, int(np.count_nonzero(counts)))))
    return _best_first(scores)


def _textrank(article: Article) -> Iterator[int]:
    present = (article.counts() > 0).astype(np.float64)
    log_lengths = np.log(np.array([max(1, len(text)) for text in article.paragraphs], np.float64))
    sums = log_lengths[:, None] + log_lengths
    similar = np.divide(present @ present.T, sums, out=np.zeros_like(sums), where=sums > 0)
    np.fill_diagonal(similar, 0)
    passed = similar.sum(1, keepdims=True)
    share = np.divide(similar, passed, out=np.zeros_like(similar), where=passed > 0)
    rank, change = np.ones(len(similar)), np.inf
    while change > TOLERANCE:
        after = 1 - DAMPING + DAMPING * rank @ share
        rank, change = after, np.abs(after - rank).max(initial=0)
    return _best_first(rank.round(6))


def _sumbasic(article: Article) -> Iterator[int]:
    counts = article.counts()
    lengths, probability = counts.sum(1), counts.sum(0) / max(1, counts.sum())
    left = np.ones(len(counts), bool)
    while left.any():
        means = np.divide(counts @ probability, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        best = int(np.where(left, means, -1).argmax())
        yield best
        left[best] = False
        probability[counts[best] > 0] **= 2


def _cheating(article: Article) -> Iterator[int]:
    wanted = set(pairwise(article.summary))
    found = [len(wanted & set(pairwise(text))) / max(1, len(wanted)) for text in article.paragraphs]
    return _best_first(np.array(found))


def _best_first(scores: NDArray[np.float64]) -> Iterator[int]:
    return iter((-scores).argsort(kind="stable").tolist())


METHODS: Mapping[Extraction, Callable[[Article], Iterator[int]]] = {
    "identity": _identity,
    "tf_idf": _tf_idf,
    "textrank": _textrank,
    "sumbasic": _sumbasic,
    "cheating": _cheating,
}
