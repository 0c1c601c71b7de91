"""Types for the numbers in a constructor. Their bounds hold for a configuration and, in a class derived from
`zoo.values.Checked`, for a call from Python too. Choices are written as `Literal["mean", "max"]`."""

from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AfterValidator


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError(f"a kernel needs a centre; use an odd number, such as {value + 1}")
    return value


Count = Annotated[int, Ge(1)]  # A number that must be at least 1: a width, a number of layers
Odd = Annotated[int, Ge(1), AfterValidator(_odd)]  # The width of a kernel with a centre
Natural = Annotated[int, Ge(0)]  # A number that may be 0: steps of a warm-up, context on one side
Share = Annotated[float, Ge(0), Lt(1)]  # A share below 1: dropout, smoothing
Probability = Annotated[float, Ge(0), Le(1)]  # A probability, including 0 and 1
Positive = Annotated[float, Gt(0)]  # A scale that must not be 0: a temperature, a rate
NonNegative = Annotated[float, Ge(0)]  # A weight that may be 0
