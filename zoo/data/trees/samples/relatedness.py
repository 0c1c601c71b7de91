"""The embedded relatedness sample: pairs of sentences with a score from 1 to 5 that follows from their meanings.

A sentence expresses a `Meaning` in words that are drawn for it. The second meaning of a pair is the first one after a
few edits, or an unrelated one. A meaning is a set of facts with weights (`facts`), and the score is

    1 + 4 d,   d = 2 (weight of the facts that both state) / (weight of all facts of the one + of the other),

d times OPPOSED if exactly one of the two is negated, rounded to tenths. So synonyms, articles and the passive change
nothing. The score depends on the actor and not only on the words: "the dog that chases the cat is sleeping" and "the
cat that chases the dog is sleeping" share one fact of four.

Networks that sum over children see neither their order nor the names of relations. Here structure or a word always
identifies a role: a verb has one noun below it, unless a preposition or "by" marks the others, or the noun is an
object, which never acts.

Over 4,500 pairs the scores have a mean of 3.4 and a standard deviation of 1.3. Their correlation with the share of
common words of the two sentences is .36, and .70 if synonyms count as equal.
"""

import random
from collections.abc import Callable, Collection, Iterator
from typing import Literal, NamedTuple, Self

from zoo.data.trees.samples import lexicon
from zoo.data.trees.samples.phrases import Phrase, before, then, trees, words_of
from zoo.data.trees.tree import Pair, Tree

LENGTHS = (5, 14)  # Fewest and most words of a sentence, the full stop included
WEIGHTS = {"verb": 2.0, "agent": 2.0, "role": 1.5, "does": 1.0, "undergoes": 1.0, "quality": 0.5}
"""Weight of each kind of fact."""
OPPOSED = 0.6
UNRELATED = 0.15  # Share of pairs whose meanings are drawn independently
EDITS = (0, 1, 1, 1, 2, 2, 3)
"""Numbers of edits that lead to the second meaning of any other pair; one is drawn."""
RENAMED = 0.5
"""Probability that the second sentence avoids a word of the first one that has a synonym."""


NOUNS = lexicon.BEINGS | lexicon.PLACES | lexicon.OBJECTS | lexicon.TOOLS
QUALITIES = lexicon.LOOKS | lexicon.MOODS


class Clause(NamedTuple):
    """A relative clause, which describes the noun before it."""

    of: str  # The noun before the clause
    verb: str
    other: str  # The noun in the clause
    does: bool = True  # True for "that chases the cat", False for "that is chased by the cat"


class Meaning(NamedTuple):
    """The meaning of a sentence, in terms of the first word of each line of the lexicon."""

    verb: str
    roles: dict[str, str]
    """Role -> noun: the `agent` first, then the `object` of an act, or a preposition and the noun after it, such as
    `with` and a tool."""
    qualities: tuple[str | None, ...]
    """The quality of each of these nouns, if it has one."""
    clause: Clause | None = None
    negated: bool = False

    @property
    def nouns(self) -> list[str]:
        """All nouns, which are distinct."""
        return [*self.roles.values(), *([self.clause.other] if self.clause else [])]

    def renamed(self, names: dict[str, str]) -> Self:
        """Replace the nouns; a quality stays with its role."""
        roles = {role: names.get(noun, noun) for role, noun in self.roles.items()}
        clause = self.clause
        if clause:
            clause = clause._replace(of=names.get(clause.of, clause.of), other=names.get(clause.other, clause.other))
        return self._replace(roles=roles, clause=clause)


def facts(meaning: Meaning) -> dict[tuple[str, ...], float]:
    """The facts of a meaning and their weights.

    They are the verb, the noun of each role and its quality, and the actor and the patient of a relative clause.
    """
    clause, found = meaning.clause, dict[tuple[str, ...], float]()
    found["verb", meaning.verb] = WEIGHTS["verb"]
    for (role, noun), quality in zip(meaning.roles.items(), meaning.qualities, strict=True):
        found["role", role, noun] = WEIGHTS["agent" if role == "agent" else "role"]
        if quality:
            found["quality", noun, quality] = WEIGHTS["quality"]
    if clause:
        doer, other = (clause.of, clause.other) if clause.does else (clause.other, clause.of)
        found["does", clause.verb, doer] = WEIGHTS["does"]
        found["undergoes", clause.verb, other] = WEIGHTS["undergoes"]
    return found


def relatedness(first: Meaning, second: Meaning) -> float:
    """The symmetric score of two meanings, 1 to 5."""
    one, other = facts(first), facts(second)
    shared = sum(weight for fact, weight in one.items() if fact in other)
    likeness = 2 * shared / (sum(one.values()) + sum(other.values()))
    return round(1 + 4 * likeness * (OPPOSED if first.negated != second.negated else 1), 1)


