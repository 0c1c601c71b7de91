"""Parallel text of your own: every layout is read, every mistake is named with its file and line."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data import serving
from tests.data.serving import batches, prepared, served
from zoo.data.pairs.parallel import Parallel
from zoo.errors import ConfigError, DataError

GERMAN = [f"Das ist der Satz {' '.join(str(number))}." for number in range(40)]
ENGLISH = [f'This is sentence {" ".join(str(number))}, "so".' for number in range(40)]


def written(folder, name, content):
    return str(serving.written(folder / name, content))


def lines(folder, name, texts):
    return written(folder, name, "".join(text + "\n" for text in texts))


def parallel(**options):
    return Parallel(**{"text": {"minimum_frequency": 1, "source_language": "de"}} | options)


def texts(data, split):
    """(source, target) of each pair as the batches have them."""
    return served(data, split, "source_text", "target_text")


@pytest.fixture
def two_files(tmp_path):
    """The source has the line ends of Windows."""
    source = lines(tmp_path, "a.de", [f"{text}\r" for text in GERMAN])
    return {"source_path": source, "target_path": lines(tmp_path, "a.en.gz", ENGLISH)}


def test_two_files_line_by_line(two_files, cache_dir):
    data = prepared(parallel(**two_files))
    assert data.sizes == {"train": 32, "val": 4, "test": 4}
    assert data.languages == ("de", "en")
    assert data.source_description == f"path: {two_files['source_path']} and {two_files['target_path']}, 40 pairs"
    found = texts(data, "val") + texts(data, "test")
    assert len(set(found)) == 8 and set(found) < set(zip(GERMAN, ENGLISH, strict=True))  # as in the files
    assert batches(data, "test")[0].alignment is None
    assert prepared(parallel(**two_files, split={"seed": 2})).sizes == data.sizes
    assert texts(prepared(parallel(**two_files, split={"seed": 2})), "test") != texts(data, "test")
    assert texts(prepared(parallel(**two_files, loader={"seed": 2})), "test") == texts(data, "test")


def test_splits_of_ones_own(tmp_path, two_files, cache_dir):
    test = [lines(tmp_path, "test.de", ["Das Haus.", ""][:1]), lines(tmp_path, "test.en", ["The  house. "])]
    data = prepared(parallel(**two_files, split={"test": test, "val": 0.2}))
    assert data.sizes == {"train": 32, "val": 8, "test": 1}
    assert texts(data, "test") == [("Das Haus.", "The  house. ")]
    with pytest.raises(ConfigError, match=r"data\.split\.test=x\.tsv: expected a share between 0 and 1 or a list"):
        parallel(**two_files, split={"test": "x.tsv"}).prepare_data()
    with pytest.raises(DataError, match=r"none\.de: No such file .*\(data\.split\.test\); expected: a text file"):
        parallel(**two_files, split={"test": [str(tmp_path / "none.de"), test[1]]}).prepare_data()


TSV = [f"{source}\t{target}" for source, target in zip(GERMAN, ENGLISH, strict=True)]


def test_every_kind_of_table_gives_the_same(tmp_path, cache_dir):
    records = [{"de": source, "en": target, "n": 1} for source, target in zip(GERMAN, ENGLISH, strict=True)]
    lines(tmp_path, "a.tsv", TSV)
    lines(tmp_path, "a.jsonl", [json.dumps(record) for record in records])
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    quoted = [",".join('"' + record[key].replace('"', '""') + '"' for key in ("en", "de")) for record in records]
    lines(tmp_path, "a.csv.gz", ["en,de", *quoted])
    found = texts(prepared(parallel(path=str(tmp_path / "a.tsv"))), "test")
    columns = {"source": "de", "target": "en"}
    for name in ("a.jsonl", "a.parquet", "a.csv.gz"):
        assert texts(prepared(parallel(path=str(tmp_path / name), columns=columns)), "test") == found
    assert len(found) == 4


def test_tables_in_a_folder_and_a_second_table(tmp_path, cache_dir):
    lines(tmp_path / "all", "train.tsv", TSV[:30])
    other = lines(tmp_path / "all", "test.tsv", TSV[30:35])
    assert prepared(parallel(path=str(tmp_path / "all"))).sizes == {"train": 27, "val": 3, "test": 5}
    train = str(tmp_path / "all" / "train.tsv")
    assert prepared(parallel(path=train, split={"test": other})).sizes == {"train": 27, "val": 3, "test": 5}
    both = lines(tmp_path, "a.tsv", ["de\ten", *TSV])
    named = parallel(path=both, columns={"source": "de", "target": "en"})
    assert prepared(named).sizes == {"train": 32, "val": 4, "test": 4}


def test_empty_sides_of_training_pairs_are_counted(tmp_path, cache_dir):
    german, english = [*GERMAN, "", "Nur deutsch.", " \t "], [*ENGLISH, "Only English.", "", " "]
    paths = {"source_path": lines(tmp_path, "a.de", german), "target_path": lines(tmp_path, "a.en", english)}
    data = prepared(parallel(**paths))
    assert data.describe()["splits"]["train"]["dropped"] == {"empty": 3} and not data.describe()["skipped"]
    assert sum(data.sizes.values()) == 40


def test_a_text_without_a_token_is_empty_too(tmp_path, two_files, cache_dir):
    """Moses removes control characters. In a test the pair stays, and has only its end."""
    german, english = [*GERMAN, "\x07 \x01"], [*ENGLISH, "Bell."]
    paths = {"source_path": lines(tmp_path, "b.de", german), "target_path": lines(tmp_path, "b.en", english)}
    test = [lines(tmp_path, "t.de", ["\x07"]), lines(tmp_path, "t.en", ["Bell."])]
    data = prepared(parallel(**paths, split={"test": test, "val": list(two_files.values())}))
    assert data.sizes == {"train": 40, "val": 40, "test": 1}
    assert data.describe()["splits"]["train"]["dropped"] == {"empty": 1}
    assert batches(data, "test")[0].source.tolist() == [[data.spec.end]]


# mistakes


def unusable(message, **options):
    with pytest.raises(DataError, match=message):
        parallel(**options).prepare_data()


@pytest.mark.parametrize(("german", "english"), [(40, 37), (37, 40)])
def test_files_of_unequal_length(tmp_path, cache_dir, german, english):
    source, target = lines(tmp_path, "a.de", GERMAN[:german]), lines(tmp_path, "a.en.gz", ENGLISH[:english])
    longer, text = (source, GERMAN[37]) if german > english else (target, ENGLISH[37])
    counts = [(source, german), (target, english)][:: 1 if german > english else -1]
    said = ", ".join(f"{file} has {number}" + " lines" * (number == 40) for file, number in counts)
    message = f"{longer}, line 38: this line has no translation: {text!r}; {said}; a sentence and its translation must"
    for policy in ("error", "skip"):
        with pytest.raises(DataError, match="^" + re.escape(message)):
            parallel(source_path=source, target_path=target, loader={"on_bad_row": policy}).prepare_data()


@pytest.mark.parametrize("side", ["source_path", "target_path"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a\x00b", "NUL byte: the file is binary or damaged"),
        (b"caf\xe9", r"not UTF-8: byte 0xe9 at offset \d+ of the file; other lines are right"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_a_broken_line_is_named(tmp_path, two_files, cache_dir, side, line, message):
    sentences = [text.encode() for text in GERMAN]
    sentences[11] = line
    two_files[side] = written(tmp_path, "broken.txt", b"\n".join(sentences) + b"\n")
    place = f"{re.escape(two_files[side])}, line 12"
    unusable(rf"^{place}: {message}.*data\.loader\.on_bad_row=skip leaves such rows", **two_files)
    data = prepared(parallel(**two_files, loader={"on_bad_row": "skip"}))
    assert sum(data.sizes.values()) == 39
    assert data.describe()["skipped"] == {message.split(":")[0]: 1}
    if side == "source_path":  # the others stay together
        assert set(texts(data, "test")) < set(zip(GERMAN, ENGLISH, strict=True))


def test_an_empty_line_of_a_test_is_a_bad_row(tmp_path, two_files, cache_dir):
    test = [lines(tmp_path, "t.de", ["Eins.", "Zwei.", "Drei."]), lines(tmp_path, "t.en", ["One.", " ", "Three."])]
    unusable(rf"^{re.escape(test[1])}, line 2: no text: the target is empty", **two_files, split={"test": test})
    data = prepared(parallel(**two_files, split={"test": test}, loader={"on_bad_row": "skip"}))
    assert texts(data, "test") == [("Eins.", "One."), ("Drei.", "Three.")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("only one", "wrong number of columns: found 1; a source and a target with one tab between are expected"),
        ("one\ttwo\tthree", "wrong number of columns: found 3;"),
        ("a\x00\tb", "NUL byte"),
        ("a\tcaf\udce9", "not UTF-8: byte 0xe9"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_a_wrong_line_of_a_tsv(tmp_path, cache_dir, line, message):
    content = "\n".join([*TSV, line, "a\tb", ""])
    path = written(tmp_path, "a.tsv", content.encode(errors="surrogateescape"))
    unusable(rf"^{re.escape(path)}, line 41: {message}", path=path)
    data = prepared(parallel(path=path, loader={"on_bad_row": "skip"}))
    assert data.describe()["skipped"] == {message.split(":")[0]: 1}


def test_blank_lines_of_a_tsv_are_nothing(tmp_path, cache_dir):
    data = prepared(parallel(path=lines(tmp_path, "a.tsv", [*TSV[:20], "", *TSV[20:], "  ", ""])))
    assert sum(data.sizes.values()) == len(TSV)


def test_tables_without_the_columns(tmp_path, cache_dir):
    path = lines(tmp_path, "a.csv", ["german,english", "a,b"])
    with pytest.raises(ConfigError, match=r"a\.csv: which columns\? give data\.columns\.source=NAME and"):
        parallel(path=path).prepare_data()
    columns = {"source": "germn", "target": "english"}
    message = r"a\.csv, line 1: no column 'germn'; .*did you mean 'german'\? \(the keys are data\.columns"
    unusable(message, path=path, columns=columns)
    path = lines(tmp_path, "a.jsonl", [json.dumps({"de": 3, "en": "x"})])
    columns = {"source": "de", "target": "en"}
    unusable(r"a\.jsonl, line 1: no text: column 'de' holds 3", path=path, columns=columns)


def test_what_cannot_be_pairs(tmp_path, two_files, cache_dir):
    source = two_files["source_path"]
    for options in ({}, {"source_path": source}, {**two_files, "path": "a.tsv"}, {"source_path": source, "path": "x"}):
        with pytest.raises(ConfigError, match=r"set data\.source_path=FILE and data\.target_path=FILE, or data\.path="):
            parallel(**options).prepare_data()
    none = str(tmp_path / "none")
    unusable(r"none: No such file or directory \(data\.target_path\)", source_path=source, target_path=none)
    unusable(r"none\.tsv: No such file .*\(data\.path\); expected: a table", path=str(tmp_path / "none.tsv"))
    unusable(r"a\.de: no table of pairs; expected: a table", path=source)
    (tmp_path / "empty").mkdir()
    unusable(r"empty: no table of pairs", path=str(tmp_path / "empty"))
    unusable("the file is empty", path=written(tmp_path, "e.tsv", ""))
    unusable(r"no pairs in the train split; left out: 2 empty", path=lines(tmp_path, "b.tsv", ["a\t", "\tb"]))
    few = lines(tmp_path, "c.tsv", TSV[:2])
    unusable(r"too few pairs \(2\) to draw val and test from them; set a separate file as data.split.test", path=few)
