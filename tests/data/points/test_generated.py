"""Streams of random sets: the same example wherever it is made, none twice, sizes, parts of the test, targets."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.data.serving import batches, prepared
from zoo.data.points import generated
from zoo.data.points.files import OwnPoints
from zoo.data.points.generated import ConvexHull, Delaunay, SortNumbers, Tsp
from zoo.data.points.goals import GOALS, tour
from zoo.errors import ConfigError, DataError

ALL = (ConvexHull, Delaunay, SortNumbers, Tsp)
SIZES = {"train": 40, "val": 6, "test": 5, "seed": 2}
LOADER = {"batch_size": 8, "seed": 1}


def stream(cls=ConvexHull, *, loader=LOADER, **arguments):
    return prepared(cls(**{"size": [3, 8], "sample": SIZES, "loader": loader, **arguments}))


def rows(batch):
    """(number, group, points, target) of each example."""
    targets = [None] * len(batch) if batch.target is None else batch.target.tolist()
    for b, target in enumerate(targets):
        numbers = None if target is None else [token - 3 for token in target if token > 2]
        yield int(batch.index[b]), int(batch.group[b]), batch.points[b][batch.point_mask[b]].numpy(), numbers


def served(data, split):
    return [row for batch in batches(data, split) for row in rows(batch)]


@pytest.mark.parametrize("cls", ALL)
def test_each_set_has_its_target(cls):
    data = stream(cls)
    for split in data.sizes:
        for _, _, points, target in served(data, split):
            assert points.shape[1] == data.spec.width and 0 <= points.min() <= points.max() <= 1
            assert [target] == GOALS[cls.goal.name].targets([points])


@pytest.mark.parametrize("cls", ALL)
def test_what_the_data_is(cls):
    data = stream(cls, test_sizes=[4, 9])
    assert data.spec.goal == data.encoder.goal.name == cls.goal.name and data.spec.groups == ("n4", "n9")
    most = {"triangulation": 3 * 13 + 1}.get(cls.goal.name, 10)
    assert (data.spec.longest, data.spec.longest_target) == (9, most)
    assert data.spec.width == (1 if cls is SortNumbers else 2)
    assert stream(cls, size=5).spec.groups == ("n5",) and stream(cls).spec.groups == ("n3", "n8")
    assert stream(cls, size=7, test_sizes=[4]).spec.longest == 7


def test_sizes_are_drawn_from_the_whole_range_and_the_test_has_equally_many_of_each():
    data = stream(sample={**SIZES, "train": 600}, test_sizes=[5, 3, 10])
    counts = np.bincount([len(points) for _, _, points, _ in served(data, "train")])
    assert set(np.flatnonzero(counts)) == set(range(3, 9)) and counts[3:].min() > 60
    assert {len(points) for _, _, points, _ in served(data, "val")} <= set(range(3, 9))
    tested = served(data, "test")
    assert data.sizes == {"train": 600, "val": 6, "test": 15} and len(tested) == 15
    assert sorted((group, len(points)) for _, group, points, _ in tested) == sorted([(0, 5), (1, 3), (2, 10)] * 5)
    assert {group for _, group, _, _ in served(data, "train")} == {0}


def test_sets_of_one_size_are_tested_together():
    data = stream(test_sizes=[5, 3, 10], sample={**SIZES, "val": 40, "test": 16})
    tested = [batch.point_mask.sum(1).unique().tolist() for batch in batches(data, "test")]
    assert sorted(tested) == [[3], [3], [5], [5], [10], [10]]
    validated = [batch.point_mask.sum(1) for batch in data.val_dataloader()]
    assert sum(len(counts.unique()) for counts in validated) <= 6 + 4  # a size ends in four of the five batches


def test_the_test_of_a_size_is_the_same_whatever_others_there_are():
    def of_five(data):
        return sorted(points.tolist() for _, _, points, _ in served(data, "test") if len(points) == 5)

    one = of_five(stream(size=5))
    assert of_five(stream(test_sizes=[4, 5, 6], loader={**LOADER, "seed": 9})) == one
    more = of_five(stream(test_sizes=[7, 5], sample={**SIZES, "test": 8}))
    assert len(more) == 8 and all(points in more for points in one)


def test_a_set_follows_from_its_seed_and_number():
    draw = generated.Drawing("hull", [(5, 5), (7, 7)])
    one, again, later, other = (draw(*place)["points"].tolist() for place in ((1, 0), (1, 0), (1, 2), (2, 0)))
    assert one == again and one != later and one != other


def test_without_solving_training_has_points_alone():
    data = stream(Tsp, solve=False)
    assert all(batch.target is None for batch in batches(data, "train"))
    assert all(batch.target is not None for split in ("val", "test") for batch in batches(data, split))
    points = [[row[2].tolist() for row in served(one, "train")] for one in (data, stream(Tsp))]
    assert points[0] == points[1]


def test_what_has_no_target_is_drawn_again(monkeypatch):
    """The generator first gives a point twice, then points on a line."""

    twice, line = [[0.1, 0.2]] * 2 + [[0.5, 0.9]], [[x, x] for x in (0.25, 0.5, 0.75)]
    usable = [[0.25, 0.25], [0.5, 0.5], [0.75, 0.5]]

    def default_rng(*seed):
        left = iter([twice, line, usable])
        return SimpleNamespace(integers=lambda low, high: low, random=lambda *_: np.array(next(left), np.float32))

    monkeypatch.setattr(generated.np.random, "default_rng", default_rng)
    drawn = generated.Drawing("hull", [(3, 3)])(0, 0)
    assert drawn["points"].tolist() == usable
    tour = generated.Drawing("tour", [(3, 3)])(0, 0)  # a tour may pass two cities at one place
    assert tour["points"][1].tolist() == pytest.approx([0.1, 0.2])


# errors


@pytest.mark.parametrize(
    ("cls", "arguments", "said"),
    [
        (ConvexHull, {"size": 2}, "data.size=2: expected 3 points or more, or [least, most] of them, found 2"),
        (SortNumbers, {"size": 1}, "data.size=1: expected 2 points or more"),
        (Tsp, {"size": [10, 5]}, "data.size=[10, 5]: expected [least, most], so [5, 10]: these are reversed, found"),
        (ConvexHull, {"size": [3, 2]}, "data.size=[3, 2]: expected [least, most], so [2, 3]: these are reversed"),
        (Tsp, {"size": [5]}, "data.size=[5]: expected"),
        (Tsp, {"size": [2, 5]}, "data.size=[2, 5]: expected"),
        (Delaunay, {"test_sizes": []}, "data.test_sizes=[]: expected a list of different numbers of points, from 3 on"),
        (Delaunay, {"test_sizes": [5, 2]}, "data.test_sizes=[5, 2]: expected a list"),
        (Delaunay, {"test_sizes": [5, 5]}, "data.test_sizes=[5, 5]: expected a list"),
    ],
)
def test_sizes_that_cannot_be(cls, arguments, said):
    with pytest.raises(ConfigError) as error:
        cls(**arguments)
    assert str(error.value).startswith(said)


# descriptions and files


def test_description():
    data = stream(Tsp, size=5, sample={**SIZES, "train": 500, "val": 300})
    assert data.source_description == (
        "stream: sets made without end, 500 an epoch, seed 2, of 5 points in training and 5 in the test"
    )
    about = data.describe()
    assert {name: part["sets"] for name, part in about["splits"].items()} == data.sizes
    assert about["splits"]["val"]["mean_pointers"] == 5
    assert about["splits"]["train"]["mean_tour_length"] == pytest.approx(2.12, abs=0.1)
    (example,) = about["examples"]
    assert example["points"].count("(") == 5 and sorted(example["tour"]) == sorted("1 2 3 4 5")
    unsolved = stream(Tsp, solve=False).describe()["splits"]
    assert "mean_pointers" not in unsolved["train"] and "mean_tour_length" in unsolved["val"]
    numbers = stream(SortNumbers, size=[5, 9], test_sizes=[5, 7, 9])
    assert "5 to 9 numbers in training and 5, 7 and 9 in" in numbers.source_description


@pytest.mark.parametrize("cls", ALL)
def test_what_is_written_is_read_back_as_it_was(cls, tmp_path, cache_dir, monkeypatch):
    monkeypatch.setattr(generated, "WRITTEN_AT_ONCE", 7)
    data = stream(cls, test_sizes=[4, 13])
    names = [path.name for path in data.write(tmp_path / "w")]
    assert names == [f"{cls.name}_{end}.txt" for end in ("3-8_train", "3-8_val", "4_test", "13_test")]
    again = prepared(OwnPoints(path=str(tmp_path / "w"), goal=cls.goal.name))
    assert again.sizes == data.sizes and again.spec == data.spec and again.encoder.state() == data.encoder.state()

    def sets(one, split):
        return sorted((group, points.tolist(), target) for _, group, points, target in served(one, split))

    for split in ("train", "val", "test"):
        assert sets(again, split) == sets(data, split)
    with pytest.raises(DataError, match="is there already"):
        data.write(tmp_path / "w")


def test_the_first_city_stands_once_more_at_the_end_of_a_written_tour(tmp_path):
    stream(Tsp, size=5).write(tmp_path)
    for line in (tmp_path / "tsp_5_test.txt").read_text().splitlines():
        numbers, target = map(str.split, line.split(" output "))
        assert len(numbers) == 10 and len(target) == 6 and target[0] == target[-1] == "1"


def test_more_than_a_few_cities_are_solved_too():
    data = stream(Tsp, size=tour.EXACT + 2)
    assert batches(data, "train")[0].target.shape == (8, tour.EXACT + 3)
    (note,) = data.describe()["notes"]
    assert "more than 12 points" in note and "2-opt" in note and data.source_description.endswith(note)
    assert stream(Tsp, size=tour.EXACT).describe()["notes"] == []
