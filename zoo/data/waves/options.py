"""The keys of sounds as samples: how sounds are read, and which pieces of them training uses."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from zoo.arguments import Count, Natural
from zoo.data.options import Options

Channels = Literal["one", "mean"]
"""How several channels are read: `one` refuses such a sound, `mean` averages them."""


@dataclass(frozen=True)
class PieceOptions(Options):
    """The pieces of sounds in a training batch. Evaluation reads whole sounds."""

    group: ClassVar[str] = "piece"

    samples: Count = 2000
    """The most samples of a sound that a training example scores. In each epoch another piece of a sound is drawn."""
    context: Natural = 500
    """The samples before a piece that are read and not scored. With fewer than the network's field the first scores of
    a piece are worse than in a whole sound."""
