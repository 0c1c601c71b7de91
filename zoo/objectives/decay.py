"""The schedules of scheduled sampling: how often the decoder still reads the true token.

Samy Bengio, Oriol Vinyals, Navdeep Jaitly, Noam Shazeer. NIPS 2015. https://arxiv.org/abs/1506.03099 (section 2.4)
"""

import math
from collections.abc import Callable
from typing import Literal

from zoo.errors import ConfigError, one_of

Decay = Callable[[int], float]
"""Optimiser steps taken -> the share of true tokens, 0 to 1."""


def _inverse_sigmoid(step: int, k: float, slope: float) -> float:
    """k / (k + exp(i / k)): about k log k steps to a half."""
    exponent = step / k - math.log(k)  # the share is 1 / (1 + e^exponent), and e^710 overflows
    return math.exp(-exponent) / (1 + math.exp(-exponent)) if exponent > 0 else 1 / (1 + math.exp(exponent))


DecayName = Literal["linear", "exponential", "inverse_sigmoid", "constant"]
DECAYS: dict[DecayName, tuple[Callable[..., float], str, Callable[[float, float], bool]]] = {
    "linear": (lambda i, k, slope: k - slope * i, "k > 0 and slope > 0", lambda k, slope: k > 0 and slope > 0),
    "exponential": (lambda i, k, _: k**i, "0 < k < 1 and slope = 0", lambda k, slope: 0 < k < 1 and slope == 0),
    "inverse_sigmoid": (_inverse_sigmoid, "k >= 1 and slope = 0", lambda k, slope: k >= 1 and slope == 0),
    "constant": (lambda i, k, _: k, "0 <= k <= 1 and slope = 0", lambda k, slope: 0 <= k <= 1 and slope == 0),
}
"""The share at step i before it is bounded, and the constants that the schedule allows, in words and as a check. With k
above 1 the first (k - 1) / slope steps of a linear schedule are all true tokens."""


def decay(name: DecayName, *, k: float, slope: float = 0.0, floor: float = 0.0) -> Decay:
    """The schedule `name` with the paper's constants: k, c (`slope`) and the least share epsilon (`floor`).

    k has another meaning in each schedule. Raises ConfigError for an unknown name, and for constants that a schedule
    cannot have.
    """
    one_of("decay", name, DECAYS)
    function, expected, fits = DECAYS[name]
    if not (fits(k, slope) and 0 <= floor <= 1):
        raise ConfigError(
            f"decay={name} needs {expected}, and a floor from 0 to 1; got k={k}, slope={slope}, floor={floor}"
        )
    return lambda step: min(1.0, max(floor, function(step, k, slope)))
