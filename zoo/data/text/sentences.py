"""From raw text to sentences.

The rules are those of Punkt (Kiss and Strunk 2006) from NLTK, without downloaded data. Its trained abbreviations are
replaced: for English and German by the lists in sentences.toml, for other languages by the prefixes of Moses in
sacremoses. Marks that end a sentence in other scripts (。！？ । ። ...) need no blank after them.
"""

import html
import re
import tomllib
import unicodedata
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from zoo.data.text.options import SentenceOptions, primary
from zoo.data.text.tokenization import Tokenizer
from zoo.data.text.word_rules import Punkt

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""The abbreviations of a language, and the words that begin a new sentence after an abbreviation or "..."."""
ORDINALS = {"de": [str(number) for number in range(1, 100)]}
"""Numbers that a full stop makes ordinal: am 3. Mai."""
ENDS, CLOSERS = "。！？｡؟۔।॥။።៕᠃᠉", "」』）》〉】”’\"'"
OTHER_ENDS = re.compile(rf"(?<=[{ENDS}])(?![{ENDS}{CLOSERS}])|(?<=[{ENDS}][{CLOSERS}])(?![{ENDS}{CLOSERS}])")
"""Matches after the marks that end a sentence in Chinese, Japanese, Arabic, Urdu, Indic, Burmese, Ethiopic, Khmer and
Mongolian writing, and after closing quotation marks and brackets that follow them. Thai has no such marks: its
sentences are lines and blocks."""

LINE_BREAK = re.compile(r"<\s*(?:br|p|/p)\s*/?\s*>|\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]", re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\ufeff]")
UNUSUAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff]")
"""Letters that `LINE_BREAK` or `CONTROL` replaces. Few texts have any."""
BLANK_LINE = re.compile(r"\n\s*\n")
TYPOGRAPHIC = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})  # fmt: skip
WORD_CHARACTER = re.compile(r"\w")
TORN_ENTITY = re.compile(r"(?<![&\w])#(\d{2,4});")


class Words(NamedTuple):
    """A document of words."""

    sentences: list[list[str]]  # The words as they are written; no sentence is empty
    forms: list[list[str]]  # The words as the vocabulary has them
    cut: bool  # Whether the limits removed anything


@cache
def _punkt(language: str) -> Punkt:
    abbreviations = {*_abbreviations(language), *ORDINALS.get(language, ())}
    return Punkt(abbreviations, set(WORDS["starters"].get(language, "").split()))


def _abbreviations(language: str) -> list[str]:
    if language in WORDS["abbreviations"]:
        return str(WORDS["abbreviations"][language]).split()
    from sacremoses.corpus import NonbreakingPrefixes

    prefixes = NonbreakingPrefixes()
    known = prefixes.words(language) if language in prefixes.available_langs else ()
    return [prefix.split()[0].lower() for prefix in known]


def unescape_zhang(text: str) -> str:
    r"""Decode the escapes of the sets of Zhang (2015), in csv and parquet: `\n` and `\"` in two characters, a backslash
    for a line break in AG's News, entities without their ampersand (`#39;`)."""
    text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\", " ")
    return TORN_ENTITY.sub(r"&#\1;", text)


def clean(text: str) -> str:
    """Decode html entities and line breaks, compose accents, replace curly quotes, and remove control characters."""
    text = unicodedata.normalize("NFC", html.unescape(text))
    if "<" in text or UNUSUAL.search(text):
        text = CONTROL.sub(" ", LINE_BREAK.sub("\n", text))
    return text if text.isascii() else text.translate(TYPOGRAPHIC)


def split_sentences(text: str, how: str = "punkt", language: str = "en") -> list[str]:
    """The sentences of a cleaned text. In `punkt`, a blank line also ends a sentence."""
    if how == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    found: list[str] = []
    split = _punkt(primary(language)).split
    for block in chain.from_iterable(map(_blocks, BLANK_LINE.split(text))):
        sentences: list[str] = []
        for part in split(block.strip()):
            if sentences and not WORD_CHARACTER.search(part):
                sentences[-1] += " " + part  # "?!" and ". . ." belong to the sentence before
            else:
                sentences.append(part)
        found += sentences
    return found


def _blocks(paragraph: str) -> list[str]:
    return [paragraph] if paragraph.isascii() else OTHER_ENDS.split(paragraph)


def split_text(text: str, options: SentenceOptions, tokenizer: Tokenizer) -> Words:
    """Sentences of words within the limits; a text without words gives no sentences."""
    found = split_sentences(clean(text), options.sentences, options.language)
    cut = len(found) > options.max_sentences
    shown, forms = [], []
    for sentence in found[: options.max_sentences]:
        tokens = tokenizer.split(sentence)
        cut = cut or len(tokens.shown) > options.max_words
        words, known = tokens.shown[: options.max_words], tokens.forms[: options.max_words]
        # A shortened subword would be another one.
        if words and not options.subwords and max(map(len, words)) > options.max_word_length:
            cut = True
            words = [word[: options.max_word_length] for word in words]
            known = [word.lower() for word in words] if options.lower else words
        if words:
            shown.append(words)
            forms.append(known)
    return Words(shown, forms, cut)
