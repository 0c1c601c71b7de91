"""The embedded relatedness sample: pairs of sentences with a score from 1 to 5 that follows from what they say.

A sentence tells a `Meaning`, in words that are drawn for it; the second meaning of a pair is the first one after a few
edits, or one of its own. A meaning is a set of facts with weights (`facts`), and the score is

    1 + 4 d,   d = 2 (weight of the facts that both state) / (weight of all facts of the one + of the other),

d times OPPOSED where exactly one of the two is negated, rounded to tenths. So a synonym, the article and the passive
change nothing; who does something counts, and not only which words there are: "the dog that chases the cat is sleeping"
and "the cat that chases the dog is sleeping" share one fact of four.

Networks that sum over children see neither their order nor the names of relations. Here a role is always told by
structure or by a word: one noun alone stands below a verb, unless a preposition or "by" marks the others, or it is an
object, which never acts.

Of 4,500 pairs the scores have a mean of 3.4 and a standard deviation of 1.3; their correlation with the share of words
that two sentences have in common is .36, and .70 for who knows which words mean the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, Self

from zoo.data.trees.row import Pair
from zoo.data.trees.samples import lexicon
from zoo.data.trees.tree import Tree

LENGTHS = (5, 14)
"""Fewest and most words of a sentence, the full stop included."""
WEIGHTS = {"verb": 2.0, "agent": 2.0, "role": 1.5, "does": 1.0, "undergoes": 1.0, "quality": 0.5}
"""Of each kind of fact."""
OPPOSED = 0.6
UNRELATED = 0.15
"""Share of pairs whose meanings have nothing to do with each other, but by chance."""
EDITS = (0, 1, 1, 1, 2, 2, 3)
"""How many edits lead to the second meaning of any other pair, each of these as likely as the others."""
RENAMED = 0.5
"""How often the second sentence avoids a word of the first one that has a synonym."""


NOUNS = lexicon.BEINGS | lexicon.PLACES | lexicon.OBJECTS | lexicon.TOOLS
QUALITIES = lexicon.LOOKS | lexicon.MOODS


class Thing(NamedTuple):
    """Somebody or something."""

    noun: str
    quality: str | None = None


class Clause(NamedTuple):
    """What a relative clause says of the noun before it."""

    of: str
    """That noun."""
    verb: str
    other: str
    """The noun in the clause."""
    does: bool = True
    """"that chases the cat"; else "that is chased by the cat"."""


class Meaning(NamedTuple):
    """What a sentence says, in the first word of each line of the lexicon."""

    verb: str
    agent: Thing
    roles: dict[str, Thing]
    """`object` of an act, and by a preposition what is behind it; `with` is that of the tool."""
    clause: Clause | None = None
    negated: bool = False

    @property
    def things(self) -> list[Thing]:
        """Those that may have a quality."""
        return [self.agent, *self.roles.values()]

    @property
    def nouns(self) -> list[str]:
        """All, no two of them the same."""
        return [thing.noun for thing in self.things] + ([self.clause.other] if self.clause else [])

    def renamed(self, names: dict[str, str]) -> Self:
        """The same of other nouns; a quality stays with its role."""

        def new(thing: Thing) -> Thing:
            return thing._replace(noun=names.get(thing.noun, thing.noun))

        clause = self.clause
        if clause:
            of, other = (names.get(noun, noun) for noun in (clause.of, clause.other))
            clause = clause._replace(of=of, other=other)
        return self._replace(
            agent=new(self.agent), roles={role: new(thing) for role, thing in self.roles.items()}, clause=clause
        )

    def with_qualities(self, qualities: list[str | None]) -> Self:
        """The same with these qualities of its things."""
        agent, *others = (Thing(thing.noun, quality) for thing, quality in zip(self.things, qualities, strict=True))
        return self._replace(agent=agent, roles=dict(zip(self.roles, others, strict=True)))


def facts(meaning: Meaning) -> dict[tuple[str, ...], float]:
    """What a meaning states, and how much each fact weighs: the verb, who acts, what stands in each role, who does and
    who undergoes what a relative clause says, and each quality of a noun."""
    clause, found = meaning.clause, dict[tuple[str, ...], float]()
    found["verb", meaning.verb] = WEIGHTS["verb"]
    found["agent", meaning.agent.noun] = WEIGHTS["agent"]
    for role, thing in meaning.roles.items():
        found["role", role, thing.noun] = WEIGHTS["role"]
    if clause:
        doer, other = (clause.of, clause.other) if clause.does else (clause.other, clause.of)
        found["does", clause.verb, doer] = WEIGHTS["does"]
        found["undergoes", clause.verb, other] = WEIGHTS["undergoes"]
    for noun, quality in meaning.things:
        if quality:
            found["quality", noun, quality] = WEIGHTS["quality"]
    return found


def relatedness(first: Meaning, second: Meaning) -> float:
    """The score of two meanings, 1 to 5, the same in either order."""
    one, other = facts(first), facts(second)
    shared = sum(weight for fact, weight in one.items() if fact in other)
    likeness = 2 * shared / (sum(one.values()) + sum(other.values()))
    return round(1 + 4 * likeness * (OPPOSED if first.negated != second.negated else 1), 1)


def drawn(draw: random.Random) -> Meaning:
    """Any meaning."""
    beings = draw.sample(list(lexicon.BEINGS), 3)
    roles: dict[str, Thing] = {}
    if draw.random() < 0.55:
        verb = draw.choice(list(lexicon.STATES))
        if draw.random() < 0.85:
            noun = beings[1] if draw.random() < 0.65 else draw.choice(list(lexicon.PLACES))
            roles[draw.choice(list(lexicon.PREPOSITIONS))] = _thing(draw, noun)
    else:
        verb = draw.choice(list(lexicon.ACTS))
        roles["object"] = _thing(draw, draw.choice(list(lexicon.OBJECTS)))
        if draw.random() < 0.3:
            roles["with"] = Thing(draw.choice(list(lexicon.TOOLS)))
    found = Meaning(verb, _thing(draw, beings[0]), roles, negated=draw.random() < 0.15)
    return _with_clause(draw, found, beings[2]) if draw.random() < 0.6 else found


def _thing(draw: random.Random, noun: str) -> Thing:
    return Thing(noun, draw.choice(list(_qualities(noun))) if draw.random() < 0.35 else None)


def _qualities(noun: str) -> dict[str, tuple[str, ...]]:
    return QUALITIES if noun in lexicon.BEINGS else lexicon.LOOKS


def _with_clause(draw: random.Random, meaning: Meaning, other: str) -> Meaning:
    of = draw.choice([thing.noun for thing in meaning.things if thing.noun in lexicon.BEINGS])
    return meaning._replace(clause=Clause(of, draw.choice(list(lexicon.DEALINGS)), other, draw.random() < 0.6))


# Edits: each makes another meaning of one, or the same where it cannot be done.


def other_verb(draw: random.Random, meaning: Meaning) -> Meaning:
    """Something else is done."""
    verbs = lexicon.ACTS if meaning.verb in lexicon.ACTS else lexicon.STATES
    return meaning._replace(verb=_another(draw, verbs, {meaning.verb}))


def other_noun(draw: random.Random, meaning: Meaning) -> Meaning:
    """Another noun stands in one of the roles or in the clause."""
    noun = draw.choice(meaning.nouns)
    kind = next(kind for kind in (lexicon.BEINGS, lexicon.PLACES, lexicon.OBJECTS, lexicon.TOOLS) if noun in kind)
    return meaning.renamed({noun: _another(draw, kind, set(meaning.nouns))})


def swapped(draw: random.Random, meaning: Meaning) -> Meaning:
    """Two beings take each other's part: the agent that of another, wherever that stands."""
    beings = [noun for noun in meaning.nouns[1:] if noun in lexicon.BEINGS]
    if not beings:
        return meaning
    agent, other = meaning.agent.noun, draw.choice(beings)
    return meaning.renamed({agent: other, other: agent})


