"""Every format is read, and every row that cannot be used is named with its file and line."""

import csv
import json
import re
import zipfile

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.serving import one_bad_row, written
from zoo.data.documents.readers import (
    folder_source,
    read_hub_parquet,
    read_table,
    read_tang,
    read_yelp_json,
    read_zhang,
)
from zoo.data.readers import columns_of, read_columns
from zoo.data.rows import BadRows
from zoo.data.sources import download
from zoo.errors import DataError


def table(path, bad=None, text="text", label="label"):
    return [(row.text, row.label) for row in read_table(path, text, label, bad or BadRows())]


def skipping(read, *arguments):
    """The rows that are left when bad ones are skipped, and what was wrong with those."""
    bad = BadRows("skip")
    return [(row.text, row.label) for row in read(*arguments, bad)], dict(bad.problems)


# Zhang


def test_zhang(tmp_path):
    path = written(tmp_path / "train.csv", '"5","Great ""stuff"".\\nReally."\n"1","Title","Body"\n"2","","only body"\n')
    expected = [('Great "stuff".\nReally.', 4), ("Title\nBody", 0), ("only body", 1)]
    assert list(read_zhang(path, 5, BadRows())) == [(*one, f"{path}, line {n}") for n, one in enumerate(expected, 1)]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('"1","a"\n"6","b"\n', 2, "label out of range: expected a class from 1 to 5, found '6'"),
        ('"label","text"\n', 1, "label out of range: expected a class from 1 to 5, found 'label'"),
        ('"1","a"\n\n"2","  "\n', 3, "no text"),
        ('"1","a"\n"2"\n', 2, "too few fields: found 1;"),
        ('"1","first\nand second line"\n"2","open\n"3","c"\n', 3, "broken quote: .*a quote inside a quoted field"),
        ('"1","a"\n"2","never closed\nmore\n', 2, "broken quote: unexpected end of data"),
        (b'"1","a"\n"2","caf\xe9"\n', 2, r"not UTF-8: byte 0xe9 at offset 16 of the file; other lines are right"),
        (b'"1","a"\n"2","two\ncaf\xe9 lines"\n', 3, r"not UTF-8: byte 0xe9 at offset 20 of the file;"),
        (b'\xef\xbb\xbf"1","caf\xe9"\n', 1, r"not UTF-8: byte 0xe9 at offset 11"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_zhang_errors_name_file_and_line(tmp_path, content, line, message):
    path = written(tmp_path / "my file é.csv", content)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}, line {line}: {message}.*on_bad_row=skip"):
        list(read_zhang(path, 5, BadRows()))


