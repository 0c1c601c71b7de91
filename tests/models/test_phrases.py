"""Networks that read phrases: LSTMs against torch's, a phrase at a time, and the mean of the words below each node."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.families.relatedness import FAMILY as PAIRS
from tests.models.equations import assert_equal
from tests.models.test_tree_networks import (
    BATCH,
    FAMILY,
    assert_equals_the_definition,
    batch_of,
    recursively,
    shaken,
    words_below,
)
from zoo.models import PhraseLSTM, PhraseMean
from zoo.models.phrase_lstm import Readings


def torchs(lstm):
    """torch's LSTM with the parameters of ours."""
    twin = torch.nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers).double()
    for name, weight in lstm.named_parameters():
        delattr(twin, name)
        setattr(twin, name, weight)
    return twin


@pytest.mark.parametrize("directions", ["forward", "both", "both_tied"])
@pytest.mark.parametrize("layers", [1, 2])
def test_an_lstm_reads_each_phrase_by_itself(directions, layers):
    model = shaken(PhraseLSTM, embedding_dim=3, hidden_dim=4, layers=layers, directions=directions)
    sides = [[model.lstm, *model.upper]]
    if directions != "forward":
        sides.append([model.backward_lstm, *model.backward_upper] if directions == "both" else sides[0])

    def read(words):
        found = []
        for stack, order in zip(sides, (words, words[::-1]), strict=False):
            x = model.embedding.weight[order][:, None]
            for lstm in stack:
                x, (state, _) = torchs(lstm)(x)
                found.append(state[0, 0])
        return torch.cat(found)

    assert_equals_the_definition(model, BATCH, words_below, read)


def test_pairs_with_attention_read_every_phrase():
    model, batch = shaken(PhraseLSTM, PAIRS.spec, embedding_dim=3, hidden_dim=4, pooling="attention"), PAIRS.batch(1)
    trees, twin = batch.trees, torchs(model.lstm)
    states = [twin(model.embedding.weight[words][:, None])[0][-1, 0] for words in recursively(trees, words_below)]
    in_forest = torch.stack(states)[torch.from_numpy(trees.in_forest(range(len(trees.forest))).numpy())]
    assert_equal(model(batch).logits, model.head(in_forest, trees.forest)[0])


def test_pairs_read_no_more_than_their_sentences(monkeypatch):
    model, batch = shaken(PhraseLSTM, PAIRS.spec, embedding_dim=3, hidden_dim=4), PAIRS.batch(1)
    read, forward = [], type(model.lstm).forward

    def spied(self, x, packing, **options):
        read.append(packing)
        return forward(self, x, packing, **options)

    monkeypatch.setattr(type(model.lstm), "forward", spied)
    model(batch)
    assert sum(len(packing.cell) for packing in read) == int(batch.trees.words_in.sum())


@st.composite
def phrases(draw):
    words = draw(st.integers(1, 12))
    count = draw(st.integers(1, 10))
    pairs = [sorted(draw(st.tuples(st.integers(0, words - 1), st.integers(0, words - 1)))) for _ in range(count)]
    return words, pairs


@given(phrases(), st.booleans())
def test_a_reading_up_to_its_end_is_the_phrase(given_phrases, backward):
    words, pairs = given_phrases
    first, last = torch.tensor(pairs).T
    readings = Readings.of(first, last, words, backward=backward)
    packing = readings.packing
    for (begin, end), at in zip(pairs, readings.at.tolist(), strict=True):
        row, time = int(packing.row[at]), int(packing.time[at])
        mine = (packing.row == row) & (packing.time <= time)
        read = readings.word[mine][packing.time[mine].argsort()].tolist()
        phrase = list(range(begin, end + 1))
        assert read == (phrase[::-1] if backward else phrase)


def test_phrases_with_one_begin_are_read_once():
    first, last = torch.tensor([0, 0, 0, 2]), torch.tensor([4, 2, 0, 3])
    assert len(Readings.of(first, last, 5).word) == 5 + 2
    assert len(Readings.of(first, last, 5, backward=True).word) == 5 + 3 + 1 + 2


def test_a_phrase_is_the_mean_of_its_words():
    model = shaken(PhraseMean, hidden_dim=4)
    assert_equals_the_definition(model, BATCH, words_below, lambda words: model.embedding.weight[words].mean(0))


def test_long_sums_keep_the_digits_of_short_phrases():
    """The mean of the last two of ten thousand words, as a difference of sums that are near 10^7."""
    words = 10_000
    # node 0 has all words but two, and a node above the last two
    parent = [-1, *[0] * (words - 2), 0, words - 1, words - 1]
    batch = batch_of(parent, [-1, *range(words - 2), -1, words - 2, words - 1], [5] * words)
    model = PhraseMean(FAMILY.spec, hidden_dim=2, dropout=0.0)
    model.embedding.weight.data[5] = torch.tensor([1000.1, 0.1])
    with torch.no_grad():
        model.head.classifier.weight.copy_(torch.eye(3, 2))
        model.head.classifier.bias.zero_()
        found = batch.trees.by_tree(model(batch).logits)[0][words - 1]
    assert found[:2] == pytest.approx([1000.1, 0.1], rel=1e-6)


def test_a_gap_counts_as_read():
    # the second word hangs on the third, and the first and the last on the second: "a _ c" of the last is "a b c"
    batch, model = batch_of([1, 2, -1, 0], [0, 2, 3, 1], [5, 6, 7, 8]), shaken(PhraseMean, hidden_dim=4)
    x = model.embedding.weight[[5, 6, 7, 8]]
    expected = model.head.classifier(torch.stack([x[:2].mean(0), x[:3].mean(0), x.mean(0), x[1]])).detach().numpy()
    found = np.array(batch.trees.by_tree(model(batch).logits.detach())[0])
    np.testing.assert_allclose(found, expected, atol=1e-12)
