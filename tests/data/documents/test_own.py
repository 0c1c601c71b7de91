"""Documents of your own: tables, labels, folders, with or without splits, and the errors."""

import re
import zipfile
from functools import partial

import pytest

from tests.data.serving import batches, prepared, served, table, written
from zoo.data.documents.own import OwnDocuments
from zoo.errors import ConfigError, DataError

TEXTS = ["Très bon, vraiment.\nOn reviendra !", 'Il a dit "jamais".', "Bof; moyen.", "Un é ü ß.", "Pas mal."]


def rows(count=40, labels=("élevé", "bas")):
    """Texts with their number, digit by digit: words that the training documents have too."""
    return [(f"{TEXTS[n % 5]} numéro {' '.join(str(n))}", labels[n % len(labels)]) for n in range(count)]


def number(text):
    return int(text.rsplit("numéro", 1)[1].rstrip(". ").replace(" ", ""))


write_csv = partial(table, header=("texte reçu", "étoiles"))


def own(path, **options):
    options = {"text_column": "texte reçu", "label_column": "étoiles", "text": {"minimum_frequency": 1}} | options
    return prepared(OwnDocuments(path=str(path), **options))


def documents(data, *splits):
    """(words, class name) of each document of some splits."""
    found = [one for split in splits for one in served(data, split, "words", "word_mask", "label")]
    decode = data.encoder.vocabulary.decode
    return [(" ".join(decode(words[mask].tolist())), data.spec.classes[int(label)]) for words, mask, label in found]


def test_a_csv_with_accents_blanks_and_line_breaks(tmp_path, cache_dir):
    data = own(write_csv(tmp_path / "mes données" / "avis reçus.csv", rows()))
    assert data.tasks == ("classification",)
    assert data.spec.classes == ("bas", "élevé")
    assert data.sizes == {"train": 32, "val": 4, "test": 4}
    found = documents(data, "train", "val", "test")
    assert len(found) == 40
    assert ("très bon , vraiment . on reviendra ! numéro 0", "élevé") in found
    assert ('il a dit " jamais " . numéro 1', "bas") in found
    assert data.source_description == f"path: {tmp_path / 'mes données' / 'avis reçus.csv'}, 40 documents"
    assert {number(text) for text, _ in found} == set(range(40))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (("9", "10", "2"), ("2", "9", "10")),
        (("-1.5", "1e1", "3"), ("-1.5", "3", "1e1")),
        (("level 10", "level 9", "Level 1"), ("Level 1", "level 9", "level 10")),
        (("b", "A", "ç"), ("A", "b", "ç")),
        (("1", "one"), ("1", "one")),
        (("nan", "7", "1"), ("1", "7", "nan")),
    ],
)
def test_classes_in_natural_order(tmp_path, cache_dir, labels, classes):
    data = own(write_csv(tmp_path / "a.csv", rows(60, labels)))
    assert data.spec.classes == classes
    found = dict(documents(data, "train", "val", "test"))
    assert all(label == labels[number(text) % len(labels)] for text, label in found.items())


def test_splits_of_ones_own(tmp_path, cache_dir):
    for name, count in (("train", 30), ("valid", 7), ("test", 5)):
        write_csv(tmp_path / "all" / f"{name}.csv", rows(count))
    assert own(tmp_path / "all").sizes == {"train": 30, "val": 7, "test": 5}
    train = tmp_path / "all" / "train.csv"
    assert own(train, split={"test": str(tmp_path / "all/test.csv")}).sizes == {"train": 27, "val": 3, "test": 5}
    both = {"val": str(tmp_path / "all/valid.csv"), "test": str(tmp_path / "all/test.csv")}
    assert own(train, split=both).sizes == {"train": 30, "val": 7, "test": 5}


def class_folders(top, train=12):
    for count in range(train + 3):
        for name, word in (("pos", "good"), ("neg", "bad")):
            text = f"it was {word} .\nno one says it 's not {word} numéro {' '.join(str(count))} .\n"
            written(top / name / f"cv{900 + count - train if count >= train else count:03}.txt", text)
    (top / "README").write_text("nothing")
    return top


