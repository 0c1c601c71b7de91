"""LSTMs over phrases against torch's, a phrase at a time, and against the sizes of the paper's table."""

from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.families.relatedness import FAMILY as PAIRS
from tests.families.tree_classification import FAMILY
from tests.models.equations import assert_same_gradients
from tests.models.tree_equations import by_tree, recursively, shaken
from zoo.models import PhraseLSTM
from zoo.models.phrase_lstm import Readings

SIZES = {"embedding_dim": 300, "directions": "forward"}


def torch_lstm(lstm):
    twin = torch.nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers).double()
    for name, weight in lstm.named_parameters():
        module, parts = twin, name
        delattr(module, parts)
        setattr(module, parts, weight)
    return twin


@pytest.mark.parametrize("directions", ["forward", "both", "both_tied"])
@pytest.mark.parametrize("layers", [1, 2])
def test_reads_each_phrase_by_itself(directions, layers):
    model = shaken(PhraseLSTM(FAMILY.spec, embedding_dim=3, hidden_dim=4, layers=layers, directions=directions))
    batch = FAMILY.batch(1)
    phrases = recursively(batch.trees, lambda word, below: [word] if word is not None else [*chain(*below)])

    def read(lstm, words):
        state = (torch.zeros(layers, 1, 4).double(), torch.zeros(layers, 1, 4).double())
        return twins[lstm](model.embedding.weight[words][:, None], state)[0][-1, 0]

    back = {"forward": None, "both": model.backward_lstm, "both_tied": model.lstm}[directions]
    twins = {lstm: torch_lstm(lstm) for lstm in filter(None, (model.lstm, back))}
    expected = []
    for phrase in (phrase for tree in phrases for phrase in tree):
        parts = [read(model.lstm, phrase)] + ([read(back, phrase[::-1])] if back is not None else [])
        expected.append(torch.cat(parts))
    expected = model.head.classifier(torch.stack(expected))
    found = torch.cat([torch.stack(tree) for tree in by_tree(batch.trees, model(batch).logits) if tree])
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    losses = ((scores**2).sum() for scores in (found, expected))
    assert_same_gradients(model, *losses)


def test_pairs_with_attention_read_every_phrase():
    model = shaken(PhraseLSTM(PAIRS.spec, embedding_dim=3, hidden_dim=4, pooling="attention"))
    batch = PAIRS.batch(1)
    trees, twin = batch.trees, torch_lstm(model.lstm)
    phrases = recursively(trees, lambda word, below: [word] if word is not None else [*chain(*below)])
    states = [[twin(model.embedding.weight[words][:, None])[0][-1, 0] for words in tree] for tree in phrases]
    in_forest = torch.stack([*chain(*states)])[torch.from_numpy(trees.in_forest(range(len(trees.forest))).numpy())]
    torch.testing.assert_close(model(batch).logits, model.head(in_forest, trees.forest)[0], rtol=1e-12, atol=1e-12)


def test_pairs_read_no_more_than_their_sentences(monkeypatch):
    model, batch = shaken(PhraseLSTM(PAIRS.spec, embedding_dim=3, hidden_dim=4)), PAIRS.batch(1)
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