@pytest.mark.parametrize(
    ("content", "left", "bad"),
    [
        (
            b'"1","a"\n"9","b"\n"2","open\n"3","c"\n"4","caf\xe9"\n"5",""\n"5","two\nlines"\n"2","d"x\n"1","e"\n',
            [("a", 0), ("c", 2), ("two\nlines", 4), ("e", 0)],
            {"label out of range": 1, "broken quote": 2, "not UTF-8": 1, "no text": 1},
        ),
        ('"1","a"\n   \n"2","b"\n \t\n', [("a", 0), ("b", 1)], {}),  # a row of blanks is blank
        ('"1","a"\n"2","open\n' + "3,c\n" * 50, [("a", 0), *[("c", 2)] * 50], {"broken quote": 1}),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_zhang_skips_bad_rows_and_reads_on(tmp_path, content, left, bad):
    assert skipping(read_zhang, written(tmp_path / "a.csv", content), 5) == (left, bad)


@pytest.mark.usefixtures("damaged")
def test_places_are_right_after_a_broken_row(tmp_path, caplog):
    """The lines after the first of a broken row are read again: they count once."""
    path = written(tmp_path / "a.csv", b'"1","open\n"2","b"\n"3","c"\n"4","caf\xe9"\n"6","d"\n')
    rows = list(read_zhang(path, 5, BadRows("skip")))
    assert [row.place for row in rows] == [f"{path}, line 2", f"{path}, line 3"]
    messages = [record.getMessage() for record in caplog.records]
    assert "line 1: broken quote" in messages[0]
    assert "line 4: not UTF-8: byte 0xe9 at offset 34 of the file;" in messages[1]
    assert "line 5: label out of range" in messages[2]


def test_a_damaged_row_is_not_of_the_encoding_of_the_file(tmp_path):
    path = written(tmp_path / "a.csv", '"1","ä"\n'.encode("cp1252") * 30 + b'"1","\x81"\n')
    with pytest.raises(DataError, match=r"line 31: not CP1252: byte 0x81"):
        list(read_zhang(path, 5, BadRows(encoding="cp1252")))


# Yelp, Tang


def test_yelp_json(tmp_path):
    content = '{"stars": 5.0, "text": "Fine\\n\\nYes", "date": "2015-01-01"}\n\n{"text": "Bad", "stars": 1}\n'
    path = written(tmp_path / "review.json", content)
    expected = [("Fine\n\nYes", 4, f"{path}, line 1"), ("Bad", 0, f"{path}, line 3")]
    assert list(read_yelp_json(path, BadRows())) == expected
    packed = written(tmp_path / "review.json.gz", content)
    assert [row.text for row in read_yelp_json(packed, BadRows())] == ["Fine\n\nYes", "Bad"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"stars": 2.5, "text": "a"}', "label out of range: expected 1 to 5 stars, found 2.5"),
        ('{"stars": null, "text": "a"}', "label out of range: expected 1 to 5 stars, found None"),
        ('{"stars": 5, "text": ""}', "no text"),
        ('{"star": 5, "text": "a"}', "missing column: no column 'stars'; found: 'star', 'text'; did you mean 'star'?"),
        ('{"stars": 5, "text": "a"', "not json: Expecting"),
        ('["a"]', "not a json object: found '[\"a\"]'"),
    ],
)
def test_json_errors_name_file_and_line(tmp_path, line, message):
    path = written(tmp_path / "review.json", f'{{"stars": 1, "text": "a"}}\n{line}\n')
    (row,) = one_bad_row(lambda bad: read_yelp_json(path, bad), f"{path}, line 2: {message}")
    assert (row.text, row.label) == ("a", 0)


def test_a_json_array_is_no_json_lines(tmp_path):
    path = written(tmp_path / "review.json", '[{"stars": 1, "text": "a"}]')
    with pytest.raises(DataError, match=r"holds one json array; json lines are expected"):
        list(read_yelp_json(path, BadRows("skip")))


def test_tang(tmp_path):
    content = "u1\t\tp1\t\t10\t\tit was good . <sssss> very good .\nu\t\tp\t\t1\t\tbad .\n"
    path = written(tmp_path / "imdb-train.txt.ss", content)
    found = [(row.text, row.label) for row in read_tang(path, 10, BadRows())]
    assert found == [("it was good . \n very good .", 9), ("bad .", 0)]
    broken = written(tmp_path / "b.ss", "u\t\tp\t\t11\t\ta\nu p 1 a\n" + "u\t\tp\t\t3\t\t<sssss>\n")
    rows, problems = skipping(read_tang, broken, 10)
    assert not rows
    assert problems == {"label out of range": 1, "too few fields": 1, "no text": 1}
    with pytest.raises(
        DataError, match=r"b.ss, line 1: label out of range: expected a rating from 1 to 10, found '11'"
    ):
        list(read_tang(broken, 10, BadRows()))


# tables with named columns

ROWS = [('Très bon,\n"vraiment"', "élevé"), ("bof; non", "3"), ("a\tb", "3")]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
def test_csv(tmp_path, name, delimiter, start):
    def quoted(field):
        return '"' + field.replace('"', '""') + '"'

    lines = [["n°", " texte reçu ", "étoiles"], *(["1", quoted(text), quoted(label)] for text, label in ROWS)]
    content = start + "".join(delimiter.join(line) + "\r\n" for line in lines)
    path = written(tmp_path / "mes données" / name, content)
    assert table(path, text="texte reçu", label="étoiles") == ROWS


def test_json_lines_and_parquet(tmp_path):
    lines = "".join(json.dumps({"texte": text, "étoiles": label}, ensure_ascii=False) + "\n" for text, label in ROWS)
    for name in ("a.jsonl", "a.ndjson", "a.json"):
        assert table(written(tmp_path / name, lines), text="texte", label="étoiles") == ROWS
    pq.write_table(pa.table({"texte": [t for t, _ in ROWS], "étoiles": [s for _, s in ROWS]}), tmp_path / "a.parquet")
    assert table(tmp_path / "a.parquet", text="texte", label="étoiles") == ROWS


