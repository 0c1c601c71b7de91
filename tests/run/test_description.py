"""A data set on the terminal: one drawing for the parts that any family gives."""

import json
from io import StringIO

import pytest
from rich.console import Console

from tests.data.pairs.toy import Toy
from tests.data.serving import prepared, table
from zoo.cli import main
from zoo.data.documents.yelp import Yelp
from zoo.run.description import MOST_CLASSES, description


def shown(parts):
    console = Console(file=StringIO(), width=200)
    console.print(description("mine", parts))
    return console.file.getvalue()


def rows(text):
    """The cells of each row of the tables."""
    lines = [line.replace("┃", "│") for line in text.splitlines()]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]


def command(capsys, *words):
    """The output of `zoo data <words>`."""
    main(["data", *map(str, words)])
    return capsys.readouterr().out


# our families


def test_pairs(cache_dir):
    data = prepared(Toy(text={"max_length": 8, "max_ratio": 1.2}))
    text = shown(data.describe())
    assert "mine: sample: 82 generated toys, seed 1" in text
    assert f"vocabularies of {data.spec.source_size} (source) and {data.spec.target_size} (target) tokens" in text
    titles, train, *_ = rows(text)
    assert {"pairs", "most source tokens", "target unknown rate"} <= set(titles) and "longer than 8 tokens" in train[-1]
    joint = prepared(Toy(text={"joint": True}))
    assert f"one vocabulary of {joint.spec.source_size} tokens for both sides" in shown(joint.describe())


def test_documents(cache_dir):
    data = prepared(Yelp(sample={"train": 30, "val": 10, "test": 10}, text={"minimum_frequency": 1}))
    parts = data.describe()
    text, shares = shown(parts), {row[0]: row[1] for row in rows(shown(parts))[5:]}
    assert "mine: sample: 50 generated reviews, seed 1" in text
    assert f"vocabulary {data.spec.vocabulary_size:,} words, 5 classes" in text and "sentences in train: mean" in text
    assert shares == {name: f"{count / 30:.1%}" for name, count in parts["splits"]["train"]["classes"].items()}


# any family

NUMBERS = {
    "source": "two splits",
    "splits": {
        "train": {"points": 1200, "error_rate": 0.25, "height": 1.5, "drawn": True, "of": [1, 2]},
        "test": {"points": 7, "error_rate": 0.0, "height": 2.0, "kind": "far"},
    },
}


def test_a_name_and_the_numbers_of_the_splits_are_enough():
    text = shown(NUMBERS)
    assert "mine: two splits" in text and "examples" not in text and "notes" not in text
    assert rows(text) == [
        ["split", "points", "error rate", "height", "drawn", "kind"],
        ["train", "1,200", "25.0%", "1.5", "True", ""],
        ["test", "7", "0.0%", "2", "", "far"],
    ]
    parts = NUMBERS | {"skipped": {"no text": 1200}, "contents": ["points on a line"]}
    assert shown(parts).splitlines()[1:3] == ["points on a line", "left out: 1,200 no text"]


def test_lengths_examples_and_many_classes():
    tokens = {"mean": 2.5, "median": 2.0, "max": 1200, "bins": {"1": 1, "2-3": 3}}
    splits = {"train": {"source_tokens": tokens, "dropped": {"long": 2, "short": 1}}, "test": {"dropped": {}}}
    text = shown({"source": "s", "splits": splits, "examples": [{"source_text": "a dog"}]})
    assert rows(text) == [
        ["split", "most source tokens", "dropped"], ["train", "1,200", "2 long, 1 short"], ["test", "", "none"]
    ]  # fmt: skip
    assert "source tokens in train: mean 2.5, median 2, most 1,200" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["1", "1", "█" * 10] in lines and ["2-3", "3", "█" * 30] in lines, "the longest bar has 30 cells"
    assert ["examples"] in lines and ["source", "text", "a", "dog"] in lines
    counts = {f"class {number}": number for number in range(MOST_CLASSES + 30)}
    text = shown({"source": "s", "splits": {"train": {"classes": counts}, "test": {"classes": {"class 49": 1}}}})
    found = [row[0] for row in rows(text) if row[0].startswith("class ")]
    assert found == [f"class {number}" for number in range(49, 49 - MOST_CLASSES, -1)]
    assert "and 30 more" in text
    assert ["class 49", f"{49 / sum(range(50)):.1%}", "100.0%"] in rows(text)


def test_names_and_texts_of_anybodys_are_no_markup_and_no_orders_to_the_terminal():
    parts = {
        "source": "[red]file[/red].csv",
        "splits": {"[i]": {"[u]": 4, "classes": {"[bold]": 1, ":smile:": 3, "\x1b[2J": 0}}},
        "examples": [{"text": "[/bold] \x1b[2J " + "x " * 1000, "at": [0.5, 1]}],
        "notes": ["all are of class '[bold]'"],
    }
    text = shown(parts)
    assert "mine: [red]file[/red].csv" in text and "\x1b" not in text
    assert rows(text)[:2] == [["split", "[u]"], ["[i]", "4"]]
    assert rows(text)[2:] == [["classes", "[i]"], ["[bold]", "25.0%"], [":smile:", "75.0%"], ["�[2J", "0.0%"]]
    assert "[/bold] �[2J x x" in text and "…" in text and "[0.5, 1]" in text
    assert "all are of class '[bold]'" in text


# notes


@pytest.fixture
def faulty(tmp_path):
    """Most documents of the csv have one class, the tokenizer does not cut them, and the test equals the training."""
    documents = [(f"我喜欢这家餐厅{number}", "bad" if number % 10 == 0 else "good") for number in range(60)]
    return table(tmp_path / "mine.csv", documents)


def test_the_notes_of_documents_are_printed(faulty, cache_dir, capsys):
    words = ["documents", f"data.path={faulty}", f"data.split.test={faulty}", "data.text.minimum_frequency=1"]
    *_, said = command(capsys, *words).partition("\nnotes\n")
    said = " ".join(said.split())
    assert "test: 54 of 60 documents are in train too" in said
    assert "89% of the training documents are of class 'good': always predicting it is right as often" in said
    assert "a training sentence has 1.0 words on average: data.text.tokenizer=words does not cut this text" in said
    parts = json.loads(command(capsys, *words, "--json"))
    assert len(parts["notes"]) >= 3 and all(note in said for note in parts["notes"])
    assert parts["name"] == "documents" and parts["classes"] == ["bad", "good"]
    assert parts["splits"]["train"]["documents"] == 54
