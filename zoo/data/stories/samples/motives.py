"""Task 20: why people go where they go."""

from __future__ import annotations

from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import GET, GO

MOVED = ("Antoine", "Jason", "Sumit", "Yann")
MOODS = {
    "bored": ("garden", "football"),
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "tired": ("bedroom", "pajamas"),
}
"""Where each mood sends people, and what they get there."""


def agents_motivations(telling: Telling) -> None:
    """Task 20: each in turn feels something, goes to the place for it and gets the thing for it; there is one of each
    thing, so the second one with a mood gets none."""
    mood: dict[str, str] = {}
    line: dict[str, int] = {}
    left = {name: ["get", "go", "feel"] for name in MOVED}
    gone: set[str] = set()
    while able := [n for n in MOVED if left[n] and not (left[n] == ["get"] and mood[n] in gone)]:
        name = telling.pick(able)
        step = left[name].pop()
        if step == "feel":
            mood[name] = telling.pick(tuple(MOODS))
            line[name] = telling.say(f"{name} is {mood[name]}.")
            telling.ask(f"Where will {name.lower()} go?", MOODS[mood[name]][0], (line[name],))
            continue
        place, thing = MOODS[mood[name]]
        if step == "go":
            telling.say(f"{name} {telling.pick(GO)} to the {place}.")
            text = f"Why did {name.lower()} go to the {place}?"
        else:
            gone.add(mood[name])
            telling.say(f"{name} {telling.pick(GET)} the {thing} there.")
            text = f"Why did {name.lower()} get the {thing}?"
        telling.ask(text, mood[name], (line[name],))
