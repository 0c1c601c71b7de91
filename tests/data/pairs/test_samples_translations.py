"""The grammar of the translation sample: inflection by hand, links by the lexicon, one English for each German."""

from collections import Counter, defaultdict
from itertools import product

import pytest

from zoo.data.pairs.samples import lexicon
from zoo.data.pairs.samples.lexicon import ADJECTIVES, NOUNS, PLACES, VERBS
from zoo.data.pairs.samples.nouns import noun_phrase
from zoo.data.pairs.samples.translations import LENGTHS, generate

CASES = ("nominative", "accusative", "dative", "genitive")
PAIRS = list(generate(4000, seed=5))


class Chosen:
    """A random.Random that chooses the first of everything, or the given adjective."""

    def __init__(self, *, plural: bool, adjective: tuple[str, str] | None = None) -> None:
        self.rolls = [0.0 if plural else 0.9]
        self.adjective = adjective

    def choice(self, options):
        return self.adjective if self.adjective and options[0] == self.first_adjective(options) else options[0]

    def first_adjective(self, options):
        return next((table[0] for table in ADJECTIVES.values() if table is options), None)

    def random(self):
        return self.rolls.pop() if self.rolls else 0.0 if self.adjective else 0.9


def noun(german: str):
    return next(entry for table in NOUNS.values() for entry in table if entry.german == german)


def decline(german: str, case: str, determiner: str, *, plural: bool = False, own=("sein", "his")):
    draw = Chosen(plural=plural, adjective=("alt", "old"))
    if determiner in ("a", "some"):
        draw.rolls = []  # nothing to decide
    phrase, _ = noun_phrase(draw, noun(german), case, determiners=(determiner,), own=own)
    return " ".join(word.text for word in phrase.german)


@pytest.mark.parametrize(
    ("german", "determiner", "plural", "expected"),
    [
        ("mann", "a", False, ["ein alter mann", "einen alten mann", "einem alten mann", "eines alten mannes"]),
        ("frau", "a", False, ["eine alte frau", "eine alte frau", "einer alten frau", "einer alten frau"]),
        ("kind", "a", False, ["ein altes kind", "ein altes kind", "einem alten kind", "eines alten kindes"]),
        ("junge", "a", False, ["ein alter junge", "einen alten jungen", "einem alten jungen", "eines alten jungen"]),
        ("mann", "the", False, ["der alte mann", "den alten mann", "dem alten mann", "des alten mannes"]),
        ("frau", "the", False, ["die alte frau", "die alte frau", "der alten frau", "der alten frau"]),
        ("kind", "the", False, ["das alte kind", "das alte kind", "dem alten kind", "des alten kindes"]),
        ("kind", "the", True, ["die alten kinder", "die alten kinder", "den alten kindern", "der alten kinder"]),
        ("frau", "the", True, ["die alten frauen", "die alten frauen", "den alten frauen", "der alten frauen"]),
        ("auto", "the", True, ["die alten autos", "die alten autos", "den alten autos", "der alten autos"]),
        ("mann", "this", False, ["dieser alte mann", "diesen alten mann", "diesem alten mann", "dieses alten mannes"]),
        ("kind", "this", False, ["dieses alte kind", "dieses alte kind", "diesem alten kind", "dieses alten kindes"]),
        ("esel", "this", True, ["diese alten esel", "diese alten esel", "diesen alten eseln", "dieser alten esel"]),
        ("hund", "own", False, ["sein alter hund", "seinen alten hund", "seinem alten hund", "seines alten hunds"]),
        ("hund", "own", True, ["seine alten hunde", "seine alten hunde", "seinen alten hunden", "seiner alten hunde"]),
        ("kind", "some", False, ["zwei alte kinder", "zwei alte kinder", "zwei alten kindern", "zwei alter kinder"]),
    ],
)  # fmt: skip
def test_declension_by_hand(german, determiner, plural, expected):
    assert [decline(german, case, determiner, plural=plural) for case in CASES] == expected


