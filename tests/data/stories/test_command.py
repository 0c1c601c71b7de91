"""`zoo data`: stories on the terminal, and written as files, which data of other families cannot be."""

import json

import pytest

from zoo.cli import main
from zoo.data.stories.tasks import file_name

SIZES = ["data.sample.train=20", "data.sample.val=4", "data.sample.test=6"]


def test_stories_are_described(cache_dir, capsys):
    main(["data", "babi", "data.tasks=[1,6]", *SIZES])
    text = capsys.readouterr().out
    assert "babi: sample: 60 generated questions, tasks 1, 6, seed 1" in text
    for part in ("sentences in train", "words of a sentence", "qa6", "unknown rate", "question  Where is"):
        assert part in " ".join(text.split()) or part in text, part


def test_a_sample_is_written_and_read_again(tmp_path, cache_dir, capsys):
    main(["data", "babi", "data.tasks=3", *SIZES, "--write", str(tmp_path / "mine"), "--json"])
    made = capsys.readouterr()
    names = [file_name(3, split) for split in ("train", "valid", "test")]
    assert made.err.splitlines()[:3] == [f"wrote {tmp_path / 'mine' / name}" for name in names]
    main(["data", "babi", "data.tasks=3", f"data.source={tmp_path / 'mine'}", "--json"])
    again = json.loads(capsys.readouterr().out)
    assert again["splits"] == json.loads(made.out)["splits"]
    assert again["source"] == f"path: {tmp_path / 'mine'}, task 3, 30 questions"


def test_files_that_are_there_are_left_alone(tmp_path, cache_dir, capsys):
    (tmp_path / file_name(1, "train")).write_text("mine")
    with pytest.raises(SystemExit) as left:
        main(["data", "babi", *SIZES, "--write", str(tmp_path)])
    assert left.value.code == 2 and "is there already, and stays as it is" in capsys.readouterr().err
    assert (tmp_path / file_name(1, "train")).read_text() == "mine"


@pytest.mark.parametrize("name", ["yelp", "copy"])
def test_data_that_cannot_be_written_says_so(tmp_path, cache_dir, capsys, name):
    with pytest.raises(SystemExit) as left:
        main(["data", name, "--write", str(tmp_path / "out")])
    assert left.value.code == 2
    assert f"--write: data={name} cannot be written as files; leave it out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("data.tasks=21", "data.tasks=21: expected"),
        ("data.tasks=every", "data.tasks=every: expected"),
        ("data.tasks=[]", "data.tasks=[]: expected"),
        ("data.text.max_sentences=0", "data.text.max_sentences=0: expected a whole number from 1 on"),
        ("data.split.val=1", "data.split.val=1: expected a share between 0 and 1"),
    ],
)
def test_a_wrong_key(capsys, override, problem):
    with pytest.raises(SystemExit) as left:
        main(["data", "babi", override])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert problem in said
