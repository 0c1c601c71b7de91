"""The mechanism that all declared families share: parts, encoder, preparing, the cache, sources."""

import json

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.data.declared import NOTES, NoteEncoder, NoteOptions, Notes, OwnNotes
from tests.data.serving import batches, prepared
from zoo.data.documents.encoding import DocumentTextOptions
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.parts import flattened, lowered, nested, padded
from zoo.data.sources import Source
from zoo.data.text.vocabulary import END
from zoo.errors import ConfigError, DataError

ROWS = st.lists(st.lists(st.integers(4, 99), max_size=5), min_size=1, max_size=6)
NESTED = st.lists(st.lists(st.lists(st.integers(4, 99), min_size=1, max_size=4), max_size=4), min_size=1, max_size=5)


def ready(**options):
    return prepared(Notes(**options))


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
    widest = max([1, *(len(sentence) for document in documents for sentence in document)])
    assert ids.shape == (len(documents), max([1, *map(len, documents)]), widest)
    for number, document in enumerate(documents):
        found = [ids[number, s][mask[number, s]].tolist() for s in range(ids.shape[1])]
        assert [row for row in found if row] == document


def test_words_in_small_letters_are_those_of_python():
    words = ["ÄRGER", "İstanbul", "ẞ", "a", "ÄRGER", "ΟΔΟΣ"]
    assert lowered(pa.array(words)).to_pylist() == [word.lower() for word in words]


# From rows to batches


def test_a_batch_has_every_part_and_a_training_batch_those_that_training_reads(cache_dir):
    data = ready(loader={"batch_size": 6})
    batch = batches(data, "val")[0]
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
    assert batch["stars"][at].item() == 1.0 and batch["stars"].dtype == torch.float32
    assert batch["text"][at] == NOTES[2][0]
    begin = int(batch["odd"].lengths[:at].sum())
    odd = batch["odd"].values[begin : begin + int(batch["odd"].lengths[at])]
    assert odd.tolist() == [n for n, word in enumerate(NOTES[2][0].split()) if len(word) % 2]
    assert set(batches(data, "train")[0]) == {"mood", "about", "words", "long", "stars", "index"}


@pytest.mark.parametrize("tokenizer", ["whitespace", "characters", "bpe"])
def test_what_is_typed_is_encoded_like_the_training_data(cache_dir, tmp_path, tokenizer):
    data = ready(text={"tokenizer": tokenizer, "vocabulary_size": 60})
    batch = batches(data, "val")[0]
    order = batch["index"].argsort().tolist()
    torch.save(data.encoder.state(), tmp_path / "state.pt")
    again = NoteEncoder.from_state(torch.load(tmp_path / "state.pt", weights_only=True))
    assert again.state() == data.encoder.state()
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
    data = ready(text={"minimum_frequency": 3})
    # cat: as a subject twice and in the texts three times; without the subjects "dog" would occur twice
    assert {"cat", "dog", "the"} <= set(data.encoder.vocabulary.words)
    assert "sky" not in data.encoder.vocabulary
    assert data.describe()["vocabulary_size"] == len(data.encoder.vocabulary)


def test_the_description_follows_from_the_parts(cache_dir):
    about = ready().describe()
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
        about = ready(loader={"on_bad_row": "skip"}, split={"test": 0.2}).describe()
    gone = about["splits"]["train"]["dropped"]["longer than 6 words"]
    assert about["splits"]["train"]["notes"] + about["splits"]["test"]["notes"] + gone == len(NOTES) + 2
    assert about["skipped"] == {"no stars": 1}
    assert f"train: left out {gone} longer than 6 words" in caplog.text
    assert "notes: left out 1 row: 1 no stars" in caplog.text


def test_a_label_that_training_does_not_have_is_a_bad_row(cache_dir, monkeypatch):
    splits = {"train": lambda bad: iter(NOTES), "val": lambda bad: iter([("x", "y", "calmm", 1)])}
    monkeypatch.setattr(Notes, "open_sample", lambda self: Source("x", "x", {}, splits))
    with pytest.raises(DataError, match=r"note 1: unknown label: 'calmm' does not .* did you mean 'calm'\?"):
        ready()


