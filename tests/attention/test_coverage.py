"""Coverage against the equations as slow loops, torch's GRU cell, and what may not happen: using the step's own
weights, changing a state in place, mixing hypotheses."""

import math

import pytest
import torch
from torch import nn

from zoo.attention import (
    AdditiveScore,
    Attention,
    Coverage,
    CoverageAttention,
    FertilityCoverage,
    NeuralCoverage,
    SumCoverage,
)

DOUBLE = torch.float64
MASK = torch.tensor([[True] * 5, [True, True, False, False, False], [False] * 5])
KINDS = ("sum", "fertility", "neural")


def built(kind, seed=0):
    torch.manual_seed(seed)
    coverage = {"sum": SumCoverage, "fertility": lambda: FertilityCoverage(4), "neural": lambda: NeuralCoverage(3, 4)}
    return CoverageAttention(3, 4, 6, coverage[kind]()).double()


def inputs(steps=4, hypotheses=2):
    torch.manual_seed(1)
    return torch.randn(steps, 3, hypotheses, 3, dtype=DOUBLE), torch.randn(3, 5, 4, dtype=DOUBLE)


def run(attention, queries, keys, mask=MASK):
    """Contexts, weights and coverages of all steps."""
    memory = attention.prepare(keys, mask)
    coverage = attention.start(memory, queries.shape[2])
    rows = []
    for query in queries:
        context, weights, coverage = attention(query, memory, coverage)
        rows.append((context, weights, coverage))
    return [torch.stack(parts) for parts in zip(*rows, strict=True)]


def slow_grow(attention, coverage, alpha, h, s):
    """The coverage of one position after a step, from lists."""
    kind = attention.coverage
    if isinstance(kind, SumCoverage):
        return coverage + alpha
    if isinstance(kind, FertilityCoverage):
        return coverage + alpha / (2 * torch.sigmoid(kind.fertility.weight[0] @ h))
    return kind.gru(torch.cat([alpha.view(1), h, s])[None], coverage[None])[0]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_equations_position_by_position(kind):
    attention = built(kind)
    queries, keys = inputs()
    contexts, weights, coverages = run(attention, queries, keys)
    w_a, u_a = attention.query_projection.weight, attention.key_projection.weight
    v_c, v = attention.coverage_projection.weight, attention.v
    for b in range(3):
        real = MASK[b].nonzero().squeeze(1).tolist()
        for k in range(2):
            coverage = [torch.zeros(attention.coverage.width, dtype=DOUBLE) for _ in range(5)]
            for i, s in enumerate(queries[:, b, k]):
                e = {j: (v @ torch.tanh(w_a @ s + u_a @ keys[b, j] + v_c @ coverage[j])).item() for j in real}
                total = sum(math.exp(x) for x in e.values())
                alpha = [math.exp(e[j]) / total if j in e else 0.0 for j in range(5)]
                assert weights[i, b, k].tolist() == pytest.approx(alpha)
                context = sum(a * h for a, h in zip(alpha, keys[b], strict=True))
                torch.testing.assert_close(contexts[i, b, k], context)
                grow = [torch.tensor(a, dtype=DOUBLE) for a in alpha]
                coverage = [slow_grow(attention, coverage[j], grow[j], keys[b, j], s) for j in range(5)]
                torch.testing.assert_close(coverages[i, b, k], torch.stack(coverage))


def test_the_sum_of_the_weights_by_hand():
    coverage = SumCoverage()(torch.zeros(1, 1, 3, 1), torch.tensor([[[0.2, 0.5, 0.3]]]), torch.zeros(1, 1, 2), None)
    coverage = SumCoverage()(coverage, torch.tensor([[[0.6, 0.4, 0.0]]]), torch.zeros(1, 1, 2), None)
    torch.testing.assert_close(coverage.flatten(), torch.tensor([0.8, 0.9, 0.3]))


def test_fertility_by_hand():
    module = FertilityCoverage(1, most=4.0)
    module.fertility.weight.data.fill_(math.log(3))
    sources = module.prepare(torch.tensor([[[0.0], [1.0]]]))  # 4 sigmoid(0) = 2, 4 sigmoid(ln 3) = 3
    torch.testing.assert_close(sources, torch.tensor([[[2.0], [3.0]]]))
    grown = module(torch.zeros(1, 1, 2, 1), torch.tensor([[[0.4, 0.6]]]), torch.zeros(1, 1, 2), sources)
    torch.testing.assert_close(grown.flatten(), torch.tensor([0.2, 0.2]))


