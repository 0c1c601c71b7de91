"""`zoo predict`: the same outputs for every task, and its progress."""

import io

import pytest
from rich.console import Console

from tests.decoding.toys import SPEC, Table, batch_of
from zoo.cli import main
from zoo.decoding import Greedy
from zoo.run.prediction_progress import AGAIN, DELAY, prediction_progress

LINES = {
    "classification": ["The food was slow.", "", "The foood <b>was</b> slow."],
    "translation": ["ein mann schläft .", "", "ein mann <b>tanzzt</b> ."],
}
UNKNOWN = {"classification": "foood", "translation": "tanzzt"}


@pytest.fixture(params=LINES)
def task(request):
    return request.param


@pytest.fixture
def checkpoint(task, finished, translated):
    return str({"classification": finished[0], "translation": translated}[task] / "checkpoints/last.ckpt")


@pytest.fixture
def lines(task, tmp_path, monkeypatch):
    """A file of two inputs with a blank line between; the working folder is its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.txt").write_text("\n".join(LINES[task]) + "\n")
    return ["--file", "lines.txt"]


@pytest.fixture
def refused(refusal):
    """The one line that a refused command prints."""

    def run(*words):
        printed = refusal("predict", *words)
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        return line

    return run


def test_a_page_a_table_and_json(checkpoint, lines, predicted, task):
    (first, blank, last), page, rows, _ = predicted(checkpoint, *lines)
    articles = page.split("<article")[1:]
    assert [article.startswith(" class=blank") for article in articles] == [False, True, False]
    assert "<script" not in page and "<b>" not in page
    assert 'u"' in articles[2] and UNKNOWN[task] in articles[2]
    assert "data-weight=" in articles[0] and 'u"' not in articles[0]
    assert [row["line"] for row in rows] == ["1", "2", "3"] and not any([*rows[1].values()][1:])
    assert not any(None in row or None in row.values() for row in rows)  # of one width
    assert any(value.startswith(("The food was", "ein mann")) for value in rows[0].values())
    assert blank is None
    if task == "classification":
        ((first,), (last,)) = first["sentences"], last["sentences"]
    words = last["words" if task == "classification" else "source"]
    unknown = {words[i] for i in last["unknown"]}
    assert UNKNOWN[task] in unknown and not {"The", "was", "slow", "ein", "mann"} & unknown
    assert first["unknown"] == []


def test_the_terminal_keeps_the_place_of_a_blank_line(checkpoint, lines, capsys, task):
    main(["predict", checkpoint, *lines])
    printed = capsys.readouterr()
    assert "" in printed.out.splitlines()[1:-1]
    if task == "translation":
        assert len(printed.out.splitlines()) == 3
    else:
        shown = printed.out.replace("*", "").split()
        assert "foood(?)" in shown and "food" in shown
    (said,) = printed.err.splitlines()
    assert said.startswith("unknown to the network: ") and UNKNOWN[task] in said


@pytest.mark.parametrize(("ending", "begin"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"), ("", None)])
def test_pictures(checkpoint, lines, tmp_path, ending, begin):
    main(["predict", checkpoint, *lines, "--attention", f"new/map{ending}"])
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert files == [f"map-{number}{ending or '.png'}" for number in (1, 3)]
    assert (tmp_path / "new" / files[0]).read_bytes().startswith(begin or b"\x89PNG")


@pytest.fixture
def many(task, tmp_path, monkeypatch):
    """A file of 25 inputs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.txt").write_text(f"{LINES[task][0]}\n" * 25)
    return ["--file", "many.txt"]


def test_a_summary_of_many_answers_that_are_written_to_a_file(checkpoint, many, tmp_path, capsys, task):
    main(["predict", checkpoint, *many, "--csv", "table.csv"])
    printed = capsys.readouterr()
    first, *answers = printed.out.splitlines()
    assert first == "25 texts" and len(answers) == 1
    assert answers[0].split()[0] == "25"
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 26
    main(["predict", checkpoint, *many])
    assert len(capsys.readouterr().out.splitlines()) >= 25


