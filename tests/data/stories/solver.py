"""A solver for bAbI's text: it answers questions from the sentences and the rules of the small world.

It was written from the official files and shares nothing with the generators that it checks. `answer` takes the
statements before a question, or only those that support its answer.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from zoo.data.stories.story import Story

WENT = r"(?:went back|went|moved|journeyed|travelled) to the (\w+)"
GOT = r"(?:got|took|grabbed|picked up) the (\w+)"
LEFT = r"(?:dropped|left|discarded|put down) the (\w+)"
THEN = r"(?:After that|Afterwards|Following that|Then)"
GAVE = r"(?:gave|handed|passed) the (\w+) to (\w+)"


class Asked(NamedTuple):
    """A question with the statements before it."""

    statements: tuple[tuple[int, str], ...]
    """Numbers and texts of the statements before it, questions left out."""
    text: str
    answer: str
    supporting: tuple[int, ...]
    story: int

    def support(self) -> list[str]:
        """The supporting statements as the story has them, the oldest first."""
        return [text for number, text in self.statements if number in self.supporting]

    def texts(self) -> list[str]:
        return [text for _, text in self.statements]


def asked(stories: Iterable[Story]) -> list[Asked]:
    """The questions of some stories."""
    found: list[Asked] = []
    for number, story in enumerate(stories):
        statements: list[tuple[int, str]] = []
        for place, line in enumerate(story.lines, 1):
            if line.answer is None:
                statements.append((place, line.text))
            else:
                found.append(Asked(tuple(statements), line.text, line.answer, line.supporting, number))
    return found


def answer(task: int, statements: Sequence[str], question: str) -> str | None:
    """The answer that follows from the statements; None if none does."""
    return SOLVERS[task](statements, question)


def match(pattern: str, text: str) -> tuple[str, ...]:
    found = re.fullmatch(pattern, text)
    assert found, f"{text!r} is not of the form {pattern}"
    return found.groups()


class Rooms:
    """The rooms of people and things, by the statements."""

    def __init__(self, statements: Sequence[str]) -> None:
        self.route: dict[str, list[str]] = {}
        self.holder: dict[str, str | None] = {}
        self.lies: dict[str, str | None] = {}
        self.trail: dict[str, list[str]] = {}
        """Where each thing has been, one place after the other."""
        self.first_got: dict[str, list[str]] = {}
        self.gifts: list[dict[str, str]] = []
        subjects: list[str] = []
        for text in statements:
            named = re.match(rf"(?:{THEN} )?(he|she|they|\w+(?: and \w+)?) ", text)
            assert named, text
            if named[1] not in ("he", "she", "they"):
                subjects = named[1].split(" and ")
            said = text[named.end() :].removesuffix(".").removesuffix(" there")
            if found := re.fullmatch(WENT, said):
                for person in subjects:
                    self.goes(person, found[1])
            elif found := re.fullmatch(GOT, said):
                self.gets(subjects[0], found[1])
            elif found := re.fullmatch(GAVE, said):
                self.gifts.append({"giver": subjects[0], "thing": found[1], "taker": found[2]})
                self.holder[found[1]] = found[2]
            else:
                self.leaves(subjects[0], *match(LEFT, said))

    def place(self, person: str) -> str | None:
        return self.route[person][-1] if person in self.route else None

    def goes(self, person: str, place: str) -> None:
        self.route.setdefault(person, []).append(place)
        for thing, holder in self.holder.items():
            if holder == person:
                self.trail.setdefault(thing, []).append(place)

    def gets(self, person: str, thing: str) -> None:
        self.holder[thing] = person
        trail, here = self.trail.setdefault(thing, []), self.place(person)
        if here and trail[-1:] != [here]:
            trail.append(here)
        mine = self.first_got.setdefault(person, [])
        if thing not in mine:
            mine.append(thing)

    def leaves(self, person: str, thing: str) -> None:
        if self.holder.get(thing) != person:  # no statement reports how he got it: he had it from the beginning
            self.trail[thing] = list(self.route.get(person, []))
        self.holder[thing], self.lies[thing] = None, self.place(person)

    def how_many(self, person: str) -> str:
        return ("none", "one", "two", "three")[list(self.holder.values()).count(person)]

    def carried(self, person: str) -> str:
        """The things of a person, in the order in which he first got them."""
        return ",".join(one for one in self.first_got.get(person, []) if self.holder[one] == person) or "nothing"

    def place_of(self, thing: str) -> str | None:
        holder = self.holder.get(thing)
        return self.place(holder) if holder else self.lies.get(thing)

    def place_before(self, thing: str, place: str) -> str | None:
        before = [a for a, b in pairwise(self.trail.get(thing, [])) if b == place]
        return before[-1] if before else None

    def is_there(self, person: str, room: str) -> str | None:
        place = self.place(person)
        return place and ("yes" if place == room else "no")

    def gift(self, wanted: str, **known: str) -> str | None:
        """The `wanted` part (giver, thing or taker) of the last gift with all `known` parts."""
        fitting = [gift for gift in self.gifts if known.items() <= gift.items()]
        return fitting[-1][wanted] if fitting else None


IN_ROOMS: dict[str, Callable[..., str | None]] = {
    r"Where is (\w+)\?": Rooms.place,
    r"Where is the (\w+)\?": Rooms.place_of,
    r"Where was the (\w+) before the (\w+)\?": Rooms.place_before,
    r"Is (\w+) in the (\w+)\?": Rooms.is_there,
    r"How many objects is (\w+) carrying\?": Rooms.how_many,
    r"What is (\w+) carrying\?": Rooms.carried,
    r"What did (\w+) give to (\w+)\?": lambda rooms, a, b: rooms.gift("thing", giver=a, taker=b),
    r"Who gave the (\w+) to (\w+)\?": lambda rooms, thing, b: rooms.gift("giver", thing=thing, taker=b),
    r"Who gave the (\w+)\?": lambda rooms, thing: rooms.gift("giver", thing=thing),
    r"Who did (\w+) give the (\w+) to\?": lambda rooms, a, thing: rooms.gift("taker", giver=a, thing=thing),
    r"Who received the (\w+)\?": lambda rooms, thing: rooms.gift("taker", thing=thing),
}


def in_rooms(statements: Sequence[str], question: str) -> str | None:
    """Tasks 1 to 3, 5 to 8 and 11 to 13."""
    for form, reply in IN_ROOMS.items():
        if found := re.fullmatch(form, question):
            return reply(Rooms(statements), *found.groups())
    raise AssertionError(question)


def is_person_known_there(statements: Sequence[str], question: str) -> str | None:
    """Tasks 9 and 10: only the last statement about somebody counts."""
    person, place = match(r"Is (\w+) in the (\w+)\?", question)
    about = [text.removesuffix(".") for text in statements if text.startswith(f"{person} ")]
    if not about:
        return None
    if found := re.fullmatch(r"\w+ is (?:not|no longer) in the (\w+)", about[-1]):
        return "no" if found[1] == place else "maybe"
    if found := re.fullmatch(r"\w+ is either in the (\w+) or the (\w+)", about[-1]):
        options = set(found.groups())
        return "no" if place not in options else "maybe" if len(options) > 1 else "yes"
    found = re.fullmatch(rf"\w+ (?:{WENT}|is in the (\w+))", about[-1])
    assert found, about[-1]
    there = found[1] or found[2]
    return "yes" if there == place else "no"


def where_before(statements: Sequence[str], question: str) -> str | None:
    person, place = match(r"Where was (\w+) before the (\w+)\?", question)
    times = ("yesterday", "this morning", "this afternoon", "this evening")
    day: dict[int, str] = {}
    for text in statements:
        when = next(number for number, time in enumerate(times) if time in text.lower())
        said = re.sub(times[when], "", text.removesuffix("."), flags=re.IGNORECASE).strip()
        who, where = match(rf"(\w+) {WENT}", said)
        if who == person:
            day[when] = where
    visits = [day[when] for when in sorted(day)]
    before = [a for a, b in pairwise(visits) if b == place]
    return before[-1] if before else None


BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


def neighbours(statements: Sequence[str]) -> dict[str, dict[str, str]]:
    """By room, its neighbours and the direction in which each lies."""
    found: dict[str, dict[str, str]] = {}
    for text in statements:
        a, direction, b = match(r"The (\w+) is (north|south|east|west) of the (\w+)\.", text)
        found.setdefault(b, {})[a] = direction
        found.setdefault(a, {})[b] = BACK[direction]
    return found


def what_lies(statements: Sequence[str], question: str) -> str | None:
    if found := re.fullmatch(r"What is (\w+) of the (\w+)\?", question):
        direction, room = found.groups()
    else:
        room, direction = match(r"What is the (\w+) (\w+) of\?", question)
        direction = BACK[direction]
    there = [other for other, way in neighbours(statements).get(room, {}).items() if way == direction]
    return there[0] if len(there) == 1 else None


def path(statements: Sequence[str], question: str) -> str | None:
    start, goal = match(r"How do you go from the (\w+) to the (\w+)\?", question)
    near, ways = neighbours(statements), {start: ""}
    queue = deque([start])
    while queue:
        room = queue.popleft()
        for other, direction in near.get(room, {}).items():
            if other not in ways:
                ways[other] = f"{ways[room]},{direction[0]}".lstrip(",")
                queue.append(other)
    return ways.get(goal)


def position(statements: Sequence[str], question: str) -> str | None:
    how = {"above": (0, 1), "below": (0, -1), "to the right of": (1, 0), "to the left of": (-1, 0)}
    relation = r"(.+?) (above|below|to the right of|to the left of) the (.+)"
    facts = [match(rf"The {relation}\.", text.replace(" is ", " ")) for text in statements]
    a, asked, b = match(rf"Is the {relation}\?", question)
    spot = {a: (0, 0)}
    for _ in facts:
        for x, way, y in facts:
            dx, dy = how[way]
            if y in spot:
                spot.setdefault(x, (spot[y][0] + dx, spot[y][1] + dy))
            elif x in spot:
                spot.setdefault(y, (spot[x][0] - dx, spot[x][1] - dy))
    if b not in spot:
        return None
    dx, dy = how[asked]
    return "yes" if (spot[a][0] - spot[b][0]) * dx + (spot[a][1] - spot[b][1]) * dy > 0 else "no"


def size(statements: Sequence[str], question: str) -> str | None:
    larger: dict[str, set[str]] = {}
    for text in statements:
        if found := re.fullmatch(r"The (.+) fits inside the (.+)\.", text):
            a, b = found.groups()
        else:
            b, a = match(r"The (.+) is bigger than the (.+)\.", text)
        larger.setdefault(a, set()).add(b)
    if found := re.fullmatch(r"Does the (.+) fit in the (.+)\?", question):
        a, b = found.groups()
    else:
        b, a = match(r"Is the (.+) bigger than the (.+)\?", question)
    if reaches(larger, a, b) == reaches(larger, b, a):
        return None
    return "yes" if reaches(larger, a, b) else "no"


def reaches(links: dict[str, set[str]], start: str, goal: str) -> bool:
    return any(other == goal or reaches(links, other, goal) for other in links.get(start, ()))


def fear(statements: Sequence[str], question: str) -> str | None:
    (name,) = match(r"What is (\w+) afraid of\?", question)
    one = {"mice": "mouse", "wolves": "wolf", "cats": "cat", "sheep": "sheep"}
    kind = dict(match(r"(\w+) is an? (\w+)\.", text) for text in statements if " is a" in text)
    fears = dict(match(r"(\w+) are afraid of (\w+)\.", text.lower()) for text in statements if " are " in text)
    return one.get(fears.get(next((many for many in one if one[many] == kind.get(name.capitalize())), ""), ""))


def colour(statements: Sequence[str], question: str) -> str | None:
    """Where those of a kind differ, the one that was introduced last stands for it: the rule of the official files."""
    (name,) = match(r"What color is (\w+)\?", question)
    kinds = dict(match(r"(\w+) is a (\w+)\.", text) for text in statements if " is a " in text)
    colours = dict(match(r"(\w+) is (\w+)\.", text) for text in statements if " is a " not in text)
    peers = [other for other, kind in kinds.items() if other != name and kind == kinds.get(name)]
    return colours.get(peers[-1]) if peers else None


def motive(statements: Sequence[str], question: str) -> str | None:
    places = {"bored": "garden", "hungry": "kitchen", "thirsty": "kitchen", "tired": "bedroom"}
    things = {"bored": "football", "hungry": "apple", "thirsty": "milk", "tired": "pajamas"}
    felt = (re.fullmatch(r"(\w+) is (\w+)\.", text) for text in statements)
    mood = {found[1].lower(): found[2] for found in felt if found}
    if found := re.fullmatch(r"Where will (\w+) go\?", question):
        return places[mood[found[1]]]
    name, place, thing = match(r"Why did (\w+) (?:go to the (\w+)|get the (\w+))\?", question)
    fits = place == places[mood[name]] if place else thing == things[mood[name]]
    return mood[name] if fits else None


SOLVERS: dict[int, Callable[[Sequence[str], str], str | None]] = {
    **dict.fromkeys((1, 2, 3, 5, 6, 7, 8, 11, 12, 13), in_rooms),
    4: what_lies,
    9: is_person_known_there,
    10: is_person_known_there,
    14: where_before,
    15: fear,
    16: colour,
    17: position,
    18: size,
    19: path,
    20: motive,
}
