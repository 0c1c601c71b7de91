"""The pointer-generator against its equations, written as loops over words, and the properties of copying."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families.copying import MOST
from tests.families.summarization import FAMILY
from zoo.data.copying.batch import CopyBatch
from zoo.decoding import BeamSearch
from zoo.models.pointer_generator import PointerGenerator
from zoo.objectives import CrossEntropy

SPEC = FAMILY.spec
V = SPEC.vocabulary_size


def network(**options: object) -> PointerGenerator:
    torch.manual_seed(0)
    found = PointerGenerator(SPEC, embedding_dim=6, hidden_dim=5, attention_dim=7, **options).double()
    if found.cover is not None:
        torch.nn.init.normal_(found.cover)
    return found


def one_step(lstm: torch.nn.Module, x: Tensor, s: Tensor, c: Tensor, side: str = "") -> tuple[Tensor, Tensor]:
    w, u, b, d = (getattr(lstm, f"{name}_l0{side}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    i, f, g, o = (w @ x + u @ s + b + d).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def run(lstm: torch.nn.Module, x: Tensor, side: str) -> tuple[list[Tensor], Tensor, Tensor]:
    s, c, found = torch.zeros(lstm.hidden_size).double(), torch.zeros(lstm.hidden_size).double(), []
    for x_t in x:
        s, c = one_step(lstm, x_t, s, c, side)
        found.append(s)
    return found, s, c


def written_out(net: PointerGenerator, batch: CopyBatch, row: int) -> tuple[list[Tensor], list[Tensor], list[float]]:
    """P over the extended vocabulary, the attention and p_gen at each target position of one source, word by word."""
    words = batch.extended[row][batch.source_mask[row]].tolist()
    targets = batch.copied[row][batch.target_mask[row]].tolist()
    e = net.embedding.weight

    def known(word: int) -> int:
        return word if word < V else SPEC.unknown

    n = net.decoder.hidden_size
    x = e[[known(word) for word in words]]
    (ahead, s_ahead, c_ahead), (back, s_back, c_back) = run(net.encoder, x, ""), run(net.encoder, x.flip(0), "_reverse")
    h = [torch.cat(pair) for pair in zip(ahead, back[::-1], strict=True)]
    s = torch.relu(net.first_hidden(torch.cat([s_ahead, s_back])))
    c = torch.relu(net.first_cell(torch.cat([c_ahead, c_back])))
    m, covered = torch.zeros(2 * n).double(), torch.zeros(len(words)).double()
    found, attention, switches = [], [], []
    for before in [SPEC.begin, *targets[:-1]]:
        x_t = net.input(torch.cat([e[known(before)], m]))
        s, c = one_step(net.decoder, x_t, s, c)
        scores = []
        for i in range(len(words)):
            inside = net.keys.weight @ h[i] + net.query.weight @ torch.cat([c, s]) + net.keys.bias
            if net.cover is not None:
                inside = inside + net.cover * covered[i]
            scores.append(net.v @ inside.tanh())
        a = torch.stack(scores).softmax(0)
        m = sum(a[i] * h[i] for i in range(len(words)))
        covered = covered + a
        vocabulary = net.vocabulary(net.output(torch.cat([s, m]))).softmax(0)
        p_gen = net.switch(torch.cat([m, c, s, x_t])).sigmoid()[0]
        columns = list(p_gen * vocabulary) + [torch.zeros(()).double()] * MOST
        for i, word in enumerate(words):
            columns[word] = columns[word] + (1 - p_gen) * a[i]
        found.append(torch.stack(columns))
        attention.append(a)
        switches.append(p_gen.item())
    return found, attention, switches


@pytest.mark.parametrize("coverage", [False, True])
def test_the_equations_with_their_gradients(coverage):
    net, batch = network(coverage=coverage), FAMILY.batch(1, empty=False)
    output = net(batch)
    surprisals = net(batch, need_scores=False).surprisal
    packing = batch.forced.packing
    log_p, weights = FAMILY.scores(output, batch).exp(), output.attention["source"]
    losses = []
    for row in range(len(batch)):
        expected, attention, switches = written_out(net, batch, row)
        length = len(expected)
        torch.testing.assert_close(log_p[row, :length], torch.stack(expected), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(weights[row, :length, : len(attention[0])], torch.stack(attention))
        assert output.gates["generate"][row, :length].tolist() == pytest.approx(switches)
        truth = batch.copied[row, :length].tolist()
        losses += [-one[word].log() for one, word in zip(expected, truth, strict=True)]
        torch.testing.assert_close(packing.unpack(surprisals)[row, :length], torch.stack(losses[-length:]))
    parameters = dict(net.named_parameters())
    written = torch.autograd.grad(torch.stack(losses).sum(), list(parameters.values()))
    found = torch.autograd.grad(surprisals.sum(), list(parameters.values()))
    for name, one, other in zip(parameters, found, written, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11, msg=lambda text, name=name: f"{name}: {text}")


def sources(*rows: list[int], targets: list[int]) -> CopyBatch:
    extended = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(row)).bool() for row in rows], True)
    copied = torch.tensor([[*targets, SPEC.end]] * len(rows))
    known = [ids.masked_fill(ids >= V, SPEC.unknown) for ids in (extended, copied)]
    target_mask = torch.ones_like(copied, dtype=torch.bool)
    return CopyBatch(
        source=known[0], source_mask=mask, extended=extended, target=known[1], copied=copied, target_mask=target_mask
    )


def test_a_word_that_occurs_twice_gets_both_weights_and_a_word_of_another_source_none():
    net = network().eval()
    batch = sources([V, 5, V, V + 1], [7, V], targets=[V, V + 1])
    output = net(batch)
    p = batch.forced.packing.unpack(output.logits.exp())
    a, g = output.attention["source"], output.gates["generate"]
    assert p.shape[-1] == V + 2
    torch.testing.assert_close(p.sum(-1), torch.ones(2, 3).double())
    torch.testing.assert_close(p[0, :, V], (1 - g[0]) * (a[0, :, 0] + a[0, :, 2]))
    torch.testing.assert_close(p[0, :, V + 1], (1 - g[0]) * a[0, :, 3])
    torch.testing.assert_close(p[1, :, V], (1 - g[1]) * a[1, :, 1])
    assert (p[1, :, V + 1] == 0).all(), "the second source has no such word"
    assert net.start(batch).possible[1].tolist() == [True] * (V + 1) + [False]


def test_the_order_of_a_batch_changes_no_probability():
    net = network(coverage=True).eval()
    rows = [[V, 5, V, V + 1], [7, V], [V, V + 1, V + 2, 9, 4]]
    log_probs = [
        FAMILY.scores(net(one), one) for one in (sources(*order, targets=[V, 5]) for order in (rows, rows[::-1]))
    ]
    torch.testing.assert_close(log_probs[0], log_probs[1].flip(0))


def test_a_probability_of_zero_gives_no_nan():
    """The truth is a word of the source that gets no weight at all, while nothing is generated."""
    net = network().float()
    with torch.no_grad():
        net.v.fill_(1e5)
        net.switch.bias.fill_(-1e9)
    for truth in (V, V + 1, 6):
        batch = sources([V, V + 1, 5], targets=[truth])
        surprisal = net(batch, need_scores=False).surprisal
        surprisal.sum().backward()
        assert surprisal.isfinite().all()
        assert all(part.grad.isfinite().all() for part in net.parameters() if part.grad is not None)
    assert surprisal.max() > 80


def test_the_surprisals_are_those_of_the_scores():
    net, batch = network(coverage=True).eval(), FAMILY.batch(3)
    output = net(batch)
    assert net(batch, need_scores=False).logits.shape == (len(output.logits), 0)
    expected = F.cross_entropy(output.logits, output.truth, reduction="none")
    torch.testing.assert_close(net(batch, need_scores=False).surprisal, expected)
    loss = CrossEntropy()(net, batch, spec=SPEC, step=0, need_weights=False)
    torch.testing.assert_close(loss.terms[0].total, expected.sum())


def test_the_copied_share_of_a_true_word():
    net = network().eval()
    batch = sources([V, 5, V], targets=[V, 5, 6])
    output = net(batch)
    p = batch.forced.packing.unpack(output.logits.exp())
    a, g, share = output.attention["source"][0], output.gates["generate"][0], output.gates["copied"][0]
    assert share[0].item() == pytest.approx(1.0)  # the vocabulary does not have it
    assert share[1].item() == pytest.approx(((1 - g[1]) * a[1, 1] / p[0, 1, 5]).item())
    assert share[2].item() == pytest.approx(0.0, abs=1e-12)


def test_without_copying_unknown_words_are_the_unknown_word():
    net, batch = network(copy=False).eval(), FAMILY.batch(1)
    output = net(batch)
    assert output.logits.shape[1] == V
    assert output.truth is None
    assert not net.surprises
    assert not hasattr(net.switch, "weight")


def test_a_checkpoint_without_coverage_starts_the_same_function_with_it():
    one, other = network().eval(), PointerGenerator(SPEC, embedding_dim=6, hidden_dim=5, attention_dim=7, coverage=True)
    missing = other.double().eval().load_state_dict(one.state_dict(), strict=False)
    assert missing.missing_keys == ["cover"]
    torch.testing.assert_close(one(FAMILY.batch(1)).logits, other(FAMILY.batch(1)).logits)


def test_a_beam_writes_unknown_words_and_feeds_them_as_unknown():
    """With a closed gate every word is copied, so that a source of one unknown word can only be repeated."""
    net = network().eval()
    with torch.no_grad():
        net.switch.bias.fill_(-1e9)
    batch = sources([V], [V, V], targets=[5])
    for best, *_ in BeamSearch(beam_size=2, max_length=(0.0, 4.0))(net, batch, SPEC):
        assert best.ids[:3] == (V,) * 3
    state = net.start(batch)
    first = net.step(torch.full((2, 1), SPEC.begin), state).state
    copies, unknown = (net.step(torch.full((2, 1), word), first).log_probs for word in (V, SPEC.unknown))
    torch.testing.assert_close(copies, unknown)


def test_the_size_of_the_paper():
    """21,499,600 parameters, 1,153 more for the switch and 512 for coverage (section 5). The paper's LSTMs have one
    bias, torch's have two."""
    spec = type(SPEC)(vocabulary_size=50_000, longest_source=400, longest_target=100)
    with torch.device("meta"):
        whole, plain = PointerGenerator(spec, coverage=True), PointerGenerator(spec, copy=False)
    sizes = [sum(part.numel() for part in net.parameters()) for net in (whole, plain)]
    second_biases = 3 * 4 * 256
    assert sizes[1] - second_biases == 21_499_600
    assert sizes[0] - sizes[1] == 1153 + 512
