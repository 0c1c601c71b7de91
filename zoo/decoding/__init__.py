"""Ways of decoding over one protocol: greedy, sampling and beam search, and the replacement of unknown words."""

from zoo.decoding.beam import BeamSearch
from zoo.decoding.greedy import Greedy
from zoo.decoding.hypothesis import Hypothesis
from zoo.decoding.progress import reporting
from zoo.decoding.protocol import Decoding, Examples, Generating, Specials
from zoo.decoding.rollout import Rollout
from zoo.decoding.sampling import Sampling
from zoo.decoding.unknown import replace_unknown

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
