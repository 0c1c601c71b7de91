"""Networks that point, and the baselines that name positions, against the papers' equations as slow loops."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    additive,
    assert_equal,
    assert_same_gradients,
    exactly,
    linear,
    lstm,
    mean,
    softmax,
)
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.errors import DataError
from zoo.models import Critic, NeuralCombinatorial, PointerNet, PositionAttention, PositionLSTM, ReadProcessWrite

POINTS = family_of("pointing")
SPEC, FIRST = POINTS.spec, POINTS.spec.first
TEN = PointSpec(width=2, longest=10, longest_target=12, goal="hull", groups=("n10",))
BATCH = POINTS.batch(3)
SMALL = {"embedding_dim": 4, "hidden_dim": 5, "init_range": 0.8}
ZERO = torch.zeros(5, dtype=DOUBLE)


def built(cls, **settings):
    torch.manual_seed(0)
    if cls is ReadProcessWrite:
        return exactly(cls(SPEC, **{"hidden_dim": 5, "process_steps": 3, "init_range": 0.8} | settings))
    return exactly(cls(TEN if cls in (PositionLSTM, PositionAttention) else SPEC, **SMALL | settings))


def run(rnn, inputs):
    """The states of an LSTM after each of `inputs`, and its last (h, c)."""
    h = c = torch.zeros(rnn.hidden_size, dtype=DOUBLE)
    states = []
    for x in inputs:
        h, c = lstm(rnn, x, h, c)
        states.append(h)
    return states, h, c


def read(token, begin, points):
    """Input of a decoder: the point that `token` points at, begin, or nothing."""
    if token == SPEC.begin:
        return begin
    return points[token - FIRST] if token >= FIRST else torch.zeros_like(begin)


# The scores of the places, and the weights or None, at each step, for the points of one set and the tokens read


def pointer_net(model, points, tokens):
    seen = [point if model.reader.embedding is None else linear(model.reader.embedding, point) for point in points]
    states, h, c = run(model.encoder, seen)
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.reader.begin, seen), h, c)
        u = [additive(model.score, h, e) for e in (model.end, *states)]
        yield u, softmax(u)


def neural_combinatorial(model, points, tokens):
    seen = [linear(model.reader.embedding, point) for point in points]
    states, h, c = run(model.encoder, seen)
    places = [model.end, *states]
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.reader.begin, seen), h, c)
        q = h
        if model.glimpse is not None:
            a = softmax([additive(model.glimpse, h, place) for place in places])
            q = mean(a, [model.glimpse.key_projection.weight @ place for place in places])
        u = [additive(model.score, q, place) for place in places]
        if model.clip is not None:
            u = [model.clip * one.tanh() for one in u]
        yield u, softmax(u)


def read_process_write(model, points, tokens):
    m = [model.reader(point) for point in points]
    q = c = r = ZERO
    for _ in range(model.process_steps):
        q, c = lstm(model.process, r, q, c, "")
        r = mean(softmax([one @ q for one in m]), m) if m else r
    both = model.hand_over(torch.cat([q, r])) if model.process_steps else model.initial
    h, c = both.chunk(2)
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.begin, m), h, c)
        asks = h
        if model.glimpse is not None and m:
            asks = h + mean(softmax([additive(model.glimpse, h, one) for one in m]), m)
        u = [additive(model.score, asks, place) for place in (model.end, *m)]
        yield u, softmax(u)


def position_lstm(model, points, tokens):
    _, h, c = run(model.encoder, [model.point_embedding(point) for point in points])
    for token in tokens:
        h, c = lstm(model.decoder, model.position_embedding.weight[token], h, c)
        yield list(linear(model.vocabulary, h)[: 1 + len(points)]), None


def position_attention(model, points, tokens):
    """Equations (2)."""
    states, h, c = run(model.encoder, [model.point_embedding(point) for point in points])
    context = ZERO
    for token in tokens:
        h, c = lstm(model.decoder, torch.cat([model.position_embedding.weight[token], context]), h, c)
        a = softmax([additive(model.score, h, e) for e in states])
        context = mean(a, states) if states else context
        scores = linear(model.vocabulary, torch.cat([h, context]))
        yield list(scores[: 1 + len(points)]), [torch.zeros((), dtype=DOUBLE), *a]


EQUATIONS = [
    (PointerNet, pointer_net, {}),
    (PointerNet, pointer_net, {"embedding_dim": 0}),
    *(
        (NeuralCombinatorial, neural_combinatorial, {"glimpses": glimpses, "clip": clip})
        for glimpses in (0, 1)
        for clip in (None, 10.0, 0.5)
    ),
    *(
        (ReadProcessWrite, read_process_write, {"process_steps": steps, "glimpses": glimpses})
        for steps in (0, 1, 3)
        for glimpses in (0, 1)
    ),
    (PositionLSTM, position_lstm, {}),
    (PositionAttention, position_attention, {}),
]


@pytest.mark.parametrize(("cls", "decode", "settings"), EQUATIONS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_equals_the_equations(cls, decode, settings):
    """Log-probabilities, attention and the gradients of both."""
    model = built(cls, **settings)
    output, width = model(BATCH), BATCH.memory_mask.shape[1]
    places = 11 if cls in (PositionLSTM, PositionAttention) else width
    logits = torch.full((*BATCH.target.shape, 2 + places), -torch.inf, dtype=DOUBLE)
    weights = torch.zeros(*BATCH.target.shape, width, dtype=DOUBLE)
    for row in range(len(BATCH)):
        points = list(BATCH.points[row][BATCH.point_mask[row]].double())
        tokens = BATCH.target_input[row][BATCH.target_mask[row]].tolist()
        for t, (scores, attention) in enumerate(decode(model, points, tokens)):
            logits[row, t] = F.pad(torch.stack(scores), (2, places - len(scores)), value=-torch.inf)
            if attention:
                weights[row, t] = F.pad(torch.stack(attention), (0, width - len(attention)))
    sides = [output.logits.log_softmax(-1)], [BATCH.target_packing.pack(logits).log_softmax(-1)]
    assert_equal(*sides)
    found, expected = ([side[0].where(side[0].isfinite(), 0.0)] for side in sides)
    if output.attention:
        assert_equal(output.attention, {"source": weights})
        found, expected = [*found, output.attention["source"]], [*expected, weights]
    random = [torch.randn_like(part) for part in expected]
    losses = [sum((part * by).sum() for part, by in zip(side, random, strict=True)) for side in (found, expected)]
    assert_same_gradients(model, *losses)


def expected_length(model, points):
    """The critic's value of one set."""
    states, h, c = run(model.encoder, [model.embedding(point) for point in points])
    for _ in range(model.process_steps):
        refs = [model.glimpse.key_projection.weight @ r for r in states]
        g = mean(softmax([additive(model.glimpse, h, r) for r in states]), refs) if refs else ZERO
        h, c = lstm(model.process, g, h, c, "")
    first, _, second = model.prediction
    return second.weight[0] @ (first.weight @ h + first.bias).clamp(min=0) + second.bias[0]


