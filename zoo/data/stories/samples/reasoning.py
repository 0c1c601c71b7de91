"""Tasks 15, 16, 18 and 20: deduction and induction from the kind of an animal, sizes of things, motives of people."""

from typing import NamedTuple

from zoo.data.stories.samples.story_writer import GET, GO, StoryWriter

PLURALS = {"cat": "cats", "mouse": "mice", "sheep": "sheep", "wolf": "wolves"}
FEARFUL = ("Emily", "Gertrude", "Jessica", "Winona")

ANIMALS = ("frog", "lion", "rhino", "swan")
COLOURS = ("gray", "green", "white", "yellow")
COLOURED = ("Bernhard", "Brian", "Greg", "Julius", "Lily")

SMALL = ("chocolate", "box of chocolates")  # The smallest thing and the next larger one
LARGE = ("box", "chest", "container", "suitcase")
"""Larger things; each story has another order of their sizes."""
BLOCK = 5
TRIES = 60  # Attempts to find a question before five more facts are added

MOVED = ("Antoine", "Jason", "Sumit", "Yann")
MOODS = {
    "bored": ("garden", "football"),
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "tired": ("bedroom", "pajamas"),
}
"""Mood -> the place where it sends people, and the thing that they get there."""


def basic_deduction(writer: StoryWriter) -> None:
    """Task 15: each kind is afraid of another one.

    Kinds are drawn one at a time. For a new kind the story states its fear, for a known one a member of the kind.
    """
    fears: dict[str, tuple[str, int]] = {}
    kinds: dict[str, tuple[str, int]] = {}
    while len(fears) + len(kinds) < len(PLURALS) + len(FEARFUL):
        kind, name = writer.pick(tuple(PLURALS)), writer.pick(FEARFUL)
        if kind not in fears:
            feared = writer.other(PLURALS, kind)
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


class Fact(NamedTuple):
    """The fact that one thing is smaller than another."""

    line: int
    smaller: str
    larger: str


def size_reasoning(writer: StoryWriter) -> None:
    """Task 18: five facts, then five questions that each need two of the facts.

    Without such a question, five more facts follow.
    """
    things = (*SMALL, *writer.some(LARGE, len(LARGE)))
    facts: list[Fact] = []
    asked = 0
    while asked < BLOCK:
        for _ in range(BLOCK):
            smaller, larger = (things[place] for place in sorted(writer.some(range(len(things)), 2)))
            if writer.pick((True, False)):
                line = writer.say(f"The {smaller} fits inside the {larger}.")
            else:
                line = writer.say(f"The {larger} is bigger than the {smaller}.")
            facts.append(Fact(line, smaller, larger))
        asked = 0
        while asked < BLOCK and _ask(writer, facts):
            asked += 1


def _ask(writer: StoryWriter, facts: list[Fact]) -> bool:
    """Ask a question that follows from a recent fact and another fact together. The two facts form a chain: the shared
    thing is the larger in one fact and the smaller in the other. Returns whether such a pair was found."""
    for _ in range(TRIES):
        fact = writer.recent(facts)[0]
        shared = writer.pick((fact.smaller, fact.larger))
        other = next((f for f in facts if f != fact and shared in (f.smaller, f.larger)), fact)
        if fact.smaller == other.larger == shared:
            yes, small, large = True, other.smaller, fact.larger
        elif fact.larger == other.smaller == shared:
            yes, small, large = False, fact.smaller, other.larger
        else:
            continue
        a, b = (small, large) if yes else (large, small)
        text = writer.pick((f"Does the {a} fit in the {b}?", f"Is the {b} bigger than the {a}?"))
        writer.ask(text, "yes" if yes else "no", (fact.line, other.line))
        return True
    return False


def agents_motivations(writer: StoryWriter) -> None:
    """Task 20: one person after another has a mood, goes to its place and gets its thing.

    There is one of each thing, so the second person with a mood gets none.
    """
    mood: dict[str, str] = {}
    line: dict[str, int] = {}
    left = {name: ["get", "go", "feel"] for name in MOVED}
    gone: set[str] = set()
    while able := [n for n in MOVED if left[n] and not (left[n] == ["get"] and mood[n] in gone)]:
        name = writer.pick(able)
        step = left[name].pop()
        if step == "feel":
            mood[name] = writer.pick(tuple(MOODS))
            line[name] = writer.say(f"{name} is {mood[name]}.")
            writer.ask(f"Where will {name.lower()} go?", MOODS[mood[name]][0], (line[name],))
            continue
        place, thing = MOODS[mood[name]]
        if step == "go":
            writer.say(f"{name} {writer.pick(GO)} to the {place}.")
            text = f"Why did {name.lower()} go to the {place}?"
        else:
            gone.add(mood[name])
            writer.say(f"{name} {writer.pick(GET)} the {thing} there.")
            text = f"Why did {name.lower()} get the {thing}?"
        writer.ask(text, mood[name], (line[name],))
