"""The pieces that the papers' equations share, for one vector at a time, and comparisons of a network with them."""

from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.contract import by_steps
from zoo.data.language.batch import StreamBatch

DOUBLE = torch.float64
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def exactly(network, *, biases=False):
    """The network in double precision, in evaluation; with `biases` random ones, so that a wrong one shows."""
    with torch.no_grad():
        for name, parameter in network.double().eval().named_parameters():
            if biases and "bias" in name:
                parameter.normal_()
    return network


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def linear(layer, x):
    return layer.weight @ x if layer.bias is None else layer.weight @ x + layer.bias


def softmax(scores):
    """The softmax of a list of scores, as a list."""
    exponentials = [score.exp() for score in scores]
    return [each / sum(exponentials) for each in exponentials]


def mean(weights, values):
    return sum(a * value for a, value in zip(weights, values, strict=True))


def additive(score, query, key):
    """v . tanh(W q + U k)."""
    return score.v @ (score.query_projection.weight @ query + score.key_projection.weight @ key).tanh()


def largest_of_pairs(x):
    return torch.stack([torch.maximum(x[2 * i], x[2 * i + 1]) for i in range(len(x) // 2)])


def weights_of(rnn, suffix="_l0"):
    """W, U and their biases; of a torch.nn.LSTMCell with the suffix ""."""
    return (getattr(rnn, f"{name}{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))


def lstm(rnn, x, h, c, suffix="_l0"):
    """One step of one layer: the new h and c."""
    w, u, b, k = weights_of(rnn, suffix)
    i, f, g, o = (w @ x + b + u @ h + k).chunk(4)
    c = sigmoid(f) * c + sigmoid(i) * g.tanh()
    return sigmoid(o) * c.tanh(), c


def layers(rnn, x, states, keep=1.0):
    """One step of stacked layers: the top output and the new (h, c) of each. What goes from a layer to the next is
    multiplied by `keep`, in place of dropout."""
    after = []
    for number, (h, c) in enumerate(states):
        after.append(lstm(rnn, keep * x if number else x, h, c, f"_l{number}"))
        x = after[-1][0]
    return x, after


def both_directions(rnn, inputs):
    """The states of torch's bidirectional GRU at each of `inputs`: r reset, z update, n candidate."""
    sides = []
    for suffix, words in (("_l0", inputs), ("_l0_reverse", inputs[::-1])):
        w, u, b, k = (part.chunk(3) for part in weights_of(rnn, suffix))
        h, states = torch.zeros(rnn.hidden_size, dtype=DOUBLE), []
        for x in words:
            r, z = (sigmoid(w[n] @ x + b[n] + u[n] @ h + k[n]) for n in (0, 1))
            n = (w[2] @ x + b[2] + r * (u[2] @ h + k[2])).tanh()
            h = (1 - z) * n + z * h
            states.append(h)
        sides.append(states)
    return [torch.cat(pair) for pair in zip(sides[0], sides[1][::-1], strict=True)]


def pairs_of(batch):
    """Source and decoder input of each row, lists of ids without padding."""
    for row in range(len(batch)):
        source = batch.source[row][batch.source_mask[row]].tolist()
        yield source, batch.target_input[row][batch.target_mask[row]].tolist()


def stacked(batch, rows):
    """Scores (N, V) in the order of `batch.target_packing`, and weights (B, T, S) or None, from those of each row."""
    steps = batch.target.shape[1]
    scores, weights = zip(*rows, strict=True)
    packed = batch.target_packing.pack(torch.stack([F.pad(one, (0, 0, 0, steps - len(one))) for one in scores]))
    if weights[0] is None:
        return packed, None
    width = max(one.shape[1] for one in weights)
    padded = [F.pad(one, (0, width - one.shape[1], 0, steps - len(one))) for one in weights]
    return packed, torch.stack(padded)


def assert_equal(found, expected, **tolerance):
    torch.testing.assert_close(found, expected, **(tolerance or EXACT))


def assert_same_gradients(model, ours, theirs):
    """Two losses have equal gradients by each parameter, except for rows of padding, whose gradient the model drops."""
    parameters = dict(model.named_parameters())
    tables = {f"{name}.weight": part for name, part in model.named_modules() if isinstance(part, nn.Embedding)}
    settings = {"retain_graph": True, "materialize_grads": True}
    found, wanted = (torch.autograd.grad(loss, list(parameters.values()), **settings) for loss in (ours, theirs))
    for name, one, other in zip(parameters, found, wanted, strict=True):
        if name in tables and tables[name].padding_idx is not None:
            other[tables[name].padding_idx] = 0
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10, msg=lambda text, name=name: f"{name}: {text}")


def assert_equals_the_equations(model, batch, rows):
    """Scores, attention and the gradients of both are those of `rows`, the (scores, weights) of each row by loops."""
    output, expected = model(batch), [part for part in stacked(batch, rows) if part is not None]
    found = [output.logits, *output.attention.values()]
    for one, other in zip(found, expected, strict=True):
        assert_equal(one, other)
    random = [torch.randn_like(part) for part in expected]
    ours, theirs = (sum((a * b).sum() for a, b in zip(side, random, strict=True)) for side in (found, expected))
    assert_same_gradients(model, ours, theirs)


def assert_the_loop_is_the_steps(model, batch, without_targets):
    """`forward`, which runs a loop, has the scores, the weights and the gradients of both that repeated calls of `step`
    have. Returns the weights (N, S) of the real target positions."""
    output, packing = model(batch), batch.forced.packing
    log_probs, attention = by_steps(model, batch, without_targets)
    ours = output.logits.log_softmax(-1), packing.pack(output.attention["source"])
    theirs = packing.pack(log_probs), packing.pack(torch.stack(attention["source"], 1))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)
    random = [torch.randn_like(part) for part in theirs]
    assert_same_gradients(
        model, *(sum((a * b).sum() for a, b in zip(side, random, strict=True)) for side in (ours, theirs))
    )
    return ours[1]


def assert_drops(model, plain, batch, rows, without_targets=None):
    """With dropout replaced by halving, training gives `rows`, by forward and by steps, and evaluation is `plain`."""
    assert torch.equal(model(batch).logits, plain(batch).logits)
    expected, _ = stacked(batch, rows)
    assert_equal(model.train()(batch).logits, expected)
    log_probs, _ = by_steps(model, batch, without_targets)
    assert_equal(batch.target_packing.pack(log_probs), expected.log_softmax(-1))


@torch.no_grad()
def assert_constant_cost(network, *positions):
    """A step has as many operations and keeps as many numbers at each of these positions of a text."""
    state, costs = network.start(StreamBatch(index=torch.arange(1))), []
    for position in range(max(positions) + 1):
        with FlopCounterMode(display=False) if position in positions else nullcontext() as counter:
            state = network.step(torch.ones(1, 1).long(), state).state
        if counter is not None:
            parts = {**state.hypotheses, **state.history, **state.memory}.values()
            costs.append((counter.get_total_flops(), sum(part.numel() for part in parts)))
    assert costs[0][0] > 0 and len(set(costs)) == 1, costs


def halve(monkeypatch):
    """Dropout at any rate halves what it is given, in training alone, so that its places show."""
    monkeypatch.setattr(F, "dropout", lambda x, p=0.5, training=True, inplace=False: x / 2 if training else x)


def drop_all(network, rate):
    """Every dropout of the network at this rate drops all that it is given while training."""
    for module in network.modules():
        for name in ("p", "dropout"):
            if getattr(module, name, None) == rate:
                setattr(module, name, 1.0)


def glorot(matrix):
    """The standard deviation by Glorot and Bengio (2010)."""
    return (2 / sum(matrix.shape)) ** 0.5


def assert_deviation(matrices, deviation, rel=0.05):
    """The standard deviation of each matrix; `deviation` may be a function of the matrix."""
    for matrix in matrices:
        expected = deviation(matrix) if callable(deviation) else deviation
        assert abs(matrix.std().item() / expected - 1) < rel


def assert_orthogonal(matrices):
    for matrix in matrices:
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(len(matrix)), rtol=0, atol=1e-5)


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())
