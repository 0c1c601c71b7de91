"""The Transformer's decoder alone against torch's layers on each context, at any length, by windows and by steps."""

import pytest
import torch
from torch import nn

from tests.contract import by_steps, equal
from tests.families import family_of
from tests.models.equations import DOUBLE, assert_same_gradients
from zoo.data.language.batch import StreamBatch
from zoo.models import TransformerLanguageModel

STREAMS = family_of("language_modeling")
LENGTHS = (17, 1, 6, 13)
SMALL = {"hidden_dim": 8, "layers": 2, "heads": 2, "feedforward_dim": 12, "dropout": 0.0}
WAYS = [
    {"window": 20},
    {"window": 6, "norm": "pre", "tied": True},
    {"window": 5, "positions": "learned"},
    {"window": 2, "norm": "pre", "positions": "learned"},
    {"window": 1},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))


def build(**way):
    torch.manual_seed(0)
    model = TransformerLanguageModel(STREAMS.spec, **SMALL | way).to(DOUBLE).eval()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if "norm.weight" in name else 0.0, 0.3)
    return model


def torchs(layer):
    """torch's own layer with the same weights."""
    attention, pre = layer.self_attention, layer.feedforward_residual.pre
    theirs = nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True, norm_first=pre, dtype=DOUBLE)
    parts = {
        "self_attn.in_proj_weight": attention.weights[0],
        "self_attn.in_proj_bias": attention.bias,
        "norm1.weight": layer.self_attention_residual.norm.weight,
        "norm1.bias": layer.self_attention_residual.norm.bias,
        "norm2.weight": layer.feedforward_residual.norm.weight,
        "norm2.bias": layer.feedforward_residual.norm.bias,
    }
    for name, linear in (
        ("self_attn.out_proj", attention.output), ("linear1", layer.feedforward[0]), ("linear2", layer.feedforward[3])
    ):  # fmt: skip
        parts |= {f"{name}.weight": linear.weight, f"{name}.bias": linear.bias}
    return lambda x, mask: torch.func.functional_call(theirs, parts, (x,), {"src_mask": mask})


