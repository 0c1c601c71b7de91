"""Articles of files and of the sample: the order and the cut of their paragraphs, and rows that cannot be used."""

import json
from collections import Counter
from functools import partial

import pytest

from tests.data.serving import batches, one_bad_row, prepared, served, written
from zoo.data.passages.encoding import PassageEncoder
from zoo.data.passages.module import Passages, _read
from zoo.data.passages.samples import towns
from zoo.data.sources import Reading
from zoo.errors import UnusableInput

ROW = {
    "title": "Orvane",
    "paragraphs": ["Rain falls on the hills.", "Orvane has a mill.", "Tarvik has a gate."],
    "summary": "Orvane has a mill and a gate.",
}


def lines(path, rows):
    return written(path, "".join(json.dumps(row) + "\n" for row in rows))


def own(path, rows, **text):
    lines(path / "train.jsonl", rows)
    lines(path / "val.jsonl", rows[:1])
    lines(path / "test.jsonl", rows[:1])
    return prepared(Passages(path=str(path), text={"minimum_frequency": 1, **text}))


def sample(**text):
    sizes = {"train": 60, "val": 10, "test": 20}
    return prepared(Passages(sample=sizes, text={"minimum_frequency": 1, **text}))


def test_the_title_comes_first_and_then_the_paragraphs_in_order(tmp_path, cache_dir):
    data = own(tmp_path, [ROW] * 3)
    (texts,) = served(data, "test", "source_texts")
    assert texts == ("Orvane", "Orvane has a mill.", "Rain falls on the hills.", "Tarvik has a gate.")
    (batch,) = batches(data, "test")
    words = data.encoder.decode(batch.source[0])
    assert words[:6] == ["orvane", "orvane", "has", "a", "mill", "."]
    assert batch.sentence[0].tolist() == [0] + [1] * 5 + [2] * 6 + [3] * 5
    assert batch.target_texts == ((ROW["summary"],),)


def test_the_recall_of_the_summary_is_said(tmp_path, cache_dir):
    """Title and first paragraph have 6 of the 8 tokens of "orvane has a mill and a gate .", all paragraphs 7."""
    assert "data.text.extraction=identity: 87.5% of" in " ".join(
        own(tmp_path, [ROW], max_source=None, extraction="identity").describe()["notes"]
    )
    notes = own(tmp_path, [ROW], max_source=6).describe()["notes"]
    assert (
        "data.text.extraction=tf_idf, the first 6 tokens kept: 75.0% of a summary's tokens are in its source" in notes
    )


def test_an_input_is_ordered_as_the_training_articles_were():
    one = PassageEncoder(PassageEncoder.options.of({"tokenizer": "words"}))
    texts = [ROW["title"], *ROW["paragraphs"]]
    for given in (ROW, "\n".join(texts), " ||| ".join(texts), texts):
        assert one.typed(given)["source_texts"][:2] == ["Orvane", "Orvane has a mill."]
    with pytest.raises(UnusableInput, match="no paragraphs"):
        one.typed("Orvane")
    with pytest.raises(UnusableInput, match="cheating orders paragraphs by the summary"):
        PassageEncoder(PassageEncoder.options.of({"extraction": "cheating"})).typed("Orvane\nA mill.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": 3}, "no text: title and summary are texts, found '3'"),
        ({"summary": None}, "no text: title and summary are texts, found 'None'"),
        ({"paragraphs": "a mill"}, "no list: paragraphs is a list of texts, found 'a mill'"),
        ({"paragraphs": ["a", 1]}, "no list"),
    ],
)
def test_a_row_of_another_form_is_named(tmp_path, change, message):
    file = lines(tmp_path / "a.jsonl", [ROW, ROW | change])
    assert len(one_bad_row(partial(_read, file), f"{file}, line 2: {message}")) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [({"summary": " "}, "no summary"), ({"paragraphs": ["", " "]}, "no paragraphs"), ({"title": "a\0"}, "NUL byte")],
)
def test_an_article_without_content_is_named(tmp_path, cache_dir, change, message):
    def read(bad):
        data = Passages(path=str(lines(tmp_path / "a.jsonl", [ROW, ROW | change])))
        source = data.open_source()
        return data.examples(source.splits["train"](bad), source, Reading("train", bad, Counter(), {}))

    assert len(one_bad_row(read, f"{tmp_path / 'a.jsonl'}, line 2: {message}")) == 1


@pytest.mark.parametrize("extraction", ["identity", "tf_idf", "cheating"])
def test_facts_of_the_sample_are_where_the_batch_says(cache_dir, extraction):
    """Each value repeats a word of the paragraph on the title that states it, in any order of the paragraphs."""
    data = sample(extraction=extraction)
    words = data.encoder.vocabulary.words
    for batch in batches(data, "test"):
        for b in range(len(batch)):
            assert batch.facts[b].sum() == 3
            title = words[batch.source[b, 0]]
            for t in batch.facts[b].nonzero().flatten():
                places = batch.alignment[b, t].nonzero().flatten()
                stated = [words[one] for one in batch.source[b, places]]
                assert stated[0] == title and stated[-1] == words[batch.target[b, t]] and len(stated) == 5
                assert len(set(batch.sentence[b, places].tolist())) == 1
            assert not batch.alignment[b, batch.facts[b] == 0].any()


def test_the_title_orders_the_evidence_first(cache_dir):
    """Then a cut leaves the facts, and each is more than a block of 64 tokens before the summary."""
    by_title, found = sample(max_source=80), sample(extraction="identity", max_source=80)
    assert all(batch.alignment.any(2).sum() == 3 * len(batch) for batch in batches(by_title, "test"))
    assert sum(int(batch.alignment.any(2).sum()) for batch in batches(found, "test")) < 3 * 20
    for batch in batches(sample(), "test"):
        last = (batch.alignment.any(1) * range_of(batch)).amax(1)
        assert (batch.source_mask.sum(1) - last > 64).all()


def range_of(batch):
    return batch.source_mask.cumsum(1) - 1


def test_values_are_independent_and_equally_frequent(cache_dir):
    """Without the evidence each of 8 values is as likely: the least loss is ln 8."""
    made = list(towns.generate(2000, seed=3))
    assert made[:5] == list(towns.generate(5, seed=3)) != list(towns.generate(5, seed=4))
    for place in range(3):
        counts = Counter(one.summary[one.values[place]] for one in made)
        assert len(counts) == 8 and max(counts.values()) < 1.35 * 250
    both = Counter((one.summary[one.values[0]], one.summary[one.values[1]]) for one in made)
    assert len(both) == 64
