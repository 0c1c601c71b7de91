"""Documents of your own: tables, labels, folders, with or without splits, and the errors."""

import csv
import re
import zipfile

import pytest

from zoo.data.documents.own import OwnDocuments
from zoo.errors import ConfigError, DataError

TEXTS = ["Très bon, vraiment.\nOn reviendra !", 'Il a dit "jamais".', "Bof; moyen.", "Un é ü ß.", "Pas mal."]


def rows(count=40, labels=("élevé", "bas")):
    """Texts with their number, digit by digit: words that the training documents have too."""
    return [(f"{TEXTS[n % 5]} numéro {' '.join(str(n))}", labels[n % len(labels)]) for n in range(count)]


def number(text):
    return int(text.rsplit("numéro", 1)[1].rstrip(". ").replace(" ", ""))


def write_csv(path, documents, header=("texte reçu", "étoiles")):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *documents])
    return path


def prepared(path, **options):
    options = {"text_column": "texte reçu", "label_column": "étoiles", "text": {"minimum_frequency": 1}} | options
    data = OwnDocuments(path=str(path), **options)
    data.prepare_data()
    data.setup()
    return data


def documents(data, split):
    """(words, class name) of each document of a split."""
    loader = {"train": data.train_dataloader, "val": data.val_dataloader, "test": data.test_dataloader}[split]()
    found = []
    for batch in loader:
        for words, mask, label, index in zip(batch.words, batch.word_mask, batch.label, batch.index, strict=True):
            text = " ".join(data.encoder.vocabulary.decode(words[mask].tolist()))
            found.append((int(index), text, data.spec.classes[int(label)]))
    return [document[1:] for document in sorted(found)]


def sizes(data):
    return {name: part["documents"] for name, part in data.describe()["splits"].items()}


def test_a_csv_with_accents_blanks_and_line_breaks(tmp_path, cache_dir):
    data = prepared(write_csv(tmp_path / "mes données" / "avis reçus.csv", rows()))
    assert data.tasks == ("classification",)
    assert data.spec.classes == ("bas", "élevé")
    assert sizes(data) == {"train": 32, "val": 4, "test": 4}
    found = [document for split in ("train", "val", "test") for document in documents(data, split)]
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
    data = prepared(write_csv(tmp_path / "a.csv", rows(60, labels)))
    assert data.spec.classes == classes
    found = dict(document for split in ("train", "val", "test") for document in documents(data, split))
    assert all(label == labels[number(text) % len(labels)] for text, label in found.items())


def test_splits_of_ones_own(tmp_path, cache_dir):
    for name, count in (("train", 30), ("valid", 7), ("test", 5)):
        write_csv(tmp_path / "all" / f"{name}.csv", rows(count))
    assert sizes(prepared(tmp_path / "all")) == {"train": 30, "val": 7, "test": 5}
    train = tmp_path / "all" / "train.csv"
    assert sizes(prepared(train, split={"test": str(tmp_path / "all/test.csv")})) == {"train": 27, "val": 3, "test": 5}
    both = {"val": str(tmp_path / "all/valid.csv"), "test": str(tmp_path / "all/test.csv")}
    assert sizes(prepared(train, split=both)) == {"train": 30, "val": 7, "test": 5}


def class_folders(top, train=12):
    for count in range(train + 3):
        for name, word in (("pos", "good"), ("neg", "bad")):
            path = top / name / f"cv{900 + count - train if count >= train else count:03}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"it was {word} .\nno one says it 's not {word} numéro {' '.join(str(count))} .\n")
    (top / "README").write_text("nothing")
    return top


