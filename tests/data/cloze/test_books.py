"""Questions cut from a folder of books, and from texts on the command line."""

import json
from collections import Counter

import pytest

from tests.data.serving import prepared, served, written
from zoo.cli import main
from zoo.data.cloze.books import Books, BookSplitOptions, _parts
from zoo.data.cloze.cutting import Book
from zoo.errors import ConfigError, DataError

PEOPLE = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay")
THINGS = ("lamp", "door", "bell", "rope", "ship", "tree", "wall", "lake", "road", "barn", "hat")


def story(number, sentences=60):
    """A text whose names and things can be found by counting."""
    told = (
        f"In year {number} then {PEOPLE[n % 6]} saw the {THINGS[n % 11]}, and {PEOPLE[(n * 5 + 1) % 6]} slept {n}."
        for n in range(sentences)
    )
    return f"# Title: Story {number}\n\n## Author: Nobody\n\n" + "\n\n".join(told)


@pytest.fixture
def shelf(tmp_path):
    for number in range(6):
        written(tmp_path / "shelf" / f"story{number}.{'md' if number % 2 else 'TXT'}", story(number))
    return written(tmp_path / "shelf" / "index.tsv", "no book").parent


def books(path, **options):
    return prepared(Books(path=str(path), **{"split": {"val": 1, "test": 2}} | options))


def years(data, split):
    """The number of questions of a split by their story."""
    return Counter(text.document[2] for text in served(data, split, "text"))


def test_whole_books_are_kept_for_validation_and_test(shelf, cache_dir):
    data = books(shelf)
    assert data.sizes == {"train": 3 * 40, "val": 40, "test": 2 * 40}
    assert data.source_description == f"path: {shelf}, 240 NE questions cut from 6 books"
    val, test = years(data, "val"), years(data, "test")
    assert [*val.values(), *test.values()] == [40] * 3 == [40] * len(val | test)
    others = {frozenset(years(books(shelf, split={"val": 1, "test": 2, "seed": n}), "test")) for n in range(5)}
    assert len(others) > 1
    assert not any("are in train" in note for note in data.describe()["notes"])


def test_kinds_and_strides(shelf, cache_dir):
    data = books(shelf, kind="CN", stride=21)
    assert data.sizes == {"train": 3 * 2, "val": 2, "test": 2 * 2}
    for text, answer in served(data, "test", "text", "answer"):
        assert set(text.candidates) < set(THINGS) and text.candidates[answer] in text.document


def test_one_book_gives_its_last_tenths(shelf, cache_dir):
    (shelf / "long.txt").write_text(story(7, 400))
    data = books(shelf / "long.txt")
    assert data.sizes == {"train": 300, "val": 20, "test": 20}
    assert all(int(text.query[-2]) >= 380 for text in served(data, "test", "text"))


def test_a_chapter_on_the_border_of_two_splits_is_cut():
    chapters = [[[str(n)] for n in part] for part in (range(7), range(7, 18), range(18, 20))]
    parts = _parts([Book("one", chapters)], BookSplitOptions())
    found = {name: [[int(n) for (n,) in chapter] for chapter in book.chapters] for name, (book,) in parts.items()}
    assert found == {"train": [[*range(7)], [*range(7, 16)]], "val": [[16, 17]], "test": [[18, 19]]}


def test_the_same_sentences_are_asked_about_once(tmp_path, cache_dir):
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(f"{story(1)}\n\n# Once more\n\n{story(1)}")
    data = books(tmp_path, split={"val": 1, "test": 1})
    assert data.sizes == {"train": 40, "val": 40, "test": 40}


def test_too_few_books_and_no_questions(shelf, cache_dir):
    with pytest.raises(ConfigError, match=r"split: val=3 and test=3 of 6 books leave none to train on; set smaller"):
        books(shelf, split=None)
    with pytest.raises(ConfigError, match=r"data.split.val=0.1: expected"):
        Books(path="x", split={"val": 0.1})
    for number in range(6):
        (shelf / f"story{number}.{'md' if number % 2 else 'TXT'}").write_text("Nobody slept.")
    with pytest.raises(DataError, match="no question in the train split; a question needs twenty-one"):
        books(shelf)


# the command


def test_questions_are_cut_from_texts_written_and_read_again(tmp_path, cache_dir, capsys):
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for number, file in enumerate(files):
        file.write_text(story(number, 300))
    out = tmp_path / "out"
    names = [f"cbtest_CN_{name}.txt" for name in ("train", "valid", "test")]
    main(["data", "cbt", "--from-text", *map(str, files), "data.kind=CN", "--write", str(out), "--json"])
    made = capsys.readouterr()
    assert [line for line in made.err.splitlines() if line.startswith("wrote")] == [f"wrote {out / n}" for n in names]
    about = json.loads(made.out)
    assert about["source"] == f"path: {files[0]}, {files[1]}, 480 CN questions cut from 2 books"
    assert [part["questions"] for part in about["splits"].values()] == [2 * 220, 2 * 10, 2 * 10]
    main(["data", "cbt", "data.kind=CN", f"data.source={out}", "--json"])
    assert json.loads(capsys.readouterr().out)["splits"] == about["splits"]
    main(["data", "books", f"data.path={tmp_path}", "data.kind=CN", "--write", str(tmp_path / "more")])
    assert [(tmp_path / "more" / name).read_bytes() for name in names] == [(out / name).read_bytes() for name in names]


def test_two_books_of_one_name_are_refused(shelf):
    written(shelf / "story0.md", story(9))
    with pytest.raises(ConfigError, match=r"story0\.md: has the name of another book, .*story0\.TXT"):
        books(shelf)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["cbt", "--from-text", "none"], "none: No such file or directory (--from-text); expected: a plain text"),
        (["cbt", "--from-text", __file__, "data.kind=V"], "--from-text: data.kind=V: NE and CN can be found in plain"),
        (["cnn", "--from-text", __file__], "--from-text: data=cnn is not made from plain text; data=cbt is"),
        (["cnn", "--write", "out"], "--write: data=cnn cannot be written as files"),
        (["cbt", "--from-text", __file__, "data=yelp"], "data=yelp: `zoo data cbt` already names the data"),
    ],
)
def test_what_cannot_be(capsys, cache_dir, words, problem):
    with pytest.raises(SystemExit) as left:
        main(["data", *words])
    assert left.value.code == 2
    assert problem in capsys.readouterr().err
