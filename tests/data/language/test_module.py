"""Texts of your own and published ones: splits, streams on the disk, and errors before training."""

import gzip
import zipfile

import numpy as np
import pytest

from zoo.data.language.hutter import Enwik8, Text8
from zoo.data.language.own import Text
from zoo.data.language.ptb import PennTreebank
from zoo.data.language.tinyshakespeare import TinyShakespeare
from zoo.data.language.wikitext import WikiText2
from zoo.errors import ConfigError, DataError

LINES = [f"line {number:02} of the text has some words .\n" for number in range(100)]
HALVES = {"val": 0.05, "test": 0.05}
UNKNOWN = [line.replace(f"line {number:02} ", "line <unk> ") for number, line in enumerate(LINES)]


def ready(data):
    data.prepare_data()
    data.setup()
    return data


def text_of(data, split):
    return data.encoder.text(np.asarray(data.part(split).parts["ids"]).tolist())


@pytest.fixture(autouse=True)
def _cache(cache_dir):
    """Prepared data go into a folder of the test."""


def test_a_file_is_cut_at_its_end(tmp_path):
    (tmp_path / "a.txt").write_text("".join(LINES))
    data = ready(Text(path=str(tmp_path / "a.txt"), window={"length": 5}, loader={"batch_size": 4}))
    texts = {split: text_of(data, split) for split in ("train", "val", "test")}
    assert texts["train"] + texts["val"] + texts["test"] == "".join(LINES[:80]) + "".join(UNKNOWN[80:])
    assert [text.count("\n") for text in texts.values()] == [80, 10, 10]
    facts = data.describe()["splits"]
    assert facts["train"]["tokens"] == 80 * 10 and facts["val"]["bytes"] == 370
    assert facts["val"]["unknown_rate"] == 0.1  # the number of each line
    assert [part.parts["ids"].dtype.name for part in map(data.part, texts)] == ["uint8"] * 3
    batch = next(iter(data.train_dataloader()))
    assert batch.target.shape == (4, 5) and batch.distance is None


def test_a_folder_of_splits_and_a_folder_of_books(tmp_path):
    for name, text in {"train.txt": LINES[:50], "valid.txt": LINES[50:60], "test.txt": LINES[60:]}.items():
        (tmp_path / name).write_text("".join(text))
    data = ready(Text(path=str(tmp_path)))
    assert text_of(data, "train") == "".join(LINES[:50]) and data.describe()["drawn"] == []
    books = tmp_path / "books"
    books.mkdir()
    for number in range(20):
        with gzip.open(books / f"{number:02}.txt.gz", "wt") as file:
            file.write(f"book{number} begins here .\n" * 5)
    data = ready(Text(path=str(books), text={"tokenizer": "characters"}))
    found = {split: sorted({line.split()[0] for line in text_of(data, split).splitlines()}) for split in data.sizes}
    every = sorted(book for books in found.values() for book in books)
    assert every == sorted(f"book{number}" for number in range(20))  # none is in two splits
    assert [len(found[split]) for split in ("train", "val", "test")] == [16, 2, 2]
    other = ready(Text(path=str(books), text={"tokenizer": "characters"}, split={"val": 0.1, "test": 0.1, "seed": 2}))
    assert text_of(other, "test") != text_of(data, "test")


def test_a_second_file_is_the_test(tmp_path):
    (tmp_path / "a.txt").write_text("".join(LINES))
    (tmp_path / "b.txt").write_text("quite another sentence\n" * 3)
    data = ready(Text(path=str(tmp_path / "a.txt"), split={"val": 0.1, "test": str(tmp_path / "b.txt")}))
    assert text_of(data, "train").count("\n") == 90
    assert any("of the test words are unknown" in note for note in data.describe()["notes"])


def test_every_tokenizer_makes_a_stream(tmp_path):
    (tmp_path / "a.txt").write_text("".join(LINES))
    for tokenizer, unit in {"words": "words", "bytes": "bytes", "bpe": "pieces", "characters": "characters"}.items():
        data = ready(Text(path=str(tmp_path / "a.txt"), text={"tokenizer": tokenizer, "vocabulary_size": 60}))
        assert data.spec.unit == unit and data.part("train").parts["ids"].max() < data.spec.vocabulary_size
        assert text_of(data, "test").splitlines()[-1][-7:].replace(" ", "") == "words."


