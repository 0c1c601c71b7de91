"""Adaptive weight noise: a normal distribution for each weight, whose mean and deviation are both learned.

Graves 2011, "Practical Variational Inference for Neural Networks" (NIPS), sections 3 and 4, as a minimum description
length: the loss of drawn weights, plus the cost of sending the weights.

The posterior of weight i is N(mu_i, sigma_i^2), the prior of all W weights N(m, s^2). For given posteriors the prior
with the smallest divergence has m = mean of mu_i and s^2 = mean of sigma_i^2 + (mu_i - m)^2. With it the divergence
KL(posterior || prior), the sum of ln(s / sigma_i) + (sigma_i^2 + (mu_i - m)^2) / (2 s^2) - 1/2, becomes
W ln s - sum of ln sigma_i. Its gradients by mu_i and sigma_i are those with m and s held constant, since both are at
their optimum. The loss is a mean over examples, so that the divergence is divided by the number of training examples.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn


class AdaptiveWeightNoise(nn.Module):
    """The deviations of the weights of a network, which are its own parameters: the means."""

    def __init__(self, network: nn.Module, deviation: float, examples: int) -> None:
        """All weights begin with the same `deviation`. `examples` is the number of training examples."""
        super().__init__()
        self.examples = examples
        self.names = [name for name, _ in network.named_parameters()]
        logs = [torch.full_like(mean, deviation).log_() for mean in network.parameters()]
        self.log_deviations = nn.ParameterList(logs)

    def draw(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights from their distributions, by name."""
        pairs = zip(self.names, self.log_deviations, strict=True)
        return {name: means[name] + log.exp() * torch.randn_like(log) for name, log in pairs}

    def divergence(self, means: Mapping[str, Tensor]) -> Tensor:
        """() the divergence of the posterior from the fitted prior, per training example."""
        mu = torch.cat([means[name].flatten() for name in self.names])
        log_sigma = torch.cat([log.flatten() for log in self.log_deviations])
        variance = (2 * log_sigma).exp().mean() + mu.var(correction=0)
        return (mu.numel() * variance.log() / 2 - log_sigma.sum()) / self.examples
