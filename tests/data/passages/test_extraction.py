"""The orders of paragraphs against numbers worked by hand and a linear system."""

from math import log

import numpy as np
import pytest

from zoo.data.passages.extraction import DAMPING, METHODS, Article, extracted, words

TEXTS = (
    "The harbour of Orvane is old.",
    "Orvane has a mill. Orvane has a gate.",
    "Rain falls on the hills.",
    "The mill of Tarvik is old, and the harbour of Tarvik too.",
)


def test_identity_stops_at_the_words_that_are_kept():
    assert extracted("identity", "Orvane", TEXTS) == [0, 1, 2, 3]
    assert extracted("identity", "Orvane", TEXTS, most=8) == [0, 1]  # 1 + 6 words, then the text that reaches 8
    assert extracted("identity", "Orvane", TEXTS, most=7) == [0]


def test_tf_idf_of_the_title():
    """Orvane is in 2 of 4 texts, the mill too: 2 log 2 + log 2 for the second, log 2 for the first and the last."""
    assert words("The Mill, of ORVANE!") == ["the", "mill", "of", "orvane"]
    assert extracted("tf_idf", "Orvane mill", TEXTS) == [1, 0, 3, 2]
    # "the" is in 3 texts, twice in the last: 2 log 4/3 = 0.58 < log 2 = 0.69
    assert 2 * log(4 / 3) < log(2) and extracted("tf_idf", "the Orvane", TEXTS) == [1, 0, 3, 2]
    assert extracted("tf_idf", "Nowhere", TEXTS) == [0, 1, 2, 3]


def test_textrank_is_the_stationary_rank_of_the_paragraphs():
    texts = [set(words(text)) for text in TEXTS]
    sizes = [len(words(text)) for text in TEXTS]
    similar = np.array(
        [
            [0.0 if i == j else len(texts[i] & texts[j]) / (log(sizes[i]) + log(sizes[j])) for j in range(4)]
            for i in range(4)
        ]
    )
    share = similar / similar.sum(1, keepdims=True)
    rank = np.linalg.solve(np.eye(4) - DAMPING * share.T, np.full(4, 1 - DAMPING))
    assert extracted("textrank", "", TEXTS) == (-rank).argsort().tolist() == [0, 3, 2, 1]


def test_sumbasic_squares_the_probabilities_of_a_chosen_paragraph():
    """p(a) = 1/2, p(b) = 1/4, p(c) = p(d) = 1/8. After a a, p(a) = 1/4 and the means are 1/6, 1/4 and 1/4. After a b,
    p(a) = p(b) = 1/16 and the means of the others are 5/48 and 1/16."""
    assert extracted("sumbasic", "", ["c b d", "a b", "a a", "a"]) == [2, 1, 0, 3]


def test_cheating_counts_the_bigrams_of_the_summary():
    found = extracted("cheating", "", TEXTS, "The mill of Tarvik is of Orvane.")
    assert found == [3, 0, 1, 2]  # the mill, mill of, of tarvik, tarvik is; of orvane


@pytest.mark.parametrize("method", METHODS)
def test_every_paragraph_is_in_the_order_once(method):
    texts = ["", *TEXTS, "...", *TEXTS[:2]]
    assert sorted(extracted(method, "", texts)) == list(range(8))
    assert list(METHODS[method](Article([], [[]], []))) == [0]
