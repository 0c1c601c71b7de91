"""Tasks 15 and 16: deduction from the kind of an animal, and induction from others of its kind."""

from __future__ import annotations

from zoo.data.stories.samples.story_writer import StoryWriter

PLURALS = {"cat": "cats", "mouse": "mice", "sheep": "sheep", "wolf": "wolves"}
FEARFUL = ("Emily", "Gertrude", "Jessica", "Winona")

ANIMALS = ("frog", "lion", "rhino", "swan")
COLOURS = ("gray", "green", "white", "yellow")
COLOURED = ("Bernhard", "Brian", "Greg", "Julius", "Lily")


def basic_deduction(writer: StoryWriter) -> None:
    """Task 15: each kind is afraid of another one.

    Kinds are drawn one at a time. For a new kind the story states its fear, for a known one a member of the kind.
    """
    fears: dict[str, tuple[str, int]] = {}
    kinds: dict[str, tuple[str, int]] = {}
    while len(fears) + len(kinds) < len(PLURALS) + len(FEARFUL):
        kind, name = writer.pick(tuple(PLURALS)), writer.pick(FEARFUL)
        if kind not in fears:
            feared = writer.pick([other for other in PLURALS if other != kind])
            fears[kind] = feared, writer.say(f"{PLURALS[kind].capitalize()} are afraid of {PLURALS[feared]}.")
        elif name not in kinds:
            kinds[name] = kind, writer.say(f"{name} is a {kind}.")
    for _ in range(4):
        name = writer.pick(FEARFUL)
        kind, line = kinds[name]
        writer.ask(f"What is {name.lower()} afraid of?", fears[kind][0], (line, fears[kind][1]))


def basic_induction(writer: StoryWriter) -> None:
    """Task 16: the kinds of all animals and the colours of all but one; the kind is stated before the colour.

    Like the official stories, these can be inconsistent: each new member may change the colour of its kind. The animal
    of the question has one, three or four others of its kind. The answer is the colour of the last introduced one.
    """
    while not _induced(writer):
        writer.lines.clear()


def _induced(writer: StoryWriter) -> bool:
    """Write such a story. Returns whether its question has an answer."""
    colour: dict[str, str] = {}
    kinds: dict[str, tuple[str, int]] = {}
    colours: dict[str, tuple[str, int]] = {}
    while len(kinds) + len(colours) < 2 * len(COLOURED) - 1:
        name = writer.pick(COLOURED)
        if name not in kinds:
            kind = writer.pick(ANIMALS)
            kinds[name] = kind, writer.say(f"{name} is a {kind}.")
            colour[kind] = writer.pick(COLOURS)
        elif name not in colours:
            shown = colour[kinds[name][0]]
            colours[name] = shown, writer.say(f"{name} is {shown}.")
    name = next(name for name in COLOURED if name not in colours or name not in kinds)
    if name not in kinds:
        return False
    kind, line = kinds[name]
    peers = [other for other, (own, _) in kinds.items() if own == kind and other != name]
    if len(peers) in (0, 2):
        return False
    last = peers[-1]  # introduced last: a dict keeps the order
    writer.ask(f"What color is {name}?", colours[last][0], (line, kinds[last][1], colours[last][1]))
    return True