def test_neural_coverage_is_torch_gru_cell():
    module = NeuralCoverage(3, 4, width=7).double()
    coverage, weights = torch.randn(2, 3, 5, 7, dtype=DOUBLE), torch.rand(2, 3, 5, dtype=DOUBLE)
    query, keys = torch.randn(2, 3, 3, dtype=DOUBLE), torch.randn(2, 5, 4, dtype=DOUBLE)
    x = [weights[..., None], keys[:, None].expand(2, 3, 5, 4), query[:, :, None].expand(2, 3, 5, 3)]
    expected = module.gru(torch.cat(x, -1).view(-1, 8), coverage.view(-1, 7)).view_as(coverage)
    result = module(coverage, weights, query, module.prepare(keys))
    torch.testing.assert_close(result, expected)
    upstream = torch.randn_like(result)
    ours, theirs = (torch.autograd.grad(x, list(module.parameters()), upstream) for x in (result, expected))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_step_is_plain_additive_attention(kind):
    attention = built(kind)
    plain = Attention(AdditiveScore(3, 4, 6)).double()
    plain.score.query_projection.load_state_dict(attention.query_projection.state_dict())
    plain.score.key_projection.load_state_dict(attention.key_projection.state_dict())
    plain.score.v.data = attention.v.data
    queries, keys = inputs()
    contexts, weights, _ = run(attention, queries, keys)
    torch.testing.assert_close((contexts[0], weights[0]), plain(queries[0], plain.prepare(keys, MASK)))
    assert not torch.allclose(weights[1], plain(queries[1], plain.prepare(keys, MASK))[1])


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_passed_on_and_left_alone(kind):
    attention = built(kind)
    queries, keys = inputs()
    memory = attention.prepare(keys, MASK)
    coverage = attention.start(memory, 2)
    before = [part.clone() for part in (*memory, coverage)]
    first = attention(queries[0], memory, coverage)
    again = attention(queries[0], memory, coverage)  # nothing was kept
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    torch.testing.assert_close([*memory, coverage], before, rtol=0, atol=0)
    assert not torch.equal(first[2], coverage)


@pytest.mark.parametrize("kind", KINDS)
def test_hypotheses_do_not_mix_and_may_be_reordered(kind):
    attention = built(kind)
    queries, keys = inputs(steps=3)
    memory = attention.prepare(keys, MASK)
    _, _, coverage = attention(queries[0], memory, attention.start(memory, 2))
    swapped = attention(queries[1].flip(1), memory, coverage.flip(1))
    straight = attention(queries[1], memory, coverage)
    torch.testing.assert_close([part.flip(1) for part in swapped], list(straight))
    for k in range(2):
        alone = attention(queries[1][:, k : k + 1], memory, coverage[:, k : k + 1])
        torch.testing.assert_close([part[:, 0] for part in alone], [part[:, k] for part in straight])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_by_finite_differences_over_three_steps(kind):
    attention = built(kind)
    queries, keys = inputs(steps=3, hypotheses=1)
    names, values = zip(*attention.named_parameters(), strict=True)

    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = attention

        def forward(self, queries, keys):
            return tuple(run(self.inner, queries, keys))

    def function(queries, keys, *parameters):
        state = {f"inner.{name}": value for name, value in zip(names, parameters, strict=True)}
        return torch.func.functional_call(Steps(), state, (queries, keys))

    arguments = [x.detach().requires_grad_() for x in (queries, keys, *values)]
    assert torch.autograd.gradcheck(function, arguments, fast_mode=True)
    gradients = torch.autograd.grad(sum(x.square().sum() for x in function(*arguments)[:2]), arguments)
    assert all((g != 0).any() for g in gradients)  # the coverage's own parameters among them


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_empty_sentence_gives_zeros_and_zero_gradient(kind, dtype):
    attention = built(kind).to(dtype)
    queries, keys = (x.to(dtype).requires_grad_() for x in inputs())
    contexts, weights, _ = run(attention, queries, keys)
    assert (contexts[:, 2] == 0).all() and (weights[:, 2] == 0).all() and contexts.dtype == dtype
    (weights * torch.arange(5) + contexts.sum(-1, keepdim=True)).sum().backward()
    assert (queries.grad[:, 2] == 0).all() and (keys.grad[2] == 0).all() and (keys.grad[~MASK] == 0).all()
    for tensor in (queries, keys, *attention.parameters()):
        assert tensor.grad.isfinite().all() and (tensor.grad != 0).any()


def test_a_coverage_must_say_how_it_grows():
    class Still(Coverage):
        def prepare(self, keys):
            return keys

    for kind, missing in ((Coverage, "prepare"), (Still, "forward")):
        with pytest.raises(TypeError, match=rf"abstract.*{missing}"):
            kind()


def test_late_steps_count_in_half_precision():
    """Four hundred steps that look at three words alike: bfloat16 would stop adding a third at 64."""
    attention = CoverageAttention(3, 4, 6, SumCoverage()).bfloat16()
    keys = torch.zeros(1, 3, 4, dtype=torch.bfloat16)
    memory = attention.prepare(keys, torch.ones(1, 3, dtype=torch.bool))
    coverage = attention.start(memory)
    for _ in range(400):
        _, weights, coverage = attention(torch.zeros(1, 1, 3, dtype=torch.bfloat16), memory, coverage)
        assert weights.dtype == torch.bfloat16
    torch.testing.assert_close(coverage, torch.full((1, 1, 3, 1), 400 / 3), rtol=5e-3, atol=0)