def test_no_token_is_frequent_enough(cache_dir):
    message = r"^the notes: no token occurs 99 times in 5 training notes; data\.text\.minimum_frequency=1 keeps every t"
    with pytest.raises(DataError, match=message):
        ready(text={"minimum_frequency": 99})
    assert not [path for path in (cache_dir / "notes").iterdir() if path.suffix != ".lock"]


def test_subwords_and_special_tokens_are_as_many_as_the_size(cache_dir):
    data = ready(text={"tokenizer": "bpe", "vocabulary_size": 40})
    assert len(data.encoder.vocabulary) == 40
    assert data.encoder.vocabulary.words[:2] == ["<pad>", "<unk>"]
    assert data.describe()["splits"]["val"]["unknown_rate"] == 0


def test_no_example_is_left(cache_dir, monkeypatch):
    monkeypatch.setattr(Notes, "rows", [("one", "a b c d e f g h", "calm", 2)] * 5)
    with pytest.raises(DataError, match=r"the notes: no notes are left to train on; left out: \d longer than 6 words"):
        ready()
    monkeypatch.setattr(Notes, "rows", [])
    with pytest.raises(DataError, match="the notes: no notes in the train split"):
        ready()


# The cache


def test_data_are_prepared_once_and_anew_if_something_changes(cache_dir, caplog, monkeypatch):
    def runs(**options):
        caplog.clear()
        with caplog.at_level("INFO", "zoo"):
            ready(**options)
        return "preparing" in caplog.text

    assert runs()
    assert not runs(loader={"batch_size": 3, "seed": 5, "num_workers": 0, "max_tokens": 500})
    for options in (
        {"text": {"minimum_frequency": 2}},
        {"split": {"test": 0.3}},
        {"loader": {"on_bad_row": "skip"}},
        {"loader": {"encoding": "cp1252"}},
    ):
        assert runs(**options)
        assert not runs(**options)
    monkeypatch.setattr(Notes, "rows", NOTES[:5])
    assert runs()


def test_the_files_of_prepared_data(cache_dir, monkeypatch):
    """All files that a family writes remain, and its steps do not."""

    def store(self, folder, *rest):
        (folder / "own.arrow").write_text("mine")

    monkeypatch.setattr(Notes, "store", store)
    ready()
    (folder,) = (folder for folder in (cache_dir / "notes").iterdir() if folder.is_dir())
    assert sorted(file.name for file in folder.iterdir()) == ["about.json", "encoder.json", "examples", "own.arrow"]


@pytest.mark.parametrize("content", ["{", json.dumps([])[:1], None])
@pytest.mark.parametrize("name", ["about.json", "encoder.json"])
def test_damaged_and_missing_preparations(cache_dir, name, content):
    with pytest.raises(DataError, match=r"not prepared yet: call prepare_data\(\) first"):
        Notes().setup()
    with pytest.raises(DataError, match=r"notes: call prepare_data\(\) and setup\(\) first"):
        Notes().train_dataloader()
    ready()
    file = next(cache_dir.rglob(name))
    file.unlink() if content is None else file.write_text(content)
    with pytest.raises(DataError, match=rf"^{file.parent}: the prepared data is damaged .* delete this folder and run"):
        ready()


def test_an_error_of_the_family_is_not_damage(cache_dir, monkeypatch):
    def refuse(self, about):
        raise ConfigError("data.width=0: expected a whole number from 1 on")

    monkeypatch.setattr(Notes, "set_spec", refuse)
    with pytest.raises(ConfigError, match=r"^data\.width=0: expected a whole number from 1 on$"):
        ready()


def test_examples_stay_on_the_disk(cache_dir, monkeypatch):
    """Prepared data are mapped into memory: their size does not matter."""
    monkeypatch.setattr(Notes, "rows", NOTES * 1500)
    ready()
    stored = sum(file.stat().st_size for file in cache_dir.rglob("*.arrow"))
    assert stored > 600_000
    before = pa.total_allocated_bytes()
    data = ready()
    assert pa.total_allocated_bytes() - before < stored / 20
    for _, _batch in zip(range(20), data.train_dataloader(), strict=False):
        assert pa.total_allocated_bytes() - before < stored / 10


