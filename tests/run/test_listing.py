"""`zoo list`: all of the catalogue, or what some words choose."""

import json

import pytest

import zoo
from zoo.cli import main


def listed(capsys, *words):
    main(["list", *words, "--json"])
    return {part: [entry["name"] for entry in found] for part, found in json.loads(capsys.readouterr().out).items()}


def test_words_choose_parts_tasks_and_names(capsys):
    everything = listed(capsys)
    assert list(everything) == ["models", "data", "experiments"] and len(everything["models"]) > 20
    assert listed(capsys, "models") == {"models": everything["models"]}
    assert "luong" in listed(capsys, "models", "translation")["models"]
    assert "han" not in listed(capsys, "models", "translation")["models"]
    found = listed(capsys, "han")
    assert "han" in found["models"] and len(found["models"]) < 5
    assert listed(capsys, "Yang")["models"][0] == "han", "an author, and capitals do not matter"
    assert set(listed(capsys, "data", "pointing")["data"]) == {
        "convex_hull",
        "delaunay",
        "points",
        "sort_numbers",
        "tsp",
    }


def test_lines_have_no_blanks_at_their_ends_and_are_indented_where_they_go_on(capsys):
    main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 120 and line == line.rstrip() for line in lines)
    start = lines.index("Data: data=NAME")
    names = {line.split()[0] for line in lines[start + 2 :] if line and not line.startswith((" ", "Experiments"))}
    main(["list", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert names == {entry["name"] for part in ("data", "experiments") for entry in found[part]}


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"attention-zoo {zoo.__version__}\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["list", "hann"], "error: zoo list hann: nothing in the catalogue has hann; did you mean zoo list han?"),
        (["predcit", "last"], "error: zoo predcit: unknown command; did you mean zoo predict?"),
        (["evaluate"], "error: zoo evaluate: unknown command; available: data, list, predict, train"),
    ],
)
def test_a_word_that_is_not_there_gets_the_nearest(refusal, words, expected):
    assert refusal(*words).err.strip() == expected