def test_class_folders_and_zip(tmp_path, cache_dir):
    folder = class_folders(tmp_path / "films")
    with zipfile.ZipFile(tmp_path / "films.zip", "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, f"films/{file.relative_to(folder)}")
    for path in (folder, tmp_path / "films.zip"):
        data = prepared(path, split={"test": "cv9*"}, text={"sentences": "lines", "minimum_frequency": 1})
        assert sizes(data) == {"train": 22, "val": 2, "test": 6}
        assert data.spec.classes == ("neg", "pos")
        assert {text.split(" .")[0] for text, label in documents(data, "test") if label == "pos"} == {"it was good"}
        assert all(number(text) >= 12 for text, _ in documents(data, "test"))
        assert next(iter(data.test_dataloader())).sentence_mask.sum(1).tolist() == [2] * 6
    drawn = prepared(folder, text={"minimum_frequency": 1})
    assert sizes(drawn) == {"train": 24, "val": 3, "test": 3}


def test_class_folders_inside_splits(tmp_path, cache_dir):
    class_folders(tmp_path / "films/train", 6)
    class_folders(tmp_path / "films/test", 2)
    assert sizes(prepared(tmp_path / "films", text={"minimum_frequency": 1})) == {"train": 16, "val": 2, "test": 10}


def test_movie_reviews(shared_data, cache_dir):
    path = shared_data / "movie_reviews" / "movie_reviews.zip"
    if not path.exists():
        pytest.skip("no movie reviews beside the clone")
    data = prepared(path, text={"sentences": "lines", "max_sentences": 3, "max_words": 10}, split={"test": "cv9*"})
    splits = data.describe()["splits"]
    assert {name: part["documents"] for name, part in splits.items()} == {"train": 1620, "val": 180, "test": 200}
    assert splits["test"]["classes"] == {"neg": 100, "pos": 100}
    assert all(part["sentences"]["max"] == 3 for part in splits.values())


# mistakes

HEADER = "texte reçu,étoiles\n"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (HEADER + "a,1\n" * 9, {}, "a.csv: all 9 documents have the label '1'; at least two classes"),
        (
            HEADER + "".join(f"a,{n}\n" for n in range(200)),
            {},
            "a.csv: 200 different labels in 200 documents, such as '0'",
        ),
        (
            HEADER + ",1\n,2\n",
            {"loader": {"on_bad_row": "skip"}},
            "a.csv: no documents in the train split; left out: 2 no text",
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path, cache_dir, content, options, message):
    (tmp_path / "a.csv").write_text(content, "utf-8")
    with pytest.raises(DataError, match=re.escape(message)):
        prepared(tmp_path / "a.csv", **options)
    assert not [path for path in cache_dir.rglob("*") if path.is_dir() and path.name != "documents"]


def test_a_label_that_only_the_test_has(tmp_path, cache_dir):
    train = write_csv(tmp_path / "a.csv", rows())
    test = write_csv(tmp_path / "b.csv", [("ok", "bas"), ("deux\nlignes", "élevée"), ("fin", "bas")])
    message = "line 3: unknown label: 'élevée' does not occur in the training documents, which have 'élevé', 'bas'"
    with pytest.raises(DataError, match=rf"^{test}, {message}; did you mean 'élevé'\?"):
        prepared(train, split={"test": str(test)})


def test_paths_that_lead_nowhere(tmp_path, cache_dir):
    (tmp_path / "a.txt").write_text("x")
    write_csv(tmp_path / "a.csv", rows())
    class_folders(tmp_path / "films", 2)
    class_folders(tmp_path / "tests only/test", 2)
    class_folders(tmp_path / "both/train", 2)
    class_folders(tmp_path / "both/test", 2)
    folder = {"path": tmp_path / "films"}
    own = {"path": tmp_path / "a.csv"}
    cases = [
        ({"path": tmp_path / "a.txt"}, DataError, r"a.txt: unknown kind of file '.txt'; expected: a file \(.csv, .tsv"),
        (own | {"split": {"test": "cv9*"}}, DataError, r"cv9\*: No such file .*\(data.split.test\); expected: a share"),
        (
            folder | {"split": {"test": "dv*"}},
            DataError,
            r"split.test='dv\*' is a pattern .* fits none of 10 files, such as",
        ),
        (folder | {"split": {"val": "*.txt"}}, DataError, r"films: data.split.val='\*.txt' .* fits all of 10 files"),
        ({"path": tmp_path / "tests only"}, DataError, r"tests only: found test/; expected: a file"),
        (
            {"path": tmp_path / "both", "split": {"test": "cv*"}},
            DataError,
            r"both: holds a folder of test documents; remove",
        ),
        (
            own | {"split": {"test": 1.5}},
            ConfigError,
            r"data.split.test=1.5: expected a share between 0 and 1, the path of a table",
        ),
        (own | {"split": {"val": 0.5, "test": 0.5}}, ConfigError, r"leave nothing to train on"),
    ]
    for options, error, message in cases:
        with pytest.raises(error, match=message):
            prepared(**{**options, "path": str(options["path"])})


def test_skipped_rows_are_counted_and_told(tmp_path, cache_dir, caplog):
    path = write_csv(tmp_path / "a.csv", [*rows(), ("", "bas"), ("x", ""), ("y", "bas", "z")])
    with pytest.raises(DataError, match=r"a.csv, line 5\d: no text \(data.loader.on_bad_row=skip leaves"):
        prepared(path)
    with caplog.at_level("INFO", "zoo"):
        data = prepared(path, loader={"on_bad_row": "skip"})
    assert data.describe()["skipped"] == {"no text": 1, "no label": 1, "wrong number of fields": 1}
    assert "documents: left out 3 rows: 1 no text, 1 no label, 1 wrong number of fields" in caplog.text
    assert sizes(data) == {"train": 32, "val": 4, "test": 4}


def test_strange_documents(tmp_path, cache_dir, caplog):
    strange = [
        ("One. " * 10_000, "bas"),
        ("a" * 5_000, "bas"),
        ("<br />", "bas"),
        ("&nbsp;", "élevé"),
        ("!" * 999, "bas"),
    ]
    with caplog.at_level("INFO", "zoo"):
        data = prepared(write_csv(tmp_path / "a.csv", rows() + strange), loader={"max_tokens": 1000})
    whole = data.describe()["splits"]
    assert sum(part["documents"] for part in whole.values()) == 45
    assert sum(part["truncated"] for part in whole.values()) == 3
    assert "documents: 3 documents were cut (data.text.max_sentences, max_words, max_word_length)" in caplog.text
    assert max(part["sentences"]["max"] for part in whole.values()) == 100
    assert sum(part["words"]["bins"].get("0", 0) for part in whole.values()) == 2
    batches = [batch for split in ("train", "val", "test") for batch in getattr(data, f"{split}_dataloader")()]
    assert sum(len(batch) for batch in batches) == 45
    assert sum(int((~batch.sentence_mask.any(1)).sum()) for batch in batches) == 2