# German, and each English word with the numbers of the German words that it comes from, by a person
BY_HAND = {
    "peter läuft oft fröhlich zum bahnhof .": "peter 0 is 1 running 1 happily 3 to 4 the 4 station 5 often 2 . 6",
    "den weg entlang läuft der student vorsichtig .": (
        "the 4 student 5 is 3 running 3 carefully 6 along 2 the 0 path 1 . 7"
    ),
    "zwei lehrerinnen zeigen dem soldaten der sängerinnen ihr kleid .": (
        "two 0 teachers 1 are 2 showing 2 their 7 dress 8 to - the 5 singers 6 ' 5 soldier 4 . 9"
    ),
    "viele mädchen probieren die jacken von felix an .": (
        "many 0 girls 1 are 2 trying 2,7 on 7 felix 6 's 5 jackets 4 . 8"
    ),
    "über die straße läuft ein soldat , um aufzutreten .": (
        "a 4 soldier 5 is 3 running 3 across 0 the 1 street 2 to 7 perform 8 . 9"
    ),
    "der wütende bauer hat seinem kind diese langen bücher vorgelesen .": (
        "the 0 angry 1 farmer 2 has 3 read 9 aloud 9 these 6 long 7 books 8 to - his 4 child 5 . 10"
    ),
    "bevor er singt , trägt leon neben einem baum diesen apfel .": (
        "leon 5 is 4 carrying 4 this 9 apple 10 next 6 to 6 a 7 tree 8 before 0 he 1 is 2 singing 2 . 11"
    ),
    "felix ist dem fröhlichen polizisten von sarah gefolgt .": (
        "felix 0 has 1 followed 7 sarah 6 's 5 happy 3 policeman 4 . 8"
    ),
    "viele schwestern lesen einer freundlichen tänzerin am tisch die zeitung vor .": (
        "many 0 sisters 1 are 2 reading 2,10 aloud 10 the 8 newspaper 9 "
        "to - a 3 friendly 4 dancer 5 at 6 the 6 table 7 . 11"
    ),
    "am morgen geht die lehrerin , die den mantel anzieht , weg .": (
        "the 3 teacher 4 who 6 is 9 putting 9 on 9 the 7 coat 8 is 2 leaving 2,11 in 0 the 0 morning 1 . 12"
    ),
}


def test_sentences_by_hand():
    seen = {" ".join(pair.source): pair for pair in generate(300, seed=0)}
    for german, words in BY_HAND.items():
        target, sources = words.split()[::2], words.split()[1::2]
        links = [(int(s), t) for t, numbers in enumerate(sources) if numbers != "-" for s in numbers.split(",")]
        pair = seen[german]
        assert (pair.target, pair.alignment) == (target, sorted(links))


# what each German word can be in English, from the tables alone


def renderings() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)

    def add(german: str, *english: str) -> None:
        found[german].update(token for text in english for token in text.split("_"))

    for entry in [entry for tables in (NOUNS, PLACES) for table in tables.values() for entry in table]:
        singular = {entry.german, entry.genitive} | ({entry.plural} if entry.weak else set())
        for form in singular:
            add(form, entry.english)
        if entry.plural != "-":
            add(entry.plural, entry.english_plural)
            add(entry.plural + "n", entry.english_plural)
    for stem, english in [entry for table in ADJECTIVES.values() for entry in table]:
        for ending in ("e", "er", "es", "en"):
            add(stem + ending, english)
    for verb in [verb for table in VERBS.values() for verb in table]:
        ing, *after = verb.progressive
        for form, auxiliary in ((verb.present, "is"), (verb.infinitive, "are")):
            add(form, auxiliary, ing, *(after if not verb.particle else ()))
            add(verb.particle + form, auxiliary, *verb.progressive)
        add(verb.particle or verb.infinitive, *verb.progressive)
        add(verb.particle + verb.infinitive, *verb.english)
        add(verb.particle + "zu" + verb.infinitive, *verb.english)
        add(verb.particle + verb.participle, *verb.perfect)
    for singular, plural, english, many in lexicon.MODALS:
        add(singular, english)
        add(plural, many)
    for german, english in (*lexicon.MANNERS, *lexicon.CONJUNCTIONS, *lexicon.QUANTITIES, *lexicon.CITIES):
        add(german, english)
        add(german + "n", english)
    for german, english in lexicon.TIMES:
        for token in german.split("_"):
            add(token, english)
    for german, english in lexicon.PREPOSITIONS.items():
        add(german, english)
    for names in lexicon.NAMES.values():
        for name in names:
            add(name, name)
    for ending in ("", "e", "er", "es", "en", "em"):
        add("ein" + ending, "a", "an", "'s")
        add("sein" + ending, "his", "its", "her")
        add("ihr" + ending, "her", "its", "their")
        add("dies" + ending, "this", "these")
    for article in ("der", "die", "das", "den", "dem", "des"):
        add(article, "the", "who", "that", "'s", "'")
    for contraction, preposition in (("im", "in"), ("am", "at"), ("zum", "to"), ("zur", "to")):
        add(contraction, preposition, "the")
    small = {"hat": "has", "ist": "has", "haben": "have", "sind": "have", "er": "he", "sie": "she_they", "und": "and"}
    for german, english in (small | {"um": "to", "von": "'s", "mit": "with", ".": "."}).items():
        add(german, english)
    return dict(found)


RENDERINGS = renderings()


def test_linked_words_are_translations_of_each_other():
    for pair in PAIRS:
        for s, t in pair.alignment:
            assert pair.target[t] in RENDERINGS[pair.source[s]], (pair.source[s], pair.target[t], pair)


