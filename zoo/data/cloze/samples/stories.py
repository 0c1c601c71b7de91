"""The embedded sample of cloze questions: stories of twenty sentences about who did what with which thing, and one more
that tells one of these facts in other words, with a word taken out.

A fact is a name, a relation and a thing. Each thing (or, where a thing is asked for, each name) stands in two facts and
each relation in three or four, and no two facts share more than one of the three: the fact that is asked for follows
from both of the others together and from neither alone. Its sentence and the query never have the same form, while
another fact of the relation has the form of the query: most words of the query stand beside a wrong candidate. How
often a candidate is named says nothing, since the answer is drawn from the ten before anything else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from zoo.data.cloze.question import BLANK, ClozeQuestion

KINDS = ("NE", "CN")
FACTS, CANDIDATES, RELATIONS_IN_STORY = 20, 10, 6
ENTITIES = 60
"""Numbers of entities in anonymous stories are drawn from so many."""

NAMES = """
    Ada Agnes Amos Anton Boris Bruno Carla Cecil Clara Dora Edgar Edith Emil Felix Flora Frida George Greta Hector Hugo
    Ida Igor Ivan Judith Karl Leo Marta Max Nadia Nina Olga Oscar Otto Paula Rosa Rufus Selma Tobias Viktor Wanda
"""
THINGS = """
    anchor basket bell blanket book bottle bucket candle chair clock coat crown cup doll drum feather flag flute hammer
    harp helmet kettle key kite knife ladder lantern map mirror necklace pearl ring rope saddle shovel spoon sword
    trumpet umbrella violin
