"""What sequences of bits are: the facts that a network for them is built from."""

from __future__ import annotations

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class BitSpec(Spec):
    """Sequences that are read step by step, and bits that are written at some of the steps."""

    limits = ("groups",)

    in_width: int
    """Channels that are read at each step: bits, delimiters, and numbers such as a count or a priority."""
    out_width: int
    """Bits that are written at a step."""
    groups: tuple[str, ...]
    """What the parts of the test are called, such as the lengths of what is copied."""
