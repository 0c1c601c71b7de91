"""Names and nouns found by counting, and questions cut from small texts."""

import re
from pathlib import Path

import pytest

from tests.data.serving import written
from zoo.data.cloze.batch import BLANK
from zoo.data.cloze.cutting import Book, Lexicon, chapters_of, cut, read_book
from zoo.data.cloze.lexicon import names_of, nouns_of, tells_verb


def words(*sentences):
    return [sentence.split() for sentence in sentences]


# names


@pytest.mark.parametrize(
    ("sentences", "names"),
    [
        (["then Ann slept .", "so Ann left ."], {"Ann"}),
        (["then Ann slept .", "Ann left .", "Ann sang ."], set()),  # once inside a sentence: too little
        (['" Come , " said Ann , " Come , Ann . "', "and Ann left ."], {"Ann"}),  # quotes begin sentences
        (["the King slept .", "the King left .", "a king slept ."], set()),  # a title, and no name
        (["by May we left .", "by May we came .", "then you may go ."], set()),  # also a word
        (["in the March wind", "a March hare", *["the March came"] * 8, "they march"], {"March"}),  # 10 of 11
        (["then ANN slept", "so ANN left", "and I left", "and I slept", "the U2 , the U2"], set()),
        (["so Mr. Ann-Mary left", "and Mr. Ann-Mary came"], set()),
        (["then -- Well", "then -- Well", ": Yes", "( No"], set()),
    ],
)
def test_names(sentences, names):
    assert names_of(words(*sentences)) == names


# nouns


@pytest.mark.parametrize(
    ("sentences", "nouns"),
    [
        (["the garden ,", "a garden was", "his garden ."], {"garden"}),
        (["the garden ,", "a garden was", "garden ."], set()),  # twice is too little
        (["the old man ,", "an old man .", "his old man was", "the old , man", "old"], set()),
        (["the other ,", "the other was", "the other ."], set()),
        (["the walk .", "a walk ,", "his walk was", *["they walk far"] * 2], set()),  # as often a verb
        (["the walk .", "a walk ,", "his walk was", "they walk far"], {"walk"}),  # 3 of 4
        (["the Garden ,", "a Garden was", "his Garden ."], set()),
        (["the ox ,", "a ox was", "his ox ."], set()),  # two letters
        (["the boy ,", "a boy was", "his boy .", "boys slept", "two boys"], {"boy", "boys"}),
        (["the wish ,", "a wish was", "his wish .", "she wishes so"], {"wish"}),
        (["the thing ,", "a thing was", "his thing .", *["some of many thing"] * 27], {"thing"}),  # 3 of 30
        (["the thing ,", "a thing was", "his thing .", *["some of many thing"] * 28], set()),
    ],
)
def test_nouns(sentences, nouns):
    assert nouns_of(words(*sentences)) == nouns


def test_a_noun_before_a_verb_is_no_adjective_and_an_adjective_before_a_noun_is():
    slots = ["the {0} ,", "a {0} was", "his {0} ."]
    man, old = ([sentence.format(word) for sentence in slots] for word in ("man", "old"))
    assert nouns_of(words(*man, *["the man said so"] * 9)) == {"man"}
    assert nouns_of(words(*man, *old, *["the old man slept"] * 9)) == {"man"}


def test_a_noun_that_is_a_verb_here():
    assert tells_verb(["they", "walk", "far"], 1)
    assert tells_verb(["to", "walk", "Ann", "home"], 1)
    assert not tells_verb(["to", "town", "."], 1)
    assert not tells_verb(["the", "walk", "was"], 1)
    assert not tells_verb(["walk", "was"], 0)


# texts


TEXT = """# Title: A Story

## Author: Nobody

-------

### CHAPTER ONE - Which Begins

Ann said, "I didn't see *Bob*." Then she left for _Mr._ Smith's
garden--the old one.

* * *

## II

The [end](http://a.b/c) came.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_in_chapters_of_sentences_of_words(tmp_path, end):
    book = read_book(written(tmp_path / "a story.md", TEXT.replace("\n", end)))
    assert book.name == "a story"
    assert book.chapters == [
        [
            ["Ann", "said", ",", '"', "I", "did", "n't", "see", "Bob", ".", '"'],
            ["Then", "she", "left", "for", "Mr.", "Smith", "'s", "garden", "--", "the", "old", "one", "."],
        ],
        [["The", "end", "came", "."]],
    ]


FRAMED = """The Project Gutenberg eBook of A Story
*** START OF THE PROJECT GUTENBERG EBOOK A STORY ***

CHAPTER I.

Ann slept.
Bob slept.

Chapter 2
Part of it slept.
*** END OF THE PROJECT GUTENBERG EBOOK A STORY ***

