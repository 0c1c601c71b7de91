"""Decoding methods with one interface: greedy, sampling and beam search, and the replacement of unknown words."""

from zoo.decoding.beam import BeamSearch
from zoo.decoding.hypothesis import Hypothesis, replace_unknown
from zoo.decoding.protocol import Examples, Generating, Specials, reporting
from zoo.decoding.rollout import Greedy, Rollout, Sampling
from zoo.decoding.rules import Decoding

__all__ = [
    "BeamSearch",
    "Decoding",
    "Examples",
    "Generating",
    "Greedy",
    "Hypothesis",
    "Rollout",
    "Sampling",
    "Specials",
    "replace_unknown",
    "reporting",
]
