"""The tables of results/fine_tuning.py: drawn reviews do not overlap, passages are whole paragraphs."""

import csv
import sys
import zipfile
from pathlib import Path

import pytest

from results.fine_tuning import main, passages


def made(monkeypatch: pytest.MonkeyPatch, *words: object) -> dict[str, list[tuple[str, str]]]:
    """The tables that a command writes into `tables`, by split."""
    monkeypatch.setattr(sys, "argv", ["fine_tuning.py", *map(str, words)])
    main()
    tables = {}
    for path in sorted(Path(str(words[2])).glob("*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        assert head == ["text", "label"]
        tables[path.stem] = [(text, label) for text, label in rows]
    return tables


def test_drawn_reviews_are_balanced_and_no_split_has_those_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"movie_reviews/{label}/cv{number}_1.txt" for label in ("neg", "pos") for number in range(890, 910)]
    with zipfile.ZipFile(tmp_path / "reviews.zip", "w") as archive:
        for name in (*names, "movie_reviews/README"):
            archive.writestr(name, name)
    drawn = {}
    for seed in (1, 2):
        words = ["reviews", tmp_path / "reviews.zip", tmp_path / f"{seed}", "--train", 8, "--val", 6, "--seed", seed]
        drawn[seed] = made(monkeypatch, *words)
    one, other = drawn[1], drawn[2]
    assert {split: len(rows) for split, rows in one.items()} == {"train": 8, "val": 6, "test": 20}
    assert all([label for _, label in rows].count("neg") == len(rows) / 2 for rows in one.values())
    assert all(f"/{label}/" in text for rows in one.values() for text, label in rows)
    assert sorted(text for text, _ in one["test"]) == [name for name in names if "/cv9" in name]
    assert not {*one["train"]} & {*one["val"]} and not any("/cv9" in text for text, _ in one["train"] + one["val"])
    assert other["test"] == one["test"] and other["train"] != one["train"]
    again = ["reviews", tmp_path / "reviews.zip", tmp_path / "more", "--train", 8, "--val", 6, "--more"]
    both = made(monkeypatch, *again, tmp_path / "2/train.csv")
    assert both == one | {"train": one["train"] + other["train"]}


def test_a_passage_ends_with_the_paragraph_that_makes_it_long_enough() -> None:
    lines = [
        "# Title",
        "-------",
        "",
        "One two three.",
        "",
        "Four five.",
        "## CHAPTER 2",
        "Six.",
        "Seven eight.",
        "Nine.",
    ]
    assert [*passages(lines, 5)] == ["One two three.\n\nFour five."]
    assert [*passages(lines, 3)] == ["One two three.", "Four five.\n\nSix.", "Seven eight.\n\nNine."]


def test_sentences_are_the_words_of_trees_without_the_neutral_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = "(4 (2 a) (4 (3 fine) (2 film)))", "(2 (2 so) (2 it))", "(1 (2 no) (2 -LRB-))"
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.txt").write_text("\n".join(trees))
    tables = made(monkeypatch, "sentences", tmp_path, tmp_path / "tables")
    assert tables == {split: [("a fine film", "pos"), ("no (", "neg")] for split in ("train", "val", "test")}
