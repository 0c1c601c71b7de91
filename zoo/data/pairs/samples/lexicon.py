"""The words of the translation sample, read from lexicon.toml: German forms and their English translations."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Noun(NamedTuple):
    """A noun in both languages."""

    german: str
    gender: str
    """Gender: m, f or n."""
    plural: str
    genitive: str
    weak: bool
    """Whether every singular case but the nominative has the plural form: der junge, den jungen."""
    english: str
    english_plural: str
    kind: str
    """Name of its table, which decides the verbs and adjectives that fit it."""


def entries(table: str) -> list[list[str]]:
    """The fields of each entry of a table."""
    return [entry.split() for entry in table.split(";") if entry.strip()]


def _nouns(kind: str, table: str) -> list[Noun]:
    found = []
    for german, gender, plural, english, *rest in entries(table):
        weak, gender = gender == "w", "m" if gender == "w" else gender
        english_plural = rest[0] if rest and rest[0] != "-" else english + "s"
        genitive = rest[1] if len(rest) > 1 else plural if weak else german if gender == "f" else german + "s"
        found.append(Noun(german, gender, plural, genitive, weak, english, english_plural, kind))
    return found


NOUNS = {kind: _nouns(kind, table) for kind, table in TABLES["nouns"].items()}
PLACES = {tuple(key.split("_")): _nouns("place", table) for key, table in TABLES["places"].items()}
"""The places that fit a preposition and its case."""
PREPOSITIONS = dict(entries(TABLES["others"]["prepositions"]))
CITIES, QUANTITIES, MANNERS, TIMES, CONJUNCTIONS, MODALS = (
    entries(TABLES["others"][name]) for name in ("cities", "quantities", "manners", "times", "conjunctions", "modals")
)
NAMES = TABLES["names"]  # First names, by the possessive pronoun for their owner
PRONOUNS = {"his": ("er", "he"), "her": ("sie", "she"), "their": ("sie", "they")}
"""Possessive -> the pronoun in German and in English."""
ITS = ("kind",)  # Neuter nouns for people with the possessive "its"; "mädchen" (girl) has "her"
ADJECTIVES = {kind: entries(table) for kind, table in TABLES["adjectives"].items()}
"""Kind of noun -> (German stem, English); kinds without a list use that of the objects."""
KINDS = dict(zip("parcodftvyib", NOUNS, strict=True))
"""The letter of each kind of nouns in the tables of verbs."""


class Verb(NamedTuple):
    """A verb in both languages, with its objects and forms."""

    infinitive: str
    present: str
    """Third person singular; the plural is the infinitive."""
    participle: str
    particle: str
    """Separable particle: at the end of a main clause, or before a verb that comes last; "" for most verbs."""
    auxiliary: str
    """Auxiliary of the perfect: haben or sein."""
    english: tuple[str, ...]
    progressive: tuple[str, ...]
    perfect: tuple[str, ...]
    takes: str
    """"" nothing, A a direct object, D an object in the dative, DA both, W a way: through the park."""
    objects: tuple[str, ...]
    """Kinds of nouns that fit as object."""
    to: str
    """The English preposition of the indirect object."""
    animals: bool
    """Whether animals can be the subject."""


def _verbs(takes: str, table: str) -> Iterator[Verb]:
    for infinitive, present, participle, particle, auxiliary, *rest in entries(table):
        english, progressive, perfect = (tuple(form.split("_")) for form in rest[:3])
        objects = rest.pop(3) if "A" in takes or "D" in takes else ""
        verb = infinitive, present, participle, particle.strip("-"), {"h": "haben", "s": "sein"}[auxiliary]
        kinds, to = tuple(KINDS[letter] for letter in objects), "".join(rest[4:])
        yield Verb(*verb, english, progressive, perfect, takes, kinds, to, animals="a" in rest[3])


VERBS = {takes: list(_verbs(takes, table)) for takes, table in TABLES["verbs"].items()}