@pytest.mark.parametrize("process_steps", [0, 1, 3])
def test_the_critic_equals_its_equations_and_reads_no_padding_and_no_target(process_steps):
    critic = built(Critic, process_steps=process_steps)
    found = critic(BATCH)
    sets = [list(points[mask].double()) for points, mask in zip(BATCH.points, BATCH.point_mask, strict=True)]
    expected = torch.stack([expected_length(critic, points) for points in sets])
    assert_equal(found, expected)
    random = torch.randn_like(expected)
    assert_same_gradients(critic, (found * random).sum(), (expected * random).sum())
    for other in (POINTS.padded(BATCH), POINTS.scribbled(BATCH), POINTS.without_targets(BATCH)):
        assert_equal(critic(other), expected)


def test_a_pointer_net_equals_torchs_layers():
    """torch.nn.LSTM, unpacked, and the score of all pairs at once, on sets of one size."""
    model, batch = built(PointerNet), POINTS.with_target(POINTS.part(BATCH, [2]), [5, 9, 4, 3, 2])
    layers = {}
    for name, ours in (("encoder", model.encoder), ("decoder", model.decoder)):
        layers[name] = nn.LSTM(4, 5, batch_first=True).double()
        layers[name].load_state_dict(ours.state_dict())
    points = model.reader.embedding(batch.points.double())
    e, state = layers["encoder"](points)
    fed = torch.cat([model.reader.begin[None, None], points[:, batch.target[0, :-1] - FIRST]], 1)
    d, _ = layers["decoder"](fed, state)
    e = torch.cat([model.end.expand(1, 1, -1), e], 1)
    u = (model.score.query_projection(d)[:, :, None] + model.score.key_projection(e)[:, None]).tanh() @ model.score.v
    assert_equal(model(batch).logits[:, 2:], u[0])


def test_a_distribution_reads_as_its_mean_point():
    model, batch = built(PointerNet), POINTS.without_targets(POINTS.part(BATCH, [0]))
    state = model.start(batch)
    likely = torch.zeros(1, 1, 3 + batch.points.shape[1], dtype=DOUBLE)
    likely[0, 0, FIRST], likely[0, 0, FIRST + 2] = 0.25, 0.75
    moved = batch.points.clone()
    moved[0, 0] = 0.25 * batch.points[0, 0] + 0.75 * batch.points[0, 2]
    alone = replace(state, memory={**state.memory, "tokens": model.reader.table(moved)})
    assert_equal(model.step(likely, state).log_probs, model.step(torch.tensor([[FIRST]]), alone).log_probs)


def test_a_distribution_over_the_batchs_own_tokens_reads_as_one_over_all():
    model, batch = built(PositionLSTM), POINTS.without_targets(POINTS.batch(3, empty=False))
    state = model.start(batch)
    narrow = torch.rand(len(batch), 1, 10, dtype=DOUBLE)
    wide = F.pad(narrow, (0, 3))
    assert torch.equal(model.step(narrow, state).log_probs, model.step(wide, state).log_probs)


def test_units_of_read_process_write_begin_to_act_inside_the_unit_square():
    """Each unit of the first layer is 0 on a line through the square."""
    torch.manual_seed(0)
    corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    values = ReadProcessWrite(SPEC, hidden_dim=64).reader[0](corners)
    assert (values.amin(0) < 0).all() and (values.amax(0) > 0).all()


@pytest.mark.parametrize("cls", [PositionLSTM, PositionAttention])
def test_a_set_that_is_too_large_is_named(cls):
    model = built(cls)
    points, mask = torch.rand(2, 11, 2), torch.ones(2, 11, dtype=torch.bool)
    with pytest.raises(DataError, match=r"11 points.*first 10 positions.*model=pointer_net"):
        model.start(PointBatch(points, mask))
    mask[:, 10:] = False
    assert model.start(PointBatch(points, mask)).memory["mask"].shape == (2, 12)  # padding is not a point
