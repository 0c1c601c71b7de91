"""Typed lines as batches, lines that cannot be read, and the encoder in a checkpoint."""

import numpy as np
import pytest
import torch

from tests.data.bits.goals import KINDS, first, stream
from zoo.data.bits.encoding import BitEncoder, BitLine, batch_of
from zoo.data.bits.goals.associative_recall import AssociativeRecall
from zoo.data.bits.goals.copy_bits import Copy
from zoo.data.bits.goals.dynamic_ngrams import DynamicNgrams
from zoo.data.bits.goals.priority_sort import PrioritySort
from zoo.data.bits.goals.repeat_copy import RepeatCopy
from zoo.errors import CheckpointError, DataError


def test_lines_become_a_padded_batch_without_targets():
    encoder = BitEncoder(Copy(2))
    batch = encoder(["10 11", BitLine("01", "line 2")])
    assert batch.inputs.shape == (2, 5, 3) and batch.targets is None and batch.optimal_bits is None
    assert batch.step_mask.tolist() == [[True] * 5, [True] * 3 + [False] * 2]
    assert batch.scored.tolist() == [[False] * 3 + [True] * 2, [False] * 2 + [True] + [False] * 2]
    assert batch.inputs[1].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert batch.index.tolist() == [0, 1] and batch.group.tolist() == [0, 0]
    assert encoder.display("10 11").targets[3:].tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_no_lines_are_an_empty_batch(kind):
    data = stream(kind)
    batch = data.encoder([])
    assert len(batch) == 0 and batch.inputs.shape == (0, 0, data.spec.in_width) and batch.targets is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_has_what_its_sequences_have(kind):
    data = stream(kind, alike=False)
    made = first(data, "test", 7)
    batch = batch_of(made, range(3, 10))
    assert batch.index.tolist() == [*range(3, 10)] and batch.group.tolist() == [one.group for one in made]
    for row, one in enumerate(made):
        steps = len(one.inputs)
        assert batch.step_mask[row].sum() == steps and batch.step_mask[row, :steps].all()
        for part, whole in zip(one[:3], (batch.inputs, batch.targets, batch.scored), strict=True):
            np.testing.assert_array_equal(whole[row, :steps], part)
            assert not whole[row, steps:].any()
    optimal, few = [one.optimal_bits for one in made], batch.first(2)
    assert (batch.optimal_bits is None) == (None in optimal)
    assert len(few) == 2 and few.index.tolist() == [3, 4]
    if batch.optimal_bits is not None:
        assert batch.optimal_bits.tolist() == pytest.approx(optimal)
        assert torch.equal(few.optimal_bits, batch.optimal_bits[:2])


COPY, REPEAT = Copy(4), RepeatCopy(2, (1, 10))
RECALL, NGRAMS, SORT = AssociativeRecall(2, 2), DynamicNgrams(5), PrioritySort(2, 1)


@pytest.mark.parametrize(
    ("goal", "line", "message"),
    [
        (COPY, "1011 101", r"'1011 101': vector 2 is '101': expected 4 bits, each 0 or 1, found 3 bits; .* vectors of"),
        (COPY, " ", r"the line is empty; a sequence is typed as"),
        (NGRAMS, "", r"the line is empty; a sequence is typed as bits"),
        (COPY, "1011 1o11", r"vector 2 is '1o11': .* found 'o' in it"),
        (REPEAT, "10 01", r"expected vectors and then the number of repeats, such as x3, found '01' at the end"),
        (REPEAT, "x3", r"found 'x3' at the end"),
        (REPEAT, "10 x0", r"found 'x0' at the end"),
        (RECALL, "10 11 | 01 00", r"expected a \? before the item of the query, found none"),
        (RECALL, "10 11 | 01 ? 10 11", r"item 2 is '01': expected 2 vectors, found 1"),
        (RECALL, "10 11 | 01 0 ? 10 11", r"item 2: vector 2 is '0': expected 2 bits"),
        (RECALL, "10 11 | 01 00 ?", r"the item of the query is '': expected 2 vectors, found 0"),
        (RECALL, "10 11 | 01 00 ? 11 11", r"'11 11' after the \?: expected one of the items, found it not there"),
        (RECALL, "10 11 | 10 11 | 01 01 ? 10 11", r"expected one of the items, found it 2 times"),
        (RECALL, "10 11 | 01 00 ? 01 00", r"expected an item that another item follows, found the last"),
        (NGRAMS, "0102", r"'0102': expected bits, each 0 or 1, found '2'; a sequence is typed as bits"),
        (SORT, "10:.5 01", r"the priority of vector 2: expected a number from -1 to 1 after a colon, found ''"),
        (SORT, "10:.5 01:1.5", r"the priority of vector 2: .* found '1.5'"),
        (SORT, "10:nan", r"the priority of vector 1: .* found 'nan'"),
        (SORT, "10:.5 012:.1", r"vector 2 is '012': expected 2 bits, each 0 or 1, found '2' in it"),
    ],
)
def test_what_cannot_be_read(goal, line, message):
    with pytest.raises(DataError, match=message):
        BitEncoder(goal)([line])
    with pytest.raises(DataError, match=rf"^line 7, .*{message}"):
        BitEncoder(goal)([BitLine(line, "line 7")])


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_comes_back_from_a_checkpoint(kind, tmp_path):
    encoder = stream(kind).encoder
    torch.save(encoder.state(), tmp_path / "state")
    state = torch.load(tmp_path / "state", weights_only=True)
    again = BitEncoder.from_state(state)
    assert again.goal == encoder.goal and again.state() == encoder.state() == state


def test_a_checkpoint_names_nothing_but_goals():
    with pytest.raises(CheckpointError, match="not a subclass of Goal"):
        BitEncoder.from_state({"goal": "subprocess.Popen", "args": "true"})
