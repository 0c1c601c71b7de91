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
    Ada Agnes Alma Amos Anton Barbara Basil Boris Bruno Carla Cecil Clara Daniel Dora Edgar Edith Emil Erna Felix Flora
    Frida George Gilbert Greta Gustav Hanna Hector Hilda Hugo Ida Igor Ines Ivan Jasper Judith Julia Karl Klara Leo
    Lotte Ludwig Magda Marta Max Mina Nadia Nestor Nina Olga Oscar Otto Paula Quentin Rosa Rufus Selma Silas Thea Tobias
    Ursula Viktor Wanda Xaver Yvonne
"""
THINGS = """
    anchor apron barrel basket bell blanket book bottle bowl box brush bucket cage candle carpet chair chest clock cloak
    coat comb cradle crown cup curtain dagger desk doll drum feather flag flute glove goblet hammer harp hat helmet horn
    kettle key kite knife ladder lamp lantern letter locket map mask mirror necklace needle oar painting pearl pillow
    pipe plate ring rope saddle sail scarf shield shovel spoon statue stool sword tent trumpet umbrella vase violin
    wagon wheel whistle
"""
RELATIONS = {
    "carry": """
        {name} carried the {thing}
        the {thing} was in the hands of {name}
        the {thing} lay on the back of {name}
        it was {name} who brought the {thing} along
    """,
    "own": """
        {name} owned the {thing}
        the {thing} belonged to {name}
        the {thing} was the property of {name}
        the {thing} had always been kept by {name}
    """,
    "find": """
        {name} found the {thing}
        the {thing} was discovered by {name}
        the {thing} lay in the way of {name} by chance
        {name} came across the {thing}
    """,
    "lose": """
        {name} lost the {thing}
        the {thing} had gone missing from the bag of {name}
        {name} could no longer find the {thing}
        the {thing} slipped from the pocket of {name}
    """,
    "want": """
        {name} wanted the {thing}
        the {thing} was the dearest wish of {name}
        {name} longed for the {thing}
        the heart of {name} was set on the {thing}
    """,
    "break": """
        {name} broke the {thing}
        the {thing} was shattered by {name}
        the {thing} fell to pieces under {name}
        {name} smashed the {thing}
    """,
    "repair": """
        {name} repaired the {thing}
        the {thing} was mended by {name}
        the {thing} was made whole again by {name}
        {name} put the {thing} together again
    """,
    "sell": """
        {name} sold the {thing}
        {name} gave the {thing} away for money
        a good price was paid to {name} for the {thing}
        the {thing} was brought to market by {name}
    """,
    "buy": """
        {name} bought the {thing}
        the {thing} was purchased by {name}
        {name} paid a good price for the {thing}
        the {thing} cost {name} a silver coin
    """,
    "steal": """
        {name} stole the {thing}
        {name} made off with the {thing}
        the {thing} was taken in the night by {name}
        the thief of the {thing} was {name}
    """,
    "hide": """
        {name} hid the {thing}
        the {thing} was buried by {name}
        {name} put the {thing} out of sight
        nobody but {name} knew where the {thing} lay
    """,
    "fear": """
        {name} feared the {thing}
        {name} was afraid of the {thing}
        the {thing} gave {name} a fright
        nothing was as terrible to {name} as the {thing}
    """,
    "admire": """
        {name} admired the {thing}
        {name} spoke well of the {thing}
        the {thing} was praised by {name}
        nothing was as lovely to {name} as the {thing}
    """,
    "clean": """
        {name} cleaned the {thing}
        the {thing} was washed by {name}
        {name} scrubbed the {thing} with water
        there was no dust on the {thing} thanks to {name}
    """,
    "draw": """
        {name} drew the {thing}
        the {thing} was sketched by {name}
        a picture of the {thing} was made by {name}
        {name} put the {thing} on paper
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
    opening = draw.choice(OPENINGS) if draw.random() < 0.4 else ()
    return [*opening, *_filled(form, fact)]


def _filled(form: tuple[str, ...], fact: Fact) -> list[str]:
    parts = {"{name}": fact.name, "{thing}": fact.thing}
    return [*(parts.get(word, word) for word in form), "."]


def _capital(sentence: list[str]) -> list[str]:
    return [sentence[0][0].upper() + sentence[0][1:], *sentence[1:]]
