"""The Transformer against its equations in loops and against torch's layers; causality, steps, windows, counts."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.families import family_of
from tests.models.equations import DOUBLE, assert_same_gradients, drop_all
from zoo.data.pairs.batch import PairSpec
from zoo.models import Transformer
from zoo.objectives import SoftFeedback

PAIRS = family_of("translation")
SPEC = dataclasses.replace(PAIRS.spec, source_size=30, shared=True)
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


def pairs():
    return PAIRS.of_sizes(((5, 4), (1, 8), (7, 1)), 1)


def weighed(logits):
    """A loss that reads all scores."""
    return (logits * torch.randn(logits.shape, generator=torch.Generator().manual_seed(5), dtype=DOUBLE)).sum()


def literal(network, source, target_input, neighbourhood):
    """Logits (T, V) and attention of one pair, in lists of vectors. `network` gives the weights and the choices."""
    pre = isinstance(network.encoder_norm, nn.LayerNorm)
    dim = network.dim
    weights = {}

    def norm(layer, x):
        x = x - x.sum() / dim
        return layer.weight * x / torch.sqrt((x * x).sum() / dim + 1e-5) + layer.bias

    def position(table, p):
        if isinstance(table, nn.Embedding):
            return table.weight[min(p, len(table.weight) - 1)]
        pe = [(math.sin, math.cos)[i % 2](p / 10_000 ** ((i - i % 2) / dim)) for i in range(dim)]
        return torch.tensor(pe, dtype=DOUBLE)

    def attend(module, name, queries, memory, sees):
        w_q, w_k, w_v = (part for weight in module.weights for part in weight.split(dim))
        b_q, b_k, b_v = module.bias.split(dim)
        width, result = dim // module.heads, []
        weights[name] = torch.zeros(module.heads, len(queries), len(memory), dtype=DOUBLE)
        for i, x in enumerate(queries):
            heads = []
            for h in range(module.heads):
                rows = slice(h * width, (h + 1) * width)
                seen = [j for j in range(len(memory)) if sees(i, j)]
                q = w_q[rows] @ x + b_q[rows]
                scores = torch.stack([q @ (w_k[rows] @ memory[j] + b_k[rows]) for j in seen]) / math.sqrt(width)
                a = torch.exp(scores) / torch.exp(scores).sum()
                heads.append(sum(a[n] * (w_v[rows] @ memory[j] + b_v[rows]) for n, j in enumerate(seen)))
                weights[name][h, i, seen] = a.detach()
            result.append(module.output.weight @ torch.cat(heads) + module.output.bias)
        return result

    def sublayer(residual, x, f):
        if pre:
            y = f([norm(residual.norm, vector) for vector in x])
            return [a + b for a, b in zip(x, y, strict=True)]
        return [norm(residual.norm, a + b) for a, b in zip(x, f(x), strict=True)]

    def feedforward(net):
        first, last = net[0], net[-1]
        return lambda x: [last.weight @ torch.clamp(first.weight @ y + first.bias, min=0) + last.bias for y in x]

    def near(i, j):
        return neighbourhood is None or abs(i - j) <= neighbourhood // 2

    def embed(embedding, table, ids):
        return [embedding.weight[token] * math.sqrt(dim) + position(table, p) for p, token in enumerate(ids)]

    x = embed(network.source_embedding, network.source_positions, source)
    for n, layer in enumerate(network.encoder):
        x = sublayer(
            layer.self_attention_residual,
            x,
            lambda y, m=layer.self_attention, n=n: attend(m, f"encoder.{n}", y, y, near),
        )
        x = sublayer(layer.feedforward_residual, x, feedforward(layer.feedforward))
    memory = [norm(network.encoder_norm, y) for y in x] if pre else x
    x = embed(network.target_embedding, network.target_positions, target_input)
    for n, layer in enumerate(network.decoder):
        x = sublayer(
            layer.self_attention_residual,
            x,
            lambda y, m=layer.self_attention, n=n: attend(m, f"decoder.{n}", y, y, lambda i, j: j <= i and near(i, j)),
        )
        x = sublayer(
            layer.cross_attention_residual,
            x,
            lambda y, m=layer.cross_attention, n=n: attend(m, f"source.{n}", y, memory, lambda i, j: True),
        )
        x = sublayer(layer.feedforward_residual, x, feedforward(layer.feedforward))
    x = [norm(network.decoder_norm, y) for y in x] if pre else x
    return torch.stack([network.vocabulary.weight @ y + network.vocabulary.bias for y in x]), weights


@BY_WAY
def test_equals_the_equations_in_loops(way):
    spec = dataclasses.replace(SPEC, longest_source=6, longest_target=6)  # learned positions run out
    network, batch = model(spec, **way), pairs()
    output, rows = network(batch), []
    for b in range(len(batch)):
        sizes = {"encoder": int(batch.source_mask[b].sum()), "decoder": int(batch.target_mask[b].sum())}
        source, target = batch.source[b, : sizes["encoder"]], batch.target_input[b, : sizes["decoder"]]
        logits, weights = literal(network, source.tolist(), target.tolist(), way.get("neighbourhood"))
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


def torchs(theirs, layer, *inputs, **masks):
    """The output of one of torch's layers with the parameters of ours."""
    names = (("self_attention", "self_attn"), ("cross_attention", "multihead_attn"))
    attentions = [(other, getattr(layer, own)) for own, other in names if hasattr(layer, own)]
    weights = {f"{other}.in_proj_weight": torch.cat(list(own.weights)) for other, own in attentions}
    weights |= {f"{other}.in_proj_bias": own.bias for other, own in attentions}
    residuals = [part for name, part in layer.named_children() if name.endswith("residual")]
    parts = {f"{other}.out_proj": own.output for other, own in attentions}
    parts |= {f"norm{number}": residual.norm for number, residual in enumerate(residuals, 1)}
    parts |= {"linear1": layer.feedforward[0], "linear2": layer.feedforward[-1]}
    weights |= {f"{name}.{key}": one for name, part in parts.items() for key, one in part.named_parameters()}
    return torch.func.functional_call(theirs, weights, inputs, masks)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("need_weights", [True, False])
