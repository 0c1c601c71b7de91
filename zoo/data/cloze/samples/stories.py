"""The embedded sample of cloze questions: stories of twenty facts, and a question that rephrases one of them.

A fact is a name, a relation and a thing; no two facts share more than one of the three. Each of ten relations occurs
twice, and each of five things four times (if the question asks for a thing, each of five names). So the two known parts
of a fact identify it together, but neither does alone. The sentence of the fact and the query never have the same form,
but the other fact of the relation has the form of the query: most words of the query occur next to a wrong candidate.
The frequency of a candidate carries no information, since the answer is drawn from the ten before anything else.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zoo.data.cloze.batch import BLANK, ClozeQuestion

KINDS = ("NE", "CN")
CANDIDATES, OTHERS, TOLD = 10, 5, 10
"""Numbers of words of the kind asked for, of words of the other kind, and of relations in a story of twenty facts."""
ENTITIES = 60  # Entity numbers of anonymous stories are below this

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
    "carry": ("carried", "hauled"),
    "own": ("owned", "possessed"),
    "find": ("found", "discovered"),
    "lose": ("lost", "misplaced"),
    "want": ("wanted", "desired"),
    "break": ("smashed", "shattered"),
    "repair": ("repaired", "mended"),
    "sell": ("sold", "auctioned"),
    "buy": ("bought", "purchased"),
    "hide": ("buried", "concealed"),
}
"""Two verbs for each relation."""
FORMS = {
    relation: tuple(
        tuple(form.format(name="{name}", verb=verb, thing="{thing}").split())
        for verb in verbs
        for form in ("{name} {verb} the {thing}", "the {thing} was {verb} by {name}")
    )
    for relation, verbs in RELATIONS.items()
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
OPENED = 0.25  # Share of sentences that begin with an opening


class Fact(NamedTuple):
    """A fact of a story: a name, a relation and a thing."""

    name: str
    relation: str
    thing: str


def generate(count: int, *, seed: int, kind: str = "NE", anonymous: bool = False) -> Iterator[ClozeQuestion]:
    """`count` questions; question i depends on the other arguments and on i alone.

    `kind` NE removes a name, CN a thing. `anonymous` stories have the form of CNN and Daily Mail: names are entities
    with new random numbers in each story, candidates are in the order of the document, and there are no capitals.
    """
    for number in range(count):
        yield _question(random.Random(f"story {kind} {anonymous} {seed} {number}"), kind, anonymous)


def facts_of(draw: random.Random, kind: str) -> list[Fact]:
    """The twenty facts of a story; no two of them share more than one part."""
    pools = [NAMES.split(), THINGS.split()]
    asked, others = map(draw.sample, pools if kind == "NE" else pools[::-1], (CANDIDATES, OTHERS))
    relations = draw.sample(sorted(FORMS), TOLD)
    # each relation gets two of the five `others`: at distance 1 for the first five relations, then at distance 2
    told = [
        (others[(n + m * (1 + n // OTHERS)) % OTHERS], relation) for n, relation in enumerate(relations) for m in (0, 1)
    ]
    asked = _uneven(asked, draw)
    draw.shuffle(asked)
    while (clash := _clash(asked, told)) is not None:
        place = draw.randrange(len(told))
        asked[clash], asked[place] = asked[place], asked[clash]
    rows = list(zip(asked, told, strict=True))
    draw.shuffle(rows)
    return [Fact(*((a, b, o) if kind == "NE" else (o, b, a))) for a, (o, b) in rows]


def _uneven(words: list[str], draw: random.Random) -> list[str]:
    """The words in random order, each one to three times, twice on average."""
    thrice = draw.randint(1, len(words) // 2)
    return words[:thrice] * 3 + words[thrice:-thrice] * 2 + words[-thrice:]


def _clash(asked: Sequence[str], told: Sequence[tuple[str, str]]) -> int | None:
    """Index of the first fact that shares two parts with an earlier fact, or None."""
    seen = set[tuple[str, str]]()
    for number, (one, (other, relation)) in enumerate(zip(asked, told, strict=True)):
        if (one, other) in seen or (one, relation) in seen:
            return number
        seen |= {(one, other), (one, relation)}
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
