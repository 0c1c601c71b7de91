"""Words and sentences found fast equal those of the libraries that have the rules, on ordinary and on strange text."""

import random

import pytest
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from sacremoses import MosesTokenizer

from zoo.data.text import word_rules
from zoo.data.text.word_rules import Punkt, moses_words, treebank_words

SENTENCES = [
    "He said, \"I can't (or won't) pay $1,250.50 -- not today!\"",
    "It's 5:30 p.m. in the U.S., isn't it?",
    "The boys' dogs' and the Joneses'.",
    "'Tis the dogs' bone,' she said; 'twas o'clock's time.'",
    "\"'I'll be there,' he cried.\"",
    "(See Fig. 3.) The cat [a tabby] sat--well, slept--on it...",
    "I'm gonna say: gimme that, you cannot; d'ye want more'n that?",
    "Rock 'n' roll; ``quoted'' text: 100% of #5 @ home & away * <b>.",
    "He wrote it in 1990. It was, e.g., good.)",
    "and so on ... . . . etc.",
    "C'est l'heure d'aujourd'hui, n'est-ce pas ?",
    "Am 3. Mai kam z.B. Dr. Müller, Nr. 5, aus d. Stadt.",
    ", 'quoted, 5,000 ,5 and ' 'more' '6",
    "'",
    ".",
    " a. ",
]
PIECES = [*"abnstmdlr'SMD.,:;?!\"()[]<>-— 15$%#@*&`_/’”»“é°\n \t\xa0", "n't", "'s", "'ll", "''", "``", "--", "..."]
PIECES += ["cannot", "gonna", "'tis", "d'ye", "more'n", "o'clock", "word", "Mr", "U.S.", "The", "the", "3.", "z.B."]
PIECES += [" ", " ", " ", ". ", "' '", '." ', ", ", "? "]


def strange(count, seed):
    """Texts in which marks, clitics, abbreviations and blanks meet in any order."""
    draw = random.Random(seed)
    return ["".join(draw.choices(PIECES, k=draw.randint(1, 14))) for _ in range(count)]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """Small memories, so that they are full and emptied during a test."""
    monkeypatch.setattr(word_rules, "REMEMBERED", 200)


def test_words_of_the_treebank_are_those_of_nltk():
    nltk = NLTKWordTokenizer()
    for text in [*SENTENCES, *strange(2000, 1)]:
        expected = ['"' if word in ("``", "''") else word for word in nltk.tokenize(text)]
        assert treebank_words(text) == expected, text


@pytest.mark.parametrize("language", ["en", "de", "fr", "hi"])
def test_words_of_moses_are_those_of_sacremoses(language):
    moses = MosesTokenizer(language)
    for text in [*SENTENCES, *strange(300, 2)]:
        assert moses_words(text, language) == moses.tokenize(text, escape=False), text


def test_sentences_are_those_of_nltk():
    abbreviations, starters = {"mr", "etc", "e.g", "u.s", "fig", "a", "3"}, {"the", "it"}
    parameters = PunktParameters()
    parameters.abbrev_types, parameters.sent_starters = abbreviations, starters
    nltk, ours = PunktSentenceTokenizer(parameters), Punkt(abbreviations, starters)
    whole = " ".join(SENTENCES)
    for text in [whole, whole.replace(" ", "\n"), *map(str.strip, [*SENTENCES, *strange(2000, 3)])]:
        assert ours.split(text) == nltk.tokenize(text), text


def test_a_long_piece_is_not_remembered():
    """A file without blanks must not fill the memory."""
    long = "x'" * word_rules.LONG
    assert treebank_words(f"{long} end")
    assert long not in word_rules._inside
