"""Teacher forcing: each target token is predicted from the true tokens before it."""

from __future__ import annotations

from zoo.arguments import Share
from zoo.errors import ConfigError
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec
from zoo.objectives.vocabulary import token_terms


class CrossEntropy:
    """sum -log p(y_t | y_<t, x) over the real target tokens, the end counted, divided by their number.

    `label_smoothing` (at least 0, less than 1) is the share of probability that the true token gives to the others: see
    `zoo.objectives.vocabulary`. The negative log-likelihood without smoothing is reported too, since perplexity is
    computed from it.
    """

    def __init__(self, *, label_smoothing: Share = 0.0) -> None:
        self.label_smoothing = smoothing_share(label_smoothing)

    def __call__(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        output = network(batch, need_weights=need_weights)
        terms = token_terms(output, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {})


def smoothing_share(label_smoothing: float) -> float:
    """Return `label_smoothing`. Raises ConfigError unless it is at least 0 and less than 1."""
    if not 0 <= label_smoothing < 1:
        raise ConfigError(f"label_smoothing={label_smoothing}: expected a share from 0 up to 1, without 1")
    return label_smoothing
