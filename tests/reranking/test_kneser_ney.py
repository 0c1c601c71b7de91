"""Kneser-Ney against an example worked by hand, against its definition as slow loops, and as a distribution."""

from collections import defaultdict

import numpy as np
import pytest

from zoo.reranking.kneser_ney import KneserNey, _discounts


def trained(sentences, words, **options):
    text = np.array([word for sentence in sentences for word in sentence], np.int64)
    return KneserNey.train(text, np.array([len(sentence) for sentence in sentences]), words, **options)


def probability(model, before, word):
    """p(word | the sentence's words before it); V stands for the end."""
    if word == model.words:
        return float(np.exp(model.log_probs(np.array([before], np.int64).reshape(1, -1))[0, -1]))
    return float(np.exp(model.log_probs(np.array([[*before, word]]))[0, len(before)]))


def random_sentences(seed, count, words, longest=9):
    """Words of falling frequency, so that n-grams repeat."""
    draw = np.random.default_rng(seed)
    share = 1 / np.arange(1, words + 1) ** 1.1
    return [draw.choice(words, size=draw.integers(0, longest), p=share / share.sum()).tolist() for _ in range(count)]


def test_a_bigram_model_worked_by_hand():
    """Two sentences, `a b` and `a c`, of V = 3 words. Bigrams: begin a (2), a b, a c, b end, c end (1 each).

    Counts of order 2: four of 1, one of 2, none of 3 or 4: one discount, 4 / (4 + 2 * 1) = 2/3.
    Order 1: a follows one different symbol, b one, c one, the end two: 1, 1, 1, 2, and the discount is
    3 / (3 + 2 * 1) = 3/5. 4 * 3/5 of 5 are left over for 4 words: p(a) = p(b) = p(c) = (1 - 3/5) / 5 +
    12/25 / 4 = 2/25 + 3/25 = 1/5, p(end) = (2 - 3/5) / 5 + 3/25 = 2/5.
    p(b | a) = (1 - 2/3) / 2 + (2 * 2/3) / 2 * 1/5 = 1/6 + 2/15 = 3/10; p(a | a) = 2/3 * 1/5 = 2/15.
    p(a | begin) = (2 - 2/3) / 2 + 2/3 / 2 * 1/5 = 2/3 + 1/15 = 11/15. p(end | b) = (1 - 2/3) + 2/3 * 2/5 = 3/5.
    """
    model = trained([[0, 1], [0, 2]], 3, order=2)
    assert probability(model, [0], 1) == pytest.approx(3 / 10, rel=1e-6)
    assert probability(model, [0], 0) == pytest.approx(2 / 15, rel=1e-6)
    assert probability(model, [], 0) == pytest.approx(11 / 15, rel=1e-6)
    assert probability(model, [0, 1], 3) == pytest.approx(3 / 5, rel=1e-6)


def test_discounts_by_hand():
    """8, 4, 2 and 1 n-grams occur once, twice, three and four times: Y = 8 / 16; 1 - 1/2, 2 - 3/4, 3 - 1."""
    counts = np.repeat([1, 2, 3, 4, 9], [8, 4, 2, 1, 3])
    assert _discounts(counts).tolist() == [0.0, 0.5, 1.25, 2.0]


class Loops:
    """The definition as loops over dictionaries of tuples."""

    def __init__(self, sentences, words, order):
        self.words, self.order = words, order
        self.counts = [defaultdict(int) for _ in range(order)]
        occurring = [defaultdict(int) for _ in range(order)]
        before = [defaultdict(set) for _ in range(order)]
        for sentence in sentences:
            symbols = ["begin", *sentence, words]
            for k in range(1, order + 1):
                for i in range(len(symbols) - k + 1):
                    gram = tuple(symbols[i : i + k])
                    occurring[k - 1][gram] += 1
                    if i:
                        before[k - 1][gram].add(symbols[i - 1])
        for k in range(order):
            for gram, count in occurring[k].items():
                whole = k == order - 1 or gram[0] == "begin"
                self.counts[k][gram] = count if whole else len(before[k][gram])
        self.counts[0].pop(("begin",))
        self.discounts = [_discounts(np.array(list(counts.values()))) for counts in self.counts]

    def p(self, context, word):
        context = tuple(context)[max(0, len(context) - self.order + 1) :] if self.order > 1 else ()
        k = len(context)
        lower = self.p(context[1:], word) if k else 1 / (self.words + 1)
        followers = {gram: count for gram, count in self.counts[k].items() if gram[:-1] == context}
        if not followers:
            return lower
        total, discount = sum(followers.values()), self.discounts[k]
        count = followers.get((*context, word), 0)
        taken = sum(discount[min(c, 3)] for c in followers.values())
        return (count - discount[min(count, 3)]) / total + taken / total * lower


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_equals_the_definition_written_as_loops(order):
    sentences = random_sentences(order, 60, 8)
    model, loops = trained(sentences, 8, order=order), Loops(sentences, 8, order)
    for asked in [*sentences[:6], [7, 7, 7, 0, 1], [3], []]:
        found = np.exp(model.log_probs(np.array([asked], np.int64).reshape(1, -1)))[0]
        symbols = ["begin", *asked, 8]
        expected = [loops.p(symbols[:place], symbols[place]) for place in range(1, len(symbols))]
        assert found.tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("rare", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 4, 8])
def test_sums_to_one_after_any_words(order, rare):
    model = trained(random_sentences(0, 200, 12), 12, order=order, rare=rare)
    draw = np.random.default_rng(1)
    for length in (0, 1, 3, 7, 12):
        before = draw.integers(0, 12, length).tolist()
        assert sum(probability(model, before, word) for word in range(13)) == pytest.approx(1.0, rel=1e-5)


def test_sentences_of_a_batch_are_independent():
    model = trained(random_sentences(3, 80, 9), 9, order=4)
    rows = np.array([[1, 2, 3], [0, 0, 1], [8, 1, 2]])
    together = model.log_probs(rows)
    for row, expected in zip(rows, together, strict=True):
        np.testing.assert_allclose(model.log_probs(row[None])[0], expected)


def test_a_restored_model_is_equal():
    model = trained(random_sentences(4, 80, 9), 9, order=4, rare=2)
    again = KneserNey.from_state(model.state())
    rows = np.array([[1, 2, 3, 4], [0, 0, 1, 8]])
    assert again.order == 4
    np.testing.assert_array_equal(again.log_probs(rows), model.log_probs(rows))


def test_rare_n_grams_are_dropped_from_the_third_order_on():
    sentences = random_sentences(5, 200, 12)
    whole, small = (trained(sentences, 12, order=4, rare=rare) for rare in (1, 2))
    assert len(small.levels[0].keys) == len(whole.levels[0].keys)
    assert all(len(a.keys) < len(b.keys) for a, b in zip(small.levels[1:], whole.levels[1:], strict=True))


def test_an_empty_text_and_one_word():
    empty = KneserNey.train(np.zeros(0, np.int64), np.zeros(0, np.int64), 3, order=3)
    assert probability(empty, [0, 1], 2) == pytest.approx(0.25)
    one = trained([[1]], 3, order=8)
    assert sum(probability(one, [1], word) for word in range(4)) == pytest.approx(1.0)
