"""CIDEr-D of captions, and the document frequencies that give n-grams their weights, in arrays.

Ramakrishna Vedantam, C. Lawrence Zitnick, Devi Parikh. CIDEr: Consensus-based Image Description Evaluation. CVPR 2015.
https://arxiv.org/abs/1411.5726 It is counted as in coco-caption; D means that repeated n-grams are clipped and that a
difference in length lowers the score.

The number of an n-gram is that of the pair (the n-gram without its last token, that token) among all pairs. Nothing is
hashed, numbers are unique, and one sort counts thousands of n-grams.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ORDERS = 4  # N-grams of 1 to 4 tokens
SIGMA = 6.0  # Deviation of the Gaussian penalty on a difference in length
Ints = NDArray[np.int64]
Sentence = Sequence[Hashable]  # Words, or ids


class _Grams(NamedTuple):
    """The n-grams of one order in some sentences: E occurrences of G distinct n-grams."""

    sentence: Ints  # (E,) the sentence of each occurrence
    gram: Ints  # (E,) the number of its n-gram, below G
    prefix: Ints  # (G,) the number, one order below, of each n-gram without its last token; 0 for single tokens
    last: Ints  # (G,) the number of its last token


def _orders(tokens: Ints, lengths: Ints, size: int) -> Iterator[_Grams]:
    """The n-grams of 1, 2, ... tokens of concatenated sentences; `tokens` (N,) are below `size`."""
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # tokens up to the end, this one included
    at = np.zeros(len(tokens), np.int64)  # the number of the n-gram that begins here
    for order in range(1, ORDERS + 1):
        begin = np.flatnonzero(left >= order)
        pair = at[begin] * size + tokens[begin + order - 1]
        distinct, number = np.unique(pair, return_inverse=True)
        at[begin] = number
        yield _Grams(sentence[begin], number, distinct // size, distinct % size)


def _row(sentences: Sequence[Sentence], numbers: dict[Hashable, int]) -> tuple[Ints, Ints]:
    """The numbers of all tokens (N,), which are added to `numbers` if needed, and the lengths of the sentences."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    tokens = (numbers.setdefault(token, len(numbers)) for sentence in sentences for token in sentence)
    return np.fromiter(tokens, np.int64, int(lengths.sum())), lengths


class DocumentFrequency:
    """The number of documents with each n-gram of 1 to 4 tokens; a document is all captions of one image.

    An unknown n-gram counts as if one document had it. Only the few n-grams of two or more documents are therefore
    stored. The beginnings of such an n-gram are also stored.
    """

    def __init__(self, documents: Iterable[Iterable[Sentence]]) -> None:
        """Raises ValueError if there is no document."""
        sentences: list[Sentence] = []
        counts: list[int] = []
        for document in documents:
            before = len(sentences)
            sentences += document
            counts.append(len(sentences) - before)
        if not counts:
            raise ValueError("no document for the document frequencies; expected captions of one image at least")
        self.documents = len(counts)
        self.numbers: dict[Hashable, int] = {}
        """The number of each token."""
        tokens, lengths = _row(sentences, self.numbers)
        self._size = max(len(self.numbers), 1)
        self._tables: list[tuple[Ints, Ints]] = []
        document_of = np.repeat(np.arange(len(counts)), counts)
        kept = np.zeros(1, np.int64)  # the number in the table of each n-gram of the order below
        for grams in _orders(tokens, lengths, self._size):
            total = max(len(grams.last), 1)
            present = np.unique(document_of[grams.sentence] * total + grams.gram) % total
            frequency = np.bincount(present, minlength=len(grams.last))
            found = np.flatnonzero(frequency > 1)
            # in rising order, as the n-grams themselves are
            self._tables.append((kept[grams.prefix[found]] * self._size + grams.last[found], frequency[found]))
            kept = np.full(len(grams.last), -1)
            kept[found] = np.arange(len(found))

    def __call__(self, order: int, prefix: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Numbers of n-grams of `order` tokens in the table, -1 if it lacks them, and their documents, at least 1.

        `prefix` (G,) are the numbers of the n-grams without their last tokens (0 for single tokens), `last` (G,) the
        numbers of the last tokens."""
        pairs, frequency = self._tables[order - 1]
        if not len(pairs):
            return np.full(len(last), -1), np.ones(len(last), np.int64)
        pair = prefix * self._size + last
        place = np.minimum(pairs.searchsorted(pair), len(pairs) - 1)
        found = (prefix >= 0) & (last < self._size) & (pairs[place] == pair)
        return np.where(found, place, -1), np.where(found, frequency[place], 1)


def cider_d(
    hypotheses: Sequence[Sentence],
    image: Sequence[int],
    references: Sequence[Sequence[Sentence]],
    frequency: DocumentFrequency,
) -> NDArray[np.float64]:
    """CIDEr-D of each hypothesis (H,), 0 to 10. `image` (H,) is the entry of `references` of each hypothesis, so that
    several hypotheses of one image share its references. Raises ValueError for a hypothesis without a reference."""
    given = np.fromiter(map(len, references), np.int64, len(references))
    of = np.asarray(image, np.int64)
    if (given[of] == 0).any():
        raise ValueError(f"hypothesis {int((given[of] == 0).argmax())} has no reference")
    sentences = [*hypotheses, *(reference for several in references for reference in several)]
    numbers = dict(frequency.numbers)
    tokens, lengths = _row(sentences, numbers)
    hypothesis = np.repeat(np.arange(len(hypotheses)), given[of])  # (P,) of each pair
    first = len(hypotheses) + np.cumsum(given) - given
    reference = first[of][hypothesis] + _within(given[of])  # (P,) the sentence
    similarity = np.zeros(len(hypothesis))
    known = np.zeros(1, np.int64)
    for order, grams in enumerate(_orders(tokens, lengths, len(numbers)), start=1):
        known, documents = frequency(order, known[grams.prefix], grams.last)
        rarity = np.log(frequency.documents) - np.log(documents)
        total = max(len(grams.last), 1)
        entry, count = np.unique(grams.sentence * total + grams.gram, return_counts=True)  # (E,) of one sentence each
        sentence, gram = np.divmod(entry, total)
        weight = count * rarity[gram]
        norm = np.sqrt(np.bincount(sentence, weight**2, len(sentences)))
        begins = sentence.searchsorted(np.arange(len(sentences) + 1))
        several = np.diff(begins)[hypothesis]  # (P,) n-grams of the hypothesis
        pair = np.repeat(np.arange(len(hypothesis)), several)
        ours = begins[hypothesis][pair] + _within(several)
        sought = reference[pair] * total + gram[ours]
        place = np.minimum(entry.searchsorted(sought), max(len(entry) - 1, 0))
        theirs = np.where(entry[place] == sought, weight[place], 0.0) if len(entry) else np.zeros(0)
        product = np.bincount(pair, np.minimum(weight[ours], theirs) * theirs, len(hypothesis))
        norms = norm[hypothesis] * norm[reference]
        similarity += np.divide(product, norms, out=np.zeros(len(hypothesis)), where=norms > 0)
    bigrams = np.maximum(lengths - 1, 0)  # the reference implementation compares lengths in bigrams
    similarity *= np.exp(-((bigrams[hypothesis] - bigrams[reference]) ** 2) / (2 * SIGMA**2))
    return 10 * np.bincount(hypothesis, similarity, len(hypotheses)) / (ORDERS * given[of])


def _within(sizes: Ints) -> Ints:
    """0, 1, ... of each group: [2, 3] -> [0, 1, 0, 1, 2]."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
