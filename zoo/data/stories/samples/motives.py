"""Task 20: the motives of people."""

from __future__ import annotations

from zoo.data.stories.samples.story_writer import StoryWriter
from zoo.data.stories.samples.words import GET, GO

MOVED = ("Antoine", "Jason", "Sumit", "Yann")
MOODS = {
    "bored": ("garden", "football"),
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "tired": ("bedroom", "pajamas"),
}
"""Mood -> the place where it sends people, and the thing that they get there."""


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
