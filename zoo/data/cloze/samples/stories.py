"""The embedded sample of cloze questions: stories of twenty sentences about who did what with which thing, and one more
that tells one of these facts in other words, with a word taken out.

A fact is a name, a relation and a thing, and no two facts share more than one of the three. Ten names are told of, and
five things, each with four of five relations (where a thing is asked for, ten things and five names): the fact that is
asked for follows from both of the others together, and either of them leaves four. Its sentence and the query never
have the same form, while another fact of the relation has the form of the query: most words of the query stand beside a
wrong candidate. How often a candidate is named says nothing, since the answer is drawn from the ten before anything
else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from zoo.data.cloze.question import BLANK, ClozeQuestion

KINDS = ("NE", "CN")
CANDIDATES, OTHERS = 10, 5
"""Words in a story of the kind that is asked for, and of the other kind; of relations there are as many as of those."""
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
    """The twenty facts of a story; no two of them share more than one part."""
    names, things, relations = NAMES.split(), THINGS.split(), draw.sample(sorted(FORMS), OTHERS)
    pool, other_pool = (names, things) if kind == "NE" else (things, names)
    others = draw.sample(other_pool, OTHERS)
    told = [(other, relation) for n, other in enumerate(others) for m, relation in enumerate(relations) if n != m]
    asked = _uneven(draw.sample(pool, CANDIDATES), draw)
    draw.shuffle(asked)
    while clash := next((two for two in combinations(range(len(told)), 2) if _alike(asked, told, *two)), None):
        one, place = clash[0], draw.randrange(len(told))
        asked[one], asked[place] = asked[place], asked[one]
    rows = list(zip(asked, told, strict=True))
    draw.shuffle(rows)
    return [Fact(*((a, b, o) if kind == "NE" else (o, b, a))) for a, (o, b) in rows]


def _uneven(words: Sequence[str], draw: random.Random) -> list[str]:
    """Each of some words in random order once, twice or three times, twice on average."""
    thrice = draw.randint(1, len(words) // 2)
    return [*words[:thrice] * 3, *words[thrice:-thrice] * 2, *words[-thrice:]]


def _alike(asked: Sequence[str], told: Sequence[tuple[str, str]], one: int, two: int) -> bool:
    """Whether two facts share more than one part; no two of `told` are the same."""
    return asked[one] == asked[two] and (told[one][0] == told[two][0] or told[one][1] == told[two][1])


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
