"""Names and common nouns of a text, found by counting alone.

The makers of CBT used the tagger and the name recogniser of Stanford CoreNLP. These rules replace them and need no
trained model:

- A name is capitalised inside sentences at least twice, and hardly ever written without a capital.
- A common noun occurs at least three times after an article, a possessive or a demonstrative and before punctuation, a
  preposition, a conjunction or an auxiliary ("the garden ,", "his horse was"). It does so much more often than it
  follows a pronoun or an auxiliary, as verbs do, or comes between an article and another word, as adjectives do.
- The plural of a common noun is a common noun.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPENING = _words("\" ' `` '' ` ( [ -- : *")
"""A word after one of these marks may be capitalised only because it begins a sentence."""
TITLES = _words("Miss Sir Madam Lady Lord Master Mister Missis Doctor Captain King Queen Prince Princess")
"""Titles are capitalised but are not names; they are never removed."""
DETERMINERS = _words("a an the my your his her its our their this that these those some any no every each another 's")
PREPOSITIONS = _words(
    "of in on at to from with by for into upon over under about after before behind beside between through across "
    "against along among around near off out without within towards toward till until like"
)
AUXILIARIES = _words(
    "is are was were be been am had has have did do does could would should will shall may might must can"
)
FOLLOWERS = (
    PREPOSITIONS
    | AUXILIARIES
    | _words(", . ; : ! ? -- ) ] \" ' '' and or but nor that which who whom whose when where while as if")
)
"""Words and marks that may follow a noun."""
SUBJECTS = _words(
    "i he she it we they you who not n't 'll 'd could would should will shall may might must can did do does"
)
"""Words that precede a verb."""
NO_NOUNS = (
    PREPOSITIONS
    | AUXILIARIES
    | _words("""
    i me you he him she it we us they them mine yours hers ours theirs myself yourself himself herself itself themselves
    one ones other others another such same own all both either neither none each few many much more most less least
    several enough any some two three four five six seven eight nine ten first second third last next former latter
    here there now then so too very quite only just even still yet again once never ever always not n't well away back
    up down off out over said what how why because though although
""")
)
TWICE, THRICE = 2, 3
CONSISTENT = 0.9  # Least share of a name's occurrences inside sentences that are capitalised
MOSTLY = 0.65
"""Least share of noun positions among the positions that distinguish nouns, verbs and adjectives."""
OFTEN = 0.1  # Least share of noun positions among all occurrences of a noun


def names_of(sentences: Iterable[Sequence[str]]) -> set[str]:
    """The names in a text, as they are written."""
    inside, small = Counter[str](), Counter[str]()
    for words in sentences:
        for before, word in pairwise(words):
            if word.islower():
                small[word] += 1
            elif is_capitalised(word) and before not in OPENING:
                inside[word] += 1
    return {
        word
        for word, count in inside.items()
        if count >= TWICE and word not in TITLES and count >= CONSISTENT * (count + small[word.lower()])
    }


def is_capitalised(word: str) -> bool:
    """Whether a word is a capital followed by small letters, and nothing else."""
    return len(word) > 1 and word.isalpha() and word[0].isupper() and word[1:].islower()


def nouns_of(sentences: Iterable[Sequence[str]]) -> set[str]:
    """The common nouns in a text, in small letters."""
    places, noun, verb = Counter[str](), Counter[str](), Counter[str]()
    behind: dict[str, Counter[str]] = defaultdict(Counter)
    for words in sentences:
        for before, word, after in zip(["", *words], words, [*words[1:], "."], strict=False):
            if len(word) < 3 or not word.isalpha() or not word.islower() or word in NO_NOUNS:
                continue
            places[word] += 1
            if before.lower() in DETERMINERS:
                if after in FOLLOWERS:
                    noun[word] += 1
                else:
                    behind[word][after] += 1
            elif before.lower() in SUBJECTS or (before == "to" and after not in FOLLOWERS):
                verb[word] += 1

    def mostly(word: str, adjective: int) -> bool:
        return noun[word] >= MOSTLY * (noun[word] + verb[word] + adjective)

    often = {word for word, count in noun.items() if count >= max(THRICE, OFTEN * places[word])}
    sure = {word for word in often if mostly(word, behind[word].total())}
    # "the old man" shows an adjective, "the man slept" does not
    found = {word for word in often if mostly(word, sum(behind[word][after] for after in sure & behind[word].keys()))}
    plurals = {word for word in places if _singulars(word) & found and mostly(word, 0)}
    return found | plurals


def _singulars(word: str) -> set[str]:
    ends = {"s": "", "es": "", "ies": "y", "ves": "f"}
    return {word.removesuffix(end) + single for end, single in ends.items() if word.endswith(end) and len(word) > 3}


def tells_verb(words: Sequence[str], place: int) -> bool:
    """Whether the position of a word is typical of verbs."""
    before = words[place - 1].lower() if place else ""
    after = words[place + 1] if place + 1 < len(words) else "."
    return before in SUBJECTS or (before == "to" and after not in FOLLOWERS)
