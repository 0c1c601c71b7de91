"""Facts about sets of points that a network needs."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class PointSpec(Spec):
    """Sets of points and sequences of pointers into them.

    A token is padding, begin, end, or a pointer: `first` + j points at the j-th point of its set, j from 0 in the order
    in which the points are read.
    """

    limits = ("longest", "longest_target", "groups", "solved")

    width: int
    """Coordinates of a point."""
    longest: int
    """Points of the largest set that the data has; what a fixed vocabulary of positions is made of."""
    longest_target: int
    """Tokens of the longest target, its end included."""
    goal: str
    """The goal: hull, triangulation, tour or order; see `zoo.data.points.goals`."""
    groups: tuple[str, ...]
    """Names of the parts of the test, such as the numbers of points."""
    solved: bool = True
    """Whether the sets of training have their targets."""
    padding: int = 0
    begin: int = 1
    """First input of a decoder; it is never predicted."""
    end: int = 2
    """The last token of every target."""
    first: int = 3
    """The pointer at the first point."""
