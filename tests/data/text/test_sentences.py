"""Sentences and words: what the tokeniser makes of real writing, and of what nobody should write."""

import pytest
from omegaconf import OmegaConf

from zoo.data.text.options import SentenceOptions
from zoo.data.text.sentences import Words, clean, split_sentences, split_text, unescape_zhang
from zoo.data.text.tokenization import TreebankTokenizer, tokenizer_of


def split(text, **options):
    return split_text(text, SentenceOptions(**options), tokenizer_of(SentenceOptions(**options), "en"))


def sentences(text, **options):
    return [" ".join(words) for words in split(text, **options).sentences]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Fox was late. We left at 5 p.m. Food?!", ["Dr. Fox was late .", "We left at 5 p.m .", "Food ? !"]),
        ("It cost $3.50, i.e. nothing.", ["It cost $ 3.50 , i.e. nothing ."]),
        ("I can't say it's bad.", ["I ca n't say it 's bad ."]),
        ("Good ... The rest was not.", ["Good ...", "The rest was not ."]),
        ("Wow...just wow.", ["Wow ... just wow ."]),
        ('He said "great", really. "Yes."', ['He said " great " , really .', '" Yes . "']),
        ("So . . . well :) ok", ["So . . .", "well : ) ok"]),
        ("First paragraph\n\nsecond one", ["First paragraph", "second one"]),
        ("a line\nand the next", ["a line and the next"]),
        ("Crème brûlée (très bonne) à 5 €.", ["Crème brûlée ( très bonne ) à 5 € ."]),
    ],
)
def test_sentences_and_words(text, expected):
    assert sentences(text) == expected


def test_one_sentence_a_line():
    assert sentences("one . two .\n\nthree\r\nfour", sentences="lines") == ["one . two .", "three", "four"]


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("a<br />b<BR>c", "a\nb\nc"),
        ("tom &amp; jerry &#39;n&#xd;", "tom & jerry 'n\n"),
        ("&lt;br /&gt;", "\n"),
        ("it\u2019s \u201cso\u201d\u2026", 'it\'s "so"...'),
        ("cafe\u0301", "café"),
        ("nul\x00bell\x07", "nul bell "),
        ("i <3 this & that", "i <3 this & that"),
        ("a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_clean(raw, plain):
    assert clean(raw) == plain


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (r"new tires.\nI took \"them\" back", 'new tires.\nI took "them" back'),
        (r"dwindling\band of cynics", "dwindling band of cynics"),
        ("Oracle #39;s &amp; Co", "Oracle &#39;s &amp; Co"),
        ("&#39;quoted&#39;", "&#39;quoted&#39;"),
        ("we are #1; really", "we are #1; really"),
    ],
)
def test_the_escapes_of_zhang(raw, plain):
    assert unescape_zhang(raw) == plain


def test_limits_cut_and_tell():
    limits = {"max_sentences": 2, "max_words": 3, "max_word_length": 5, "lower": False}
    for text, kept, cut in (
        ("One two.\n\nThree.", [["One", "two", "."], ["Three", "."]], False),
        ("A.\n\nB.\n\nC.", [["A", "."], ["B", "."]], True),
        ("one two three four", [["one", "two", "three"]], True),
        ("abcdefgh", [["abcde"]], True),
    ):
        assert split(text, **limits) == Words(kept, kept, cut)


@pytest.mark.parametrize("text", ["", "  \n\t ", "<br /><br>", "&nbsp;\x00"])
def test_nothing_to_read(text):
    assert split(text) == Words([], [], False)


def test_what_nobody_should_write():
    long = split("It was good. " * 10_000)
    assert len(long.sentences) == 100 and long.cut
    assert split("a" * 5_000) == Words([["a" * 40]], [["a" * 40]], True)
    for text in ("." * 5000, '"' * 5000, "a.b!c?" * 1000, ". " * 2000, "(" * 5000, "'" * 5000):
        found = split(text).sentences
        assert all(found) and len(found) <= 100


def test_the_vocabularys_form_keeps_every_position():
    text, words = "Crème ISTANBUL İ ß", [["Crème", "ISTANBUL", "İ", "ß"]]
    assert split(text)[:2] == (words, [["crème", "istanbul", "İ".lower(), "ß"]])
    assert split(text, lower=False)[:2] == (words, words)


def test_words_of_a_sentence_that_is_already_split_stay():
    """The samples are written in the tokeniser's own words."""
    line = 'the soup , which i had , was n\'t " bad " at all ( $ 5 ) .'
    assert TreebankTokenizer(lower=True).split(line).shown == line.split()
    assert split_sentences("a . b", "lines") == ["a . b"]


def test_options_from_a_configuration():
    assert SentenceOptions.of(OmegaConf.create({"max_words": 7})) == SentenceOptions(max_words=7)
    assert SentenceOptions.of(None) == SentenceOptions()