def test_equals_torchs_layers_in_values_and_gradients(norm, need_weights):
    network, batch, blocked = model(norm=norm), pairs(), ~pairs().source_mask
    settings = {"dropout": 0.0, "batch_first": True, "norm_first": norm == "pre", "dtype": DOUBLE}

    def embed(embedding, positions, ids):
        return embedding(ids) * math.sqrt(8) + positions(torch.arange(ids.shape[1]))

    x = embed(network.source_embedding, network.source_positions, batch.source)
    for layer in network.encoder:
        x = torchs(nn.TransformerEncoderLayer(8, 2, 12, **settings), layer, x, src_key_padding_mask=blocked)
    memory = network.encoder_norm(x)
    x = embed(network.target_embedding, network.target_positions, batch.target_input)
    masks = {"tgt_mask": torch.ones(8, 8, dtype=torch.bool).triu(1), "memory_key_padding_mask": blocked}
    for layer in network.decoder:
        x = torchs(nn.TransformerDecoderLayer(8, 2, 12, **settings), layer, x, memory, **masks)
    expected = batch.target_packing.pack(network.vocabulary(network.decoder_norm(x)))
    found = network(batch, need_weights=need_weights).logits
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    assert_same_gradients(network, weighed(found), weighed(expected))


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


def test_a_step_leaves_earlier_keys_and_values_where_they_are():
    network = model().eval()
    with torch.no_grad():
        states = [network.start(pairs())]
        for _ in range(4):
            tokens = torch.full((len(pairs()), 3 if len(states) > 1 else 1), 5)
            states.append(
                network.step(tokens, states[-1]).state.reorder(torch.zeros(len(pairs()), 3, dtype=torch.long))
            )
    places = {state.history["read.0"].untyped_storage().data_ptr() for state in states[1:]}
    assert len(places) == 1