def test_class_folders_and_zip(tmp_path, cache_dir):
    folder = class_folders(tmp_path / "films")
    for file in sorted(folder.rglob("*.txt"))[::3]:
        file.rename(file.with_suffix(".TXT"))
    with zipfile.ZipFile(tmp_path / "films.zip", "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, f"films/{file.relative_to(folder)}")
    for path in (folder, tmp_path / "films.zip"):
        data = own(path, split={"test": "cv9*"}, text={"sentences": "lines", "minimum_frequency": 1})
        assert data.sizes == {"train": 22, "val": 2, "test": 6}
        assert data.spec.classes == ("neg", "pos")
        assert {text.split(" .")[0] for text, label in documents(data, "test") if label == "pos"} == {"it was good"}
        assert all(number(text) >= 12 for text, _ in documents(data, "test"))
        assert batches(data, "test")[0].sentence_mask.sum(1).tolist() == [2] * 6
    assert own(folder).sizes == {"train": 24, "val": 3, "test": 3}


def test_class_folders_inside_splits(tmp_path, cache_dir):
    class_folders(tmp_path / "films/train", 6)
    class_folders(tmp_path / "films/test", 2)
    assert own(tmp_path / "films").sizes == {"train": 16, "val": 2, "test": 10}


def test_movie_reviews(shared_data, cache_dir):
    path = shared_data / "movie_reviews" / "movie_reviews.zip"
    if not path.exists():
        pytest.skip("no movie reviews beside the clone")
    data = own(path, text={"sentences": "lines", "max_sentences": 3, "max_words": 10}, split={"test": "cv9*"})
    splits = data.describe()["splits"]
    assert data.sizes == {"train": 1620, "val": 180, "test": 200}
    assert splits["test"]["classes"] == {"neg": 100, "pos": 100}
    assert all(part["sentences"]["max"] == 3 for part in splits.values())


# mistakes

HEADER = "texte reçu,étoiles\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,1\n" * 9, "a.csv: found only the label '1' in 9 documents; at least two classes"),
        ("".join(f"a,{n}\n" for n in range(200)), "a.csv: 200 different labels in 200 documents, such as '0'"),
        (",1\n,2\n", "a.csv: no documents in the train split; left out: 2 no text"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, cache_dir, content, message):
    with pytest.raises(DataError, match=re.escape(message)):
        own(written(tmp_path / "a.csv", HEADER + content), loader={"on_bad_row": "skip"})


@pytest.mark.parametrize(
    ("path", "split", "error", "message"),
    [
        ("a.txt", {}, DataError, r"a.txt: unknown kind of file '.txt'; expected: a file \(.csv, .tsv"),
        ("a.csv", {"test": "cv9*"}, DataError, r"cv9\*: No such file .*\(data.split.test\); expected: a share"),
        ("films", {"test": "dv*"}, DataError, r"split.test='dv\*' is a pattern .* fits none of 10 files, such as"),
        ("films", {"val": "*.txt"}, DataError, r"films: data.split.val='\*.txt' .* fits all of 10 files"),
        ("tests only", {}, DataError, r"tests only: found test/; expected: a file"),
        ("both", {"test": "cv*"}, DataError, r"both: holds a folder of test documents; remove"),
        (
            "a.csv",
            {"test": 1.5},
            ConfigError,
            r"data.split.test=1.5: expected a share between 0 and 1, the path of a table",
        ),
        ("a.csv", {"val": 0.5, "test": 0.5}, ConfigError, r"leave nothing to train on"),
    ],
)
def test_paths_that_lead_nowhere(tmp_path, cache_dir, path, split, error, message):
    written(tmp_path / "a.txt", "x")
    write_csv(tmp_path / "a.csv", rows())
    for name in ("films", "tests only/test", "both/train", "both/test"):
        class_folders(tmp_path / name, 2)
    with pytest.raises(error, match=message):
        own(tmp_path / path, split=split)


def test_strange_documents(tmp_path, cache_dir, caplog):
    strange = [(text, "bas") for text in ("One. " * 10_000, "a" * 5_000, "<br />", "&nbsp;", "!" * 999)]
    with caplog.at_level("INFO", "zoo"):
        data = own(write_csv(tmp_path / "a.csv", rows() + strange), loader={"max_tokens": 1000})
    whole = data.describe()["splits"]
    assert sum(part["documents"] for part in whole.values()) == 45
    assert sum(part["truncated"] for part in whole.values()) == 3
    assert "documents: 3 documents were cut (data.text.max_sentences, max_words, max_word_length)" in caplog.text
    assert max(part["sentences"]["max"] for part in whole.values()) == 100
    assert sum(part["words"]["bins"].get("0", 0) for part in whole.values()) == 2
    masks = [mask for split in data.sizes for mask in served(data, split, "sentence_mask")]
    assert len(masks) == 45 and sum(not mask.any() for mask in masks) == 2
