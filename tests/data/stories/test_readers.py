"""Formats of stories: what is read, the file and line of what cannot be, and the words of sentences in any script."""

import json

import pytest

from tests.data import serving
from tests.data.serving import one_bad_row
from zoo.data.rows import BadRows
from zoo.data.stories.readers import StoryQuestion, parse_line, read_file, read_json, read_stories
from zoo.data.stories.story import Line, answer_form, split_words
from zoo.errors import DataError

BABI = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel took the milk, then the football there.
5 What is Daniel carrying?\tmilk,football\t4 2
1 The office is north of the hallway.
2 How do you go?\ts,n\t1
"""


def written(folder, text, name="qa1_x_train.txt"):
    return serving.written(folder / name, text)


def read(file, task=1, bad=None):
    return list(read_stories(file, task, bad or BadRows()))


def answers(stories):
    return [line.answer for one in stories for line in one.lines if line.answer is not None]


# bAbI's format


def test_stories_of_babis_format(tmp_path):
    file = written(tmp_path, BABI)
    first, second = read(file, task=8)
    assert first.task == second.task == 8
    assert first.lines == (
        Line("Mary moved to the bathroom."),
        Line("John went to the hallway."),
        Line("Where is Mary?", "bathroom", (1,)),
        Line("Daniel took the milk, then the football there."),
        Line("What is Daniel carrying?", "milk,football", (4, 2)),
    )
    assert [line.place for line in first.lines] == [f"{file}, line {line}" for line in range(1, 6)]
    assert second.lines[1] == Line("How do you go?", "s,n", (1,))
    assert second.lines[1].place == f"{file}, line 7"


def test_windows_line_ends_blank_lines_and_missing_supporting_lines(tmp_path):
    text = "\ufeff" + BABI.replace("\n", "\r\n").replace("\t1\r\n", "\r\n") + "\r\n"
    with_them, without = read(written(tmp_path, BABI)), read(written(tmp_path, text, "other.txt"))
    assert answers(without) == answers(with_them)
    assert without[1].lines[1].supporting == ()


def test_a_story_without_a_question_is_left_out(tmp_path):
    (story,) = read(written(tmp_path, "1 Mary left.\n1 John left.\n2 Who left?\tJohn\t1\n"))
    assert story.lines[0].place.endswith("line 2")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("Mary left.\n", 1, "no line number: found 'Mary left.', expected `NUMBER text`"),
        ("1 Mary left.\n2\n", 2, "no text: found ''"),
        ("1 Mary left.\n2 ...\n", 2, r"no text: found '\.\.\.'"),
        ("2 Mary left.\n", 1, "line numbers are not consecutive: found 2, expected 1"),
        ("1 A b.\n3 Where is A?\thall\t1\n", 2, "found 3, expected 2, or 1 at the beginning of a story"),
        ("1 Mary left.\n2 Where is Mary?\n", 2, "question without an answer: expected a tab and the answer"),
        ("1 Mary left.\n2 Where is Mary?\t\t1\n", 2, "empty answer: found ''"),
        ("1 Mary left.\n2 Where is Mary?\t,\t1\n", 2, "empty answer: found ','"),
        ("1 Mary left.\n2 ?\thall\t1\n", 2, r"no text: found '\?', expected a question"),
        ("1 Mary left.\n2 Where is Mary?\thall\t3\n", 2, "supporting line points forward: line 3 is not before 2"),
        ("1 Mary left.\n2 Where is Mary?\thall\t2\n", 2, "supporting line points forward: line 2"),
        ("1 Mary left.\n2 Where is Mary?\thall\t0\n", 2, "supporting line points at nothing: there is no line 0"),
        ("1 Mary left.\n2 Where is Mary?\thall\tx\n", 2, "supporting line is not a number: found 'x'"),
        pytest.param(f"1 A b.\n2 Who?\tA\t{'9' * 5000}\n", 2, "supporting line is not a number", id="long support"),
        pytest.param(f"{'9' * 5000} A b.\n", 1, "no line number", id="long number"),
        ("1 A b.\n2 Who?\tA\t1\n3 Who?\tA\t2\n", 3, "supporting line points at a question: line 2 is a question"),
        ("1 Where is Mary?\thall\t\n", 1, "question about an empty story"),
        ("1 A b.\n1 Where is Mary?\thall\t\n", 2, "question about an empty story"),
        ("1 A b.\n2 Who?\tA\t1\t1\n", 2, "too many tabs: found 3"),
        (b"1 A b.\n2 Caf\xe9 is open.\n", 2, "not UTF-8: byte 0xe9 at offset 12 of the file"),
    ],
)
def test_an_error_in_babis_format_has_its_line(tmp_path, text, line, problem):
    file = written(tmp_path, text)
    with pytest.raises(DataError, match=rf"^{file}, line {line}: (?:.*){problem}"):
        read(file)


def test_a_broken_question_is_skipped_alone_and_its_line_counts(tmp_path):
    bad = BadRows("skip")
    text = "1 A left.\n2 Who?\t\t1\n3 B left.\n4 Who left?\tB\t3\n5 Who was it?\tA\t2\n6 Who?\tA\t1\n"
    (story,) = read(written(tmp_path, text), bad=bad)
    assert answers([story]) == ["B", "A"]
    assert [line.supporting for line in story.lines] == [(), (), (2,), (1,)]  # B left is the second line now
    assert bad.problems == {"empty answer": 1, "supporting line points at a question": 1}


@pytest.mark.parametrize("broken", ["B left.", "7 B left.", "3", "3 B\0left."])
def test_questions_after_a_broken_statement_are_left_out(tmp_path, broken):
    bad = BadRows("skip")
    number = int(broken[0]) if broken[0].isdigit() else 3
    text = f"1 A left.\n2 Who left?\tA\t1\n{broken}\n{number + 1} Who left?\tB\t3\n1 C left.\n2 Who left?\tC\t1\n"
    assert answers(read(written(tmp_path, text), bad=bad)) == ["A", "C"]
    assert bad.problems["question after a broken line of its story"] == 1
    assert bad.total == 2


# json lines


POSITIONS = "expected a list of positions in the story, from 0 to 1"


def record(**changes):
    given = {"story": ["Mary left.", "John came."], "question": "Who left?", "answer": "Mary", "supporting": [0]}
    return {key: value for key, value in (given | changes).items() if value is not ...}


def test_json_lines(tmp_path):
    records = [record(), record(supporting=..., answer=3), record(supporting=[1, 0])]
    file = written(tmp_path, "\n\n".join(map(json.dumps, records)), "mine.jsonl")
    first, second, third = read(file, task=0)
    assert first.lines == (Line("Mary left."), Line("John came."), Line("Who left?", "Mary", (1,)))
    assert first.lines[-1].place == f"{file}, line 1" and second.lines[-1].place == f"{file}, line 3"
    assert (second.lines[-1].answer, second.lines[-1].supporting) == ("3", ())
    assert third.lines[-1].supporting == (2, 1)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"story": "Mary left."}, "no story: column 'story' has 'Mary left.', expected a list of sentences"),
        ({"story": ["Mary left.", 3]}, "no story"),
        ({"story": [], "supporting": ...}, "question about an empty story: column 'story' is an empty list"),
        ({"story": ["Mary left.", " . "]}, "no text: sentence 1 of the story is ' . '"),
        ({"question": ""}, "no question: column 'question' has ''"),
        ({"question": None}, "no question: column 'question' has None"),
        ({"answer": " "}, "empty answer: column 'answer' has ''"),
        ({"answer": None}, "empty answer: column 'answer' has None"),
        ({"answer": True}, "empty answer: column 'answer' has True"),
        ({"supporting": 0}, f"supporting is not a list of numbers: found 0, {POSITIONS}"),
        ({"supporting": ["0"]}, "supporting is not a list of numbers"),
        ({"supporting": [2]}, "supporting points at nothing: found 2"),
        ({"supporting": [-1]}, "supporting points at nothing: found -1"),
        ({"answer": ...}, "missing column: no column 'answer'"),
    ],
)
def test_an_error_in_json_lines_has_its_line(tmp_path, changes, problem):
    file = written(tmp_path, f"{json.dumps(record())}\n{json.dumps(record(**changes))}\n", "mine.jsonl")
    assert len(one_bad_row(lambda bad: read_json(file, 0, bad), f"{file}, line 2: {problem}")) == 1


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"unknown kind of file '.csv'; expected .txt, .jsonl, .ndjson, .json"):
        read(written(tmp_path, BABI, "x.csv"))


# words


def test_words_lose_case_and_punctuation_and_keep_their_places():
    words = split_words("  Mary's dog (the big one) left , then? ")
    assert words.forms == ["mary's", "dog", "the", "big", "one", "left", "then"]
    assert words.shown == ["Mary's", "dog", "(the", "big", "one)", "left ,", "then?"]
    assert split_words(" . ") == ([], [])
    assert split_words("... no") == (["no"], ["no"])


def test_a_list_of_words_is_one_answer():
    assert answer_form("Milk, Football") == answer_form("milk,football") == "milk,football"
    assert answer_form(" The kitchen. ") == "the kitchen"
    assert answer_form("3,") == "3" and answer_form(" ,. ") == ""


def test_marks_at_both_ends_are_dropped():
    marked = "Kitchen! المكتب؟ 哪里？ गया। “kitchen” kitchen… ¿dónde? «(küche).» l’été #5 well-known"
    bare = "kitchen المكتب 哪里 गया kitchen kitchen dónde küche l’été #5 well-known"
    assert split_words(marked).forms == bare.split()


def test_a_mark_alone_belongs_to_the_word_before_it():
    assert split_words("où ? … là") == (["où ? …", "là"], ["où", "là"])


# what a user asks


def test_a_story_and_its_question_in_one_line():
    assert parse_line(" Mary went to the kitchen. John left! Where is Mary? ") == StoryQuestion(
        ["Mary went to the kitchen.", "John left!"], "Where is Mary?"
    )
    assert parse_line("It costs 3.50 today. What?").sentences == ["It costs 3.50 today."]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Where is Mary?", "the story is empty"),
        ("... Where is Mary?", "the story is empty"),
        ("Mary left. ?", "no question"),
        ("Mary left.", "no question at the end"),
        ("", "no question at the end"),
        ("Mary left. Who left? John came. Who came?", "'Who left\\?' is a question before the end"),
    ],
)
def test_a_typed_line_needs_a_story_and_a_question(line, problem):
    with pytest.raises(DataError, match=rf"{problem}.*expected sentences that end in a full stop and, last"):
        parse_line(line)


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("玛丽去了厨房。约翰走了。玛丽在哪里？", "玛丽在哪里？"),
        ("玛 丽 走 了。 玛 丽 在 哪 里？", "玛 丽 在 哪 里？"),
        ("ذهبت مريم إلى المطبخ. أين مريم؟", "أين مريم؟"),
    ],
)
def test_a_question_of_any_script_ends_in_its_mark(tmp_path, line, question):
    assert parse_line(line).question == question
    asked = written(tmp_path, f"1 {line.removesuffix(question).strip()}\n2 {question}\n")
    assert [one.question for one in read_file(asked)] == [question]
    with pytest.raises(DataError, match="line 2: question without an answer"):
        read(asked)


def test_a_users_file_is_of_any_of_the_three_forms(tmp_path):
    mary = StoryQuestion(["Mary moved to the bathroom.", "John went to the hallway."], "Where is Mary?")
    asked = read_file(written(tmp_path, BABI))
    assert asked[0] == mary and [len(one.sentences) for one in asked] == [2, 3, 1]
    open_questions = "1 Mary moved to the bathroom.\n2 John went to the hallway.\n3 Where is Mary?\n4 Where is John?\n"
    assert read_file(written(tmp_path, open_questions)) == [mary, StoryQuestion(mary.sentences, "Where is John?")]
    plain = "\n" + " ".join([*mary.sentences, mary.question]) + "\n\n3.5 is a number. What is 3.5?\n"
    number = StoryQuestion(["3.5 is a number."], "What is 3.5?")
    assert read_file(written(tmp_path, plain)) == [None, mary, None, number]
    line = json.dumps({"story": mary.sentences, "question": mary.question})
    assert read_file(written(tmp_path, line, "mine.jsonl")) == [mary]


@pytest.mark.parametrize(
    ("name", "text", "line", "problem"),
    [
        ("x.txt", "Mary left. Who left?\nMary left.\n", 2, "'Mary left.': no question at the end"),
        ("x.txt", "1 Mary left.\n3 Who left?\n", 2, "line numbers are not consecutive"),
        ("x.txt", b"Mary left. Who left?\n\xe9a left. Who left?\n", 2, "not UTF-8"),
        ("x.jsonl", '{"story": [], "question": "Who?"}\n', 1, "question about an empty story"),
    ],
)
def test_an_error_in_a_users_file_has_its_line(tmp_path, name, text, line, problem):
    file = written(tmp_path, text, name)
    with pytest.raises(DataError, match=rf"^{file}, line {line}: {problem}") as raised:
        read_file(file)
    assert "on_bad_row" not in str(raised.value)  # rows of a typed file cannot be skipped