@pytest.mark.parametrize(
    ("label", "name"), [(4, "4"), (4.0, "4"), (4.5, "4.5"), (-1.0, "-1"), (True, "True"), ("  x ", "x"), ("4.0", "4")]
)
def test_one_spelling_for_a_class(tmp_path, label, name):
    pq.write_table(pa.table({"text": ["a"], "label": [label]}), tmp_path / "a.parquet")
    path = written(tmp_path / "a.jsonl", json.dumps({"text": "a", "label": label}))
    assert table(tmp_path / "a.parquet") == table(path) == [("a", name)]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (
            "txt,label\na,1\n",
            1,
            "no column 'text'; found: 'txt', 'label'; did you mean 'txt'? (the keys are data.text_c",
        ),
        ("text,stars\na,1\n", 1, "no column 'label'; found: 'text', 'stars' (the keys"),
        ("text,label,text\na,1,b\n", 1, "2 columns are called 'text'"),
        ("text,label\na,1\nb,c,2\n", 3, "wrong number of fields: found 3, the header has 2; a text with ',' needs quo"),
        ("text,label\na,1\n,2\n", 3, "no text"),
        ('text,label\n"a\nb",1\n"c\n",""\n', 4, "no label"),
    ],
)
def test_csv_errors_name_file_and_line(tmp_path, content, line, message):
    path = written(tmp_path / "a.csv", content)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}, line {line}: {re.escape(message)}"):
        table(path)


def test_csv_skips_bad_rows_but_never_a_missing_column(tmp_path):
    path = written(tmp_path / "a.csv", 'text,label\na,1\n,2\nb\n"c""d",3\n"e"f,4\ng,5\n')
    rows, problems = skipping(read_table, path, "text", "label")
    assert rows == [("a", "1"), ('c"d', "3"), ("g", "5")]
    assert problems == {"no text": 1, "wrong number of fields": 1, "broken quote": 1}
    with pytest.raises(DataError, match="no column 'review'"):
        skipping(read_table, path, "review", "label")


def test_parquet_errors_name_file_and_row(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", None, "c"], "label": [1.0, 2.0, float("nan")]}), path)
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}, row 2: no text"):
        table(path)
    rows, problems = skipping(read_table, path, "text", "label")
    assert rows == [("a", "1")]
    assert problems == {"no text": 1, "no label": 1}
    with pytest.raises(DataError, match="no column 'txt'; found: 'text', 'label'; did you mean 'text'"):
        table(path, text="txt")
    with pytest.raises(DataError, match=r"b.parquet: cannot be read as parquet"):
        table(written(tmp_path / "b.parquet", "PAR1 no"))


def test_parquet_of_the_hub(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b", ""], "label": [0, 4, 1]}), path)
    rows, problems = skipping(read_hub_parquet, path, 4, False, "")
    assert rows == [("a", 0)]
    assert problems == {"label out of range": 1, "no text": 1}
    with pytest.raises(DataError, match="row 2: label out of range: expected 0 to 3, found 4"):
        list(read_hub_parquet(path, 4, False, "", BadRows()))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz"])
def test_an_empty_file(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name}: the file is empty"):
        table(written(tmp_path / name, ""))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"none.csv: cannot be read: No such file"):
        table(tmp_path / "none.csv")
    with pytest.raises(DataError, match=r"a.xlsx: unknown kind of file '.xlsx'; .csv, .tsv"):
        table(written(tmp_path / "a.xlsx", b"PK"))


def test_a_field_that_is_too_long_ends_there(tmp_path, monkeypatch):
    before = csv.field_size_limit()
    monkeypatch.setattr("zoo.data.rows.FIELD_LIMIT", 100)
    path = written(tmp_path / "a.csv", 'text,label\n"' + "open\n" * 1000)
    with pytest.raises(DataError, match="line 2: broken quote: field larger than field limit"):
        table(path)
    assert csv.field_size_limit() == before  # it belongs to the process