def turned_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """Who chased is chased."""
    clause = meaning.clause
    return meaning._replace(clause=clause._replace(does=not clause.does)) if clause else meaning


def moved_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """The clause is said of another being that has a part of its own."""
    clause = meaning.clause
    beings = [
        thing.noun for thing in meaning.things if thing.noun in lexicon.BEINGS and clause and thing.noun != clause.of
    ]
    return meaning._replace(clause=clause._replace(of=draw.choice(beings))) if clause and beings else meaning


def other_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """The clause goes, has another verb, or comes."""
    if not meaning.clause:
        return _with_clause(draw, meaning, _another(draw, lexicon.BEINGS, set(meaning.nouns)))
    verb = _another(draw, lexicon.DEALINGS, {meaning.clause.verb})
    return meaning._replace(clause=meaning.clause._replace(verb=verb) if draw.random() < 0.5 else None)


def other_preposition(draw: random.Random, meaning: Meaning) -> Meaning:
    """It happens on another side of the place."""
    roles = {
        _another(draw, lexicon.PREPOSITIONS, {role}) if role in lexicon.PREPOSITIONS else role: thing
        for role, thing in meaning.roles.items()
    }
    return meaning._replace(roles=roles)


def negated(draw: random.Random, meaning: Meaning) -> Meaning:
    """What is so is not so."""
    return meaning._replace(negated=not meaning.negated)


