"""Facts about sequences of bits that a network needs."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class BitSpec(Spec):
    """Sequences that are read step by step, with outputs at some of the steps."""

    limits = ("groups",)

    in_width: int
    """Input channels of each step: bits, delimiters, and numbers such as a count or a priority."""
    out_width: int
    """Output bits of a step."""
    groups: tuple[str, ...]
    """Names of the parts of the test, such as `length20`."""
