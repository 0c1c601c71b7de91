"""The words and sentence patterns of the generated reviews (`reviews.py`), read from phrases.toml."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Aspect(NamedTuple):
    """A subject of reviews, such as the food, and the adjectives that fit it."""

    topic: str
    things: list[str]
    good: list[str]
    bad: list[str]


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
GOOD, BAD = _WORDS["good"], _WORDS["bad"]
MAIN, MINOR, DECOY, FILLER = (_WORDS[kind] for kind in ("main", "minor", "decoy", "filler"))
ASPECTS = [Aspect(**aspect) for aspect in _WORDS["aspects"]]
STRENGTH = {
    (negated, intensity): _WORDS["strength"][f"{'negated' if negated else 'plain'}_{intensity}"]
    for negated in (False, True)
    for intensity in (1, 2)
}
"""(negated, intensity) -> words before the adjective."""
FREE = {
    **_WORDS["free"],
    **{
        slot: [a + b for a in begins.split() for b in ends.split() if a != b]
        for slot, (begins, ends) in _WORDS["joined"].items()
    },
    "number": list(map(str, range(101, 1000))),
    "time": [f"{hour}:{minute:02}" for hour in range(1, 13) for minute in range(0, 60, 5)],
}
"""The words of the other slots."""