def test_a_field_longer_than_what_csv_allows_by_itself(tmp_path):
    long = "word " * (csv.field_size_limit() // 4)
    assert len(table(written(tmp_path / "a.csv", f'text,label\n"{long}",good\n'))) == 1


# class folders


@pytest.fixture
def folder(tmp_path):
    films = {"pos/cv000": "good .\nvery good .\n", "pos/cv900": "\ufefffine .\n", "neg/cv000": "bad .\n"}
    for name, content in (films | {"README": "no document"}).items():
        written(tmp_path / "films" / f"{name}.txt", content)
    return tmp_path / "films"


def documents(path, bad=None):
    classes = {"neg": "negative", "pos": "positive"}
    return list(folder_source(path, "documents", classes=classes).splits["train"](bad or BadRows()))


def test_class_folders(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "films.zip", "w") as archive:
        archive.writestr("__MACOSX/films/pos/._cv000.txt", "junk")
        for file in folder.rglob("*.txt"):
            archive.write(file, f"films/{file.relative_to(folder)}")
    for path, top in ((folder, ""), (tmp_path / "films.zip", "films/")):
        assert documents(path) == [
            ("bad .\n", 0, f"{path}/{top}neg/cv000.txt"),
            ("good .\nvery good .\n", 1, f"{path}/{top}pos/cv000.txt"),
            ("fine .\n", 1, f"{path}/{top}pos/cv900.txt"),
        ]


@pytest.mark.usefixtures("damaged")
def test_class_folder_errors(folder):
    written(folder / "neg/cv001.txt", b"ok\nna\xefve\n")
    written(folder / "neg/cv002.txt", b" \n")
    with pytest.raises(DataError, match=r"neg/cv001.txt, line 2: not UTF-8: byte 0xef at offset 5"):
        documents(folder)
    bad = BadRows("skip")
    assert len(documents(folder, bad)) == 3
    assert bad.problems == {"not UTF-8": 1, "no text": 1}
    with pytest.raises(DataError, match=r"README.zip: cannot be read: File is not a zip file"):
        documents(written(folder / "README.zip", "no zip"))


def test_a_document_that_cannot_be_read_is_named(folder, tmp_path):
    rows = folder_source(folder, "documents").splits["train"](BadRows())
    (folder / "neg/cv000.txt").unlink()
    (folder / "neg/cv000.txt").mkdir()
    place = re.escape(str(folder / "neg/cv000.txt"))
    with pytest.raises(DataError, match=rf"^{place}: cannot be read: Is a directory$"):
        list(rows)
    path = tmp_path / "reviews.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pos/1.txt", "good good good")
    path.write_bytes(path.read_bytes().replace(b"good", b"gold", 1))
    with pytest.raises(DataError, match=rf"^{re.escape(str(path))}/pos/1.txt: cannot be read: Bad CRC-32"):
        documents(path)


STORIES = {"story": ["a", "b"], "question": ["c", "d"], "answer": ["e", "f"], "support": ["1", "2"]}


@pytest.mark.parametrize("columns", [("answer",), ("question", "answer", "story"), tuple(STORIES)])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_any_number_of_columns(tmp_path, name, columns):
    path, rows = tmp_path / name, list(zip(*STORIES.values(), strict=True))
    if path.suffix == ".parquet":
        pq.write_table(pa.table(STORIES), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(STORIES, row, strict=True))) + "\n" for row in rows))
    else:
        path.write_text("".join(("," if name == "a.csv" else "\t").join(row) + "\n" for row in (tuple(STORIES), *rows)))
    assert columns_of(path) == list(STORIES)
    found = list(read_columns(path, columns, "", BadRows()))
    assert [values for _, *values in found] == [[STORIES[column][row] for column in columns] for row in range(2)]
    assert all(place.startswith(str(path)) for place, *_ in found)
    with pytest.raises(DataError, match=r"no column 'clue'; found: 'story', 'question', 'answer', 'support' \(keys"):
        list(read_columns(path, (*columns, "clue"), " (keys)", BadRows()))


def test_the_hub_offline(monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("no route\nto the hub")

    monkeypatch.setattr(datasets, "load_dataset", offline)
    message = r"^them/stories, en: the split 'train' cannot be loaded from .* \(ConnectionError: no route\); expected"
    with pytest.raises(DataError, match=message + r" parquet files with the columns a and b\. .*data\.source=sample"):
        download("them/stories", "train", ("a", "b"), name="en")


def test_any_number_of_columns_of_the_hub(monkeypatch):
    stories = datasets.Dataset.from_dict(STORIES)
    monkeypatch.setattr(datasets, "load_dataset", lambda repository, split: stories)
    assert [row["support"] for row in download("them/stories", "train", tuple(STORIES))] == ["1", "2"]
    with pytest.raises(DataError, match=r"^them/stories: no column 'clue'; found: story, question, answer, support$"):
        download("them/stories", "train", (*STORIES, "clue"))
