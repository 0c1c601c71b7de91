"""What the numbers in a constructor may be, as types that a configuration can be checked against.

Choices are `Literal["mean", "max"]`. The bounds are notes on the types: nothing is checked by calling a constructor.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

Count = Annotated[int, Ge(1)]
"""How many of something that has to be there: a width, a number of layers."""

Natural = Annotated[int, Ge(0)]
"""How many of something that may be missing: steps of a warm-up, context on one side."""

Share = Annotated[float, Ge(0), Lt(1)]
"""A part that never is the whole: dropout, smoothing."""

Probability = Annotated[float, Ge(0), Le(1)]
"""A chance, the certain and the impossible among them."""

Positive = Annotated[float, Gt(0)]
"""A scale that divides or would be useless at 0: a temperature, a rate."""

NonNegative = Annotated[float, Ge(0)]
"""A weight that may be switched off."""
