"""The Universal Transformer against its equations in loops, where positions halt at different steps."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.contract import by_steps
from tests.families import family_of
from tests.models.equations import DOUBLE, assert_same_gradients, mean, sigmoid, softmax
from zoo.layers.packing import Packing
from zoo.models import UniversalTransformer, UniversalTransformerEncoder

PAIRS, STORIES = family_of("translation"), family_of("answering")
SPEC = dataclasses.replace(PAIRS.spec, source_size=30, shared=True)
SMALL = {"hidden_dim": 8, "heads": 2, "feedforward_dim": 12, "dropout": 0.0, "steps": 4}
WAYS = [
    {},
    {"norm": "pre", "tied": "all"},
    {"halting": "interpolated", "norm": "pre"},
    {"halting": "published"},  # the norm at the end of `pre` hides its constant
    {"halting": "none", "steps": 2},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())) or "paper")


def varied(network):
    """A network in double precision without its first values of biases, norms and halting units: positions then halt
    at different steps."""
    for name, parameter in network.double().named_parameters():
        if "unit.weight" in name:
            nn.init.normal_(parameter, 0.0, 0.8)
        elif parameter.dim() == 1:
            center = 1.0 if "norm.weight" in name else -0.5 if "unit.bias" in name else 0.0
            nn.init.normal_(parameter, center, 0.3)
    return network


def model(seed=3, **way):
    torch.manual_seed(seed)
    return varied(UniversalTransformer(SPEC, **SMALL | way))


def reader(seed=1, **way):
    torch.manual_seed(seed)
    network = varied(UniversalTransformerEncoder(STORIES.spec, **SMALL | way))
    nn.init.normal_(network.places)
    return network


def pairs():
    return PAIRS.of_sizes(((4, 3), (1, 5), (5, 1)), 1)


def weighed(logits):
    """A loss that reads all scores."""
    return (logits * torch.randn(logits.shape, generator=torch.Generator().manual_seed(5), dtype=DOUBLE)).sum()


def norm(layer, x):
    if not isinstance(layer, nn.LayerNorm):
        return x
    x = x - x.mean()
    return layer.weight * x / torch.sqrt((x * x).mean() + 1e-5) + layer.bias


def sinusoid(p, dim):
    pe = [(math.sin, math.cos)[i % 2](p / 10_000 ** ((i - i % 2) / dim)) for i in range(dim)]
    return torch.tensor(pe, dtype=DOUBLE)


def attend(module, x, memory):
    """The context of one vector, and its weights (H, S)."""
    dim, heads, weights = module.dim, [], []
    w_q, w_k, w_v = (part for weight in module.weights for part in weight.split(dim))
    b_q, b_k, b_v = module.bias.split(dim)
    for rows in torch.arange(dim).chunk(module.heads):
        q = w_q[rows] @ x + b_q[rows]
        a = softmax([q @ (w_k[rows] @ m + b_k[rows]) / math.sqrt(len(rows)) for m in memory])
        heads.append(mean(a, [w_v[rows] @ m + b_v[rows] for m in memory]))
        weights.append(torch.stack(a))
    return module.output.weight @ torch.cat(heads) + module.output.bias, torch.stack(weights)


def block(layer, i, signalled, seen, source):
    """The next state of position i, which sees the positions `seen`, and its weights on them and on the source."""
    weights = []

    def sublayer(residual, x, f):
        pre = residual.pre
        y = f(norm(residual.norm, x) if pre else x)
        return x + y if pre else norm(residual.norm, x + y)

    def looks(module, memory):
        def f(y):
            context, a = attend(module, y, memory)
            weights.append(a)
            return context

        return f

    residual = layer.self_attention_residual
    memory = [norm(residual.norm, signalled[j]) if residual.pre else signalled[j] for j in seen]
    x = sublayer(residual, signalled[i], looks(layer.self_attention, memory))
    if source is not None:
        x = sublayer(layer.cross_attention_residual, x, looks(layer.cross_attention, source))
    first, last = layer.feedforward[0], layer.feedforward[-1]
    x = sublayer(
        layer.feedforward_residual,
        x,
        lambda y: last.weight @ torch.clamp(first.weight @ y + first.bias, min=0) + last.bias,
    )
    return x, weights


def thought(side, states, places, source=None):
    """The outputs, steps, costs, weights and attention by step of the positions, each computed by itself."""
    pondering, dim, count = side.pondering, len(states[0]), len(states)
    halts, weights = [pondering.unit is None and pondering.steps] * count, [[] for _ in states]
    outputs, attention = [torch.zeros(dim, dtype=DOUBLE) for _ in states], []
    for t in range(1, pondering.steps + 1):
        signalled = [h + sinusoid(p, dim) + sinusoid(t, dim) for h, p in zip(states, places, strict=True)]
        after, looked = list(states), list(attention[-1]) if attention else [None] * count
        for i in range(count):
            if pondering.unit is not None and halts[i]:
                continue
            seen = range(count if source is None else i + 1)
            after[i], looked[i] = block(side.block, i, signalled, seen, source)
            if pondering.unit is None:
                outputs[i] = after[i]
                continue
            p = sigmoid(pondering.unit.weight[0] @ signalled[i] + pondering.unit.bias[0])
            if sum(weights[i]) + p > 0.99 or t == pondering.steps:
                halts[i], p = t, 1 - sum(weights[i])
            weights[i].append(p)
            outputs[i] = {
                "accumulated": outputs[i] + p * after[i],
                "interpolated": p * after[i] + (1 - p) * outputs[i],
                "published": p * after[i] + outputs[i] - p,
            }[pondering.rule]
        states = after
        attention.append(looked)
    return outputs, halts, weights, attention


def literal(network, source, read):
    """Logits, steps of both sides, weights of both sides, and attention of one pair."""
    root = math.sqrt(network.dim)
    x = [network.source_embedding.weight[token] * root for token in source]
    first = thought(network.reader, x, range(len(x)))
    memory = [norm(network.encoder_norm, y) for y in first[0]]
    x = [network.target_embedding.weight[token] * root for token in read]
    second = thought(network.writer, x, range(len(x)), memory)
    y = torch.stack([norm(network.decoder_norm, y) for y in second[0]])
    return y @ network.vocabulary.weight.mT + network.vocabulary.bias, first, second


@BY_WAY
def test_equals_the_equations_in_loops(way):
    network, batch = model(**way), pairs()
    output, rows, every = network(batch), [], set()
    for b in range(len(batch)):
        sizes = int(batch.source_mask[b].sum()), int(batch.target_mask[b].sum())
        source, read = batch.source[b, : sizes[0]].tolist(), batch.target_input[b, : sizes[1]].tolist()
        logits, first, second = literal(network, source, read)
        rows.append(F.pad(logits, (0, 0, 0, batch.target.shape[1] - len(logits))))
        for name, steps in (("encoder", first[1]), ("decoder", second[1])):
            assert output.steps[name][b].tolist() == steps + [0] * (output.steps[name].shape[1] - len(steps))
            every |= set(steps)
        for t in range(network.reader.pondering.steps):
            looks = {"encoder": first[3][t], "decoder": second[3][t]}
            looks["source"] = [weights[::-1] for weights in looks["decoder"]]
            for name, queries in looks.items():
                found = output.attention[f"{name}.{t}"][b].clone()
                for i, (weights, *_) in enumerate(queries):
                    torch.testing.assert_close(found[:, i, : weights.shape[1]], weights, rtol=1e-10, atol=1e-12)
                    found[:, i, : weights.shape[1]] = 0
                assert not found.any()
    assert len(every) > 1 or network.reader.pondering.unit is None, "all positions halt at one step: nothing is tested"
    expected = batch.target_packing.pack(torch.stack(rows))
    for need_weights in (True, False):
        logits = network(batch, need_weights=need_weights).logits
        torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-10)
        assert_same_gradients(network, weighed(logits), weighed(expected))


@BY_WAY
def test_steps_of_decoding_equal_one_pass_where_positions_halt_at_different_steps(way):
    network, batch = model(**way).eval(), pairs()
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            output = network(batch)
            log_probs, attention = by_steps(network, batch, dataclasses.replace(batch, target=None, target_mask=None))
        found = batch.target_packing.pack(log_probs)
        torch.testing.assert_close(found, output.logits.log_softmax(-1), rtol=1e-12, atol=1e-12)
        real = batch.target_mask[:, None, :, None]
        for name, parts in attention.items():
            torch.testing.assert_close(torch.stack(parts, 2) * real, output.attention[name], rtol=1e-12, atol=1e-12)


def test_rows_that_stay_in_the_batch_change_nothing(monkeypatch):
    """A compiled network keeps all rows to the end; nothing depends on whether they leave."""
    network, batch = model().train(), pairs()
    one = network(batch)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    other = network(batch)
    torch.testing.assert_close(other.logits, one.logits, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(other.losses, one.losses, rtol=1e-12, atol=1e-12)
    assert all(torch.equal(other.steps[name], steps) for name, steps in one.steps.items())


def test_a_row_that_has_halted_costs_nothing():
    """One of two sources halts at once; the block then sees the other alone, and no step follows the last halting."""
    network, batch, seen = model().eval(), PAIRS.of_sizes(((5, 1), (6, 1)), 1), []
    batch.source[0, :5], batch.source[1] = 4, torch.arange(5, 11)
    unit = network.reader.pondering.unit
    with torch.no_grad():  # the unit reads one number of each position
        unit.weight[0], unit.bias[0] = torch.eye(8)[0], -2.0
        network.source_embedding.weight[4, 0] = 50.0
    hook = network.reader.block.register_forward_hook(lambda module, inputs, result: seen.append(len(inputs[0])))
    steps = network(batch).steps["encoder"]
    hook.remove()
    assert steps[0, :5].tolist() == [1] * 5
    assert (steps[1] > 1).all() and (steps[1] < 4).any()
    assert seen == [11, *(int((steps[1] > t).sum()) for t in range(1, int(steps.max())))]


def test_weights_of_a_position_sum_to_one_and_the_cost_is_its_steps_and_the_rest():
    """p = sigmoid(0) = 1/2 in every step: the second one reaches 1 > .99, so N = 2 and R = 1/2. With p = 1/4 the fourth
    step is the last, R = 1/4. The states are 1, 2, 3 and 4, so that the output is the mean of t by the weights."""
    torch.manual_seed(0)
    packing = Packing.of(torch.ones(2, 3, dtype=torch.bool))
    for bias, mean_step, cost in ((0.0, 1.5, 2.5), (-math.log(3), 2.5, 4.25)):
        pondering = model().reader.pondering
        nn.init.zeros_(pondering.unit.weight)
        nn.init.constant_(pondering.unit.bias, bias)
        zeros = torch.zeros(6, 8, dtype=DOUBLE)
        found = pondering(zeros, zeros, lambda signalled, state, running: state + running[:, None], stops=True)
        torch.testing.assert_close(found.output, torch.full_like(zeros, mean_step))
        torch.testing.assert_close(found.cost, torch.full_like(found.cost, cost))
        torch.testing.assert_close(packing.sum(found.cost), torch.full((2,), 3 * cost, dtype=DOUBLE))


def test_the_loss_is_the_mean_of_the_cost_of_real_tokens_by_example():
    """As they start, all positions halt after two steps, with R = 1 - sigmoid(1) on both sides, however long."""
    torch.manual_seed(0)
    network = UniversalTransformer(SPEC, **SMALL, ponder_weight=0.1).double()
    expected = 0.1 * 2 * (2 + 1 - 1 / (1 + math.exp(-1)))
    assert network(pairs()).losses["ponder"].item() == pytest.approx(expected, rel=1e-6)
    assert network.eval()(pairs()).losses == {}
    assert UniversalTransformer(SPEC, **SMALL, halting="none").train()(pairs()).losses == {}
    varied_one, batch = model().train(), pairs()
    alone = [varied_one(PAIRS.part(batch, [row])).losses["ponder"] for row in range(len(batch))]
    torch.testing.assert_close(varied_one(batch).losses["ponder"], torch.stack(alone).mean())


@pytest.mark.parametrize(("halting", "units"), [("accumulated", 2), ("none", 0)])
def test_parameters_by_hand(halting, units):
    """A block has 4 D^2 + 4 D for each attention, 2 D F + F + D for the transition, and 2 D for each norm. The rest are
    two embeddings of 30 words, the vocabulary, the norms of the ends, and D + 1 for each unit. D = 8, F = 12."""
    d, f, v = 8, 12, 30
    attention, feedforward, layer_norm = 4 * d * d + 4 * d, 2 * d * f + f + d, 2 * d
    reader, writer = attention + feedforward + 2 * layer_norm, 2 * attention + feedforward + 3 * layer_norm
    expected = reader + writer + 2 * v * d + (d * v + v) + 2 * layer_norm + units * (d + 1)
    for steps in (1, 7):  # the number of steps costs none
        network = UniversalTransformer(SPEC, **SMALL | {"steps": steps}, norm="pre", halting=halting)
        assert sum(parameter.numel() for parameter in network.parameters()) == expected


def test_training_shifts_the_positions_of_a_batch_by_up_to_the_random_start():
    network, packing = model(random_start=3), Packing.of(torch.ones(1, 2, dtype=torch.bool))
    drawn = {tuple(network._places(packing)[:, 0].tolist()) for _ in range(60)}
    assert drawn == {(math.sin(start), math.sin(start + 1)) for start in range(4)}
    torch.testing.assert_close(network.eval()._places(packing)[1], sinusoid(1, 8))


@BY_WAY
def test_stories_equal_the_equations_in_loops(way):
    way = {key: value for key, value in way.items() if key != "tied"}
    network, batch = reader(**way).eval(), STORIES.batch(1)
    output, every = network(batch), set()
    vector = network.embedding.weight

    def sentence(words):
        return sum(
            (vector[w] * network.places[min(j, len(network.places) - 1)] for j, w in enumerate(words)), vector[0]
        )

    for b in range(len(batch)):
        words = [row[mask].tolist() for row, mask in zip(batch.words[b], batch.word_mask[b], strict=True) if mask.any()]
        x = [sentence(one) for one in (batch.question[b][batch.question_mask[b]].tolist(), *words)]
        found, steps, _, attention = thought(network.reader, x, [0, *range(len(words), 0, -1)])
        expected = network.answer(norm(network.norm, found[0]))
        torch.testing.assert_close(output.logits[b], expected, rtol=1e-10, atol=1e-10)
        assert [output.steps["question"][b].item(), *output.steps["sentence"][b, : len(words)].tolist()] == steps
        every |= set(steps)
        for t, looked in enumerate(attention):
            hop = output.attention[f"hop.{t}"][b, : len(words)]
            torch.testing.assert_close(hop, looked[0][0].mean(0)[1:], rtol=1e-10, atol=1e-12)
    assert len(every) > 1 or network.reader.pondering.unit is None


def test_three_tied_matrices_need_one_vocabulary():
    with pytest.raises(ValueError, match="one vocabulary for both sides"):
        UniversalTransformer(dataclasses.replace(SPEC, shared=False), **SMALL, tied="all")