"""
RELATIONS = {
    "carry": """
        {name} carried the {thing}
        the {thing} was in the hands of {name}
        the {thing} lay on the back of {name}
    """,
    "own": """
        {name} owned the {thing}
        the {thing} belonged to {name}
        the {thing} was the property of {name}
    """,
    "find": """
        {name} found the {thing}
        the {thing} was discovered by {name}
        {name} came across the {thing}
    """,
    "lose": """
        {name} lost the {thing}
        the {thing} slipped from the pocket of {name}
        {name} could no longer find the {thing}
    """,
    "want": """
        {name} wanted the {thing}
        {name} longed for the {thing}
        the {thing} was the dearest wish of {name}
    """,
    "break": """
        {name} broke the {thing}
        {name} smashed the {thing}
        the {thing} was shattered by {name}
    """,
    "repair": """
        {name} repaired the {thing}
        the {thing} was mended by {name}
        {name} put the {thing} together again
    """,
    "sell": """
        {name} sold the {thing}
        {name} gave the {thing} away for money
        the {thing} was brought to market by {name}
    """,
    "steal": """
        {name} stole the {thing}
        {name} made off with the {thing}
        the thief of the {thing} was {name}
    """,
    "hide": """
        {name} hid the {thing}
        {name} put the {thing} out of sight
        the {thing} was buried by {name}
    """,
}
FORMS = {
    relation: tuple(tuple(line.split()) for line in lines.strip().splitlines()) for relation, lines in RELATIONS.items()
}
OPENINGS = tuple(
    tuple(line.split())
    for line in """
        that morning
        late in the day ,
        not long after ,
        as everyone remembers ,
        in those days
        one evening
        before the winter came ,
        to the surprise of all ,
    """.strip().splitlines()
)
OPENED = 0.25
"""Of the sentences begin with one of these."""


class Fact(NamedTuple):
    """What a sentence of a story tells."""

    name: str
    relation: str
    thing: str


def generate(count: int, *, seed: int, kind: str = "NE", anonymous: bool = False) -> Iterator[ClozeQuestion]:
    """`count` questions; question i depends on the other arguments and on i alone. Of `kind` NE a name is taken out, of
    CN a thing. In `anonymous` stories names are entities of which the numbers are drawn anew for each, the candidates
    stand in the order of the document, and nothing begins with a capital: as CNN and Daily Mail have it."""
    for number in range(count):
        yield _question(random.Random(f"story {kind} {anonymous} {seed} {number}"), kind, anonymous)


def facts_of(draw: random.Random, kind: str) -> list[Fact]:
    """The facts of a story; no two of them share more than one part."""
    names, things = draw.sample(NAMES.split(), CANDIDATES), draw.sample(THINGS.split(), CANDIDATES)
    relations = draw.sample(sorted(FORMS), RELATIONS_IN_STORY)
    asked, others = (names, things) if kind == "NE" else (things, names)
    pairs = _pairs(draw, _uneven(draw, asked), others * 2)
    relation = {pair: relations[n % RELATIONS_IN_STORY] for n, pair in enumerate(pairs)}
    while clash := _clash(relation):
        other = draw.choice(pairs)
        relation[clash], relation[other] = relation[other], relation[clash]
    facts = [
        Fact(*((one, told, other) if kind == "NE" else (other, told, one))) for (one, other), told in relation.items()
    ]
    draw.shuffle(facts)
    return facts


def _uneven(draw: random.Random, words: Sequence[str]) -> list[str]:
    """Each of the words once, twice or three times, FACTS in all."""
    thrice = draw.randint(1, CANDIDATES // 2)
    drawn = draw.sample(words, CANDIDATES)
    return [*drawn[:thrice] * 3, *drawn[thrice:-thrice] * 2, *drawn[-thrice:]]


def _pairs(draw: random.Random, ones: list[str], others: list[str]) -> list[tuple[str, str]]:
    """The words of two lists in pairs, no two of which are the same."""
    while True:
        draw.shuffle(others)
        pairs = list(zip(ones, others, strict=True))
        if len(set(pairs)) == len(pairs):
            draw.shuffle(pairs)
            return pairs


def _clash(relation: dict[tuple[str, str], str]) -> tuple[str, str] | None:
    """A pair with the relation of another pair that shares a word with it."""
    for (one, told), (another, also) in combinations(relation.items(), 2):
        if told == also and (one[0] == another[0] or one[1] == another[1]):
            return one
    return None


def _question(draw: random.Random, kind: str, anonymous: bool) -> ClozeQuestion:
    facts = facts_of(draw, kind)
    slot = "name" if kind == "NE" else "thing"
    candidates = sorted({getattr(fact, slot) for fact in facts})
    draw.shuffle(candidates)
    answer = draw.choice(candidates)
    clue = draw.choice([number for number, fact in enumerate(facts) if getattr(fact, slot) == answer])
    told = facts[clue]
    query, *others = draw.sample(FORMS[told.relation], len(FORMS[told.relation]))
    forms = [draw.choice(FORMS[fact.relation]) for fact in facts]
    forms[clue] = draw.choice(others)
    forms[draw.choice([n for n, fact in enumerate(facts) if fact.relation == told.relation and n != clue])] = query
    sentences = [_sentence(draw, form, fact) for form, fact in zip(forms, facts, strict=True)]
    blanked = _filled(query, told._replace(**{slot: BLANK}))
    if not anonymous:
        return ClozeQuestion(list(map(_capital, sentences)), _capital(blanked), candidates, answer, (clue,))
    names = sorted({fact.name for fact in facts})
    entity = dict(zip(names, (f"@entity{n}" for n in draw.sample(range(ENTITIES), len(names))), strict=True))
    sentences = [[entity.get(word, word) for word in sentence] for sentence in sentences]
    numbers = set(entity.values())
    listed = list(dict.fromkeys(word for sentence in sentences for word in sentence if word in numbers))
    return ClozeQuestion(sentences, blanked, listed, entity[answer], (clue,))


def _sentence(draw: random.Random, form: tuple[str, ...], fact: Fact) -> list[str]:
    opening = draw.choice(OPENINGS) if draw.random() < OPENED else ()
    return [*opening, *_filled(form, fact)]


def _filled(form: tuple[str, ...], fact: Fact) -> list[str]:
    parts = {"{name}": fact.name, "{thing}": fact.thing}
    return [*(parts.get(word, word) for word in form), "."]


def _capital(sentence: list[str]) -> list[str]:
    return [sentence[0][0].upper() + sentence[0][1:], *sentence[1:]]
