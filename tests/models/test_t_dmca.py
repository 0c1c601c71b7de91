"""The decoder with compressed memory against its equations, token by token in slow loops."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.contract import by_steps, equal
from tests.families import family_of
from tests.models.equations import DOUBLE, assert_same_gradients, linear, mean, softmax
from zoo.data.copying.batch import CopySpec
from zoo.errors import ConfigError
from zoo.models import CompressedDecoder

FAMILY = family_of("summarization")
SMALL = {"hidden_dim": 8, "heads": 2, "feedforward_dim": 12, "dropout": 0.0, "block": 4}
WAYS = [
    {"layers": "LMLML"},
    {"layers": "MFM", "norm": "pre"},
    {"layers": "LM", "positions": "learned", "compression": 2},
    {"layers": "FL", "block": 1, "norm": "pre"},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
SIZES = ((5, 6), (9, 1), (0, 7), (4, 3), (12, 8))  # Tokens of the documents and of the summary


def build(**way):
    torch.manual_seed(0)
    model = CompressedDecoder(FAMILY.spec, **SMALL | way).to(DOUBLE).eval()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if "norm.weight" in name else 0.0, 0.3)
    return model


def sublayer(residual, x, function):
    if residual.pre:
        return [one + new for one, new in zip(x, function([residual.norm(one) for one in x]), strict=True)]
    return [residual.norm(one + new) for one, new in zip(x, function(x), strict=True)]


def slots(letter, reach, k, v, i):
    """(key, value, tokens) of every slot that query i sees."""
    if letter == "F":
        return [(k[j], v[j], [j]) for j in range(i + 1)]
    if letter == "L":
        return [(k[j], v[j], [j]) for j in range(i + 1) if j // reach.size == i // reach.size]
    f, found = reach.factor, [(torch.zeros(8, dtype=DOUBLE), torch.zeros(8, dtype=DOUBLE), [])]
    for j in range(len(k)):
        if f * j + f - 1 <= i:
            tokens = [*range(f * j, f * j + f)]
            key, value = (
                linear(part, torch.cat([of[t] for t in tokens])) for part, of in ((reach.keys, k), (reach.values, v))
            )
            found.append((key, value, tokens))
    return found


def literal(model, letters, ids, count):
    """The scores (N, V) after each of the tokens, and weights {layer: (N, H, count)} on the first `count` of them."""
    x = [model.embedding.weight[one] * 8**0.5 + model.positions(torch.tensor(i)) for i, one in enumerate(ids)]
    weights = {}
    for number, (letter, layer, reach) in enumerate(zip(letters, model.layers, model.reaches, strict=True)):
        module, table = layer.self_attention, torch.zeros(len(ids), 2, count, dtype=DOUBLE)

        def attend(y, letter=letter, reach=reach, module=module, table=table):
            q, k, v = zip(*((module.weights[0] @ one + module.bias).split(8) for one in y), strict=True)
            outputs = []
            for i in range(len(y)):
                seen, heads = slots(letter, reach, k, v, i), []
                for h in range(2):
                    part = slice(4 * h, 4 * h + 4)
                    a = softmax([q[i][part] @ key[part] / 2 for key, _, _ in seen])
                    heads.append(mean(a, [value[part] for _, value, _ in seen]))
                    for one, (_, _, tokens) in zip(a, seen, strict=True):
                        if all(t < count for t in tokens):
                            for t in tokens:
                                table[i, h, t] = (one / len(tokens)).detach()
                outputs.append(linear(module.output, torch.cat(heads)))
            return outputs

        x = sublayer(layer.self_attention_residual, x, attend)
        x = sublayer(layer.feedforward_residual, x, lambda y, layer=layer: [layer.feedforward(one) for one in y])
        if letter != "L":
            weights[f"source.{number}"] = table
    return torch.stack([linear(model.vocabulary, model.norm(one)) for one in x]), weights


def texts(batch):
    rows = zip(batch.source, batch.source_mask, batch.target_input, batch.target_mask, strict=True)
    return [(m[real].tolist(), y[own].tolist()) for m, real, y, own in rows]


@BY_WAY
def test_equals_the_equations(way):
    """Scores, attention and gradients, of documents whose last block is full, begun or empty."""
    model, batch = build(**way), FAMILY.of_sizes(SIZES, 1)
    found, expected = model(batch), []
    for row, (documents, summary) in enumerate(texts(batch)):
        scores, weights = literal(model, way["layers"], documents + summary, len(documents))
        expected.append(scores[len(documents) :])
        assert set(weights) == set(found.attention) == set(model.unnormalised)
        for name, table in weights.items():
            own = found.attention[name][row, :, : len(summary), : len(documents)]
            equal(own, table[len(documents) :].transpose(0, 1))
    packing = batch.forced.packing
    expected = packing.pack(nn.utils.rnn.pad_sequence(expected, batch_first=True))
    torch.testing.assert_close(found.logits, expected, rtol=1e-10, atol=1e-10)
    random = torch.randn_like(expected)
    assert_same_gradients(model, (found.logits * random).sum(), (expected * random).sum())
    with torch.no_grad():  # where the history grows in place
        log_probs, _ = by_steps(model, batch, FAMILY.without_targets(batch))
    torch.testing.assert_close(packing.pack(log_probs), expected.log_softmax(-1), rtol=1e-10, atol=1e-10)


def test_the_loss_of_the_documents():
    """Each token but the first of its documents, predicted from those before it; in training alone."""
    model, batch = build(layers="LMLML", source_loss=0.5), FAMILY.of_sizes(SIZES, 1)
    assert not model(batch).losses
    losses = []
    for documents, _ in texts(batch):
        if documents:
            scores, _ = literal(model, "LMLML", documents, 0)
            losses += F.cross_entropy(scores[:-1], torch.tensor(documents[1:]), reduction="none")
    found = model.train()(batch).losses["source"]
    equal(found, 0.5 * torch.stack(losses).sum() / sum(summary for _, summary in SIZES))


def test_size_of_the_papers_decoder():
    """Attention without biases, the embedding once and no final norm: the count of the paper's T-D. A compressed layer
    has two convolutions besides."""
    sizes = {"hidden_dim": 512, "heads": 8, "feedforward_dim": 2048}
    spec = CopySpec(vocabulary_size=100, longest_source=9, longest_target=9)
    model = CompressedDecoder(spec, layers="FFFFFF", **sizes)
    biases = sum(p.numel() for name, p in model.named_parameters() if "attention.bias" in name or "output.bias" in name)
    once = model.vocabulary.weight.numel() + model.vocabulary.bias.numel()
    count = sum(p.numel() for p in model.parameters())
    assert count - biases - once == 18_902_016 + 512 * 100
    compressed = CompressedDecoder(spec, layers="LMFMLL", **sizes)
    assert sum(p.numel() for p in compressed.parameters()) - count == 2 * 2 * (3 * 512 * 512 + 512)


@pytest.mark.parametrize("layers", ["LMXL", ""])
def test_another_letter_is_refused(layers):
    with pytest.raises(ConfigError, match=r"layers=.*: expected a word of the letters L, M and F, such as LMLML"):
        build(layers=layers)
