"""The prose of the project follows the mechanical rules of plain English, and each rule fires on what it forbids."""

import functools
from pathlib import Path

import pytest

from tests import language
from tests.language import LONGEST_SENTENCE, Passage, passage_problems, problems, prose_files, relative

PROBLEMS = functools.cache(lambda: {relative(path): problems(path) for path in prose_files()})


def test_prose() -> None:
    assert [line for found in PROBLEMS().values() for line in found] == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("opening", "Of a picture its head."),
        ("of which", "a text of which the words are known"),
        ("of which", "the layer to whom it is given"),
        ("one a line", "Trees are one in brackets a line, or one tree a line."),
        ("one a line", "It makes 20 words a sentence."),
        ("behind", "All tokens behind the end are padding."),
        ("in a row", "They run one after the other."),
        ("who", "A network who sees the words is right."),
        ("told", "The sums are told to the layer."),
        ("said", "If nothing is said, English is used."),
        ("stands", "The seed stands in the row."),
        ("wants", "It wants plain words."),
        ("heeds", "It heeds the mask."),
        ("alike", "Both are treated alike."),
        ("by turns", "They are read by turns."),
        ("goes round", "What goes round between the steps."),
        ("is no", "A figure that is no triangle."),
        ("mend", "Mend the file."),
        ("long", "word " * (LONGEST_SENTENCE + 1)),
    ],
)
def test_a_rule_fires(rule: str, text: str) -> None:
    assert rule in {name for name, _, _ in passage_problems(Passage(1, "docstring", text))}


@pytest.mark.parametrize(
    "text",
    [
        "What differs from the paper: nothing.",
        "There is no file, and it is no longer needed.",
        "B stands for the batch; `told` and `stands` are names in code.",
        "One is a line, 5 in a row; 1 begins a story.",
        "The set in which the words are.\n\nOf these, one is read.",
        "The first half of it. " + "word " * LONGEST_SENTENCE,
    ],
)
def test_plain_prose_passes(text: str) -> None:
    assert list(passage_problems(Passage(1, "comment", text))) == []


PYTHON = '''"""First."""
x = "one two three"  # second
# third
# goes on
def f(n):
    """Fourth."""
    raise ValueError(f"expected {n}, " f"found 'a b c'")
y = """
# not a comment
"""
y: int
"""Fifth."""
'''


def test_passages_of_python() -> None:
    found = {(passage.line, passage.kind, passage.text) for passage in language.python_passages(PYTHON)}
    assert found == {
        (1, "docstring", "First."),
        (2, "message", "one two three"),
        (2, "comment", "second"),
        (3, "comment", "third\ngoes on"),
        (6, "docstring", "Fourth."),
        (7, "message", "expected X, found 'a b c'"),
        (8, "message", "\n# not a comment\n"),
        (12, "docstring", "Fifth."),
    }
    without = {passage.kind for passage in language.python_passages(PYTHON, strings=False)}
    assert without == {"docstring", "comment"}


def test_passages_of_pages_and_configurations() -> None:
    page = "# Title\n\nA line\nand another.\n- an item\n- a second\n\n```sh\npython\n```\n| a | table |\nThe end.\n"
    assert [(one.line, one.text) for one in language.markdown_passages(page)] == [
        (3, "A line\nand another."),
        (5, "- an item"),
        (6, "- a second"),
        (12, "The end."),
    ]
    configuration = "# A model.\n#   python train.py\n# Its paper.\nwidth: 5  # hidden units\n"
    assert [(one.line, one.text) for one in language.yaml_passages(configuration)] == [
        (1, "A model."),
        (3, "Its paper."),
        (4, "hidden units"),
    ]


def test_a_problem_names_the_file_the_line_and_the_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "foreign.md").write_text("It stands here.", encoding="utf-8")
    monkeypatch.setattr(language, "ROOT", tmp_path)
    assert problems(tmp_path / "foreign.md") == [
        "foreign.md:1: page, stands: 'stands': write 'is', 'lies' or 'is listed'"
    ]
