"""Baselines of language modeling: an n-gram model with Kneser-Ney smoothing, in the same tokens."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zoo.reranking.kneser_ney import KneserNey

ORDER = 5
Ids = NDArray[np.int64]


def kneser_ney(
    train: Ids, test: Mapping[str, NDArray[Any]], size: int, *, line_end: int | None, token_bytes: float
) -> dict[str, float]:
    """Return the test metrics of a Kneser-Ney 5-gram, which knows the tokens before each one in its line. A text
    without tokens for line ends is one line.

    Args:
        train: the training stream (N,).
        test: the `ids` of the test stream, and `distance` and `rival` where the data know them, see `StreamBatch`.
        size: the number of tokens of the vocabulary.
        line_end: the token that ends a line.
        token_bytes: the bytes of a token of the test on average.
    """
    text, lengths = _lines(train, line_end)
    model = KneserNey.train(text, lengths, size, order=ORDER)
    ids = np.asarray(test["ids"], np.int64)
    nats = -_log_probs(model, ids, line_end)[1:]  # as the network, which does not predict the first token
    found = {"loss": nats.mean(), "bits_per_byte": nats.mean() / log(2) / token_bytes}
    if "distance" in test:
        (verbs,) = np.nonzero(test["distance"])
        other = _with_rivals(model, ids, verbs, np.asarray(test["rival"], np.int64), line_end)
        right = -nats[verbs - 1] > other
        found["agreement"] = right.mean()
        far = test["distance"][verbs]
        found |= {f"agreement_{one}": right[far == one].mean() for one in np.unique(far)}
    return {name: float(value) for name, value in found.items()}


def _lines(ids: Ids, line_end: int | None) -> tuple[Ids, Ids]:
    """The tokens of all lines without their ends, and the length of each line."""
    ids = np.asarray(ids, np.int64)
    if line_end is None:
        return ids, np.array([len(ids)])
    (ends,) = np.nonzero(ids == line_end)
    lengths = np.diff(ends, prepend=-1) - 1
    rest = len(ids) - 1 - (ends[-1] if len(ends) else -1)
    return ids[ids != line_end], np.append(lengths, rest) if rest else lengths


def _log_probs(model: KneserNey, ids: Ids, line_end: int | None) -> NDArray[np.float64]:
    """(N,) log p of each token of a stream."""
    text, lengths = _lines(ids, line_end)
    starts = lengths.cumsum() - lengths
    found = np.empty(len(lengths), object)
    for length in np.unique(lengths):
        (rows,) = np.nonzero(lengths == length)
        scores = model.log_probs(text[starts[rows, None] + np.arange(length)])
        for row, line in zip(rows, scores, strict=True):
            found[row] = line
    whole = np.concatenate(list(found))  # with the end of each line
    return whole[: len(ids)]


def _with_rivals(model: KneserNey, ids: Ids, verbs: Ids, rival: Ids, line_end: int | None) -> NDArray[np.float64]:
    """(V,) log p of the rival of each verb, at its place."""
    other = np.empty(len(verbs))
    pending = np.arange(len(verbs))
    while len(pending):  # a line has several verbs, and one at a time is replaced
        lines = np.cumsum(ids == line_end)[verbs[pending]]
        _, first = np.unique(lines, return_index=True)
        now = pending[first]
        changed = ids.copy()
        changed[verbs[now]] = rival[verbs[now]]
        other[now] = _log_probs(model, changed, line_end)[verbs[now]]
        pending = np.setdiff1d(pending, now)
    return other
