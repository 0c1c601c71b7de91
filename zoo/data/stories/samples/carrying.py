"""Tasks 2, 3 and 5 to 8: where things and people are, who gave what to whom, who carries how much."""

from __future__ import annotations

from collections.abc import Callable

from zoo.data.stories.samples.household import THERE, Event, Household
from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import HOUSEHOLD, OBJECTS, RECEIVERS, ROOMS, TRADERS

QUESTIONS = 5
NUMBERS = ("none", "one", "two", "three")


def two_supporting_facts(telling: Telling) -> None:
    """Task 2: where a thing is that somebody carries, or has dropped."""
    _tell(Household(telling, HOUSEHOLD), _where_is_thing)


def three_supporting_facts(telling: Telling) -> None:
    """Task 3: where a thing was before the room to which somebody carried it."""
    _tell(Household(telling, HOUSEHOLD, gets_there=THERE), _where_was_thing)


def three_arg_relations(telling: Telling) -> None:
    """Task 5: who gave what to whom."""
    _tell(Household(telling, TRADERS, giving=True), _who_gave)


def yes_no_questions(telling: Telling) -> None:
    """Task 6: whether somebody is in a room."""
    _tell(Household(telling, HOUSEHOLD), _is_person_there)


def counting(telling: Telling) -> None:
    """Task 7: how many things somebody carries."""
    _tell(Household(telling, RECEIVERS, giving=True), _how_many)


def lists_sets(telling: Telling) -> None:
    """Task 8: which things somebody carries."""
    _tell(Household(telling, HOUSEHOLD), _what_carried)


def _tell(house: Household, ask: Callable[[Household], bool]) -> None:
    """Two events, then a question where one can be asked; until there are five."""
    asked = 0
    while asked < QUESTIONS:
        house.happen()
        house.happen()
        asked += ask(house)


def _where_is_thing(house: Household) -> bool:
    for event in house.recent("get", "drop"):
        last = house.dealings(event.what)[-1]
        got = last.kind == "get"
        ways = house.ways(last.person, after=last.line) if got else house.ways(last.person, before=last.line)
        if ways:
            supporting = (last.line, ways[-1].line)
            house.telling.ask(f"Where is the {last.what}?", ways[-1].what, supporting)
            return True
    return False


def _where_was_thing(house: Household) -> bool:
    for event in house.recent("get", "drop"):
        dealings = house.dealings(event.what)
        last = dealings[-1]
        if last.kind == "get":
            ways = house.ways(last.person, after=last.line)
        else:
            ways = house.ways(last.person, after=dealings[-2].line, before=last.line)
        # Of a room that was visited twice, only what was before the second time can be meant.
        steps = [
            (before, there)
            for number, (before, there) in enumerate(zip(ways, ways[1:], strict=False), 2)
            if there.what not in {later.what for later in ways[number:]}
        ]
        if steps:
            before, there = house.telling.pick(steps)
            supporting = (last.line, there.line, before.line)
            house.telling.ask(f"Where was the {last.what} before the {there.what}?", before.what, supporting)
            return True
    return False


def _who_gave(house: Household) -> bool:
    for event in house.recent("give"):
        gifts = [gift for gift in house.dealings(event.what) if gift.kind == "give"]
        _ask_about(house, gifts[-1])
        return True
    return False


def _ask_about(house: Household, gift: Event) -> None:
    """One of five questions, half of those about people naming the other one too."""
    giver, thing, receiver = gift.person, gift.what, str(gift.to)
    between = [e for e in house.events if (e.person, e.kind, e.to) == (giver, "give", receiver)]
    roles = ["giver", "receiver"]
    if between[-1] == gift:  # a later one between the same two would be the answer
        roles.append("thing")
    role, long = house.telling.pick(roles), house.telling.pick((False, True))
    if role == "thing":
        text, answer = f"What did {giver} give to {receiver}?", thing
    elif role == "giver":
        text, answer = f"Who gave the {thing} to {receiver}?" if long else f"Who gave the {thing}?", giver
    else:
        text, answer = f"Who did {giver} give the {thing} to?" if long else f"Who received the {thing}?", receiver
    house.telling.ask(text, answer, (gift.line,))


def _is_person_there(house: Household) -> bool:
    for event in house.recent("go"):
        last = house.ways(event.person)[-1]
        true = house.telling.pick((True, False))
        room = last.what if true else house.telling.pick([room for room in ROOMS if room != last.what])
        house.telling.ask(f"Is {last.person} in the {room}?", "yes" if true else "no", (last.line,))
        return True
    return False


def _how_many(house: Household) -> bool:
    for event in house.recent("get", "drop", "give"):
        person = event.person
        lines = [e.line for e in house.events if e.kind != "go" and person in (e.person, e.to)]
        number = sum(house.holder[thing] == person for thing in OBJECTS)
        house.telling.ask(f"How many objects is {person} carrying?", NUMBERS[number], lines)
        return True
    return False


def _what_carried(house: Household) -> bool:
    for event in house.recent("get", "drop"):
        person = event.person
        dealings = [e for e in house.events if e.kind != "go" and e.person == person]
        things = list(dict.fromkeys(e.what for e in dealings))  # in the order in which they were first got
        carried = [thing for thing in things if house.holder[thing] == person]
        lines = [e.line for thing in things for e in dealings if e.what == thing]
        house.telling.ask(f"What is {person} carrying?", ",".join(carried) or "nothing", lines)
        return True
    return False
