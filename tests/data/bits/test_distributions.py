"""The sequences are drawn as in the paper: sizes, bits, priorities, tables, and what they cost."""

import math

import numpy as np
import pytest

from tests.data.bits.goals import first, stream
from zoo.data.bits.associative_recall import Recall
from zoo.data.bits.copy_bits import CopyBits
from zoo.data.bits.dynamic_ngrams import Ngrams
from zoo.data.bits.priority_sort import PrioritySorts
from zoo.data.bits.repeat_copy import RepeatCopies

MANY = 4000


def near(values, mean, deviation):
    """The mean of independent draws of this deviation lies within 4.5 standard errors of `mean`."""
    values = np.asarray(values, float)
    assert abs(values.mean() - mean) < 4.5 * deviation / math.sqrt(values.size)


def uniform(counts, least, most):
    """Whole numbers, each from `least` to `most` with the same chance: chi-squared with as many degrees of freedom."""
    found = np.bincount(counts, minlength=most + 1)
    assert not found[:least].any() and len(found) == most + 1
    expected, freedom = len(counts) / (most + 1 - least), most - least
    chi = ((found[least:] - expected) ** 2 / expected).sum()
    assert chi < freedom + 5 * math.sqrt(2 * freedom)


def scored_bits(sequences):
    return [int(one.scored.sum()) * one.targets.shape[1] for one in sequences]


def test_copy():
    """Lengths from 1 to 20, so that chance costs 8 x 10.5 = 84 bits."""
    data = stream()
    assert (data.spec.in_width, data.spec.out_width) == (9, 8)
    for split in ("train", "val"):
        made = first(stream(alike=False), split, MANY)
        uniform([int(one.scored.sum()) for one in made], 1, 20)
        near(scored_bits(made), 84, 8 * math.sqrt((20**2 - 1) / 12))
        near(np.concatenate([one.targets[one.scored].ravel() for one in made]), 0.5, 0.5)


def test_repeat_copy():
    """Chance costs 9 x (5.5 x 5.5 + 1) = 281.25 bits; the count that is read has mean 0 and variance 1."""
    made = first(stream(RepeatCopies, alike=False), "train", MANY)
    lengths = [int(one.inputs[:, 8].argmax()) for one in made]
    repeats = [(int(one.scored.sum()) - 1) // length for one, length in zip(made, lengths, strict=True)]
    uniform(lengths, 1, 10)
    uniform(repeats, 1, 10)
    assert abs(np.corrcoef(lengths, repeats)[0, 1]) < 4.5 / math.sqrt(MANY)
    near(scored_bits(made), 281.25, 9 * np.outer(np.arange(1, 11), np.arange(1, 11)).std())
    given = np.array([one.inputs[:, 9].sum() for one in made])
    near(given, 0, 1)
    near(given**2, 1, np.std([((n - 5.5) ** 2 / 8.25) for n in range(1, 11)]))
    assert all(one.targets[-1, 8] == 1 and one.targets[:-1, 8].sum() == 0 for one in made)


def test_associative_recall():
    """2 to 6 items; each but the last is asked for with the same chance."""
    made = first(stream(Recall, alike=False), "train", MANY)
    uniform([int(one.inputs[:, 6].sum()) for one in made], 2, 6)
    assert set(scored_bits(made)) == {18}
    asked = []
    for one in first(stream(Recall, items=6), "train", MANY):
        items = one.inputs[:24].reshape(6, 4, 8)[:, 1:, :6]
        at = (items == one.inputs[25:28, :6]).all((1, 2))[:-1].argmax()
        np.testing.assert_array_equal(one.targets[one.scored], items[at + 1])
        asked.append(int(at))
    uniform(asked, 0, 4)


def test_dynamic_ngrams():
    """For 200 bits the Bayesian predictor needs 133.2 +- .2, one that knows the table 5 + 195 x (2 - 1 / ln 2) in the
    mean, guessing 200."""
    goal, made = stream(Ngrams).goal, first(stream(Ngrams), "train", MANY)
    assert set(scored_bits(made)) == {200}
    costs = [one.optimal_bits for one in made]
    assert abs(np.mean(costs) - 133.2) < 0.2 + 3 * np.std(costs) / math.sqrt(MANY)
    bits = np.stack([one.targets[:, 0] for one in made])
    near(bits[:, :5], 0.5, 0.5)
    assert goal.optimal_chances([1] * 5).tolist() == [0.5] * 5
    # chances from Beta(1/2, 1/2): two bits after the same context agree with probability E[p^2 + (1 - p)^2] = 3/4
    agree = []
    for row in bits.astype(int):
        code = np.convolve(row, 2 ** np.arange(5))[4:-5]  # of the five bits before each bit from the sixth on
        first_two = [np.flatnonzero(code == context)[:2] for context in range(32)]
        agree += [row[5 + two[0]] == row[5 + two[1]] for two in first_two if len(two) == 2][:1]
    assert abs(np.mean(agree) - 0.75) < 0.05


def test_priority_sort():
    """20 priorities from U[-1, 1], and the 16 vectors of the highest, in order."""
    made = first(stream(PrioritySorts), "train", 500)
    assert set(scored_bits(made)) == {128}
    priorities = np.stack([one.inputs[:20, 8] for one in made])
    near(priorities, 0, 1 / math.sqrt(3))
    near(priorities**2, 1 / 3, math.sqrt(1 / 5 - 1 / 9))
    for one in made[:20]:
        ranked = sorted(zip(one.inputs[:20, 8].tolist(), one.inputs[:20, :8].tolist(), strict=True), reverse=True)
        assert one.targets[one.scored].tolist() == [vector for _, vector in ranked[:16]]


@pytest.mark.parametrize("kind", [CopyBits, RepeatCopies, Recall])
def test_each_part_of_the_test_is_of_its_sizes(kind):
    data = stream(kind)
    groups = data.spec.groups
    made = first(data, "test", 3 * len(groups))
    steps = [data.goal.steps(data.cases[group]) for group in groups]
    assert [len(one.inputs) for one in made] == steps * 3
    assert [one.group for one in made] == [*range(len(groups))] * 3