The licence.
"""


def test_a_plain_text_with_chapters_and_the_frame_of_project_gutenberg():
    found = [[" ".join(sentence) for sentence in chapter] for chapter in chapters_of(FRAMED.splitlines())]
    assert found == [["Ann slept .", "Bob slept ."], ["Part of it slept ."]]


# cutting

PEOPLE = ("Ann", "Bob", "Cat", "Dan", "Eve")
THINGS = ("lamp", "door", "bell", "rope", "ship", "tree", "wall", "lake", "road", "barn", "hat")
STORY = [f"then {PEOPLE[n % 5]} saw the {THINGS[n % 11]} .".split() for n in range(30)]
LEXICON = Lexicon({"story": set(PEOPLE)}, set(THINGS))


def test_twenty_sentences_and_the_next_with_a_word_taken_out():
    questions = list(cut(Book("story", [STORY]), LEXICON, "NE"))
    assert len(questions) == 10
    for number, question in enumerate(questions):
        assert question.sentences == STORY[number : number + 20]
        assert [question.answer if word == BLANK else word for word in question.query] == STORY[number + 20]
        assert question.answer == PEOPLE[number % 5] and question.query.count(BLANK) == 1
        assert question.candidates == sorted(set(question.candidates)) and len(question.candidates) == 10
        assert set(PEOPLE) < set(question.candidates) < {*PEOPLE, *THINGS}  # things fill up what names leave


def test_common_nouns():
    questions = list(cut(Book("story", [STORY]), LEXICON, "CN"))
    assert [question.answer for question in questions] == [THINGS[n % 11] for n in range(20, 30)]
    assert all({question.answer} < set(question.candidates) < set(THINGS) for question in questions)


def test_the_answer_stands_in_the_context_once_in_the_query_and_never_across_chapters():
    def answers(last, lexicon=LEXICON, before=STORY[:20], kind="NE"):
        return [one.answer for one in cut(Book("story", [[*before, last.split()]]), lexicon, kind)]

    assert answers("then Ann saw it .") == ["Ann"]
    assert answers("then Fay saw it .", Lexicon({"story": {*PEOPLE, "Fay"}}, set(THINGS))) == []
    assert answers("then Ann saw Ann .") == []
    assert answers("then XXXXX saw Ann .") == []
    assert answers("they lamp him .", kind="CN") == []
    assert answers("then she saw it .") == []
    assert list(cut(Book("story", [STORY[:15], STORY[15:]]), LEXICON, "NE")) == []


def test_too_few_names_or_words_of_the_kind_make_no_question():
    few = [f"then {PEOPLE[n % 3]} saw the {THINGS[n % 11]} .".split() for n in range(25)]
    assert list(cut(Book("story", [few]), LEXICON, "NE")) == []
    poor = Lexicon({"story": set(PEOPLE)}, set(THINGS[:4]))
    assert list(cut(Book("story", [STORY]), poor, "NE")) == []  # five names and four things
    enough = Lexicon({"story": set(PEOPLE)}, set(THINGS[:5]))
    assert len(list(cut(Book("story", [STORY]), enough, "NE"))) == 10
    assert list(cut(Book("story", [STORY]), Lexicon({"story": set()}, set(THINGS[:9])), "CN")) == []


def test_a_stride_keeps_last_sentences_apart():
    book = Book("story", [STORY * 3])
    for stride in (1, 4, 21):
        contexts = [one.sentences for one in cut(book, LEXICON, "NE", stride=stride)]
        assert contexts == [(STORY * 3)[n : n + 20] for n in range(0, 70, stride)]


def test_a_sentence_without_a_question_does_not_count_as_one():
    nothing = words("then it rained .")[0]
    chapter = [*STORY[:20], nothing, nothing, *STORY[20:24]]
    (first, second) = cut(Book("story", [chapter]), LEXICON, "NE", stride=3)
    assert [first.sentences, second.sentences] == [chapter[2:22], chapter[5:25]]


def test_the_seed_draws_the_words():
    sentence = words("then Ann met Bob and Cat and Dan by the lamp .")[0]
    book = Book("story", [[*STORY[:20], *[sentence] * 30]])
    first, again, other = ([one.answer for one in cut(book, LEXICON, "NE", seed=seed)] for seed in (1, 1, 2))
    assert first == again != other
    assert set(first) == {"Ann", "Bob", "Cat", "Dan"}


# real books


def test_real_books(shared_data):
    folder = shared_data / "childrens_books" / "books"
    if not folder.is_dir():
        pytest.skip("no children's books beside the clone (../shared/data/childrens_books)")
    book = read_book(Path(folder / "alice_s_adventures_in_wonderland.md"))
    text = " ".join(word for sentence in book.sentences for word in sentence)
    assert not re.search(r"Lewis Carroll|CHAPTER|#|\*\*", text)
    lexicon = Lexicon.of([book])
    assert {"Alice", "Rabbit", "Hatter", "Dinah", "Gryphon"} <= lexicon.names[book.name]
    assert not {"Oh", "Well", "The", "She", "I", "Come", "Yes"} & lexicon.names[book.name]
    assert {"table", "door", "garden", "voice", "head", "moment"} <= lexicon.nouns
    assert not {"said", "went", "little", "very", "she", "other", "great", "quite"} & lexicon.nouns
    assert all(len(list(cut(book, lexicon, kind))) > 50 for kind in ("NE", "CN"))
