"""The memory network as a language model, against its equations as loops over positions, memories and hops."""

import pytest
import torch

from tests.contract import by_steps
from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    assert_constant_cost,
    assert_deviation,
    assert_same_gradients,
    mean,
    softmax,
    stacked,
)
from zoo.data.language.batch import LanguageSpec
from zoo.models import MemN2NLanguageModel
from zoo.models.memn2n_lm import band, block

STREAMS = family_of("language_modeling")
LENGTHS = (17, 1, 6, 13)  # of up to six memories, in blocks of as many tokens: a window of one, two and three blocks


def build(seed=0, spec=STREAMS.spec, **settings):
    torch.manual_seed(seed)
    model = MemN2NLanguageModel(spec, **{"embedding_dim": 5, "hops": 3, "memory_size": 6} | settings).to(DOUBLE).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)  # as small as they start, all words would score the same
    return model


def literal(model, read):
    """The scores (T, V) of a text and its weights (T, T) at each hop."""
    d, most = model.hop.shape[0], model.memory_size
    scores, weights = [], [[] for _ in range(model.hops)]
    for t in range(len(read)):
        first = max(0, t - most + 1)
        places = [most - 1 - (t - j) for j in range(first, t + 1)]  # the newest word is the last place
        pairs = list(zip(read[first : t + 1], places, strict=True))
        m = [model.matched.weight[word] + model.matched_time[place] for word, place in pairs]
        c = [model.returned.weight[word] + model.returned_time[place] for word, place in pairs]
        u = torch.full((d,), 0.1, dtype=DOUBLE)
        for hop in weights:
            p = softmax([u @ one for one in m])
            hop.append(torch.stack([*[torch.zeros((), dtype=DOUBLE)] * first, *p, *[0 * p[0]] * (len(read) - t - 1)]))
            u = model.hop @ u + mean(p, c)
            u = torch.stack([x if i < d // 2 else x.clamp(min=0) for i, x in enumerate(u)])
        scores.append(model.vocabulary.weight @ u)
    return torch.stack(scores), [torch.stack(hop) for hop in weights]


def texts(batch):
    return [row[mask].tolist() for row, mask in zip(batch.target_input, batch.target_mask, strict=True)]


@pytest.mark.parametrize("settings", [{}, {"memory_size": 40, "embedding_dim": 4}, {"memory_size": 2, "hops": 1}])
def test_equals_the_equations_written_as_loops(settings):
    model, batch = build(**settings), STREAMS.of_sizes(LENGTHS, 1)
    rows = [literal(model, text) for text in texts(batch)]
    output = model(batch)
    for k in range(model.hops):
        expected, attended = stacked(batch, [(scores, weights[k]) for scores, weights in rows])
        torch.testing.assert_close(output.attention[f"hop.{k}"], attended, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(output.logits, expected, rtol=1e-10, atol=1e-10)
    random = torch.randn_like(expected)
    assert_same_gradients(model, (output.logits * random).sum(), (expected * random).sum())
    log_probs, _ = by_steps(model, batch, STREAMS.without_targets(batch))
    torch.testing.assert_close(batch.forced.packing.pack(log_probs), expected.log_softmax(-1), rtol=1e-10, atol=1e-10)


def test_a_window_attends_to_the_words_of_the_windows_before():
    """Columns of its attention: five carried words, or places without a word at first, then its own words."""
    model, batch = build(), STREAMS.of_sizes((9, 9), 1)
    carried, at = None, 0
    for length in (2, 1, 6):
        whole = model(batch).attention["hop.1"][:, at : at + length]
        _, rest = STREAMS.windows(batch, at)
        window, _ = STREAMS.windows(rest, length)
        output = model(window, carried)
        found = output.attention["hop.1"]
        assert found.shape[2] == length + (0 if carried is None else 5)
        for place in range(1, found.shape[2] + 1):  # from the newest
            column = at + length - place
            expected = whole[:, :, column] if column >= 0 else torch.zeros_like(whole[:, :, 0])
            torch.testing.assert_close(found[:, :, -place], expected, rtol=1e-12, atol=1e-12)
        carried, at = output.carried, at + length
    assert (carried["words"] == batch.target_input[:, 4:9]).all()


def test_words_of_the_window_before_get_a_gradient():
    """They are carried as ids and embedded anew: the last word of a text trains the words 5 before it."""
    model, batch = build(), STREAMS.of_sizes((3,), 1)
    first, second = STREAMS.windows(batch, 2)
    model(second, model(first).carried).logits.logsumexp(1).sum().backward()
    known = {0, *batch.target_input[0].tolist()}
    assert set(model.returned.weight.grad.any(1).nonzero().flatten().tolist()) == known


def test_a_step_costs_the_same_at_every_position():
    assert_constant_cost(build(), 10, 1000)


@pytest.mark.parametrize(("queries", "width"), [(1, 1), (1, 4), (3, 1), (2, 3), (4, 4)])
def test_a_band_of_a_block(queries, width):
    scores = torch.arange(2 * queries * (queries + width - 1)).view(2, queries, queries + width - 1)
    expected = torch.stack([scores[:, q, q : q + width] for q in range(queries)], 1)
    assert torch.equal(band(scores), expected)
    spread = block(expected)
    assert torch.equal(band(spread), expected) and spread.sum() == expected.sum() and spread.shape == scores.shape


def test_every_weight_starts_with_the_authors_deviation():
    torch.manual_seed(0)
    model = MemN2NLanguageModel(LanguageSpec(vocabulary_size=300))
    assert_deviation([weight.detach() for weight in model.parameters()], 0.05)