def drawn(draw: random.Random) -> Meaning:
    """Draw a meaning."""
    beings = draw.sample(list(lexicon.BEINGS), 3)
    roles, qualities = dict[str, str](), list[str | None]()
    if draw.random() < 0.55:
        verb = draw.choice(list(lexicon.STATES))
        if draw.random() < 0.85:
            noun = beings[1] if draw.random() < 0.65 else draw.choice(list(lexicon.PLACES))
            qualities.append(_quality(draw, noun))
            roles[draw.choice(list(lexicon.PREPOSITIONS))] = noun
    else:
        verb = draw.choice(list(lexicon.ACTS))
        roles["object"] = draw.choice(list(lexicon.OBJECTS))
        qualities.append(_quality(draw, roles["object"]))
        if draw.random() < 0.3:
            roles["with"] = draw.choice(list(lexicon.TOOLS))
            qualities.append(None)
    of_agent = _quality(draw, beings[0])
    found = Meaning(verb, {"agent": beings[0], **roles}, (of_agent, *qualities), negated=draw.random() < 0.15)
    return _with_clause(draw, found, beings[2]) if draw.random() < 0.6 else found


def _quality(draw: random.Random, noun: str) -> str | None:
    return draw.choice(list(_qualities(noun))) if draw.random() < 0.35 else None


def _with_clause(draw: random.Random, meaning: Meaning, other: str) -> Meaning:
    of = draw.choice([noun for noun in meaning.roles.values() if noun in lexicon.BEINGS])
    return meaning._replace(clause=Clause(of, draw.choice(list(lexicon.DEALINGS)), other, draw.random() < 0.6))


def _qualities(noun: str) -> dict[str, tuple[str, ...]]:
    return QUALITIES if noun in lexicon.BEINGS else lexicon.LOOKS


# Edits: each returns a changed meaning, or the same meaning if the edit is impossible.


def _other_verb(draw: random.Random, meaning: Meaning) -> Meaning:
    return meaning._replace(verb=_another(draw, _verbs(meaning), {meaning.verb}))


def _other_noun(draw: random.Random, meaning: Meaning) -> Meaning:
    """Change the noun of a role or of the clause."""
    noun = draw.choice(meaning.nouns)
    kind = next(kind for kind in (lexicon.BEINGS, lexicon.PLACES, lexicon.OBJECTS, lexicon.TOOLS) if noun in kind)
    return meaning.renamed({noun: _another(draw, kind, set(meaning.nouns))})


def _swapped(draw: random.Random, meaning: Meaning) -> Meaning:
    """Swap the agent with another being of the sentence."""
    agent, *others = meaning.nouns
    beings = [noun for noun in others if noun in lexicon.BEINGS]
    other = draw.choice(beings) if beings else agent
    return meaning.renamed({agent: other, other: agent})


def _turned_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """Swap active and passive in the clause: the one who chased is chased."""
    clause = meaning.clause
    return meaning._replace(clause=clause._replace(does=not clause.does)) if clause else meaning


def _moved_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """Move the clause to another being with a role in the sentence."""
    clause = meaning.clause
    beings = [noun for noun in meaning.roles.values() if noun in lexicon.BEINGS and clause and noun != clause.of]
    return meaning._replace(clause=clause._replace(of=draw.choice(beings))) if clause and beings else meaning


def _other_clause(draw: random.Random, meaning: Meaning) -> Meaning:
    """Remove the clause, change its verb, or add a clause."""
    if not meaning.clause:
        return _with_clause(draw, meaning, _another(draw, lexicon.BEINGS, set(meaning.nouns)))
    verb = _another(draw, lexicon.DEALINGS, {meaning.clause.verb})
    return meaning._replace(clause=meaning.clause._replace(verb=verb) if draw.random() < 0.5 else None)


def _other_preposition(draw: random.Random, meaning: Meaning) -> Meaning:
    roles = {
        _another(draw, lexicon.PREPOSITIONS, {role}) if role in lexicon.PREPOSITIONS else role: noun
        for role, noun in meaning.roles.items()
    }
    return meaning._replace(roles=roles)


def _negated(draw: random.Random, meaning: Meaning) -> Meaning:
    return meaning._replace(negated=not meaning.negated)


def _other_quality(draw: random.Random, meaning: Meaning) -> Meaning:
    """Remove, change or add a quality."""
    qualities = list(meaning.qualities)
    at = draw.randrange(len(qualities))
    another = _another(draw, _qualities(meaning.nouns[at]), {quality for quality in qualities if quality})
    qualities[at] = None if qualities[at] and draw.random() < 0.6 else another
    return meaning._replace(qualities=tuple(qualities))


def _shifted_quality(draw: random.Random, meaning: Meaning) -> Meaning:
    """Shift qualities cyclically: each noun gets the quality of the next one."""
    first, *others = meaning.qualities
    shifted = (*others, first)
    fits = all(one is None or one in _qualities(noun) for noun, one in zip(meaning.nouns, shifted, strict=False))
    return meaning._replace(qualities=shifted) if fits else meaning


