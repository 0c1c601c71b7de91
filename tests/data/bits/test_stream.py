"""Streams of bits: one size per batch, parts of the test, and impossible sizes."""

import pytest
import torch

from tests.data.bits.goals import first, stream
from zoo.data.bits.associative_recall import Recall
from zoo.data.bits.copy_bits import CopyBits
from zoo.data.bits.dynamic_ngrams import Ngrams
from zoo.data.bits.priority_sort import PrioritySorts
from zoo.data.bits.repeat_copy import RepeatCopies
from zoo.errors import ConfigError


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
        (
            CopyBits,
            {"length": [20, 1]},
            r"data\.length=\[20, 1\]: expected \[least, most\], so \[1, 20\]: these are reversed, found",
        ),
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
