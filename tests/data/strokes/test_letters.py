"""The generated lines, offsets and back, and what an encoder accepts."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.data.serving import prepared, served
from zoo.data.strokes.encoding import StrokeEncoder, ToWrite
from zoo.data.strokes.generated import Letters
from zoo.data.strokes.own import OwnLines
from zoo.data.strokes.points import as_lists, strokes_of, to_offsets, to_strokes
from zoo.data.strokes.samples.letters import generate, glyphs
from zoo.errors import DataError, UnusableInput
from zoo.tasks.stroke_baselines import independent_points, straight_line

FEW = {"train": 60, "val": 10, "test": 40, "seed": 1}


def test_lines_depend_on_the_seed_and_their_number_alone() -> None:
    first, again = list(generate(3, seed=2)), list(islice(generate(9, seed=2), 3))
    for one, other in zip(first, again, strict=True):
        assert one.text == other.text and all(map(np.array_equal, one.strokes, other.strokes))
    assert next(generate(1, seed=3)).text != first[0].text


def test_letters_have_unequal_numbers_of_points() -> None:
    counts = [sum(map(len, strokes)) for strokes in glyphs().values()]
    assert 10 <= len(counts) <= 20 and min(counts) <= 6 and max(counts) >= 20
    assert all(1 <= len(strokes) <= 3 for strokes in glyphs().values())
    for stroke in (stroke for strokes in glyphs().values() for stroke in strokes if len(stroke) > 4):
        steps = np.hypot(*np.diff(stroke, axis=0).T)
        assert steps.max() < 1.35 * steps.mean(), "the pen does not move by equal steps"


def test_each_point_belongs_to_its_letter() -> None:
    for line in generate(20, seed=1):
        assert len(line.letters) == sum(map(len, line.strokes)) and np.all(np.diff(line.letters) >= 0)
        places = {position for position, letter in enumerate(line.text) if letter != " "}
        assert set(line.letters) == places
        begin = 0
        for stroke in line.strokes:  # the jump to a stroke belongs to the letter in which it lands
            assert len(set(line.letters[begin : begin + len(stroke)])) == 1
            begin += len(stroke)


def test_offsets_lead_back_to_the_strokes() -> None:
    line = next(generate(1, seed=4))
    found = to_strokes(to_offsets(line.strokes))
    assert len(found) == len(line.strokes)
    for one, other in zip(found, line.strokes, strict=True):
        np.testing.assert_allclose(one, other - line.strokes[0][0], atol=1e-5)
    for one, other in zip(strokes_of(as_lists(line.strokes)), line.strokes, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Letters:
    return prepared(Letters(sample=FEW, loader={"cache_dir": str(tmp_path_factory.mktemp("cache"))}))


def test_training_offsets_have_mean_0_and_deviation_1(data: Letters) -> None:
    points, masks = zip(*served(data, "train", "points", "point_mask"), strict=True)
    offsets = np.concatenate([one[mask].numpy() for one, mask in zip(points, masks, strict=True)])[:, :2]
    np.testing.assert_allclose(offsets.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(offsets.std(0), 1, atol=1e-4)
    again = StrokeEncoder.from_state(json.loads(json.dumps(data.encoder.state())))
    assert again.state() == data.encoder.state() and again.scale == data.encoder.scale


def test_the_straight_line_finds_little_more_than_half_of_the_letters(data: Letters) -> None:
    scores = straight_line(data)
    assert 0.5 < scores["letter_accuracy"] < 0.68 < scores["within_one"]
    assert independent_points(data)["sse"] == pytest.approx(2, rel=0.15)  # two coordinates of variance 1


def test_generated_lines_are_written_and_read_again(data: Letters, tmp_path: Path, cache_dir: Path) -> None:
    files = data.write(tmp_path / "lines")
    assert [file.name for file in files] == ["test.jsonl", "train.jsonl", "val.jsonl"]
    again = prepared(OwnLines(path=str(tmp_path / "lines")))
    assert again.sizes == data.sizes
    pairs = zip(served(again, "test", "points", "letters"), served(data, "test", "points", "letters"), strict=True)
    for (points, letters), (expected, owners) in pairs:
        np.testing.assert_allclose(points, expected, atol=0.02)
        assert letters.tolist() == owners.tolist()
    with pytest.raises(DataError, match="is not empty, and stays as it is"):
        data.write(tmp_path / "lines")


def test_texts_that_cannot_be_written_are_named(data: Letters) -> None:
    for text, problem in (
        ("hello zoé", r"'hello zoé': the training lines had no 'z' 'é'; known are abcdeghilmnoprstuwy and blanks"),
        ("  ", "no text to write"),
    ):
        with pytest.raises(UnusableInput, match=problem):
            data.encoder([text])
    batch = data.encoder(["hello", ToWrite("you  and", number=4)])
    assert batch.points.shape == (2, 0, 3) and batch.text_mask.sum(1).tolist() == [5, 7]
    assert batch.index.tolist() == [0, 4] and batch.about[1].text == "you and"


def test_given_strokes_are_the_first_points(data: Letters) -> None:
    line = next(generate(1, seed=9))
    batch = data.encoder([ToWrite("a", line.strokes, line.text), ToWrite("b")])
    assert batch.point_mask.sum(1).tolist() == [len(line.letters) - 1, 0]
    np.testing.assert_allclose(batch.points[0], data.encoder.normal(to_offsets(line.strokes)), atol=1e-6)
    assert batch.about[0].text == f"{line.text} a"
    far = [100 * stroke for stroke in line.strokes]
    for given, problem in (
        (ToWrite("a", line.strokes), "the given strokes have no text"),
        (ToWrite("a", line.strokes, "q"), "'q': the training lines had no 'q'"),
        (ToWrite("a", far, line.text), "offsets .* times as long as those of the training lines"),
        (ToWrite("a", [line.strokes[0][:1]], line.text), "a single point"),
    ):
        with pytest.raises(UnusableInput, match=problem):
            data.encoder([given])