EDITING: dict[Callable[[random.Random, Meaning], Meaning], float] = {
    _other_verb: 2,
    _other_noun: 3,
    _swapped: 5,
    _turned_clause: 2,
    _moved_clause: 2,
    _other_clause: 1,
    _other_preposition: 1,
    _negated: 1.5,
    _other_quality: 2,
    _shifted_quality: 1,
}
"""The edits and their weights."""


def _verbs(meaning: Meaning) -> dict[str, tuple[str, ...]]:
    return lexicon.ACTS if meaning.verb in lexicon.ACTS else lexicon.STATES


def _edited(draw: random.Random, meaning: Meaning) -> Meaning:
    found = meaning
    while found == meaning:
        (edit,) = draw.choices(list(EDITING), list(EDITING.values()))
        found = edit(draw, meaning)
    return found


def _another(draw: random.Random, words: dict[str, tuple[str, ...]], taken: set[str]) -> str:
    return draw.choice([word for word in words if word not in taken])


# Sentences


def sentence(meaning: Meaning, draw: random.Random, avoided: Collection[str] = ()) -> Phrase:
    """Express a meaning without a full stop. Articles, synonyms and the passive are drawn at random; `avoided` are the
    words of the other sentence."""

    taken = set(avoided)

    def word(kind: dict[str, tuple[str, ...]], meant: str) -> str:
        fresh = [one for one in kind[meant] if taken.isdisjoint((one, lexicon.PARTICIPLES.get(one, one)))]
        return draw.choice(fresh if fresh and draw.random() < RENAMED else kind[meant])

    def noun(name: str, quality: str | None = None, clause: Clause | None = None) -> Phrase:
        """A noun with its article, its quality, and the clause if it is about this noun."""
        named: Phrase | str = word(NOUNS, name)
        if quality:
            named = before(word(QUALITIES, quality), named)
        article = "the" if draw.random() < 0.5 else "an" if words_of(named)[0][0] in "aeiou" else "a"
        found = before(article, named)
        if clause is None or clause.of != name:
            return found
        verb, other = word(lexicon.DEALINGS, clause.verb), noun(clause.other)
        chased = before("is", then(lexicon.PARTICIPLES[verb], then("by", other)))
        return then(found, before("that", then(verb, other) if clause.does else chased))

    nouns = zip(meaning.roles.items(), meaning.qualities, strict=True)
    roles = {role: noun(name, quality, meaning.clause) for (role, name), quality in nouns}
    agent = subject = roles.pop("agent")
    passive = "object" in roles and draw.random() < 0.5
    verb = word(_verbs(meaning), meaning.verb)
    does: Phrase | str = lexicon.PARTICIPLES[verb] if passive else verb
    if "object" in roles:
        thing = roles.pop("object")
        subject, does = (thing, then(does, then("by", agent))) if passive else (agent, then(does, thing))
    for role, found in roles.items():
        does = then(does, then(role if role == "with" else word(lexicon.PREPOSITIONS, role), found))
    for one in ("not", "is") if meaning.negated else ("is",):
        does = before(one, does)
    return before(subject, does)


def tree(phrase: Phrase | str, parse: str) -> Tree:
    """The tree of a sentence. The full stop is part of a constituency tree, but not of a dependency tree.

    The nodes of a dependency tree are the words in order.
    """
    binary, heads = trees(then(phrase, "."))
    if parse == "constituency":
        return binary
    return Tree(binary.words, heads[:-1], list(range(len(heads) - 1)), [None] * (len(heads) - 1))


def generate(count: int, *, seed: int, parse: Literal["dependency", "constituency"] = "dependency") -> Iterator[Pair]:
    """`count` pairs; the sentences and the score of pair i depend on `seed` and i alone.

    `parse` selects dependency trees, or strictly binary trees with the words at their leaves.
    """
    for index in range(count):
        (first, one), (second, other) = pair(index, seed=seed)
        yield Pair(tree(one, parse), tree(other, parse), relatedness(first, second), "")


def pair(index: int, *, seed: int) -> tuple[tuple[Meaning, Phrase], tuple[Meaning, Phrase]]:
    """Pair number `index` of the endless sequence that `seed` determines: two meanings and their phrases."""
    draw = random.Random(f"relatedness {seed} {index}")
    while True:
        first = second = drawn(draw)
        if draw.random() < UNRELATED:
            second = drawn(draw)
        else:
            for _ in range(draw.choice(EDITS)):
                second = _edited(draw, second)
        one = sentence(first, draw)
        other = sentence(second, draw, words_of(one))
        if all(LENGTHS[0] <= len(words_of(phrase)) + 1 <= LENGTHS[1] for phrase in (one, other)):
            return (first, one), (second, other)
