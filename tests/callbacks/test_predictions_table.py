"""The table of predictions."""

import csv
from pathlib import Path

import pytest
import torch

from tests.callbacks import runs
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.files import csv_text
from zoo.visualize.classification import ClassificationView

DOCUMENT_COLUMNS = ClassificationView().examined_columns()


def table(folder):
    with (folder / "predictions.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == DOCUMENT_COLUMNS
    return rows


def test_rows_are_the_first_test_documents(tmp_path):
    task = runs.task()
    runs.trainer(tmp_path, [PredictionsTable(8)]).test(task, runs.loader(), verbose=False)
    rows = table(tmp_path)
    with torch.no_grad():
        outputs = [task.network.eval()(batch) for batch in runs.BATCHES]
    probabilities = torch.cat([output.logits for output in outputs]).softmax(-1)
    labels = torch.cat([batch.label for batch in runs.BATCHES])
    assert [int(row[0]) for row in rows] == list(range(8))
    assert [row[1] for row in rows] == [runs.text(i) for i in range(8)]
    assert [row[2] for row in rows] == [["bad", "good"][i] for i in labels[:8]]
    assert [row[3] for row in rows] == [["bad", "good"][i] for i in probabilities.argmax(1)[:8]]
    assert [float(row[4]) for row in rows] == pytest.approx(probabilities.amax(1)[:8].tolist(), abs=1e-4)
    for row in rows:  # the words with the largest shares, which fall
        pairs = [pair.split(" ") for pair in row[5].split(", ")]
        shares = [float(share) for _, share in pairs]
        assert 1 <= len(pairs) <= 5
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1.03
        assert {word for word, _ in pairs} <= set(row[1].split())


def test_texts_with_commas_quotes_and_line_breaks_stay_one_field(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "WORDS", ['a,"b"' if word == "the" else word for word in runs.WORDS])
    batches = [runs.documents(first, 6) for first in range(0, 24, 6)]
    runs.trainer(tmp_path, [PredictionsTable(24)]).test(runs.task(), runs.loader(batches), verbose=False)
    rows = table(tmp_path)
    assert [row[1] for row in rows] == [runs.text(i) for i in range(24)]
    assert {len(row) for row in rows} == {len(DOCUMENT_COLUMNS)}


def test_a_second_test_starts_anew(tmp_path):
    task, trainer = runs.task(), runs.trainer(tmp_path, [PredictionsTable(3)])
    trainer.test(task, runs.loader(), verbose=False)
    trainer.test(task, runs.loader(runs.BATCHES[1:]), verbose=False)
    assert [int(row[0]) for row in table(tmp_path)] == [6, 7, 8]


def test_all_test_documents_by_default_written_batch_by_batch(tmp_path, monkeypatch):
    written, open_file = [], Path.open

    def opened(path, mode="r", **options):
        written.append(mode)
        return open_file(path, mode, **options)

    monkeypatch.setattr(Path, "open", opened)
    runs.trainer(tmp_path, [PredictionsTable()]).test(runs.task(), runs.loader(), verbose=False)
    monkeypatch.undo()
    assert written.count("a") == len(runs.BATCHES) > 1
    assert [int(row[0]) for row in table(tmp_path)] == list(range(sum(len(batch) for batch in runs.BATCHES)))
    assert not list(tmp_path.glob(".*")), "no part is left"


def test_what_a_spreadsheet_would_run_begins_with_an_apostrophe():
    row = ["=1+1", "@a", "-a", "+a", "-0.5", "+3e4", "a=b", -0.5, None]
    (read,) = csv.reader(csv_text(None, [row]).splitlines())
    assert read == ["'=1+1", "'@a", "'-a", "'+a", "-0.5", "+3e4", "a=b", "-0.5", ""]


def test_none_is_none(tmp_path):
    runs.trainer(tmp_path, [PredictionsTable(0)]).test(runs.task(), runs.loader(), verbose=False)
    assert not (tmp_path / "predictions.csv").exists()