def context(place, window):
    """The first token that the token at `place` sees: the context grows to `window` tokens, then loses half."""
    first = 0
    for t in range(place + 1):
        if t - first == window:
            first += max(1, window // 2)
    return first


def literal(model, read):
    """The scores (T, V) of a text: the context of each token is computed from nothing."""
    layers, scores = [torchs(layer) for layer in model.layers], []
    for t in range(len(read)):
        ids = torch.tensor(read[context(t, model.window) : t + 1])
        x = model.embedding.weight[ids] * 8**0.5 + model.positions(torch.arange(len(ids)))
        mask = nn.Transformer.generate_square_subsequent_mask(len(ids), dtype=DOUBLE)
        x = x[None]
        for layer in layers:
            x = layer(x, mask)
        scores.append(model.vocabulary(model.norm(x[0, -1])))
    return torch.stack(scores)


def texts(batch):
    return [row[mask].tolist() for row, mask in zip(batch.target_input, batch.target_mask, strict=True)]


@BY_WAY
def test_equals_torchs_layers_on_each_context(way):
    model, batch = build(**way), STREAMS.of_sizes(LENGTHS, 1)
    rows = [literal(model, text) for text in texts(batch)]
    packing = batch.forced.packing
    expected = packing.pack(nn.utils.rnn.pad_sequence(rows, batch_first=True))
    found = model(batch).logits
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    random = torch.randn_like(expected)
    assert_same_gradients(model, (found * random).sum(), (expected * random).sum())
    with torch.no_grad():  # where the history grows in place
        log_probs, _ = by_steps(model, batch, STREAMS.without_targets(batch))
    torch.testing.assert_close(packing.pack(log_probs), expected.log_softmax(-1), rtol=1e-10, atol=1e-10)


@BY_WAY
@pytest.mark.parametrize("sizes", [(1, 7, 2, 7), (3,) * 6])
def test_windows_of_any_length_are_one_text(way, sizes):
    """Also the attention: its last columns are the window's tokens, those before it the context's."""
    model, batch = build(**way), STREAMS.of_sizes(LENGTHS, 1)
    whole = model(batch)
    expected = STREAMS.scores(whole, batch)
    carried, at = None, 0
    for size in sizes:
        window, _ = STREAMS.windows(STREAMS.windows(batch, at)[1], size)
        output = model(window, carried)
        equal(STREAMS.scores(output, window), expected[:, at : at + size])
        for name, weights in output.attention.items():
            length = weights.shape[2]
            row = whole.attention[name][:, :, at : at + length, : at + length]
            columns = min(row.shape[3], weights.shape[3])
            equal(weights[..., -columns:], row[..., -columns:])
            equal(weights.sum(-1), row.sum(-1))
        carried, at = output.carried, at + size
    assert carried["words"].shape == (4, model.window - 1)


@BY_WAY
def test_prompts_of_any_lengths_are_continued(way):
    """Each prompt by the first tokens of a text, the rest by steps, among others whose context is full elsewhere."""
    model, lengths = build(**way), (16, 1, 9)
    batch = STREAMS.of_sizes((20, 20, 20), 1)
    expected = STREAMS.scores(model(batch), batch).log_softmax(-1)
    prompts = [row[:length].tolist() for row, length in zip(batch.target_input, lengths, strict=True)]
    with torch.no_grad():
        state = model.start(StreamBatch.of_prompts(prompts))
        tokens = state.first[:, None].expand(-1, 2)
        state = state.reorder(torch.zeros(3, 2, dtype=torch.long))
        for number in range(4):
            log_probs, state, _ = model.step(tokens, state)
            for row, length in enumerate(lengths):
                equal(log_probs[row], expected[row, length - 1 + number].expand(2, -1))
            tokens = torch.stack([batch.target_input[row, length + number] for row, length in enumerate(lengths)])
            tokens = tokens[:, None].expand(-1, 2)
        assert state.hypotheses["position"].max() <= model.window


def test_hypotheses_keep_their_own_contexts_when_these_move():
    """Two hypotheses that read other tokens, exchanged on the way, each against its own text."""
    model, generator = build(window=4), torch.Generator().manual_seed(0)
    ids = torch.randint(1, 11, (2, 11), generator=generator)
    written = [ids.clone() for _ in range(2)]
    written[1][:, 1:] = torch.randint(1, 11, (2, 10), generator=generator)
    order = [0, 1]
    with torch.no_grad():
        state = model.start(StreamBatch(index=torch.arange(2)))
        state = state.reorder(torch.zeros(2, 2, dtype=torch.long))
        for t in range(11):
            tokens = torch.stack([written[which][:, t] for which in order], 1)
            log_probs, state, _ = model.step(tokens, state)
            for k, which in enumerate(order):
                for row in range(2):
                    expected = literal(model, written[which][row, : t + 1].tolist())[-1].log_softmax(-1)
                    torch.testing.assert_close(log_probs[row, k], expected, rtol=1e-10, atol=1e-10)
            state, order = state.reorder(torch.tensor([[1, 0]] * 2)), order[::-1]
    assert state.history["tokens"].shape[1] <= 2 * 4  # what nobody sees any more is dropped


def test_only_positions_of_the_context_are_used():
    """The table has as many rows, and a text of three times as many tokens reaches each of them."""
    model, batch = build(window=6, positions="learned"), STREAMS.of_sizes((18,), 1)
    model(batch).logits.square().sum().backward()
    assert model.positions.weight.shape == (6, 8) and model.positions.weight.grad.any(1).all()


def test_training_windows_do_not_continue_each_other():
    model = build(window=6)
    assert model.carries and not model.train().carries
