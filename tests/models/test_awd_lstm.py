"""AWD-LSTM against the paper's equations as loops, with its masks and penalties."""

from itertools import pairwise

import pytest
import torch

import zoo.layers.dropout
import zoo.models.awd_lstm
from tests.families import family_of
from tests.models.equations import assert_equals_the_equations, assert_same_gradients, exactly, lstm
from zoo.models import AWDLSTM

STREAMS = family_of("language_modeling")
BATCH = STREAMS.batch(1, empty=False)
OFF = dict.fromkeys(("dropout", "input_dropout", "hidden_dropout", "embedding_dropout", "weight_dropout"), 0.0)
WIDTHS = {"embedding_dim": 4, "hidden_dim": 6}


def build(**settings):
    torch.manual_seed(0)
    return exactly(AWDLSTM(STREAMS.spec, **WIDTHS | settings), biases=True)


@pytest.fixture
def masks(monkeypatch):
    """The masks in the order in which a window draws them."""
    drawn, original = [], zoo.layers.dropout.scaled_mask

    def recorded(shape, p, like):
        drawn.append(original(shape, p, like))
        return drawn[-1]

    monkeypatch.setattr(zoo.layers.dropout, "scaled_mask", recorded)
    monkeypatch.setattr(zoo.models.awd_lstm, "scaled_mask", recorded)
    return drawn


class Masked:
    """An LSTM with another U."""

    def __init__(self, layer, mask):
        self.weight_ih_l0, self.weight_hh_l0 = layer.weight_ih_l0, mask * layer.weight_hh_l0
        self.bias_ih_l0, self.bias_hh_l0 = layer.bias_ih_l0, layer.bias_hh_l0


def literal(model, row, text, words, inputs, recurrent, output):
    """The scores (T, V) of a row, the dropped outputs, and the changes of the outputs from step to step."""
    layers = [Masked(*pair) for pair in zip(model.layers, recurrent, strict=True)]
    states = [(torch.zeros(layer.hidden_size).double(),) * 2 for layer in model.layers]
    tops = []
    for token in text:
        x = words[token] * model.embedding.weight[token]
        for number, layer in enumerate(layers):
            states[number] = lstm(layer, inputs[number][row] * x, *states[number])
            x = states[number][0]
        tops.append(x)
    dropped = [output[row] * x for x in tops]
    scores = torch.stack([model.embedding.weight @ x + model.vocabulary.bias for x in dropped])
    return scores, dropped, [after - before for before, after in pairwise(tops)]


def texts():
    read = zip(BATCH.target_input, BATCH.target_mask, strict=True)
    return [row[mask].tolist() for row, mask in read]


def test_equals_the_equations_in_evaluation():
    model = build()
    one, ones = torch.ones(STREAMS.spec.vocabulary_size), [torch.ones(5, 1)] * 3
    rows = [(literal(model, n, text, one, ones, [1.0] * 3, ones[0])[0], None) for n, text in enumerate(texts())]
    assert_equals_the_equations(model, BATCH, rows)
    assert not model(BATCH).losses


def test_equals_the_equations_in_training_with_one_mask_for_each_window(masks):
    model = build(dropout=0.3, input_dropout=0.2, hidden_dropout=0.4, embedding_dropout=0.3, weight_dropout=0.5).train()
    output = model(BATCH)
    words, first, u0, second, u1, third, u2, last = masks
    read = texts()
    found = [literal(model, n, text, words, (first, second, third), (u0, u1, u2), last) for n, text in enumerate(read)]
    scores, dropped, changes = zip(*found, strict=True)
    packing = BATCH.target_packing
    padded = torch.nn.utils.rnn.pad_sequence(scores, batch_first=True)
    torch.testing.assert_close(output.logits, packing.pack(padded), rtol=1e-12, atol=1e-12)
    penalties = {
        "activation": 2.0 * torch.stack([x for row in dropped for x in row]).square().mean(),
        "slowness": 1.0 * torch.stack([x for row in changes for x in row]).square().mean(),
    }
    assert output.losses.keys() == penalties.keys()
    for name, expected in penalties.items():
        torch.testing.assert_close(output.losses[name], expected, rtol=1e-12, atol=1e-12)
    random = torch.randn_like(output.logits)
    ours = (output.logits * random).sum() + sum(output.losses.values())
    theirs = (packing.pack(padded) * random).sum() + sum(penalties.values())
    assert_same_gradients(model, ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_weight_drop_leaves_the_first_step_and_the_stored_weight_alone(masks, dtype):
    """From a zero state. In float32 rows of equal length take another way."""
    model = build(**OFF | {"weight_dropout": 0.5}, num_layers=1).to(dtype)
    batch = STREAMS.of_sizes([4] * 3, 1)
    layer = model.layers[0]
    stored = layer.weight_hh_l0
    before, plain = stored.detach().clone(), model(batch).logits
    output = model.train()(batch)
    changed = (output.logits - plain).abs().view(4, 3, -1).amax((1, 2))  # by steps
    assert changed[0] < 1e-6 < 1e-3 < changed[1]
    output.logits.square().sum().backward()
    (mask,) = masks
    assert layer.weight_hh_l0 is stored is dict(model.named_parameters())["layers.0.weight_hh_l0"]
    assert torch.equal(stored, before)
    assert 0.2 < (mask == 0).double().mean() < 0.8
    assert torch.equal(stored.grad == 0, mask == 0)


def test_the_windows_of_a_text_draw_masks_of_their_own(masks):
    model = build(**OFF | {"weight_dropout": 0.5}, num_layers=1).train()
    model(BATCH)
    model(BATCH)
    assert not torch.equal(*masks)


def test_probabilities_in_place_of_tokens_lose_the_same_words(masks):
    """A word that is dropped has no vector."""
    model = build(**OFF | {"embedding_dropout": 0.5}).train()
    found = model.embedded(torch.eye(STREAMS.spec.vocabulary_size).double())
    torch.testing.assert_close(found, masks[0][:, None] * model.embedding.weight)


def test_a_window_of_one_token_has_no_change():
    assert build().train()(STREAMS.of_sizes([1, 1], 1)).losses.keys() == {"activation"}