def test_pictures_of_many_inputs_take_a_folder_and_have_a_limit(checkpoint, many, tmp_path, capsys, refused):
    said = refused(checkpoint, *many, "--attention", "map.png", "--pictures", "3")
    assert said.startswith("error: --attention map.png: 25 inputs need a folder: --attention map/")
    (tmp_path / "one.txt").write_text("Good.\n" + "\n" * 50)
    main(["predict", checkpoint, "--file", str(tmp_path / "one.txt"), "--attention", "one.png"])  # blank lines are none
    assert (tmp_path / "one-1.png").is_file()
    main(["predict", checkpoint, *many, "--attention", "map/", "--pictures", "3"])
    assert sorted(path.name for path in (tmp_path / "map").iterdir()) == ["1.png", "2.png", "3.png"]
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "wrote 3 pictures to map",
        "the first 3 of 25 inputs; --pictures 25 draws all",
    ]


def test_a_picture_of_an_unknown_kind_is_refused(checkpoint, lines, refused, tmp_path):
    said = refused(checkpoint, *lines, "--attention", "new/map.bmp")
    assert said == "error: --attention new/map.bmp: pictures are written as .png, .pdf, .svg; found .bmp"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["--html", "--csv", "--attention"])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_predicted(checkpoint, refused, tmp_path, option):
    (tmp_path / "file").write_text("")
    said = refused(checkpoint, "ein mann .", option, f"{tmp_path}/file/out.png")
    assert said.startswith(f"error: {option} {tmp_path}/file/out.png: ") and "give a file that can be written" in said


def test_a_file_is_no_text(checkpoint, lines, refused):
    said = refused(checkpoint, "lines.txt")
    assert said.startswith("error: lines.txt is a file: use --file lines.txt")


def test_nothing_to_predict(checkpoint, refused):
    assert "nothing to predict" in refused(checkpoint, " ", "")


def test_help_shows_the_options_of_the_checkpoints_task(checkpoint, capsys, task):
    for words in ([checkpoint, "--help"], ["-h", checkpoint]):
        with pytest.raises(SystemExit) as end:
            main(["predict", *words])
        assert end.value.code == 0
        printed = capsys.readouterr().out
        assert "--html" in printed and ("--beam" in printed) == (task == "translation")
    with pytest.raises(SystemExit):
        main(["predict", "--help"])
    assert "--beam" not in capsys.readouterr().out


def test_an_option_of_another_task_is_named(checkpoint, capsys, task, refused):
    if task == "translation":
        main(["predict", "--beam", "2", checkpoint, "ein mann ."])
        assert capsys.readouterr().out.strip()
    else:
        said = refused(checkpoint, "good", "--beam", "3")
        assert said.startswith("error: --beam: not an option for a network that was trained for classification; ")


def shown(*, terminal, seconds, inputs=1):
    """The output while 9 tokens are written, each in so many seconds."""
    out, now = io.StringIO(), [0.0]

    class Slow(Table):
        def step(self, tokens, state):
            now[0] += seconds
            return super().step(tokens, state)

    console = Console(file=out, force_terminal=terminal, width=100)
    with prediction_progress(inputs, console, lambda: now[0]) as predicted:
        Greedy(min_length=(2.0, 1.0), max_length=(2.0, 1.0))(Slow(), batch_of(4), SPEC)
        predicted(1)
    return out.getvalue()


def test_quick_predictions_show_nothing():
    for terminal in (True, False):
        assert shown(terminal=terminal, seconds=DELAY / 20) == ""


def test_a_long_text_shows_a_bar_on_a_terminal():
    out = shown(terminal=True, seconds=DELAY)
    assert "writing step 2 of at most 9" in out and "predicting" not in out  # later ones are drawn by a thread
    assert "predicting" in shown(terminal=True, seconds=DELAY, inputs=2)


def test_a_long_text_prints_a_line_per_minute_into_a_file():
    out = shown(terminal=False, seconds=AGAIN / 4)
    assert out.splitlines() == [
        "writing step 2 of at most 9",
        "writing step 6 of at most 9",
        "1 of 1 inputs predicted",
    ]


def test_nothing_is_reported_after_it():
    shown(terminal=False, seconds=0.0)
    assert Greedy()(Table(), batch_of(2), SPEC)  # no report to a progress that has ended
