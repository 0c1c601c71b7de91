"""Facts about sounds that a network needs to be built."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class SoundSpec(Spec):
    """Token 4 + i is tone i."""

    tones: int
    longest_target: int
    padding: int = 0
    begin: int = 2
    end: int = 3

    @property
    def tokens(self) -> int:
        return 4 + self.tones
