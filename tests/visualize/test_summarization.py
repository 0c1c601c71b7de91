"""The view of summaries: a whole file is one article, and an example of the data can be typed."""

import pytest

from zoo.errors import DataError
from zoo.predicting.texts import TextPrediction, Written
from zoo.visualize.summarization import SummarizationView

VIEW = SummarizationView()


def test_a_whole_file_is_one_article(tmp_path):
    (tmp_path / "a.txt").write_text("Ann met Bob.\n\nThey talked.\n")
    (tmp_path / "b.txt").write_text("\n \n")
    assert VIEW.read(["One.", "Two."], tmp_path / "a.txt") == ["One.", "Two.", "Ann met Bob.\n\nThey talked."]
    assert VIEW.read([], tmp_path / "b.txt") == [None]
    with pytest.raises(DataError, match=r"--file takes a text file with the text of one article"):
        VIEW.read([], tmp_path / "c.txt")


def test_rows_and_examples():
    assert VIEW.example({"article": "Ann met Bob. They talked.", "summary": "x"}) == "Ann met Bob. They talked."
    assert VIEW.entered(["Ann\nAnn met Bob."]) == "Ann\nAnn met Bob."
    written = Written("Ann met", ("Ann", "met", "</s>"), -0.5, -0.25, True, None)
    prediction = TextPrediction(("Ann", "met", "Bob"), (written,), unknown=(2,), sentence=(0, 0, 0))
    assert dict(zip(VIEW.columns, VIEW.row(prediction), strict=True)) == {
        "article": "Ann met Bob",
        "summary": "Ann met",
        "log-probability": -0.5,
    }
    assert VIEW.unknown(prediction) == ["Bob"]