def test_the_sample_knows_its_subjects():
    data = ready(Text(sample={"train": 900, "val": 10, "test": 50}))
    part = data.part("test").parts
    words = data.encoder.vocabulary.decode(part["ids"].tolist())
    (verbs,) = part["distance"].nonzero()
    assert len(verbs) > 50 and len({*part["distance"][verbs].tolist()}) > 6
    for place in verbs:
        verb, rival = words[place], data.encoder.vocabulary.words[part["rival"][place]]
        assert verb != rival and (verb.startswith(rival) or rival.startswith(verb) or verb[0] == rival[0])
    assert (part["rival"][part["distance"] == 0] == 0).all() and (part["least"] > -1e-6).all()
    by_letters = ready(Text(sample={"train": 60, "val": 10, "test": 10}, text={"tokenizer": "characters"}))
    assert "distance" not in by_letters.part("test").parts


def test_official_files(tmp_path):
    for name in ("train", "valid", "test"):
        (tmp_path / f"ptb.{name}.txt").write_text(" no it was n't <unk> N\n" * 9)
        (tmp_path / f"wiki.{name}.tokens").write_text(" \n = A Title = \n \n Some <unk> words @-@ here . \n" * 9)
    ptb = ready(PennTreebank(source=str(tmp_path)))
    assert ptb.encoder.vocabulary.words == ["<unk>", "<eos>", "N", "it", "n't", "no", "was"]
    assert ptb.sizes == {"train": 63, "val": 63, "test": 63}
    wiki = ready(WikiText2(source=str(tmp_path), text={"vocabulary_size": None}))
    assert text_of(wiki, "val").startswith("\n= A Title =\n\nSome <unk> words @-@ here .\n")
    with zipfile.ZipFile(tmp_path / "text8.zip", "w") as archive:
        archive.writestr("text8", "anarchism " * 100)
    text8 = ready(Text8(source=str(tmp_path / "text8.zip"), text={"tokenizer": "characters"}, split=HALVES))
    assert text8.sizes == {"train": 900, "val": 50, "test": 50}
    (tmp_path / "enwik8").write_bytes(b"<mediawiki>\r\n\xff" * 100)
    enwik8 = ready(Enwik8(source=str(tmp_path), text={"tokenizer": "bytes"}, split=HALVES))
    assert enwik8.sizes == {"train": 1260, "val": 70, "test": 70} and enwik8.spec.vocabulary_size == 256
    (tmp_path / "wiki.test.tokens").unlink()
    with pytest.raises(DataError, match=r"wiki.test.tokens: file not found"):
        WikiText2(source=str(tmp_path)).prepare_data()


def test_tiny_shakespeare_is_cut_as_in_nanogpt(shared_data):
    options = {"text": {"tokenizer": "characters"}, "split": HALVES}
    data = ready(TinyShakespeare(source=str(shared_data / "tinyshakespeare"), **options))
    assert data.sizes == {"train": 1_003_854, "val": 55_770, "test": 55_770}
    assert data.spec.vocabulary_size == 66  # 65, and the unknown one


def test_errors_come_before_training(tmp_path):
    def prepared(content, **options):
        (tmp_path / "a.txt").write_bytes(content)
        return ready(Text(path=str(tmp_path / "a.txt"), **options))

    with pytest.raises(DataError, match=r"a.txt: the file is empty"):
        prepared(b"")
    with pytest.raises(DataError, match=r"a.txt: the training text is blank"):
        prepared(b"\n \n" * 50)
    with pytest.raises(DataError, match=r"a.txt: no token occurs 9 times .*minimum_frequency=1 keeps every token"):
        prepared("".join(LINES[:3]).encode(), text={"minimum_frequency": 9})
    with pytest.raises(DataError, match=r"a.txt: not UTF-8: byte 0xe9 at offset 3"):
        prepared(b"caf\xe9 " * 99)
    with pytest.raises(ConfigError, match=r"80 training tokens in 64 columns .* a window needs 36"):
        prepared("".join(LINES[:10]).encode()).train_dataloader()
    with pytest.raises(DataError, match=r"the val split has 0 tokens"):
        prepared(b"one line\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/other.pdf").touch()
    with pytest.raises(DataError, match=r"found other.pdf"):
        Text(path=str(tmp_path / "folder")).prepare_data()
