"""The way from rows to batches that all declared families share: parts, encoder, preparing, sources."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.data.declared import NOTES, NoteEncoder, NoteOptions, Notes, OwnNotes
from zoo.data.parts import flattened, lowered, nested, padded
from zoo.data.text.vocabulary import END
from zoo.errors import ConfigError, DataError

ROWS = st.lists(st.lists(st.integers(4, 99), max_size=5), min_size=1, max_size=6)
NESTED = st.lists(st.lists(st.lists(st.integers(4, 99), min_size=1, max_size=4), max_size=4), min_size=1, max_size=5)


def prepared(**options):
    data = Notes(**options)
    data.prepare_data()
    data.setup()
    return data


def first(loader):
    return next(iter(loader))


# Parts


@given(NESTED)
def test_nested_lists_come_apart_and_together(rows):
    column = pa.array(rows, pa.list_(pa.list_(pa.int64())))
    values, lengths = flattened(column)
    assert nested(values, lengths).equals(column)
    assert values.to_pylist() == [number for row in rows for sentence in row for number in sentence]
    assert lengths[0].tolist() == list(map(len, rows))


@given(ROWS)
def test_rows_are_padded_behind_their_end(rows):
    flat = np.array([number for row in rows for number in row], np.int64)
    values, mask = padded(flat, [np.array(list(map(len, rows)))], END)
    for number, row in enumerate(rows):
        assert values[number].tolist() == [*row, END] + [0] * (values.shape[1] - len(row) - 1)
        assert mask[number].tolist() == [True] * (len(row) + 1) + [False] * (mask.shape[1] - len(row) - 1)
    assert values.shape == (len(rows), max(map(len, rows)) + 1)


@given(NESTED)
def test_sentences_are_padded_to_the_widest_of_all(documents):
    values, lengths = flattened(pa.array(documents, pa.list_(pa.list_(pa.int64()))))
    ids, mask = padded(np.asarray(values), lengths)
    assert ids.shape == (
        len(documents),
        max(1, *map(len, documents)) if len(documents) > 1 else max(1, len(documents[0])),
        max([1, *(len(sentence) for document in documents for sentence in document)]),
    )
    for number, document in enumerate(documents):
        found = [ids[number, s][mask[number, s]].tolist() for s in range(ids.shape[1])]
        assert [row for row in found if row] == document


def test_words_in_small_letters_are_those_of_python():
    words = ["ÄRGER", "İstanbul", "ẞ", "a", "ÄRGER", "ΟΔΟΣ"]
    assert lowered(pa.array(words)).to_pylist() == [word.lower() for word in words]


# From rows to batches


def test_a_batch_has_every_part_and_a_training_batch_those_that_training_reads(cache_dir):
    data = prepared(loader={"batch_size": 6})
    batch = first(data.val_dataloader())
    assert set(batch) == {"mood", "about", "words", "long", "stars", "odd", "text", "index"}
    at = batch["index"].tolist().index(2)
    words, mask = batch["words"]
    known = data.encoder.vocabulary.words
    assert [[known[i] for i in row[m].tolist()] for row, m in zip(words[at], mask[at], strict=True)][:2] == [
        ["the", "dog", "barks", "at", "the", "cat"],
        ["it", "runs"],
    ]
    assert batch["long"][at][mask[at]].tolist() == [False, False, True, False, False, False, False, True]
    assert not batch["long"][~mask].any()
    assert [data.encoder.classes or ["calm", "glad", "wild"]][0][batch["mood"][at]] == "wild"
    assert batch["stars"][at].item() == 1.0
    assert batch["stars"].dtype == torch.float32
    assert batch["text"][at] == NOTES[2][0]
    begin = int(batch["odd"].lengths[:at].sum())
    odd = batch["odd"].values[begin : begin + int(batch["odd"].lengths[at])]
    assert odd.tolist() == [n for n, word in enumerate(NOTES[2][0].split()) if len(word) % 2]
    assert set(first(data.train_dataloader())) == {"mood", "about", "words", "long", "stars", "index"}


@pytest.mark.parametrize("tokenizer", ["whitespace", "characters", "bpe"])
def test_what_is_typed_goes_the_way_of_the_training_data(cache_dir, tokenizer):
    data = prepared(text={"tokenizer": tokenizer, "vocabulary_size": 60})
    batch = first(data.val_dataloader())
    order = batch["index"].argsort().tolist()
    again = NoteEncoder.from_state(data.encoder.state())
    for encoder in (data.encoder, again):
        rows = [dict(zip(("text", "about"), note, strict=False)) for note in NOTES[:3]]
        made = encoder.encode(rows)
        for part in ("about", "words"):
            assert torch.equal(made[part].values, batch[part].values[order])
            assert torch.equal(made[part].mask, batch[part].mask[order])
        assert torch.equal(made["long"], batch["long"][order])
    assert again("birds sing")["text"] == ("birds sing",)
    assert len(again([])["words"].values) == 0


def test_two_parts_share_a_vocabulary(cache_dir):
    data = prepared(text={"minimum_frequency": 3})
    # cat: as a subject twice and in the texts three times; without the subjects "dog" would occur twice
    assert {"cat", "dog", "the"} <= set(data.encoder.vocabulary.words)
    assert "sky" not in data.encoder.vocabulary
    assert data.describe()["vocabulary_size"] == len(data.encoder.vocabulary)


def test_the_description_follows_from_the_parts(cache_dir):
    about = prepared().describe()
    train = about["splits"]["train"]
    assert train["notes"] + about["splits"]["test"]["notes"] == len(NOTES)
    assert sum(train["classes"].values()) == train["notes"]
    assert about["splits"]["val"]["sentences"]["max"] == 2
    assert about["splits"]["val"]["words"]["max"] == 8
    assert about["drawn"] == ["test"]
    assert about["notes"][0].startswith("val: ")
    assert set(about["examples"][0]) >= {"mood", "about", "words"}


def test_examples_that_are_left_out_are_counted(cache_dir, caplog, monkeypatch):
    long = ("one", "a b c d e f g h", "calm", 2)
    monkeypatch.setattr(Notes, "rows", [*NOTES, long, long, ("no stars", "none", "calm", 0)])
    with caplog.at_level("INFO", "zoo"):
        about = prepared(loader={"on_bad_row": "skip"}, split={"test": 0.2}).describe()
    gone = about["splits"]["train"].get("dropped", {}).get("longer than 6 words", 0)
    tested = about["splits"]["test"]["notes"]
    assert gone >= 1
    assert about["splits"]["train"]["notes"] + tested + gone == len(NOTES) + 2
    assert about["skipped"] == {"no stars": 1}
    assert f"train: left out {gone} longer than 6 words" in caplog.text


def test_a_label_that_training_does_not_have_is_a_bad_row(cache_dir, monkeypatch):
    monkeypatch.setattr(Notes, "open_sample", lambda self: _with_val([("x", "y", "calmm", 1)]))
    with pytest.raises(DataError, match=r"note 1: unknown label: 'calmm' does not .* did you mean 'calm'\?"):
        prepared()


def _with_val(rows):
    from zoo.data.sources import Source

    return Source("x", "x", {}, {"train": lambda bad: iter(NOTES), "val": lambda bad: iter(rows)})


def test_no_example_is_left(cache_dir, monkeypatch):
    monkeypatch.setattr(Notes, "rows", [("one", "a b c d e f g h", "calm", 2)] * 5)
    with pytest.raises(DataError, match=r"the notes: no notes are left to train on; left out: \d longer than 6 words"):
        prepared()
    monkeypatch.setattr(Notes, "rows", [])
    with pytest.raises(DataError, match="the notes: no notes in the train split"):
        prepared()


# Where data come from


def test_one_message_for_each_failure_of_a_corpus(cache_dir, tmp_path):
    expected = "sample, hub, or the path of a folder with notes.txt"
    for source, error, message in (
        (None, ConfigError, f"data.source is not set; expected: {expected}"),
        ("hub", ConfigError, f"data.source=hub: notes is not on the Hugging Face hub; expected: {expected}"),
        (str(tmp_path / "none"), DataError, rf"none: No such file .* \(data.source\); expected: {expected}"),
        (
            str(tmp_path),
            DataError,
            f"{tmp_path}: the folder is empty; expected a folder with notes.txt; or use",
        ),
    ):
        with pytest.raises(error, match=message):
            Notes(source=source).open_source()
    (tmp_path / "other").mkdir()
    (tmp_path / ".hidden").write_text("")
    with pytest.raises(DataError, match=f"{tmp_path}: found other/; expected"):
        Notes(source=str(tmp_path)).open_source()
    (tmp_path / "notes.txt").write_text("")
    assert Notes(source=str(tmp_path)).open_source().place == "the notes"


def test_one_message_for_each_failure_of_own_files(tmp_path):
    with pytest.raises(ConfigError, match=r"data\.path is empty; expected: a folder with notes\.txt"):
        OwnNotes(path="").open_source()
    with pytest.raises(DataError, match=rf"{tmp_path}: the folder is empty; expected: a folder with notes\.txt"):
        OwnNotes(path=str(tmp_path)).open_source()


def test_options_are_those_of_the_family():
    assert Notes().text == NoteOptions()
    with pytest.raises(ConfigError, match=r"data\.text\.tokeniser: there is no such key"):
        Notes(text={"tokeniser": "words"})


def test_what_other_processes_get_holds_no_data_module(cache_dir):
    """With the module they would get its open files, such as the pixels that are being written."""
    data = prepared()
    for split in ("train", "val"):
        number = data.numbering(data.encoder, split)
        assert number.func.__self__ is data.encoder
        assert not any(value is data for value in vars(data.encoder).values())