def other_quality(draw: random.Random, meaning: Meaning) -> Meaning:
    """A quality goes, is another one, or comes."""
    qualities = [thing.quality for thing in meaning.things]
    at = draw.randrange(len(qualities))
    another = _another(draw, _qualities(meaning.things[at].noun), {quality for quality in qualities if quality})
    qualities[at] = None if qualities[at] and draw.random() < 0.6 else another
    return meaning.with_qualities(qualities)


def shifted_quality(draw: random.Random, meaning: Meaning) -> Meaning:
    """Each noun has the quality of the next one, and the last that of the first."""
    first, *others = (thing.quality for thing in meaning.things)
    found = meaning.with_qualities([*others, first])
    fits = all(thing.quality is None or thing.quality in _qualities(thing.noun) for thing in found.things)
    return found if fits else meaning


EDITING: dict[Callable[[random.Random, Meaning], Meaning], float] = {
    other_verb: 2,
    other_noun: 3,
    swapped: 5,
    turned_clause: 2,
    moved_clause: 2,
    other_clause: 1,
    other_preposition: 1,
    negated: 1.5,
    other_quality: 2,
    shifted_quality: 1,
}
"""The edits and their weights."""


def _edited(draw: random.Random, meaning: Meaning) -> Meaning:
    found = meaning
    while found == meaning:
        (edit,) = draw.choices(list(EDITING), list(EDITING.values()))
        found = edit(draw, meaning)
    return found


def _another(draw: random.Random, words: dict[str, tuple[str, ...]], taken: set[str]) -> str:
    return draw.choice([word for word in words if word not in taken])


# Sentences


class Phrase(NamedTuple):
    """Words with both of their trees."""

    words: list[str]
    heads: list[int]
    """For each word the one that it hangs on, -1 of the head of the phrase."""
    parent: list[int]
    """Of the nodes of the binary tree, numbered from the top; -1 of its root."""
    word: list[int]
    """Of each of these which word it is, -1 of one with two parts."""

    @classmethod
    def of(cls, word: str) -> Self:
        return cls([word], [-1], [-1], [0])

    def joined(self, right: Phrase, *, head: Literal["left", "right"]) -> Phrase:
        """Two phrases as one, whose head is that of one of them."""
        words, nodes = len(self.words), len(self.parent)
        heads = [self.heads, [at + words if at >= 0 else -1 for at in right.heads]]
        of_left, of_right = self.heads.index(-1), right.heads.index(-1)
        if head == "left":
            heads[1][of_right] = of_left
        else:
            heads[0] = [at if at >= 0 else words + of_right for at in self.heads]
        return Phrase(
            self.words + right.words,
            heads[0] + heads[1],
            [-1, *(at + 1 for at in self.parent), *(at + 1 + nodes if at >= 0 else 0 for at in right.parent)],
            [-1, *self.word, *(at + words if at >= 0 else -1 for at in right.word)],
        )

    def before(self, right: Phrase) -> Phrase:
        """With what it hangs on behind it."""
        return self.joined(right, head="right")

    def then(self, right: Phrase) -> Phrase:
        """With what hangs on it behind it."""
        return self.joined(right, head="left")


