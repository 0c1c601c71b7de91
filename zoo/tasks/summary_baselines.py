"""Baselines of summarization: sentences of the article, taken from its beginning or chosen with the references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

import numpy as np

from zoo.metrics.rouge import rouge, rouge_1, stems


class Sentences(NamedTuple):
    """An article and its summaries, in sentences."""

    text: list[str]
    references: list[list[str]]


def baselines(articles: Sequence[Sentences], lead: int, *, stemming: bool = True) -> dict[str, dict[str, float]]:
    """Return the ROUGE of each baseline, 0 to 100, by its name.

    `lead-k` is the first k = `lead` sentences of an article, and knows no reference. `best sentence` is the one with
    the highest ROUGE-1. `oracle extract` adds sentences as long as the sum of ROUGE-1 and ROUGE-2 grows (Nallapati et
    al. 2017, https://arxiv.org/abs/1611.04230); no extract that a network chooses is expected to exceed it.
    """
    found: dict[str, list[dict[str, float]]] = {}
    for text, references in articles:
        joined = ["\n".join(one) for one in references]
        extracts = {
            f"lead-{lead}": text[:lead],
            "best sentence": [max(text, key=lambda one: max(rouge_1(one, ref, stemming) for ref in joined))],
            "oracle extract": oracle(text, joined, stemming=stemming),
        }
        for name, extract in extracts.items():
            scores = rouge("\n".join(extract), joined, stemming=stemming)
            found.setdefault(name, []).append(scores | {"length": len(" ".join(extract).split()) / 100})
    return {
        name: {key: 100 * mean(scores[key] for scores in every) for key in every[0]} for name, every in found.items()
    }


def oracle(sentences: Sequence[str], references: Sequence[str], *, stemming: bool = True) -> list[str]:
    """The extract of the oracle against the reference for which the sum of ROUGE-1 and ROUGE-2 is largest, in the order
    of the article; at least one sentence."""
    tokens = [stems(one, stemming) for one in sentences]
    _, chosen = max(_greedy(tokens, stems(one, stemming)) for one in references)
    return [sentences[number] for number in chosen]


def _greedy(sentences: list[list[str]], reference: list[str]) -> tuple[float, list[int]]:
    """The sum of both scores, and the numbers of the sentences."""
    orders = [_hits(sentences, reference, order) for order in (1, 2)]
    chosen, best = list[int](), -1.0
    while len(chosen) < len(sentences):
        scores = np.zeros(len(sentences))
        for hits, limits, written in orders:
            common = np.minimum(hits[chosen].sum(0) + hits, limits).sum(1)
            scores += 2 * common / np.maximum(1, written[chosen].sum() + written + limits.sum())
        scores[chosen] = -1
        number = int(scores.argmax())
        if scores[number] <= best:
            break
        chosen, best = [*chosen, number], float(scores[number])
    return best, sorted(chosen)


def _hits(sentences: list[list[str]], reference: list[str], order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(S, G) how often each n-gram of a reference occurs in each sentence, (G,) how often it occurs in the reference,
    and (S,) the n-grams of each sentence."""
    grams = Counter(zip(*(reference[n:] for n in range(order)), strict=False))
    column = {gram: number for number, gram in enumerate(grams)}
    hits = np.zeros((len(sentences), len(grams)), np.int64)
    written = np.zeros(len(sentences), np.int64)
    for row, words in enumerate(sentences):
        for gram in zip(*(words[n:] for n in range(order)), strict=False):
            written[row] += 1
            if gram in column:
                hits[row, column[gram]] += 1
    return hits, np.array(list(grams.values()), np.int64), written
