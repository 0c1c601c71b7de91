"""The Transformer against its equations in loops and against torch's layers; causality, steps, windows, counts."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.models.equations import DOUBLE, assert_same_gradients, drop_all
from tests.models.transformer_equations import literal
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.models import Transformer
from zoo.objectives import SoftFeedback

SPEC = PairSpec(source_size=13, target_size=13, longest_source=9, longest_target=9, shared=True)
WAYS = [
    {},
    {"norm": "pre"},
    {"positions": "learned", "tied": "target"},
    {"tied": "all"},
    {"neighbourhood": 3},
    {"norm": "pre", "positions": "learned", "tied": "all", "neighbourhood": 4},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())) or "paper")


def model(spec=SPEC, seed=0, **way):
    """A small Transformer in double precision whose biases and norms are not the ones they start with."""
    torch.manual_seed(seed)
    arguments = {"hidden_dim": 8, "layers": 2, "heads": 2, "feedforward_dim": 12, "dropout": 0.0} | way
    network = Transformer(spec, **arguments).double()
    for name, parameter in network.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if "norm.weight" in name else 0.0, 0.3)
    return network


def side(lengths, seed, size=13):
    generator = torch.Generator().manual_seed(seed)
    length = torch.tensor(lengths)[:, None]
    mask = torch.arange(max(lengths)) < length
    ids = torch.randint(4, size, mask.shape, generator=generator).masked_fill(~mask, 0)
    return ids.masked_fill(torch.arange(max(lengths)) == length - 1, 3), mask


def pairs(sources=(5, 1, 7), targets=(4, 8, 1)):
    target, mask = side(targets, 2)
    return PairBatch(*side(sources, 1), target=target, target_mask=mask)


def weighed(logits):
    """A loss that reads all scores."""
    return (logits * torch.randn(logits.shape, generator=torch.Generator().manual_seed(5), dtype=DOUBLE)).sum()


@BY_WAY
def test_equals_the_equations_in_loops(way):
    spec = dataclasses.replace(SPEC, longest_source=6, longest_target=6)  # learned positions run out
    network, batch = model(spec, **way), pairs()
    output, rows = network(batch), []
    for b in range(len(batch)):
        sizes = {"encoder": int(batch.source_mask[b].sum()), "decoder": int(batch.target_mask[b].sum())}
        source, target = batch.source[b, : sizes["encoder"]], batch.target_input[b, : sizes["decoder"]]
        logits, weights = literal(network, source.tolist(), target.tolist())
        rows.append(F.pad(logits, (0, 0, 0, batch.target.shape[1] - len(logits))))
        assert weights.keys() == output.attention.keys()
        for name, expected in weights.items():
            found = output.attention[name][b]
            real = found[:, : expected.shape[1], : expected.shape[2]]
            torch.testing.assert_close(real, expected, rtol=1e-10, atol=1e-12)
            assert found.count_nonzero() == expected.count_nonzero()  # nothing beside the real rows and columns
    expected = batch.target_packing.pack(torch.stack(rows))
    torch.testing.assert_close(output.logits, expected, rtol=1e-10, atol=1e-10)
    for logits in (output.logits, network(batch, need_weights=False).logits):
        assert_same_gradients(network, weighed(logits), weighed(expected))


# torch's layers


def torchs_logits(network, batch, copies):
    """The logits by nn.TransformerEncoderLayer and nn.TransformerDecoderLayer with the weights of `network`."""
    dim, pre = network.dim, isinstance(network.encoder_norm, nn.LayerNorm)
    blocked = ~batch.source_mask
    ahead = torch.ones(batch.target.shape[1], batch.target.shape[1], dtype=torch.bool).triu(1)

    def copied(theirs, layer):
        attentions = [(theirs.self_attn, layer.self_attention)]
        norms = [layer.self_attention_residual, layer.feedforward_residual]
        if hasattr(layer, "cross_attention"):
            attentions.append((theirs.multihead_attn, layer.cross_attention))
            norms.insert(1, layer.cross_attention_residual)
        values = {}
        for other, own in attentions:
            values |= {other.in_proj_weight: list(own.weights), other.in_proj_bias: [own.bias]}
            values |= {other.out_proj.weight: [own.output.weight], other.out_proj.bias: [own.output.bias]}
        for other, own in ((theirs.linear1, layer.feedforward[0]), (theirs.linear2, layer.feedforward[-1])):
            values |= {other.weight: [own.weight], other.bias: [own.bias]}
        for number, residual in enumerate(norms):
            other = getattr(theirs, f"norm{number + 1}")
            values |= {other.weight: [residual.norm.weight], other.bias: [residual.norm.bias]}
        with torch.no_grad():
            for other, own in values.items():
                other.copy_(torch.cat(own))
        copies.update(values)
        return theirs

    settings = {"dropout": 0.0, "batch_first": True, "norm_first": pre, "dtype": DOUBLE}

    def embed(embedding, positions, ids):
        return embedding(ids) * math.sqrt(dim) + positions(torch.arange(ids.shape[1]))

    x = embed(network.source_embedding, network.source_positions, batch.source)
    for layer in network.encoder:
        x = copied(nn.TransformerEncoderLayer(dim, 2, 12, **settings), layer)(x, src_key_padding_mask=blocked)
    memory = network.encoder_norm(x)
    x = embed(network.target_embedding, network.target_positions, batch.target_input)
    for layer in network.decoder:
        theirs = copied(nn.TransformerDecoderLayer(dim, 2, 12, **settings), layer)
        x = theirs(x, memory, tgt_mask=ahead, memory_key_padding_mask=blocked)
    return batch.target_packing.pack(network.vocabulary(network.decoder_norm(x)))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("need_weights", [True, False])
def test_equals_torchs_layers_in_values_and_gradients(norm, need_weights):
    network, batch, copies = model(norm=norm), pairs(), {}
    expected = torchs_logits(network, batch, copies)
    found = network(batch, need_weights=need_weights).logits
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    weight = torch.randn(found.shape, dtype=DOUBLE)
    theirs = torch.autograd.grad((expected * weight).sum(), list(copies))
    ours = torch.autograd.grad((found * weight).sum(), [part for parts in copies.values() for part in parts])
    for parts, other in zip(copies.values(), theirs, strict=True):
        mine, ours = ours[: len(parts)], ours[len(parts) :]
        torch.testing.assert_close(torch.cat(mine), other, rtol=1e-10, atol=1e-10)
    assert not ours


@pytest.mark.parametrize(("size", "near"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_a_neighbourhood_holds_the_neighbours_up_to_half_its_size(size, near):
    attention = model(neighbourhood=size)(pairs()).attention
    distance = torch.arange(7) - torch.arange(7)[:, None]
    assert torch.equal(attention["encoder.1"][2, 0] > 0, distance.abs() <= near)
    distance = torch.arange(8) - torch.arange(8)[:, None]
    assert torch.equal(attention["decoder.1"][1, 0] > 0, (distance <= 0) & (distance >= -near))
    assert (attention["source.0"][1, :, :, 0] == 1).all()  # attention to the source is not restricted


@pytest.mark.parametrize("tied", ["none", "target", "all"])
def test_tied_matrices_are_one(tied):
    network = model(tied=tied)
    words = network.target_embedding.weight
    assert (network.vocabulary.weight is words) == (tied != "none")
    assert (network.source_embedding.weight is words) == (tied == "all")


def test_learned_positions_reach_as_far_as_the_longest_of_each_side():
    network = model(PairSpec(13, 13, longest_source=6, longest_target=5), positions="learned")
    assert (len(network.source_positions.weight), len(network.target_positions.weight)) == (6, 5)


def only_norms(layers):
    """A vector after layers whose sublayers give nothing: their norms alone act on zeros."""
    x = torch.zeros(8, dtype=DOUBLE)
    for layer in layers:
        for name, part in layer.named_children():
            x = part.norm(x) if name.endswith("residual") else x
    return x


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_acts_on_embeddings_and_on_the_output_of_every_sublayer(norm):
    network, batch = model(norm=norm, dropout=0.5), pairs()
    drop_all(network, 0.5)
    x = only_norms(network.decoder) if norm == "post" else torch.zeros(8, dtype=DOUBLE)
    expected = network.vocabulary(network.decoder_norm(x)).expand(13, -1)
    torch.testing.assert_close(network.train()(batch).logits, expected)
    first = network.step(batch.target_input[:, :1], network.start(batch)).log_probs[:, 0]
    torch.testing.assert_close(first, expected[:3].log_softmax(-1))
    assert not torch.allclose(network.eval()(batch).logits, expected)


def test_inner_dropout_acts_on_attention_weights_and_on_the_units_of_the_feedforward_net():
    network, batch = model(inner_dropout=0.5).train(), pairs()
    drop_all(network, 0.5)  # of what sublayers compute only their biases are left
    x = network._embed_all(network.target_embedding, network.target_positions, batch.target_input, batch.target_packing)
    for layer in network.decoder:
        x = layer.self_attention_residual.norm(x + layer.self_attention.output.bias)
        x = layer.cross_attention_residual.norm(x + layer.cross_attention.output.bias)
        x = layer.feedforward_residual.norm(x + layer.feedforward[-1].bias)
    expected = network.vocabulary(x)
    for need_weights in (True, False):
        torch.testing.assert_close(network(batch, need_weights=need_weights).logits, expected)
    first = network.step(batch.target_input[:, :1], network.start(batch)).log_probs[:, 0]
    at_start = batch.target_packing.unpack(expected)[:, 0]
    torch.testing.assert_close(first, at_start.log_softmax(-1))
    assert not torch.allclose(network.eval()(batch).logits, expected)


@pytest.mark.parametrize("detach", [False, True])
def test_a_mixture_of_tokens_passes_its_gradient_to_the_step_before_unless_it_is_detached(detach):
    network, batch, log_probs = model(), pairs(), []
    step = network.step

    def recorded(tokens, state):
        found = step(tokens, state)
        log_probs.append(found.log_probs)
        return found

    network.step = recorded
    output = SoftFeedback(detach=detach)(network, batch, spec=SPEC, step=0, need_weights=False).output
    second = weighed(output.logits[batch.target_packing.time == 1])
    (gradient,) = torch.autograd.grad(second, log_probs[0])
    assert gradient.isfinite().all() and not gradient[2].any()  # the third target has one token
    assert bool(gradient[:2].any()) != detach


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ({"neighbourhood": 0}, "neighbourhood=0: expected a whole number from 1 on"),
        ({"heads": 3}, "8 is not a multiple of 3"),
        ({"hidden_dim": 9, "heads": 3}, "even"),
    ],
)
def test_a_wrong_choice_is_found(way, message):
    with pytest.raises(ValueError, match=message):
        model(**way)


def test_three_tied_matrices_need_one_vocabulary():
    with pytest.raises(ValueError, match="one vocabulary for both sides"):
        model(dataclasses.replace(SPEC, shared=False), tied="all")
