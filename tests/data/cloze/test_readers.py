"""Each format of cloze questions, and its errors with file and line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.cloze.blocks import NAMES, block, question_file, write_blocks
from tests.data.serving import one_bad_row
from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.data.cloze.readers import (
    cbt_text,
    cut_sentences,
    every_word,
    parse_line,
    read_cbt,
    read_file,
    read_questions,
    tokenize,
)
from zoo.data.rows import BadRows
from zoo.errors import DataError


def cbt(path):
    return list(read_cbt(path, BadRows()))


def test_cbt(tmp_path):
    for end in ("\n", "\r\n"):
        path = write_blocks(tmp_path / "cbtest_NE_train.txt", [block(0), block(1)], end)
        first, second = cbt(path)
        assert first.sentences[0] == ["Bob", "met", "the", "0", "cats", "."]
        assert len(first.sentences) == 20
        assert first.query == ["Then", BLANK, "slept", "0", "."]
        assert first.candidates == list(NAMES)
        assert (first.answer, second.answer) == ("Ann", "Bob")
        assert first.evidence == ()


def test_cbt_without_a_last_blank_line_and_with_more_between(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n\n" + "\n".join([*block(0), "", " ", "", *block(1)]))
    assert len(cbt(path)) == 2


def test_a_sentence_without_words_is_none(tmp_path):
    path = write_blocks(tmp_path / "a.txt", [block(lines={3: "3 ", 4: "4"})])
    assert len(cbt(path)[0].sentences) == 18


def test_the_blank_may_be_a_part_of_a_word(tmp_path):
    path = write_blocks(tmp_path / "a.txt", [block(query="the XXXXX's cat .")])
    assert cbt(path)[0].query == ["the", BLANK, "'s", "cat", "."]


ALL_EMPTY = {n: str(n) for n in range(1, 21)}
BROKEN = {
    "not 21 lines: this question has 20": (block()[:-1], 23),
    "not 21 lines: this question has 22": ([*block(), "22 more"], 23),
    "numbers do not run: expected the number 7, found 'Bob went'": (block(lines={7: "Bob went"}), 29),
    "numbers do not run: expected the number 7, found '8 Bob'": (block(lines={7: "8 Bob"}), 29),
    "wrong number of fields: found 1; a question with XXXXX, a tab": (block(lines={21: "21 Then XXXXX slept ."}), 43),
    "not ten candidates: found 9": (block(candidates=NAMES[:9]), 43),
    "not ten candidates: found 8": (block(candidates=[*NAMES[:8], "", " "]), 43),
    "no blank: found 0 XXXXX in the question, expected 1": (block(query="Then she slept ."), 43),
    "several blanks: found 2 XXXXX": (block(query="Then XXXXX and XXXXX slept ."), 43),
    "answer not among the candidates: 'Zoe' is none of 'Ann', 'Bob'": (block(answer="Zoe"), 43),
    "answer not among the candidates: 'ann' is none": (block(answer="ann"), 43),
    "empty document: there is no word before the question": (block(lines=ALL_EMPTY), 43),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_block_is_named_and_can_be_left_out(tmp_path, problem):
    lines, line = BROKEN[problem]
    path = write_blocks(tmp_path / "a.txt", [block(0), lines, block(2)])
    left = one_bad_row(lambda bad: read_cbt(path, bad), f"{path}, line {line}: {problem}")
    assert [question.answer for question in left] == ["Ann", "Cat"]


@pytest.mark.usefixtures("damaged")
def test_what_is_not_utf8_is_named_and_can_be_left_out(tmp_path):
    path = write_blocks(tmp_path / "a.txt", [block(0), block(1)])
    path.write_bytes(path.read_bytes().replace(b"5 Fay met the 1", b"5 F\xe9y met the 1"))
    assert len(one_bad_row(lambda bad: read_cbt(path, bad), f"{path}, line 27: not UTF-8: byte 0xe9 ")) == 1
    path = question_file(tmp_path / "1.question")
    path.write_bytes(path.read_bytes().replace(b"saw", b"s\xe4w"))
    assert not one_bad_row(lambda bad: read_questions([path], bad), f"{path}, line 3: not UTF-8: byte 0xe4 at offset ")


def test_what_is_written_is_read_again(tmp_path):
    sentences = [["One", "."], *[["a", str(n)] for n in range(19)]]
    question = ClozeQuestion(sentences, ["b", BLANK, "c"], list(NAMES), "Eve")
    short = ClozeQuestion(sentences[:17], [BLANK], list(NAMES), "Ann")
    path = tmp_path / "a.txt"
    path.write_text(cbt_text(question) + cbt_text(short))
    assert cbt(path) == [question, short]


# CNN and Daily Mail


def test_question_files(tmp_path):
    (question,) = read_questions([question_file(tmp_path / "1.question")], BadRows())
    assert question.candidates == ["@entity3", "@entity1", "@entity2"]
    assert question.answer == "@entity1"
    assert question.query == [BLANK, "asked", "why"]
    assert question.sentences[0] == ["@entity3", "(", "@entity1", ")", "saw", "@entity2", "."]
    assert question.sentences[1] == ['"', "why", "?", '"']
    assert question.sentences[2][0] == "asked"
    assert " ".join(word for sentence in question.sentences for word in sentence).endswith("@entity1 , who left")


WRONG = {
    "line 7: entity not in the document: the answer is '@e9'; entities in the document: 3, such as @entity3": {
        "answer": "@e9"
    },
    "line 7: entity not in the document: the answer is 'Ann'": {"answer": "Ann"},
    "line 7: entity not in the document: the answer is '@entity1'; entities in the document: 0": {"document": "no one"},
    "line 5: empty document": {"document": " "},
    "line 5: no blank": {"query": "Ann asked why"},
    "line 5: several blanks: found 2": {"query": "@placeholder asked @placeholder"},
    "line 3: too few lines: the file ends here; expected the document": {"text": "http://a\n"},
    "line 4: no blank line: expected a blank line, found '@entity1'": {"text": "http://a\n\n@entity1 .\n@entity1\n"},
}


@pytest.mark.parametrize("problem", WRONG)
def test_a_broken_question_file_is_named_and_can_be_left_out(tmp_path, problem):
    files = [question_file(tmp_path / "1.question", **WRONG[problem]), question_file(tmp_path / "2.question")]
    assert len(one_bad_row(lambda bad: read_questions(files, bad), f"{files[0]}, {problem}")) == 1


@given(st.lists(st.sampled_from(["a", ".", "!", '"', ")", "b", "''"]), max_size=30))
def test_sentences_are_cut_behind_their_marks_and_lose_nothing(words):
    sentences = cut_sentences(words)
    assert [word for sentence in sentences for word in sentence] == words
    assert all(sentences)
    for sentence in sentences[1:]:
        assert sentence[0] in ("a", "b", '"')


# Typed


def test_a_typed_line():
    question = parse_line("Ann didn't leave. Bob (her cousin) slept! The one awake was XXXXX. | Ann|Bob| Mr. X |Ann")
    assert question.sentences == [["Ann", "did", "n't", "leave", "."], ["Bob", "(", "her", "cousin", ")", "slept", "!"]]
    assert question.query == ["The", "one", "awake", "was", BLANK, "."]
    assert question.candidates == ["Ann", "Bob", "Mr. X"]
    assert question.answer is None


def test_the_query_may_stand_anywhere_and_candidates_are_the_words():
    question = parse_line("XXXXX slept. Ann left, and Bob - Ann's cousin - slept.")
    assert question.query == [BLANK, "slept", "."]
    assert question.candidates == ["Ann", "left", "and", "Bob", "'s", "cousin", "slept"]
    assert every_word([["."], ["a", "--", "a", "7"]]) == ["a", "7"]


def test_entities_of_news_stay_whole():
    assert tokenize("@entity5's cat saw @placeholder, @ home.") == [
        "@entity5", "'s", "cat", "saw", BLANK, ",", "@", "home", ".",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Ann left. Bob slept.", "no XXXXX in it; expected a few sentences and one with XXXXX"),
        ("Ann left. XXXXX and XXXXX slept.", "2 XXXXX in it"),
        ("XXXXX slept. | Ann|Bob", "one sentence, and no document before it"),
        ("Ann left. XXXXX slept. | ", "no candidate after |"),
    ],
)
def test_a_typed_line_that_asks_nothing(line, problem):
    with pytest.raises(DataError, match=re.escape(problem)):
        parse_line(line)


def test_a_file_of_questions_to_be_answered(tmp_path):
    path = write_blocks(tmp_path / "a.txt", [block(), ["1 Ann left .", "2 Bob slept .", "3 XXXXX slept ."]])
    official, own = read_file(path)
    assert official.answer == "Ann"
    assert official.candidates == list(NAMES)
    assert own == ClozeQuestion(
        [["Ann", "left", "."], ["Bob", "slept", "."]], [BLANK, "slept", "."], ["Ann", "left", "Bob", "slept"], None
    )
    path.write_text("Ann left. XXXXX slept. | Ann\n\nBob left. XXXXX slept.\n")
    assert [question and question.candidates for question in read_file(path)] == [["Ann"], None, ["Bob", "left"]]
    path.write_text("1984 was bad. XXXXX slept.\n")
    (typed,) = read_file(path)
    assert typed is not None and typed.query == [BLANK, "slept", "."]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 Ann left .\n2 Bob slept .\n", "line 2: not one XXXXX in the question"),
        ("1 XXXXX slept .\n", "line 1: no document"),
        ("Ann left. XXXXX slept.\nAnn left.\n", "line 2: 'Ann left.': no XXXXX in it"),
    ],
)
def test_a_file_that_asks_nothing(tmp_path, text, problem):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}, {problem}')}"):
        read_file(path)