def test_all_words_are_linked_but_those_that_come_from_nothing():
    free, lost = Counter(), Counter()
    for pair in PAIRS:
        linked_sources, linked_targets = ({link[i] for link in pair.alignment} for i in range(2))
        free.update(word for t, word in enumerate(pair.target) if t not in linked_targets)
        lost.update(word for s, word in enumerate(pair.source) if s not in linked_sources)
    assert set(free) == {"to", "from"}  # of the German dative
    assert set(lost) == {",", "zu", "der", "die", "das", "den", "dem"}  # the dog that is the woman's has no article


def test_lengths_and_vocabulary():
    for side in ([pair.source for pair in PAIRS], [pair.target for pair in PAIRS]):
        lengths = Counter(map(len, side))
        assert min(lengths) == LENGTHS[0] and max(lengths) == LENGTHS[1] and len(lengths) == 13
        assert 500 < len({word for words in side for word in words}) < 1500
        assert all(words[-1] == "." and words.count(".") == 1 for words in side)
    words = Counter(word for pair in generate(2000, seed=6) for word in (*pair.source, *pair.target))
    unseen = set(words) - {word for pair in PAIRS for word in (*pair.source, *pair.target)}
    assert sum(words[word] for word in unseen) / words.total() < 0.002  # a test set has hardly a new word


def test_the_order_of_the_words_is_not_the_same():
    def crossed(pair):
        return any(b < a for (_, a), (_, b) in zip(pair.alignment, pair.alignment[1:], strict=False))

    assert sum(map(crossed, PAIRS)) / len(PAIRS) > 0.75
    spans = [max(s for s, _ in links) - min(s for s, _ in links) for pair in PAIRS for links in of_one_word(pair)]
    assert sum(span >= 3 for span in spans) > 500  # verb and particle, far apart


def of_one_word(pair):
    """The links of each English word that depends on several German ones."""
    for t in range(len(pair.target)):
        links = [link for link in pair.alignment if link[1] == t]
        if len(links) > 1:
            yield links


def test_particles_decide_what_a_verb_means():
    meanings = defaultdict(set)
    for pair in PAIRS:
        for links in of_one_word(pair):
            (first, t), (last, _) = links
            meanings[pair.source[first]].add((pair.source[last], pair.target[t]))
    assert {("an", "putting"), ("aus", "taking")} <= meanings["zieht"]
    assert {("auf", "opening"), ("zu", "closing"), ("an", "turning"), ("aus", "turning")} <= meanings["macht"]
    assert {("auf", "picking"), ("hoch", "lifting")} <= meanings["hebt"]


def test_verbs_agree_with_pronouns():
    plural = {"are", "have"}
    for pair in PAIRS:
        for t, word in enumerate(pair.target[:-1]):
            if word in ("he", "she", "they"):
                assert pair.target[t + 1] not in (plural if word != "they" else {"is", "has"})


def test_a_before_consonants_and_an_before_vowels():
    found = Counter()
    for pair in PAIRS:
        for word, after in zip(pair.target, pair.target[1:], strict=False):
            if word in ("a", "an"):
                found[word] += 1
                assert (word == "an") == (after[0] in "aeiou")
    assert min(found.values()) > 100


# one English for each German


def phrases(entry, case):
    """Every noun phrase without adjective: (German, English)."""
    for determiner, plural in product(("a", "the", "this", "own", "some"), (False, True)):
        if (plural and (determiner in ("a", "some") or entry.plural == "-")) or (
            determiner == "some" and entry.plural == "-"
        ):
            continue
        draw = Chosen(plural=plural)
        if determiner in ("a", "some"):
            draw.rolls = []
        phrase, _ = noun_phrase(draw, entry, case, determiners=(determiner,))
        yield tuple(word.text for word in phrase.german), tuple(text for text, _ in phrase.english)


def test_verb_and_object_have_one_meaning_together():
    """The forms of the verb, its particle and its object in its case decide both English words."""
    found = defaultdict(set)
    for verb in [verb for table in VERBS.values() for verb in table]:
        key = (verb.infinitive, verb.particle)
        if not verb.objects:
            found[key, verb.takes].add(verb.english)
            continue
        case = "dative" if verb.takes == "D" else "accusative"
        for entry in [entry for kind in verb.objects for entry in NOUNS[kind]]:
            for german, english in phrases(entry, case):
                found[key, "D" in verb.takes, german].add((verb.english, english))
    assert len(found) > 3000
    assert {key: meanings for key, meanings in found.items() if len(meanings) > 1} == {}


def test_somebody_and_a_preposition_with_its_place_have_one_meaning():
    found = defaultdict(set)
    for case, entry in product(["nominative", "dative", "genitive"], [*NOUNS["people"], *NOUNS["animals"]]):
        for german, english in phrases(entry, case):
            found[case, german].add(english)
    for (preposition, case), table in PLACES.items():
        for entry in table:
            for german, english in phrases(entry, case):
                found[preposition, german].add((lexicon.PREPOSITIONS[preposition], english))
    assert all(len(meanings) == 1 for meanings in found.values())
    assert {noun.english for table in PLACES.values() for noun in table if noun.german == "bank"} == {"bank", "bench"}
