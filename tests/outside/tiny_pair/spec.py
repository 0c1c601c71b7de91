"""The facts that networks need about points."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class RingSpec(Spec):
    """Points in the plane."""

    noise: int
    """Numbers that a generator gets for each point."""
