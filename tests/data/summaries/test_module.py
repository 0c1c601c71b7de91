"""Articles that cannot be used, several summaries of one article, and the real SciTLDR."""

import json

import pytest

from tests.data.serving import batches, prepared, served, written
from zoo.data.rows import BadRows
from zoo.data.summaries.encoding import SummaryEncoder, SummaryTextOptions, sentences_of
from zoo.data.summaries.own import Summaries
from zoo.data.summaries.scitldr import SciTLDR
from zoo.errors import ConfigError, DataError

GOOD = {"text": "Ann met Bob in Rome. They talked for a while.", "summary": "Ann met Bob."}


def rows(folder, *several, names=("train", "val", "test")):
    for name in names:
        written(folder / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in several))
    return {"path": str(folder), "text": {"minimum_frequency": 1}}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": " \n", "summary": "a"}, "empty article: its text has no words"),
        ({"text": "one two", "summary": ["", " "]}, "no summary: the article has no summary"),
        ({"text": "one two", "summary": "one two three"}, "summary longer than its text: it has 3 words, the text 2"),
    ],
)
def test_unusable_articles(tmp_path, cache_dir, row, problem):
    options = rows(tmp_path, GOOD, row)
    with pytest.raises(DataError, match=f"train.jsonl, line 2: {problem}"):
        Summaries(**options).prepare_data()
    data = prepared(Summaries(**options, loader={"on_bad_row": "skip"}))
    assert data.describe()["skipped"] == {problem.partition(":")[0]: 3}
    assert data.sizes == {"train": 1, "val": 1, "test": 1}


def test_an_identifier_occurs_once(tmp_path, cache_dir):
    row = {"source": ["One is here.", "Two are not."], "target": ["One."], "paper_id": "P1"}
    for name in ("train", "dev", "test"):
        written(tmp_path / f"{name}.jsonl", json.dumps(row | {"paper_id": name}) + "\n")
    written(tmp_path / "dev.jsonl", json.dumps(row | {"paper_id": "train"}) + "\n")
    data = SciTLDR(source=str(tmp_path))
    with pytest.raises(DataError, match=r"dev.jsonl, line 1: duplicate identifier: 'train' is also that of .*train.js"):
        data.prepare_data()


def test_training_reads_the_first_summary_or_all_and_evaluation_has_all(tmp_path, cache_dir):
    several = rows(tmp_path, GOOD | {"summary": ["Ann met Bob.", "They talked."]})
    first, every = (prepared(Summaries(**several, targets=targets)) for targets in ("first", "all"))
    assert (first.sizes["train"], every.sizes["train"]) == (1, 2)
    for data in (first, every):
        assert served(data, "test", "target_texts") == [("Ann met Bob.", "They talked.")]
    (batch,) = batches(every, "train")
    assert len(batch) == 2 and batch.target_mask.sum(1).tolist() in ([5, 4], [4, 5])
    with pytest.raises(ConfigError, match=r"data.targets=best"):
        Summaries(**several, targets="best")


def test_what_is_cut_is_counted_in_tokens(tmp_path, cache_dir):
    options = rows(tmp_path, GOOD)
    data = prepared(Summaries(**options | {"text": {"minimum_frequency": 1, "max_source": 9, "max_target": 2}}))
    facts = data.describe()["splits"]["test"]
    assert facts["source_cut_share"] == pytest.approx(3 / 12)  # of 12 tokens, the stops included
    assert facts["target_cut_share"] == pytest.approx(2 / 4)
    assert data.texts("test") == [(["Ann met Bob in Rome.", "They talked for a while."], ["Ann met Bob."])]
    assert (data.spec.longest_source, data.spec.longest_target) == (9, 3)


def test_sentences_of_lines_and_of_texts():
    text = "Dr. Ann met him.  She&amp;he left.\n\n A line"
    assert sentences_of(text) == ["Dr. Ann met him.", "She&he left.", "A line"]
    assert sentences_of(text, "lines") == ["Dr. Ann met him.  She&he left.", "A line"]
    encoder = SummaryEncoder(SummaryTextOptions())
    assert encoder.typed("One. Two.") == {"source_texts": ["One.", "Two."]}


def test_the_real_scitldr(shared_data, cache_dir):
    if not (shared_data / "scitldr").is_dir():
        pytest.skip("no SciTLDR beside the clone (../shared/data/scitldr)")
    source = SciTLDR(source=str(shared_data / "scitldr")).open_source()
    every = {split: list(read(BadRows())) for split, read in source.splits.items()}
    assert {split: len(part) for split, part in every.items()} == {"train": 1992, "val": 619, "test": 618}
    means = [sum(len(one.summaries) for one in part) / len(part) for part in every.values()]
    assert means == pytest.approx([1, 2.35, 3.18], abs=0.01)
    assert sum(one.text.count("\n") + 1 for one in every["train"]) / 1992 == pytest.approx(7, abs=0.5)
