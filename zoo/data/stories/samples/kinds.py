"""Tasks 15 and 16: what follows for one from its kind, and for one from others of its kind."""

from __future__ import annotations

from zoo.data.stories.samples.telling import Telling

PLURALS = {"cat": "cats", "mouse": "mice", "sheep": "sheep", "wolf": "wolves"}
FEARFUL = ("Emily", "Gertrude", "Jessica", "Winona")

ANIMALS = ("frog", "lion", "rhino", "swan")
COLOURS = ("gray", "green", "white", "yellow")
COLOURED = ("Bernhard", "Brian", "Greg", "Julius", "Lily")


def basic_deduction(telling: Telling) -> None:
    """Task 15: each kind is afraid of another one. A kind is drawn at a time: what it is afraid of is told when it is
    new, and somebody of it when not."""
    fears: dict[str, tuple[str, int]] = {}
    kinds: dict[str, tuple[str, int]] = {}
    while len(fears) + len(kinds) < len(PLURALS) + len(FEARFUL):
        kind, name = telling.pick(tuple(PLURALS)), telling.pick(FEARFUL)
        if kind not in fears:
            feared = telling.pick([other for other in PLURALS if other != kind])
            fears[kind] = feared, telling.say(f"{PLURALS[kind].capitalize()} are afraid of {PLURALS[feared]}.")
        elif name not in kinds:
            kinds[name] = kind, telling.say(f"{name} is a {kind}.")
    for _ in range(4):
        name = telling.pick(FEARFUL)
        kind, line = kinds[name]
        telling.ask(f"What is {name.lower()} afraid of?", fears[kind][0], (line, fears[kind][1]))


def basic_induction(telling: Telling) -> None:
    """Task 16: everybody's kind, everybody's colour but one. Whoever is drawn has first the kind told, then the colour.

    The official stories are not all of one mind, and these are as they are: a kind has another colour from each of its
    members on that is introduced, and who is asked about has one, three or four others of the kind. The answer is the
    colour of that one of them who was introduced last.
    """
    while not _induced(telling):
        telling.lines.clear()


def _induced(telling: Telling) -> bool:
    """Tells such a story. Returns whether there is somebody to conclude from."""
    colour: dict[str, str] = {}
    kinds: dict[str, tuple[str, int]] = {}
    colours: dict[str, tuple[str, int]] = {}
    while len(kinds) + len(colours) < 2 * len(COLOURED) - 1:
        name = telling.pick(COLOURED)
        if name not in kinds:
            kind = telling.pick(ANIMALS)
            kinds[name] = kind, telling.say(f"{name} is a {kind}.")
            colour[kind] = telling.pick(COLOURS)
        elif name not in colours:
            shown = colour[kinds[name][0]]
            colours[name] = shown, telling.say(f"{name} is {shown}.")
    name = next(name for name in COLOURED if name not in colours or name not in kinds)
    if name not in kinds:
        return False
    kind, line = kinds[name]
    peers = [other for other, (own, _) in kinds.items() if own == kind and other != name]
    if len(peers) in (0, 2):
        return False
    last = peers[-1]  # introduced last: a dict keeps the order
    telling.ask(f"What color is {name}?", colours[last][0], (line, kinds[last][1], colours[last][1]))
    return True