def test_parallel_processes_give_the_same_examples(cache_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(Notes, "rows", [(f"{text} {n}", *rest) for n in range(300) for text, *rest in NOTES])
    alone = ready()
    monkeypatch.setattr("zoo.data.stored.PARALLEL", 500)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    parallel = ready(loader={"cache_dir": str(tmp_path / "other")})
    assert parallel.encoder.state() == alone.encoder.state()
    for one, other in zip(alone.train_dataloader(), parallel.train_dataloader(), strict=True):
        assert torch.equal(one["index"], other["index"]) and torch.equal(one["words"].values, other["words"].values)


@pytest.mark.parametrize("limit", [{"batch_size": 8}, {"max_tokens": 90}])
def test_processes_share_every_epoch(cache_dir, monkeypatch, limit):
    monkeypatch.setattr(Notes, "rows", NOTES * 10)
    data = ready(loader=limit)
    monkeypatch.setattr(Notes, "_world_size", 2)
    for split, epoch in (("train", 0), ("train", 1), ("val", 0), ("test", 0)):
        seen = []
        for rank in range(2):
            monkeypatch.setattr(Notes, "_rank", rank)
            loader = getattr(data, f"{split}_dataloader")()
            loader.batch_sampler.set_epoch(epoch)
            seen += [number for batch in loader for number in batch["index"].tolist()]
        assert sorted(seen) == list(range(data.sizes[split]))


def test_the_seed_of_a_run_changes_the_order_and_not_the_splits(cache_dir, monkeypatch):
    monkeypatch.setattr(Notes, "rows", [(f"{text} {n}", *rest) for n in range(10) for text, *rest in NOTES])
    first, second = (ready(loader={"seed": seed, "batch_size": 7}) for seed in (1, 2))
    every = (first, second, ready(split={"seed": 2}))
    tests = [sorted(text for batch in batches(data, "test") for text in batch["text"]) for data in every]
    assert tests[0] == tests[1] != tests[2]
    orders = [[batch["index"].tolist() for batch in data.train_dataloader()] for data in (first, first, second)]
    assert orders[0] == orders[1] != orders[2]


# Sources


def test_one_message_for_each_failure_of_a_corpus(cache_dir, tmp_path):
    expected = "sample, hub, or the path of a folder with notes.txt"
    for source, error, message in (
        (None, ConfigError, f"data.source is not set; expected: {expected}"),
        ("hub", ConfigError, f"data.source=hub: notes is not on the Hugging Face hub; expected: {expected}"),
        (str(tmp_path / "none"), DataError, rf"none: No such file .* \(data.source\); expected: {expected}"),
        (str(tmp_path), DataError, f"{tmp_path}: the folder is empty; expected a folder with notes.txt; or use"),
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


def test_options_are_those_of_the_family_and_no_file_is_read(cache_dir):
    assert OwnNotes(path="/nowhere/at/all").text == NoteOptions()
    assert not cache_dir.exists()
    with pytest.raises(ConfigError, match=r"data\.text\.tokeniser: unknown key"):
        Notes(text={"tokeniser": "words"})


def test_what_other_processes_get_holds_no_data_module(cache_dir):
    """With the module they would get its open files, such as the pixels that are being written."""
    data = ready()
    for split in ("train", "val"):
        number = data.numbering(data.encoder, split)
        assert number.func.__self__ is data.encoder
        assert not any(value is data for value in vars(data.encoder).values())


# Groups of keys in Python code. Wrong values on the command line are in tests/run/test_messages.py.


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (LoaderOptions, {"batchsize": 3}, "data.loader.batchsize: unknown key; did you mean data.loader.batch_size?"),
        (LoaderOptions, {"batch_size": "8"}, "data.loader.batch_size=8: expected a whole number from 1 on, found '8'"),
        (LoaderOptions, 8, "data.loader=8: expected a group of keys, found 8"),
        (DocumentTextOptions, {"zzz": 3}, "data.text.zzz: unknown key; available: language, lower"),
    ],
)
def test_wrong_options(cls, options, message):
    with pytest.raises(ConfigError) as error:
        cls.of(options)
    assert str(error.value).startswith(message)


def test_options_given_in_code_are_held_against_their_types_too():
    with pytest.raises(ConfigError, match=r"data.sample.train=0: expected a whole number from 1 on"):
        SampleOptions(train=0)


def test_the_limit_of_a_batch():
    assert LoaderOptions().limit == {"batch_size": 64}
    assert LoaderOptions(max_tokens=100).limit == {"max_tokens": 100}
