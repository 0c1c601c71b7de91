"""Streams of bits: drawn as in the paper, one size per batch, parts of the test, and impossible sizes."""

import math

import numpy as np
import pytest
import torch

from tests.data.bits.goals import first, stream
from zoo.data.bits.associative_recall import Recall
from zoo.data.bits.copy_bits import CopyBits
from zoo.data.bits.dynamic_ngrams import Ngrams
from zoo.data.bits.priority_sort import PrioritySorts
from zoo.data.bits.repeat_copy import RepeatCopies
from zoo.errors import ConfigError

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
    steps = [data.goal.steps(*data.cases[group]) for group in groups]
    assert [len(one.inputs) for one in made] == steps * 3
    assert [one.group for one in made] == [*range(len(groups))] * 3


@pytest.mark.parametrize("kind", [CopyBits, RepeatCopies, Recall])
def test_the_sequences_of_a_training_batch_are_alike(kind):
    lengths = set()
    for batch in stream(kind).train_dataloader():
        assert len(batch) == 4 and batch.step_mask.all()
        lengths.add(batch.inputs.shape[1])
    assert len(lengths) > 2
    assert not all(batch.step_mask.all() for batch in stream(kind, alike=False).train_dataloader())
    assert len({len(one.inputs) for one in first(stream(kind), "val", 4)}) > 1  # whatever the batches


def test_the_parts_of_a_test_share_a_loader():
    data = stream(RepeatCopies, batch_size=3)
    assert data.spec.groups == ("length10", "length20", "repeats20")
    assert data.sizes == {"train": 24, "val": 5, "test": 9}
    batches = list(data.test_dataloader())
    groups = torch.cat([batch.group for batch in batches])
    assert groups.bincount().tolist() == [3, 3, 3]
    assert all(len(batch.group.unique()) == 1 for batch in batches)


def test_description():
    about = stream(RepeatCopies, repeats=3).describe()
    assert about["contents"] == [
        "training and validation: length 1 to 10, repeats 3",
        "test: 3 sequences of each of length10, length20, repeats20",
    ]
    assert len(about["examples"]) == 3 and about["examples"][0]["read"].endswith("x3")
    assert about["examples"][0]["to be written"].endswith("end")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CopyBits, {"length": [20, 1]}, r"data\.length=\[20, 1\]: expected .*, so \[1, 20\]: these are reversed, f"),
        (CopyBits, {"test_lengths": []}, r"data\.test_lengths=\[\]: expected different numbers"),
        (RepeatCopies, {"test_repeats": [20, 20]}, r"data\.test_repeats=\[20, 20\]: expected different numbers"),
        (Recall, {"items": [1, 6]}, r"data\.items: expected at least 2, .* found 1"),
        (Recall, {"test_items": [6, 1]}, r"data\.test_items: expected at least 2, .* found 1"),
        (Ngrams, {"context": 40}, r"data\.context=40: expected at most 16"),
        (PrioritySorts, {"highest": 21}, r"data\.vectors: expected at least data\.highest=21, .* found 20"),
        (PrioritySorts, {"test_vectors": [20, 9]}, r"data\.test_vectors: .* found 9"),
    ],
)
def test_sizes_that_cannot_be(kind, options, message):
    with pytest.raises(ConfigError, match=message):
        stream(kind, **options)