class Teller:
    """Puts a meaning into words, which it draws: articles, synonyms, and the passive."""

    def __init__(self, draw: random.Random, said: set[str]) -> None:
        """`said` are words that it had better not use again."""
        self.draw, self.said = draw, said

    def told(self, meaning: Meaning) -> Phrase:
        """The sentence, without its full stop."""
        agent = self._noun(meaning.agent.noun, meaning)
        others = {role: self._noun(thing.noun, meaning) for role, thing in meaning.roles.items()}
        passive = "object" in others and self.draw.random() < 0.5
        subject = others.pop("object") if passive else agent
        verb = self._said(lexicon.ACTS if meaning.verb in lexicon.ACTS else lexicon.STATES, meaning.verb)
        does = Phrase.of(lexicon.PARTICIPLES[verb] if passive else verb)
        if "object" in others:
            does = does.then(others.pop("object"))
        if passive:
            does = does.then(Phrase.of("by").then(agent))
        for role, noun in others.items():
            does = does.then(Phrase.of(role if role == "with" else self._said(lexicon.PREPOSITIONS, role)).then(noun))
        for word in ("not", "is") if meaning.negated else ("is",):
            does = Phrase.of(word).before(does)
        return subject.before(does)

    def _noun(self, noun: str, meaning: Meaning | None = None) -> Phrase:
        """A noun with its article and, in a meaning, its quality and its clause."""
        found = Phrase.of(self._said(NOUNS, noun))
        quality = next((thing.quality for thing in meaning.things if thing.noun == noun), None) if meaning else None
        if quality:
            found = Phrase.of(self._said(QUALITIES, quality)).before(found)
        article = "the" if self.draw.random() < 0.5 else "an" if found.words[0][0] in "aeiou" else "a"
        found = Phrase.of(article).before(found)
        clause = meaning.clause if meaning else None
        return found.then(self._clause(clause)) if clause and clause.of == noun else found

    def _clause(self, clause: Clause) -> Phrase:
        verb, other = self._said(lexicon.DEALINGS, clause.verb), self._noun(clause.other)
        if clause.does:
            return Phrase.of("that").before(Phrase.of(verb).then(other))
        done = Phrase.of(lexicon.PARTICIPLES[verb]).then(Phrase.of("by").then(other))
        return Phrase.of("that").before(Phrase.of("is").before(done))

    def _said(self, kind: dict[str, tuple[str, ...]], meant: str) -> str:
        words = kind[meant]
        fresh = [word for word in words if self.said.isdisjoint((word, lexicon.PARTICIPLES.get(word, word)))]
        return self.draw.choice(fresh if fresh and self.draw.random() < RENAMED else words)


def tree(phrase: Phrase, parse: str) -> Tree:
    """A sentence with its full stop: of its dependencies, whose nodes are its words in order, it is no part."""
    whole = phrase.then(Phrase.of("."))
    parent, word = (phrase.heads, range(len(phrase.words))) if parse == "dependency" else (whole.parent, whole.word)
    return Tree(whole.words, list(parent), list(word), [None] * len(parent))


def generate(count: int, *, seed: int, parse: Literal["dependency", "constituency"] = "dependency") -> Iterator[Pair]:
    """`count` pairs; the sentences and the score of pair i depend on `seed` and i alone. `parse` says which trees they
    have: of dependencies, or strictly binary ones with the words at their leaves."""
    for index in range(count):
        (first, one), (second, other) = pair(index, seed=seed)
        yield Pair(tree(one, parse), tree(other, parse), relatedness(first, second), "")


def pair(index: int, *, seed: int) -> tuple[tuple[Meaning, Phrase], tuple[Meaning, Phrase]]:
    """Number `index` of the endless row of pairs that `seed` stands for: two meanings, and how they are told."""
    draw = random.Random(f"relatedness {seed} {index}")
    while True:
        first = second = drawn(draw)
        if draw.random() < UNRELATED:
            second = drawn(draw)
        else:
            for _ in range(draw.choice(EDITS)):
                second = _edited(draw, second)
        one = Teller(draw, set()).told(first)
        other = Teller(draw, set(one.words)).told(second)
        if all(LENGTHS[0] <= len(phrase.words) + 1 <= LENGTHS[1] for phrase in (one, other)):
            return (first, one), (second, other)
