"""The files of results/: which row replaces which."""

import csv
import importlib
from pathlib import Path

import pytest

from tests.catalogue import ROOT


def test_a_row_replaces_the_one_of_the_same_source_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "results"))
    rows = importlib.import_module("rows")
    first = dict.fromkeys(rows.COLUMNS, "") | {"model": "han", "metric": "accuracy", "seed": "1", "source": "reviews"}
    first["command"] = "python train.py data.path=PATH threads=1"
    other, again = (
        first | {"source": "books", "ours": "0.5"},
        first | {"ours": "0.7", "command": first["command"][:-1] + "2"},
    )
    for some in ([first], [other], [again]):
        rows.merge(tmp_path / "a.csv", some)
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        assert [(row["source"], row["ours"]) for row in csv.DictReader(file)] == [("reviews", "0.7"), ("books", "0.5")]
