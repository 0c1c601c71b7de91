"""From raw text to sentences of words: the one place that decides what a word is.

Sentences by Punkt (Kiss and Strunk 2006) with the abbreviations written out below in place of trained ones, words by
the Penn Treebank rules, both from NLTK and without downloaded data. Close to the Stanford CoreNLP that Yang et al.
(2016) used: "can't" is "ca n't", punctuation stands alone; other than there, quotation marks stay `"`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache
from typing import NamedTuple

from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from zoo.data.text.options import TextOptions

ABBREVIATIONS = """
    adm apt assn asst ave bldg blvd bros capt cf cmdr co col corp dept dist dr ed e.g eg est etc ext fig ft gen gov
    hon hwy i.e ie inc jr lt ltd maj max min mr mrs ms mt oz pp pres prof pvt rd rep rev sen sgt sq sr st univ vol
    vs a.m p.m u.k u.s u.s.a d.c b.c a.d a.k.a ph.d m.d b.a m.a jan feb mar apr jun jul aug sep sept oct nov dec mon
    tue tues wed thu thur thurs fri
"""
# After an abbreviation or "...", these with a capital begin a new sentence.
SENTENCE_STARTERS = """
    the a an this that these those there here i we you he she it they my our your his her its their and but so or if
    when while after before because although however then now also not no nothing everything everyone what who where
    why how in on at for with as to
"""

LINE_BREAK = re.compile(r"<\s*(?:br|p|/p)\s*/?\s*>|\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]", re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\ufeff]")
BLANK_LINE = re.compile(r"\n\s*\n")
TYPOGRAPHIC = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})  # fmt: skip
WORD_CHARACTER = re.compile(r"\w")
TORN_ENTITY = re.compile(r"(?<![&\w])#(\d{2,4});")


class Words(NamedTuple):
    """A document of words."""

    sentences: list[list[str]]
    """None of them empty."""
    cut: bool
    """True where the limits took something away."""


@cache
def _sentence_tokenizer() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS.split())
    parameters.sent_starters = set(SENTENCE_STARTERS.split())
    return PunktSentenceTokenizer(parameters)


@cache
def _word_tokenizer() -> NLTKWordTokenizer:
    return NLTKWordTokenizer()


def unescape_zhang(text: str) -> str:
    r"""The text behind the escapes of the Zhang (2015) sets, csv and parquet alike: `\n` and `\"` in two characters, a
    backslash for a line break within AG's News, entities that lost their ampersand (`#39;`)."""
    text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\", " ")
    return TORN_ENTITY.sub(r"&#\1;", text)


def clean(text: str) -> str:
    """`text` with html entities and line breaks decoded, composed accents, plain quotes, no control characters."""
    text = unicodedata.normalize("NFC", html.unescape(text))
    return CONTROL.sub(" ", LINE_BREAK.sub("\n", text)).translate(TYPOGRAPHIC)


def split_sentences(text: str, how: str = "punkt") -> list[str]:
    """The sentences of a cleaned text: `punkt`, where a blank line ends a sentence too, or `lines`."""
    if how == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    found: list[str] = []
    for block in BLANK_LINE.split(text):
        sentences: list[str] = []
        for part in _sentence_tokenizer().tokenize(block.strip()):
            if sentences and not WORD_CHARACTER.search(part):
                sentences[-1] += " " + part  # "?!" and ". . ." are no sentences of their own
            else:
                sentences.append(part)
        found += sentences
    return found


def split_words(sentence: str) -> list[str]:
    """The words of one sentence by the Treebank rules, with `"` for both quotation marks."""
    return ['"' if word in ("``", "''") else word for word in _word_tokenizer().tokenize(sentence)]


def split_text(text: str, options: TextOptions) -> Words:
    """Sentences of words as they are written, within the limits; a text without words gives no sentences.

    `options.lower` is left to `normal_form`, so that a prediction can be shown with the words of its author.
    """
    found = split_sentences(clean(text), options.sentences)
    cut = len(found) > options.max_sentences
    sentences = []
    for sentence in found[: options.max_sentences]:
        words = split_words(sentence)
        cut = cut or len(words) > options.max_words
        words = words[: options.max_words]
        cut = cut or any(len(word) > options.max_word_length for word in words)
        if words:
            sentences.append([word[: options.max_word_length] for word in words])
    return Words(sentences, cut)


def normal_form(sentences: list[list[str]], options: TextOptions) -> list[list[str]]:
    """The words as the vocabulary knows them."""
    return [[word.lower() for word in sentence] for sentence in sentences] if options.lower else sentences
