"""A dialogue as text: its turns, and what is known about its replies."""

from typing import NamedTuple


class Fact(NamedTuple):
    """A word of a reply that repeats a word of an earlier turn. Words are numbered as blanks separate them."""

    turn: int  # The number of the reply's turn
    word: int
    evidence: int  # The number of the turn with the evidence
    evidence_word: int
    counted: bool = True  # Whether it is scored as a fact; a new name is only scored as a copied word

    @property
    def distance(self) -> int:
        """The number of turns between the evidence and the reply: 0 if the reply follows directly."""
        return self.turn - self.evidence - 1


class Dialogue(NamedTuple):
    """The turns of a dialogue in order."""

    turns: tuple[str, ...]
    speakers: tuple[str, ...] = ()  # The speaker of each turn; empty where that is not known
    facts: tuple[Fact, ...] | None = None  # None where they are not known
    place: str = ""  # File and line, for messages
