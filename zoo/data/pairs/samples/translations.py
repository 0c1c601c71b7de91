"""The embedded translation sample: captions in German with their English, made by one grammar, with known alignments.

The English is a function of the German, but not word by word. A translation depends on other words of the sentence:

- the particle at its end: "hebt ... auf" is picking up, "hebt ... hoch" lifting, "steht ... auf" getting up;
- the verb, which comes last in subordinate clauses and after "hat" or "will";
- the object of the verb: "trägt" is wearing clothes and carrying the rest; a "bank" is a bench or, after "in", a bank;
- the subject: "seine" is his, her or its things, "ihre" her, its or their things, "sie" she or they;
- the possessor, which comes last in German and first in English: "der hund der frau", the woman's dog;
- place, time and subordinate clause, which German puts first, in the middle or last, English always last.

Articles and adjectives agree in gender, number and case, verbs in number.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from zoo.data.pairs.samples import Pair, lexicon
from zoo.data.pairs.samples.lexicon import NOUNS, PLACES, VERBS, Noun, Verb
from zoo.data.pairs.samples.nouns import ARTICLES, Phrase, Word, joined, noun_phrase, phrase_of

LENGTHS = (6, 18)  # Fewest and most tokens of a sentence, in each language; the full stop counts

CONTRACTIONS = {("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur"}


class Subject(NamedTuple):
    """The subject of a sentence."""

    phrase: Phrase
    plural: bool
    own: str  # German possessive, "sein" or "ihr"
    whose: str  # English possessive: his, her, its or their
    animal: bool = False


class Predicate(NamedTuple):
    """A predicate without its subject. English has the direct object first, then the rest in this order."""

    verb: Verb
    indirect: Phrase
    direct: Phrase
    manner: Phrase
    place: Phrase
    time: Phrase


NOTHING = Phrase([], [])


def generate(count: int, *, seed: int, back: bool = False) -> Iterator[Pair]:
    """`count` pairs from German to English, or `back`. Pair i depends only on `seed` and on i."""
    for index in range(count):
        draw = random.Random(f"translation {seed} {index}")
        made = _finished(_sentence(draw))
        while not all(LENGTHS[0] <= len(side) <= LENGTHS[1] for side in (made.source, made.target)):
            made = _finished(_sentence(draw))
        yield made.turned() if back else made


# sentences


def _sentence(draw: random.Random) -> Phrase:
    subject = _subject(draw)
    shape = draw.choices(("plain", "after", "before", "purpose", "and"), (40, 20, 12, 12, 16))[0]
    main = _predicate(draw, subject, more=0.5 if shape == "plain" else 0.25)
    comma = Word(",")
    if shape == "plain":
        return _main(draw, subject, main)
    if shape == "purpose":
        to, purpose = _purpose(_predicate(draw, subject, more=0.15))
        first = _main(draw, subject, main)
        return joined(first, Phrase([comma, to, *purpose.german], [("to", (to,)), *purpose.english]))
    if shape == "and":
        other = _predicate(draw, subject, more=0.15)
        both = Word("und")
        return joined(_main(draw, subject, main), Phrase([both], [("and", (both,))]), _second(draw, subject, other))
    clause = _subordinate(draw, subject)
    if shape == "after":
        return joined(_main(draw, subject, main), Phrase([comma], []), clause)
    return _main(draw, subject, main, before=Phrase([*clause.german, comma], clause.english))


def _main(draw: random.Random, subject: Subject, predicate: Predicate, before: Phrase = NOTHING) -> Phrase:
    """A main clause: first part, finite verb, rest. `before` is the first part if it is given; English has it last."""
    rest = _second(draw, subject, predicate._replace(time=NOTHING))
    verb, middle = rest.german[0], rest.german[1:]
    english = [*subject.phrase.english, *rest.english, *predicate.time.english, *before.english]
    time, who = predicate.time.german, subject.phrase.german
    if before.german:
        return Phrase([*before.german, verb, *who, *time, *middle], english)
    if time and draw.random() < 0.5:
        return Phrase([*time, verb, *who, *middle], english)
    place = predicate.place.german
    if place and draw.random() < 0.4:
        return Phrase([*place, verb, *who, *time, *(word for word in middle if word not in place)], english)
    return Phrase([*who, verb, *time, *middle], english)


def _second(draw: random.Random, subject: Subject, predicate: Predicate) -> Phrase:
    """The predicate with the finite verb first and the rest of the verb last, as after a subject or "und"."""
    verb, plural = predicate.verb, subject.plural
    middle = _middle(draw, predicate)
    mode = draw.choices(("present", "perfect", "modal"), (70, 15, 15))[0]
    if mode == "present":
        first = Word(verb.infinitive if plural else verb.present)
        last = [Word(verb.particle)] if verb.particle else []
        form, *others = verb.progressive
        words = [("are" if plural else "is", (first,)), (form, (first, *last))]
        english = [*words, *((word, (*last,) or (first,)) for word in others)]
        return Phrase([first, *middle, *last], [*english, *_rest(predicate)])
    auxiliary, full = _auxiliary(draw, verb, plural, mode)
    return Phrase([*auxiliary.german, *middle, *full.german], [*auxiliary.english, *full.english, *_rest(predicate)])


def _last(draw: random.Random, subject: Subject, predicate: Predicate) -> Phrase:
    """The predicate with the whole verb last, as in a subordinate clause."""
    verb, plural = predicate.verb, subject.plural
    middle = _middle(draw, predicate)
    mode = draw.choices(("present", "perfect", "modal"), (80, 10, 10))[0]
    if mode == "present":
        word = Word(verb.particle + (verb.infinitive if plural else verb.present))
        english = [(text, (word,)) for text in ("are" if plural else "is", *verb.progressive)]
        return Phrase([*middle, word], [*english, *_rest(predicate)])
    auxiliary, full = _auxiliary(draw, verb, plural, mode)
    return Phrase([*middle, *full.german, *auxiliary.german], [*auxiliary.english, *full.english, *_rest(predicate)])


def _auxiliary(draw: random.Random, verb: Verb, plural: bool, mode: str) -> tuple[Phrase, Phrase]:
    """The finite and the infinite verb of a perfect, or of a modal verb with its infinitive."""
    if mode == "perfect":
        first = {"haben": ("hat", "haben"), "sein": ("ist", "sind")}[verb.auxiliary][plural]
        return phrase_of(first, "have" if plural else "has"), phrase_of(verb.particle + verb.participle, *verb.perfect)
    singular, many, english, english_many = draw.choice(lexicon.MODALS)
    modal = phrase_of(many, *english_many.split("_")) if plural else phrase_of(singular, *english.split("_"))
    return modal, phrase_of(verb.particle + verb.infinitive, *verb.english)


def _purpose(predicate: Predicate) -> tuple[Word, Phrase]:
    """A purpose clause: "um" and the infinitive with "zu"."""
    verb = predicate.verb
    if verb.particle:
        word = Word(f"{verb.particle}zu{verb.infinitive}")
        german = [word]
    else:
        word = Word(verb.infinitive)
        german = [Word("zu"), word]
    middle = [*predicate.indirect.german, *predicate.manner.german, *predicate.direct.german, *predicate.place.german]
    english = [(text, (word,)) for text in verb.english]
    return Word("um"), Phrase([*middle, *german], [*english, *_rest(predicate)])


def _subordinate(draw: random.Random, subject: Subject) -> Phrase:
    """A clause with a conjunction; its subject is a new one or a pronoun for `subject`."""
    conjunction, english = draw.choice(lexicon.CONJUNCTIONS)
    other = _subject(draw, simple=True)
    girl = (subject.own, subject.whose) == ("sein", "her")  # "mädchen": its pronoun would be "es"
    if subject.whose in lexicon.PRONOUNS and not subject.animal and not girl and draw.random() < 0.5:
        other = subject._replace(phrase=phrase_of(*lexicon.PRONOUNS[subject.whose]))
    clause = _last(draw, other, _predicate(draw, other, more=0.15))
    return joined(phrase_of(conjunction, *english.split("_")), other.phrase, clause)


def _middle(draw: random.Random, predicate: Predicate) -> list[Word]:
    """The words between the two parts of the verb. A way stays next to the second part."""
    _, indirect, direct, manner, place, time = predicate
    parts = [time, indirect, manner, place, direct] if draw.random() < 0.5 else [time, indirect, direct, manner, place]
    return [word for part in parts for word in part.german]


def _rest(predicate: Predicate) -> list[tuple[str, tuple[Word, ...]]]:
    """The phrases that follow the verb in English."""
    parts = (predicate.direct, predicate.indirect, predicate.manner, predicate.place, predicate.time)
    return [word for part in parts for word in part.english]


# subjects and predicates


def _subject(draw: random.Random, *, simple: bool = False) -> Subject:
    """A subject, with a description unless `simple`."""
    kind = draw.choices(("people", "animals", "name", "names", "two"), (60, 14, 14, 4, 8))[0]
    if kind in ("name", "names"):
        whose = draw.choice(sorted(lexicon.NAMES))
        name = draw.choice(lexicon.NAMES[whose])
        phrase = phrase_of(name, name)
        if kind == "name":
            return Subject(phrase, False, "ihr" if whose == "her" else "sein", whose)
        other = draw.choice([n for names in lexicon.NAMES.values() for n in names if n != name])
        return Subject(joined(phrase, phrase_of("und", "and"), phrase_of(other, other)), True, "ihr", "their")
    noun = draw.choice(NOUNS["people" if kind == "two" else kind])
    phrase, plural = noun_phrase(draw, noun, "nominative")
    if kind == "two":
        other_phrase, _ = noun_phrase(draw, draw.choice(NOUNS["people"]), "nominative")
        return Subject(joined(phrase, phrase_of("und", "and"), other_phrase), True, "ihr", "their")
    its = kind == "animals" or noun.german in lexicon.ITS
    whose = "their" if plural else "its" if its else {"m": "his", "f": "her", "n": "her"}[noun.gender]
    own = "ihr" if plural or noun.gender == "f" else "sein"
    subject = Subject(phrase, plural, own, whose, kind == "animals")
    if simple or draw.random() < 0.55:
        return subject
    if kind == "people" and draw.random() < 0.7:
        return subject._replace(phrase=joined(phrase, _clothing(draw)))
    pronoun = phrase_of(
        ARTICLES["nominative"]["plural" if plural else noun.gender], "that" if kind == "animals" else "who"
    )
    clause = joined(pronoun, _last(draw, subject, _predicate(draw, subject, more=0.1)))
    return subject._replace(phrase=joined(phrase, Phrase([Word(","), *clause.german, Word(",")], clause.english)))


def _clothing(draw: random.Random) -> Phrase:
    noun = draw.choice(NOUNS["clothes"])
    german, english = draw.choice((("mit", "with"), ("in", "in")))
    phrase, _ = noun_phrase(draw, noun, "dative", determiners=("a",))
    return joined(phrase_of(german, english), phrase)


def _predicate(draw: random.Random, subject: Subject, *, more: float) -> Predicate:
    """A predicate that fits the subject; manner, place and time each have a probability of about `more`."""
    takes = draw.choices(("", "W", "A", "D", "DA"), (20, 15, 45, 8, 12))[0]
    verbs = [verb for verb in VERBS[takes] if verb.animals or not subject.animal]
    if not verbs:
        verbs = [verb for verb in VERBS["A"] if verb.animals]
    verb = draw.choice(verbs)
    indirect = direct = manner = place = time = NOTHING
    if "D" in verb.takes:
        nouns = NOUNS[draw.choice(verb.objects) if verb.takes == "D" else "people"]
        indirect = _object(draw, draw.choice(nouns), "dative", subject)
        if verb.to:
            indirect = Phrase(indirect.german, [(verb.to, ()), *indirect.english])
    if "A" in verb.takes:
        direct = _object(draw, draw.choice(NOUNS[draw.choice(verb.objects)]), "accusative", subject)
    if verb.takes == "W":
        place = _place(draw, way=True)
    elif draw.random() < more:
        place = _place(draw, way=False)
    if draw.random() < more / 2:
        manner = phrase_of(*draw.choice(lexicon.MANNERS))
    if more >= 0.25 and draw.random() < more / 1.5:
        time = _time(draw)
    return Predicate(verb, indirect, direct, manner, place, time)


def _time(draw: random.Random) -> Phrase:
    german, english = (text.split("_") for text in draw.choice(lexicon.TIMES))
    words = [Word(text) for text in german]
    *others, last = english
    return Phrase(words, [*((text, (words[0],)) for text in others), (last, (words[-1],))])


def _place(draw: random.Random, *, way: bool) -> Phrase:
    """A place, or with `way` a way through a place."""
    if not way and draw.random() < 0.15:
        return joined(phrase_of("in", "in"), phrase_of(*draw.choice(lexicon.CITIES)))
    ways = ("durch", "über", "um", "entlang", "zu")
    preposition, case = draw.choice([key for key in PLACES if (key[0] in ways) == way])
    determiners = ("the",) if way or draw.random() < 0.6 else ("a",)
    phrase, _ = noun_phrase(draw, draw.choice(PLACES[preposition, case]), case, determiners=determiners)
    english = lexicon.PREPOSITIONS[preposition].split("_")
    article, *others = phrase.german
    if preposition == "entlang":
        after = Word(preposition)
        return Phrase([*phrase.german, after], [*((text, (after,)) for text in english), *phrase.english])
    if (preposition, article.text) in CONTRACTIONS:
        article.text = CONTRACTIONS[preposition, article.text]
        return Phrase([article, *others], [*((text, (article,)) for text in english), *phrase.english])
    return joined(phrase_of(preposition, *english), phrase)


def _object(draw: random.Random, noun: Noun, case: str, subject: Subject) -> Phrase:
    """An object of the verb: without a possessor, the subject's own, or with a named possessor."""
    chance = draw.random()
    if chance < 0.15:
        return noun_phrase(draw, noun, case, determiners=("own",), own=(subject.own, subject.whose))[0]
    if chance > 0.3:
        return noun_phrase(draw, noun, case)[0]
    owned, _ = noun_phrase(draw, noun, case, determiners=("the",))
    if draw.random() < 0.4:
        of, name = Word("von"), draw.choice([name for names in lexicon.NAMES.values() for name in names])
        owner, several, mark = phrase_of(name, name), False, of
    else:
        owner, several = noun_phrase(draw, draw.choice(NOUNS["people"]), "genitive", determiners=("the", "a"))
        mark = owner.german[0]
    s = "'" if several and owner.english[-1][0].endswith("s") else "'s"
    german = [*owned.german, *([mark] if mark not in owner.german else []), *owner.german]
    return Phrase(german, [*owner.english, (s, (mark,)), *owned.english[1:]])  # no article: the woman 's dog


def _finished(sentence: Phrase) -> Pair:
    """Add the full stop, remove commas before other punctuation, and write "an" before vowels."""
    german, english = joined(sentence, phrase_of(".", "."))
    following = [*german[1:], german[-1]]
    kept = [word for word, after in zip(german, following, strict=True) if word.text != "," or after.text not in ",."]
    position = {word: i for i, word in enumerate(kept)}
    target = [text for text, _ in english]
    target = ["an" if text == "a" and target[t + 1][0] in "aeiou" else text for t, text in enumerate(target)]
    links = {(position[word], t) for t, (_, words) in enumerate(english) for word in words}
    return Pair([word.text for word in kept], target, sorted(links))
