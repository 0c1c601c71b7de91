"""The embedded sample of pronouns: English sentences with *it*, and their German, in which the pronoun has a gender.

    the animal did not cross the street because it was too tired . -> das tier ... , weil es zu müde war .
    the animal did not cross the street because it was too wide .  -> das tier ... , weil sie zu breit war .

The German pronoun has the gender of the noun that *it* refers to, and the adjective decides which noun that is. Subject
and object always differ in gender. Some adjectives fit the subject of one verb and the object of another. A third noun
may be beside the subject, nouns may have colours, and the clause with *it* may come first.
"""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path

from zoo.data.pairs.samples import Pair
from zoo.data.pairs.samples.lexicon import entries
from zoo.data.pairs.samples.nouns import ARTICLES, Phrase, Word, joined, phrase_of

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SUBJECTS, BESIDE, TIMES, COLOURS = (entries(TABLES[name]) for name in ("subjects", "beside", "times", "colours"))
ACTIONS = [{name: entries(table) for name, table in action.items()} for action in TABLES["actions"]]
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}


def generate(count: int, *, seed: int) -> Iterator[Pair]:
    """`count` pairs, each with the noun that *it* refers to. Pair i depends only on `seed` and on i."""
    for index in range(count):
        yield _pair(random.Random(f"pronouns {seed} {index}"))


def _pair(draw: random.Random) -> Pair:
    action, subject = draw.choice(ACTIONS), draw.choice(SUBJECTS)
    chosen = draw.choice([noun for noun in action["objects"] if noun[2] != subject[2]])
    of_subject = draw.random() < 0.5
    adjective = draw.choice(action["subject" if of_subject else "object"])
    who, what = _noun_phrase(draw, subject, "nominative"), _noun_phrase(draw, chosen, "accusative")
    pronoun = Word(PRONOUNS[(subject if of_subject else chosen)[2]])
    referent = (who if of_subject else what).german[-1]
    if draw.random() < 0.6:
        near = _noun_phrase(draw, draw.choice(BESIDE), "dative")
        who = joined(who, phrase_of("neben", "near"), near)
    time = Phrase([], [])
    if draw.random() < 0.6:
        when, wann = draw.choice(TIMES)
        time = phrase_of(wann, when)
    clause = _clause(pronoun, adjective)
    (infinitive, past), negation = action["verb"][0], Word("nicht")
    verb = Word(past)
    did = [("did", (verb,)), ("not", (negation,)), (infinitive, (verb,))]
    english = [*who.english, *did, *what.english, *time.english]
    rest = [*what.german, *time.german, negation]
    if draw.random() < 0.3:
        whole = joined(clause, phrase_of(",", ","), Phrase([verb, *who.german, *rest], english))
    else:
        whole = joined(Phrase([*who.german, verb, *rest, Word(",")], english), clause)
    return _finished(joined(whole, phrase_of(".", ".")), pronoun, referent)


def _clause(pronoun: Word, adjective: list[str]) -> Phrase:
    """The clause of the reason, with the verb last in German."""
    because, was = Word("weil"), Word("war")
    begin = Phrase([because, pronoun], [("because", (because,)), ("it", (pronoun,)), ("was", (was,))])
    return joined(begin, phrase_of("zu", "too"), phrase_of(adjective[1], adjective[0]), Phrase([was], []))


def _noun_phrase(draw: random.Random, noun: list[str], case: str) -> Phrase:
    """Article, perhaps a colour, and noun."""
    english, german, gender = noun
    colour = Phrase([], [])
    if draw.random() < 0.4:
        name, stem = draw.choice(COLOURS)
        weak = case == "dative" or (case, gender) == ("accusative", "m")
        colour = phrase_of(stem + ("en" if weak else "e"), name)
    return joined(phrase_of(ARTICLES[case][gender], "the"), colour, phrase_of(german, english))


def _finished(sentence: Phrase, pronoun: Word, referent: Word) -> Pair:
    german, english = sentence
    position = {word: place for place, word in enumerate(german)}
    it, noun = (next(s for s, (_, words) in enumerate(english) if word in words) for word in (pronoun, referent))
    links = sorted((s, position[word]) for s, (_, words) in enumerate(english) for word in words)
    return Pair([text for text, _ in english], [word.text for word in german], links, ((it, noun),))
