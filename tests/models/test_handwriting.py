"""The networks of Graves 2013 that write by hand: sizes, equations, limits of derivatives, noise, the mixture."""

import copy
from dataclasses import replace
from math import exp, log, pi
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from tests.families import family_of
from zoo.attention.soft_window import SoftWindow
from zoo.data.strokes.batch import StrokeBatch, StrokeSpec
from zoo.layers.mixture import LOWEST, Mixture
from zoo.layers.peephole import PeepholeLSTM
from zoo.layers.weight_noise import AdaptiveWeightNoise
from zoo.models.handwriting import HandwritingSynthesis
from zoo.models.handwriting_prediction import HandwritingPrediction

BOTH = pytest.mark.parametrize("cls", [HandwritingPrediction, HandwritingSynthesis])
PAPER = StrokeSpec(vocabulary_size=58, lines=1)  # 57 symbols and padding


def small(cls: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return cls(family_of("handwriting").spec, hidden_dim=8, num_layers=2, mixtures=3, **options).double()


def lines() -> StrokeBatch:
    found: StrokeBatch = family_of("handwriting").batch(1).cast(torch.float64)
    return found


@pytest.mark.parametrize(
    ("cls", "sizes", "count"),
    [
        (HandwritingPrediction, {"hidden_dim": 900, "num_layers": 1}, 3_366_121),
        (HandwritingPrediction, {}, 3_368_121),
        (HandwritingSynthesis, {}, 3_653_751),
    ],
)
def test_the_parameters_of_the_paper(cls: Any, sizes: dict[str, int], count: int) -> None:
    network = cls(PAPER, **sizes)
    assert network.outputs.out_features == 121
    assert sum(parameter.numel() for parameter in network.parameters()) == count


def test_a_text_is_required() -> None:
    with pytest.raises(ValueError, match="model=handwriting_prediction"):
        HandwritingSynthesis(StrokeSpec(vocabulary_size=0, lines=1))


def test_a_cell_with_peepholes_by_hand() -> None:
    """One unit whose weights are all 1, from h = 0.5 and c = 2: each sum is x + h + p c + b."""
    cell = PeepholeLSTM(1, 1).double()
    for weight in cell.parameters():
        torch.nn.init.ones_(weight)
    x, h, c = torch.tensor([[0.25]]).double(), torch.tensor([[0.5]]).double(), torch.tensor([[2.0]]).double()
    sigmoid = lambda a: 1 / (1 + exp(-a))  # noqa: E731
    tanh = lambda a: 2 * sigmoid(2 * a) - 1  # noqa: E731
    expected_c = sigmoid(3.75) * 2 + sigmoid(3.75) * tanh(1.75)
    expected_h = sigmoid(1.75 + expected_c) * tanh(expected_c)
    found_h, found_c = cell.step(x, (h, c))
    assert found_c.item() == pytest.approx(expected_c, abs=1e-14)
    assert found_h.item() == pytest.approx(expected_h, abs=1e-14)


def test_the_window_by_hand() -> None:
    """One Gaussian with alpha = 2, beta = 0.5, that moves by 1 from kappa = 0.5."""
    window = SoftWindow(1, windows=1, pace=1.0).double()
    torch.nn.init.zeros_(window.projection.weight)
    window.projection.bias.data = torch.tensor([log(2), log(0.5), 0.0]).double()
    phi, kappa = window(torch.zeros(1, 1).double(), torch.tensor([[0.5]]).double(), 3)
    assert kappa.item() == 1.5
    expected = [2 * exp(-0.5 * (1.5 - u) ** 2) for u in (1, 2, 3)]
    torch.testing.assert_close(phi[0], torch.tensor(expected).double())


def by_steps(network: Any, batch: StrokeBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (B, T, 1 + 6M), phi (B, T, U + 1) and kappa (B, T, K) of each step, with the limits of `forward`."""
    pen, symbols, found = network.begin(batch), network.symbols(batch), []
    for x in batch.inputs.unbind(1):
        pen = network.move(x, pen, symbols, 1 / len(batch))
        found.append((network.density([h for h, _ in pen.cells], 1 / len(batch)), pen.phi, pen.kappa))
    outputs, phi, kappa = (torch.stack(parts, 1) for parts in zip(*found, strict=True))
    return outputs, phi, kappa


@pytest.mark.parametrize("limit", [None, 0.02])
@BOTH
def test_the_loop_equals_its_steps(cls: Any, limit: float | None) -> None:
    """In values and gradients, those by the weights of the window too, with and without limits of derivatives."""
    batch, network = lines(), small(cls, lstm_limit=limit, output_limit=limit)
    real, weights = batch.point_mask[..., None], torch.randn(3, generator=torch.Generator().manual_seed(1)).double()

    def loss(outputs: Tensor, window: Tensor | None) -> Tensor:
        looked = 0.0 if window is None else weights[1] * window.square().sum()
        return weights[0] * (outputs * real).sin().sum() + looked

    output = network(batch)
    window = output.attention.get("window")
    outputs, phi, _ = by_steps(network, batch)
    torch.testing.assert_close((outputs * real), output.logits, rtol=1e-12, atol=1e-12)
    if window is not None:
        phi = phi[..., :-1] * batch.text_mask[:, None] * real
        torch.testing.assert_close(phi, window, rtol=1e-12, atol=1e-12)
    parameters = list(network.parameters())
    found = torch.autograd.grad(loss(output.logits, window), parameters)
    expected = torch.autograd.grad(loss(outputs, None if window is None else phi), parameters)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_limits_change_large_derivatives_alone() -> None:
    batch = lines()

    def gradients(scale: float, **limits: float | None) -> list[Tensor]:
        network = small(HandwritingPrediction, **limits)
        return list(torch.autograd.grad((network(batch).logits * scale).sum(), list(network.parameters())))

    free = {"output_limit": None, "lstm_limit": None}
    for one, other in zip(gradients(1e-3), gradients(1e-3, **free), strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(gradients(1e3)[0], gradients(1e3, **free)[0])
    bias = gradients(1e9, lstm_limit=None)[1]  # of the outputs: 100 / B at each of N points
    torch.testing.assert_close(bias, torch.full_like(bias, 100 / len(batch) * int(batch.point_mask.sum())))


@BOTH
def test_large_matrices_of_other_kernels_give_the_same(cls: Any) -> None:
    """In float32 a layer of 300 units is multiplied by oneDNN where that is faster, and in float64 never."""
    torch.manual_seed(0)
    exact = cls(family_of("handwriting").spec, hidden_dim=300, num_layers=2, mixtures=3).double()
    single = copy.deepcopy(exact).float()
    found = []
    for network, batch in ((exact, lines()), (single, family_of("handwriting").batch(1))):
        output = network.train()(batch)
        found.append([output.logits, *torch.autograd.grad(output.logits.square().sum(), list(network.parameters()))])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(other.double(), one, rtol=1e-3, atol=1e-4)


def test_the_window_moves_on_and_padding_of_the_text_changes_nothing() -> None:
    batch, network = lines(), small(HandwritingSynthesis)
    _, phi, kappa = by_steps(network, batch)
    assert (kappa[:, 1:] > kappa[:, :-1]).all() and (kappa[:, 0] > 0).all()
    wider = replace(
        batch,
        text=torch.nn.functional.pad(batch.text, (0, 3), value=5),
        text_mask=torch.nn.functional.pad(batch.text_mask, (0, 3)),
    )
    outputs, more, _ = by_steps(network, wider)
    torch.testing.assert_close(outputs, by_steps(network, batch)[0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(more[..., : phi.shape[2]], phi, rtol=1e-12, atol=1e-12)


def test_the_first_window_moves_at_the_pace_of_the_strokes() -> None:
    torch.manual_seed(0)
    window = SoftWindow(400, pace=25.0)
    _, kappa = window(torch.zeros(1, 400), torch.zeros(1, 10), 3)
    assert kappa.mean().item() == pytest.approx(1 / 25, rel=0.1)


# The mixture


def outputs_of(components: int, *shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, 1 + 6 * components, generator=torch.Generator().manual_seed(seed)).double()


def test_the_density_is_that_of_torch() -> None:
    outputs, generator = outputs_of(4, 5), torch.Generator().manual_seed(1)
    point = torch.cat([torch.randn(5, 2, generator=generator), torch.tensor([[0.0], [1], [1], [0], [1]])], 1).double()
    mixture = Mixture.of(outputs)
    sd, rho = mixture.log_sd.exp(), mixture.atanh_rho.tanh()
    covariance = torch.diag_embed(sd**2)
    covariance[..., 0, 1] = covariance[..., 1, 0] = rho * sd.prod(-1)
    normal = MultivariateNormal(mixture.mean, covariance).log_prob(point[:, None, :2])
    ended = torch.distributions.Bernoulli(logits=mixture.end).log_prob(point[:, 2])
    torch.testing.assert_close(mixture.log_prob(point), (mixture.log_weight + normal).logsumexp(-1) + ended)


def test_the_density_is_finite_at_the_edge() -> None:
    """At a correlation of tanh(8), for points without movement, and for distant ones, in float32."""
    outputs = torch.zeros(3, 7)
    outputs[:, 6] = torch.tensor([8.0, 50.0, -50.0])
    outputs[:, 4:6] = -100.0
    outputs.requires_grad_()
    for offset in (0.0, 1e3):
        found = Mixture.of(outputs).log_prob(torch.tensor([offset, -offset, 0.0]))
        (gradient,) = torch.autograd.grad(found.sum(), outputs)
        assert found.isfinite().all() and gradient.isfinite().all()
    at_zero = Mixture.of(outputs.detach().double()).log_prob(torch.zeros(3).double())[0].item()
    half_log_rest = log(2) - 8 - log(1 + exp(-16))  # ln(1 - rho^2) / 2
    assert at_zero == pytest.approx(-log(2 * pi) - 2 * LOWEST - half_log_rest - log(2), abs=1e-9)


def test_a_bias_gives_smaller_deviations_and_the_likelier_component() -> None:
    outputs = outputs_of(3, 1)
    plain, biased = Mixture.of(outputs), Mixture.of(outputs, 1.0)
    torch.testing.assert_close(biased.log_sd, plain.log_sd - 1)
    torch.testing.assert_close(biased.log_weight, (2 * plain.log_weight).log_softmax(-1))
    assert torch.equal(biased.end, plain.end)


def test_drawn_points_have_the_moments_of_the_mixture() -> None:
    outputs, count = outputs_of(3), 200_000
    generator = torch.Generator().manual_seed(2)
    uniform = torch.rand(count, 2, generator=generator, dtype=torch.double)
    normal = torch.randn(count, 2, generator=generator, dtype=torch.double)
    mixture = Mixture.of(outputs.expand(count, -1))
    points = mixture.draw(uniform, normal)
    torch.testing.assert_close(points[:, :2].mean(0), mixture.expected()[0], rtol=0, atol=0.02)
    assert points[:, 2].mean().item() == pytest.approx(mixture.end[0].sigmoid().item(), abs=0.01)
    nats = -mixture.log_prob(points)
    assert nats.isfinite().all()
    one = Mixture.of(outputs_of(1).expand(count, -1))
    covariance = one.draw(uniform, normal)[:, :2].T.cov()
    sd = one.log_sd[0, 0].exp()
    assert covariance[0, 1].item() == pytest.approx((one.atanh_rho[0, 0].tanh() * sd.prod()).item(), abs=0.02)


# Noise of the weights


def test_the_divergence_is_the_sum_over_the_weights() -> None:
    """With the prior that fits best, compared with torch's divergence of normal distributions."""
    layer = torch.nn.Linear(3, 2).double()
    noise = AdaptiveWeightNoise(layer, 0.075, examples=10).double()
    for log_sd in noise.log_deviations:
        torch.nn.init.normal_(log_sd)
    means = dict(layer.named_parameters())
    mu = torch.cat([mean.flatten() for mean in means.values()])
    sigma = torch.cat([log_sd.flatten() for log_sd in noise.log_deviations]).exp()

    def divergence(m: Tensor, s: Tensor) -> Tensor:
        normal = torch.distributions.Normal
        return torch.distributions.kl_divergence(normal(mu, sigma), normal(m, s)).sum() / 10

    m = mu.mean()
    s = (sigma**2 + (mu - m) ** 2).mean().sqrt()
    found = noise.divergence(means)
    torch.testing.assert_close(found, divergence(m, s))
    assert all(divergence(m + a, s * b) > found for a, b in ((0.1, 1.0), (-0.1, 1.0), (0.0, 1.1), (0.0, 0.9)))


@BOTH
def test_noise_acts_in_training_alone_and_its_deviations_learn(cls: Any) -> None:
    batch, network = lines(), small(cls, weight_noise=0.075)
    network.train()
    torch.manual_seed(1)
    first, second = network(batch), network(batch)
    assert not torch.equal(first.logits, second.logits) and set(first.losses) == {"weights"}
    loss = first.logits.sum() + first.losses["weights"]
    gradients = torch.autograd.grad(loss, list(network.parameters()))
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)
    network.eval()
    quiet = network(batch)
    assert torch.equal(quiet.logits, network(batch).logits) and not quiet.losses
    assert torch.equal(quiet.logits, small(cls)(batch).logits)
