"""Noun phrases of the translation sample in German and English: a determiner, an optional adjective, a noun.

Determiner, adjective and noun agree in gender, number and case.
"""

import random
from dataclasses import dataclass
from typing import NamedTuple

from zoo.data.pairs.samples import lexicon
from zoo.data.pairs.samples.lexicon import ADJECTIVES, Noun

ENDINGS = {
    "nominative": {"m": "er", "f": "e", "n": "es", "plural": "e"},
    "accusative": {"m": "en", "f": "e", "n": "es", "plural": "e"},
    "dative": {"m": "em", "f": "er", "n": "em", "plural": "en"},
    "genitive": {"m": "es", "f": "er", "n": "es", "plural": "er"},
}
"""Endings of dies-, of ein- and sein- outside ENDLESS, and of an adjective if no word before it shows the case."""
ENDLESS = {("nominative", "m"), ("nominative", "n"), ("accusative", "n")}
"""Cases in which ein and sein have no ending; the adjective then shows the case."""
ARTICLES = {
    "nominative": {"m": "der", "f": "die", "n": "das", "plural": "die"},
    "accusative": {"m": "den", "f": "die", "n": "das", "plural": "die"},
    "dative": {"m": "dem", "f": "der", "n": "dem", "plural": "den"},
    "genitive": {"m": "des", "f": "der", "n": "des", "plural": "der"},
}


@dataclass(eq=False)
class Word:
    """A German token, compared by identity: equal tokens at two positions differ."""

    text: str


class Phrase(NamedTuple):
    """A part of the sentence in both languages, with the German source words of each English word."""

    german: list[Word]
    english: list[tuple[str, tuple[Word, ...]]]


def phrase_of(german: str, *english: str) -> Phrase:
    """A phrase of one German word and its English words."""
    word = Word(german)
    return Phrase([word], [(text, (word,)) for text in english])


def joined(*phrases: Phrase) -> Phrase:
    """Concatenate phrases, in both languages."""
    return Phrase([w for phrase in phrases for w in phrase.german], [w for phrase in phrases for w in phrase.english])


def noun_phrase(
    draw: random.Random,
    noun: Noun,
    case: str,
    *,
    determiners: tuple[str, ...] = ("a", "a", "the", "this", "some"),
    own: tuple[str, str] = ("sein", "his"),
) -> tuple[Phrase, bool]:
    """Determiner, optional adjective and noun, and whether they are plural.

    One of `determiners` is drawn; `own` is the German stem and the English of "own".
    """
    determiner = draw.choice(determiners)
    plural = determiner == "some" or (determiner != "a" and noun.plural != "-" and draw.random() < 0.2)
    number = "plural" if plural else noun.gender
    ending = ENDINGS[case][number]
    shown = True  # whether the determiner shows the case
    if determiner == "the":
        german, english = ARTICLES[case][number], "the"
    elif determiner == "this":
        german, english = "dies" + ending, "these" if plural else "this"
    elif determiner == "some":
        german, english = draw.choice(lexicon.QUANTITIES)
        german += "n" if case == "dative" and german.endswith("e") else ""
        shown = False
    else:
        stem, english = own if determiner == "own" else ("ein", "a")
        shown = (case, number) not in ENDLESS
        german = stem + (ending if shown else "")
    phrase = phrase_of(german, english)
    if draw.random() < 0.4:
        stem, english = draw.choice(ADJECTIVES.get(noun.kind, ADJECTIVES["objects"]))
        phrase = joined(phrase, phrase_of(stem + (_weak(case, number) if shown else ending), english))
    return joined(phrase, phrase_of(_form(noun, case, plural), *_english(noun, plural))), plural


def _weak(case: str, number: str) -> str:
    """The ending of an adjective after a determiner that shows the case."""
    if number == "plural" or case in ("dative", "genitive") or (case, number) == ("accusative", "m"):
        return "en"
    return "e"


def _form(noun: Noun, case: str, plural: bool) -> str:
    if plural:
        return noun.plural + ("n" if case == "dative" and noun.plural[-1] not in "ns" else "")
    if case == "genitive":
        return noun.genitive
    return noun.plural if noun.weak and case != "nominative" else noun.german


def _english(noun: Noun, plural: bool) -> list[str]:
    return (noun.english_plural if plural else noun.english).split("_")
