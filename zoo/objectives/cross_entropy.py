"""Teacher forcing: every target token predicted from the true ones before it."""

from __future__ import annotations

from zoo.arguments import Share
from zoo.errors import ConfigError
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec
from zoo.objectives.vocabulary import token_terms


class CrossEntropy:
    """sum -log p(y_t | y_<t, x) over the real target tokens, the end counted, divided by their number.

    `label_smoothing` (0 up to 1, without 1) is the share of the mass taken from the true token: see
    `zoo.objectives.vocabulary`. The plain negative log-likelihood stands beside it, for perplexity is made from that
    alone.
    """

    def __init__(self, *, label_smoothing: Share = 0.0) -> None:
        self.label_smoothing = smoothing_share(label_smoothing)

    def __call__(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        output = network(batch, need_weights=need_weights)
        terms = token_terms(output.logits, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {})


def smoothing_share(label_smoothing: float) -> float:
    """`label_smoothing`; raises ConfigError where it is no share."""
    if not 0 <= label_smoothing < 1:
        raise ConfigError(f"label_smoothing={label_smoothing}: expected a share from 0 up to 1, without 1")
    return label_smoothing
