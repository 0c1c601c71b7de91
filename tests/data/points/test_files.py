"""Sets of your own: each format, its splits, and every error with its file, line and column."""

import json

import numpy as np
import pytest

from tests.data.serving import batches, one_bad_row, prepared, written
from zoo.data.points.encoding import PointEncoder
from zoo.data.points.files import MOST_PARTS, OwnPoints, name_of_part, parts_of
from zoo.data.points.goals import triangulation
from zoo.data.points.readers import read_sets
from zoo.data.rows import BadRows
from zoo.errors import ConfigError, DataError

SQUARE = "0 0 1 0 1 1 0 1"
SIX = """NAME : six
COMMENT : of a rectangle 200 wide: 100 high
TYPE : TSP
DIMENSION : 6
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 100 0
3 2e2 0
4 200.0 100
5 100 100
6 0 100
EOF
"""
TOUR = "NAME : six.opt.tour\nTYPE : TOUR\nDIMENSION : 6\nTOUR_SECTION\n3\n2\n1 6\n5\n4\n-1\nEOF\n"

CITIES = "1 0 0\n2 9.5 1\n3 8 7\n4 3 9\n5 1 5\n"
HEAD = "NAME : five\nTYPE : TSP\nDIMENSION : 5\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    return lambda name, text: written(tmp_path / name, text)


def read(path, goal="hull"):
    return [(one.points.tolist(), one.target) for one in read_sets(path, goal)]


def own(path, goal="hull", **arguments):
    return prepared(OwnPoints(path=str(path), goal=goal, **arguments))


def lines(count, target=" output 1 2 3 4 1"):
    """Different squares, one per line."""
    return "".join(f"0 0 1 0 1 1 0 {1 - 0.01 * n}{target}\n" for n in range(count))


# the authors' text


def test_text_with_targets_and_the_first_point_twice_or_once(file):
    path = file("a.txt", f"{SQUARE} output 1 2 3 4 1\n\n{SQUARE} output 2 3 4 1 \n{SQUARE}\n")
    points = [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert read(path) == [(points, [0, 1, 2, 3]), (points, [1, 2, 3, 0]), (points, None)]
    assert read(path, "tour") == read(path)
    triples = file("b.txt", f"{SQUARE} output 1 2 3 1 3 4\n")
    assert read(triples, "triangulation") == [(points, [0, 1, 2, 0, 2, 3])]
    assert read(file("c.txt", "0.5 0.1 output 2 1\n"), "order") == [([[0.5], [0.1]], [1, 0])]


@pytest.mark.parametrize(
    ("goal", "line", "said"),
    [
        ("hull", "0 0 1 0 1 x output 1 2 3", "text in a column of numbers: found 'x' in field 6, expected a number"),
        ("hull", "0 0 1 0,5 1 1", "found '0,5' in field 4, expected a number; write a decimal point"),
        ("hull", "0 0 1 0 nan 1", "not a finite number: found 'nan' in field 5"),
        ("hull", "0 0 1 0 1 output 1 2 3", "incomplete point: found 5 coordinates, expected x and y of each"),
        ("hull", "0 0 1 0 output 1 2", "unusable set: a set for goal=hull has at least 3 points, found 2"),
        ("hull", f"{SQUARE} output 1 2 5 1", "unusable target: it points at 5, the set has points 1 to 4"),
        ("hull", f"{SQUARE} output 0 1 2", "it points at 0"),
        ("hull", f"{SQUARE} output 1 2 two", "found 'two' in field 12, expected the number of a point"),
        ("hull", f"{SQUARE} output", "a hull has at least 3 points, none of them twice, found ''"),
        ("hull", f"{SQUARE} output 1 2 3 2", "a hull has at least 3 points, none of them twice, found '1 2 3 2'"),
        ("hull", "0 0 .5 .5 1 1 0 1 output 1 2 3", "the corners of a hull do not all lie on a line, found '1 2 3'"),
        ("hull", f"{SQUARE} output 1 2 ²", "found '²' in field 12, expected the number of a point"),
        ("hull", "-1e300 0 1e300 0 0 1", "coordinates go from -1e+300 to 1e+300; expected a difference below 1e+38"),
        ("tour", f"{SQUARE} output 1 2 3 1", "a tour has each of 4 points once, found '1 2 3'"),
        ("order", "0.5 0.1 output 2 2", "an order has each of 2 points once, found '2 2'"),
        ("triangulation", f"{SQUARE} output 1 2 3 1", "three different points for each triangle, found '1 2 3 1'"),
        ("triangulation", f"{SQUARE} output 1 2 2", "three different points for each triangle"),
    ],
)
def test_what_is_wrong_with_a_line(file, goal, line, said, cache_dir):
    first = "0.5 0.1\n" if goal == "order" else f"{SQUARE}\n"
    path = file("mine.txt", f"{first}{line}\n{first}")
    with pytest.raises(DataError) as error:
        read(path, goal)
    assert str(error.value).startswith(f"{path}, line 2: ") and said in str(error.value)
    assert len(one_bad_row(lambda bad: read_sets(path, goal, bad), f"{path}, line 2: ")) == 2


def test_bad_rows_are_counted_where_that_is_asked_for(file, cache_dir):
    path = file("mine.txt", lines(12) + "0 0 1 x\n0 0 1 1\n")
    data = own(path, loader={"on_bad_row": "skip"})
    assert data.describe()["skipped"] == {"text in a column of numbers": 1, "unusable set": 1}
    assert data.sizes == {"train": 10, "val": 1, "test": 1}


# tables


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "0,0\n1,0\n1,1\n\n5,5\n9,5\n5,9\n"),
        ("a.csv", "\nx,y\n0,0\n1,0\n1,1\n\n\n5,5\n9,5\n5,9\n\n"),
        ("a.csv", "set;x;y\nmill;0;0\nmill;1;0\nmill;1;1\n7;5;5\n7;9;5\n7;5;9\n"),
        ("a.tsv", "Set\tlon\tlat\na\t0\t0\na\t1\t0\n\na\t1\t1\nb\t5\t5\nb\t9\t5\nb\t5\t9\n"),
    ],
)
def test_tables(file, name, text):
    assert read(file(name, text)) == [([[0, 0], [1, 0], [1, 1]], None), ([[5, 5], [9, 5], [5, 9]], None)]


def test_tables_of_numbers(file):
    expected = [([[3], [1]], None), ([[2], [0.5]], None)]
    assert read(file("a.csv", "3\n1\n\n2\n0.5\n"), "order") == expected
    assert read(file("b.csv", "set,number\n1,3\n1,1\n2,2\n2,0.5\n"), "order") == expected
    assert read(file("c.csv", "set,n\nours,3\nours,1\n"), "order") == expected[:1]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x,y\n0,0\n1,left\n1,1\n", 3, "text in a column of numbers: found 'left' in column y, expected a number"),
        ("0,0\n1,\n1,1\n", 2, "found '' in column 2, expected a number"),
        ("0;0\n1;0,5\n1;1\n", 2, "found '0,5' in column 2, expected a number; write a decimal point"),
        ("0,0\n1,inf\n1,1\n", 2, "not a finite number: found 'inf' in column 2"),
        ("x,y\n0,0\n1,0\n1,1,1\n", 4, "wrong number of columns: found 3, expected 2: x and y"),
        ("set,x,y\n1,0,0\n1,0\n", 3, "wrong number of columns: found 2, expected 3: set and x and y"),
        ("set,x,y\n1,0,0\n1,0,1\n1,1,0\n2,1,1\n1,2,3\n", 6, "set '1' continues here, but ended in line 4"),
        ("0,0\n1,1\n\n1,2\n2,2\n3,7\n", "s 1 to 2", "unusable set: a set for goal=hull has at least 3 points, found 2"),
        ("0,0\n1,1\n1,5\n\n1,2\n", 5, "unusable set: a set for goal=hull has at least 3 points, found 1"),
        ('0,0\n"1,1\n', 2, "broken quote"),
    ],
)
def test_what_is_wrong_with_a_table(file, text, line, said):
    path = file("mine.csv", text)
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}, line{line if isinstance(line, str) else f' {line}'}: ")
    assert said in str(error.value)


def test_a_table_without_points_and_a_file_of_another_kind(file):
    with pytest.raises(DataError, match=r"a\.csv: no point in it; expected x and y in each row"):
        read(file("a.csv", "x,y\n"))
    with pytest.raises(DataError, match=r"a\.doc: unknown kind of file '\.doc'; \.txt, \.csv, \.tsv, \.tsp are read"):
        read(file("a.doc", "0,0"))


# TSPLIB


@pytest.mark.parametrize(
    ("name", "tour"),
    [("six.tsp", "six.opt.tour"), ("six.tsp.gz", "six.opt.tour.gz"), ("SIX.TSP", "SIX.opt.tour.gz")],
)
def test_an_instance_with_its_best_tour(file, name, tour):
    """TSPLIB gives both as .gz."""
    path = file(name, SIX)
    (one,) = read_sets(path, "tour")
    assert one.points[2].tolist() == [200, 0] and one.target is None
    file(tour, TOUR)
    (one,) = read_sets(path, "tour")
    assert one.target == [0, 1, 2, 3, 4, 5]  # from the first city, counter-clockwise; the file goes the other way


def test_a_broken_quote_names_no_key_that_does_not_help(file):
    """Without one of its rows a set would be another one."""
    path = file("a.csv", '0,0\n"1,1\n1,0\n')
    with pytest.raises(DataError, match=r'broken quote: .*is written ""$'):
        list(read_sets(path, "hull", BadRows("skip")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("EUC_2D", "GEO"), "six.tsp: no distances of a plane: found EDGE_WEIGHT_TYPE GEO, expected EUC_2D or CEIL_2D"),
        (("EUC_2D", "ATT"), "EDGE_WEIGHT_TYPE ATT"),
        (("DIMENSION : 6", "DIMENSION : 7"), "wrong number of cities: DIMENSION is 7, NODE_COORD_SECTION has 6"),
        (("2 100 0", "2 100 west"), "six.tsp, line 8: text in a column of numbers: found 'west' in column y"),
        (("2 100 0", "2 100"), "six.tsp, line 8: no city: found '2 100', expected a number of its own, x and y"),
        (("2 100 0", "1 100 0"), "six.tsp, line 8: no city"),
        (("1 6", "1 7"), "six.opt.tour, line 7: unusable target: city 7 is not in"),
        (("1 6", "1 5"), "six.opt.tour: unusable target: a tour has each of 6 points once, found '3 2 1 5 5 4'"),
    ],
)
def test_what_is_wrong_with_an_instance(file, change, said):
    path, _ = file("six.tsp", SIX.replace(*change)), file("six.opt.tour", TOUR.replace(*change))
    with pytest.raises(DataError) as error:
        read(path, "tour")
    assert said in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + CITIES + "EOF\n",
        HEAD.replace("SECTION", "SECTION:") + CITIES,
        HEAD.replace(" :", ":").lower() + CITIES + "eof\n",
        HEAD.replace("TSP", "TSP (M. Hofmeister)").replace(": 5", ": 5 # cities").replace("2D", "2D {plane}") + CITIES,
        HEAD.replace("NODE", "# drawn by hand\n\nNODE") + CITIES.replace("0\n", "0 # home\n", 1),
        HEAD + CITIES + "EOF\nTOUR_SECTION\n6 1 1\nnotes: none\n",
    ],
)
def test_a_file_as_people_write_it(file, text):
    assert read(file("a.tsp", text), "tour") == [([[0, 0], [9.5, 1], [8, 7], [3, 9], [1, 5]], None)]


@pytest.mark.parametrize(
    ("kind", "named"), [("ATSP", "distances that differ by direction"), ("CVRP", "vehicle routing"), ("XYZ", "another")]
)
def test_other_problems_are_refused_by_name(file, kind, named):
    with pytest.raises(DataError, match=rf"a.tsp: another problem: found TYPE {kind} \(.*{named}.*\), expected TSP"):
        read(file("a.tsp", HEAD.replace(": TSP", f": {kind}") + CITIES), "tour")


def test_an_instance_is_for_tours(file):
    with pytest.raises(
        DataError, match=r"six\.tsp: a file of TSPLIB is a set for data\.goal=tour, found data\.goal=hul"
    ):
        read(file("six.tsp", SIX))


# as data


def test_splits_by_name(file, cache_dir):
    folder = file("mine/hull_4_train.txt", lines(20)).parent
    file("mine/hull_4_test.txt", lines(5, target=" output 2 3 4 1"))
    file("mine/README.txt", "These are hulls.\n")
    data = own(folder)
    assert data.sizes == {"train": 18, "val": 2, "test": 5} and data.spec.groups == ("n4",)
    batch = batches(data, "test")[0]
    assert batch.target.tolist() == [[4, 5, 6, 3, 2]] * 5 and batch.scale.tolist() == [1] * 5
    assert batch.group.tolist() == [0] * 5 and sorted(batch.index.tolist()) == list(range(5))
    assert " 5 sets are in train" in " ".join(data.describe()["notes"])


def test_targets_are_found_where_the_file_has_none(file, cache_dir):
    text = "".join(f"{n}0,10\n{n}5,10\n{n}5,30\n{n}2,12\n\n" for n in range(10, 40))
    data = own(file("mine.csv", text))
    assert data.sizes == {"train": 24, "val": 3, "test": 3}
    for batch in batches(data, "train") + batches(data, "test"):
        assert batch.target.tolist() == [[3, 4, 5, 2]] * len(batch)
        assert batch.scale.tolist() == [20] * len(batch)
        assert batch.points[0].tolist() == [[0, 0], [0.25, 0], [0.25, 1], [pytest.approx(0.1), pytest.approx(0.1)]]


@pytest.mark.parametrize("scale", [1.0, 2.0**100])
def test_targets_do_not_depend_on_where_the_points_lie(scale):
    """Metres of a map around a place millions of them from its origin, and numbers near the largest."""
    local = np.random.default_rng(0).integers(0, 2**20, (50, 10, 2)) / 2**20  # exact, there too
    away = (local + np.array([500_000, 5_500_000])) * scale
    encoder = PointEncoder("triangulation")
    found = encoder.tokens(encoder.table([{"points": points.ravel(), "target": None} for points in away]))
    assert found["target"].to_pylist() == [triangulation(points) for points in local]


def test_instances_are_a_test_alone_or_that_of_other_data(file, cache_dir, tmp_path):
    folder = file("lib/six.tsp", SIX).parent
    file("lib/six.opt.tour", TOUR)
    file("lib/other.tsp", SIX.replace("3 2e2 0", "3 240 0").replace("4 200.0 100", "4 240 100"))
    data = own(folder, "tour")
    assert data.sizes == {"test": 2} and data.spec.groups == ("n6",)
    (batch,) = batches(data, "test")
    assert sorted(batch.scale.tolist()) == [200, 240]
    assert data.describe()["splits"]["test"]["mean_tour_length"] == pytest.approx((600 + 680) / 2)
    with pytest.raises(DataError, match=r"found only a test, no sets to train on; test a trained network with"):
        data.train_dataloader()
    train = file("train.txt", lines(20))
    both = own(train, "tour", split={"test": str(folder)})
    assert both.sizes == {"train": 18, "val": 2, "test": 2} and both.spec.longest == 6
    assert own(train, "tour", split={"test": str(folder / "six.tsp")}).sizes["test"] == 1
    file("lib/six.tsp.gz", SIX)
    assert own(train, "tour", split={"test": str(folder)}).sizes["test"] == 3


def test_another_best_tour_beside_an_instance_is_seen(file, cache_dir):
    path = file("six.tsp", SIX)
    found = own(path, "tour").describe()["splits"]["test"]["mean_tour_length"]
    file("six.opt.tour", TOUR.replace("3\n2\n1 6", "3\n1\n2 6"))
    assert own(path, "tour").describe()["splits"]["test"]["mean_tour_length"] > found + 100


def test_what_the_data_say(file, cache_dir, caplog):
    with caplog.at_level("INFO", "zoo"):
        data = own(file("mine.txt", lines(20, target="")), "tour")
    assert "train 16, val 2, test 2 sets; up to 4 points, targets of up to 4 pointers" in " ".join(caplog.messages)
    about = data.describe()
    assert about["source"].endswith("mine.txt, 20 sets") and json.dumps(about)
    assert about["splits"]["train"]["mean_pointers"] == 4
    assert about["examples"][0]["tour"] == "1 2 3 4" and not about["notes"]
    assert data.nouns.examples == "sets"


def test_long_tours_of_ours_are_noted(file, cache_dir):
    drawn = np.random.default_rng(0).random((12, 13, 2))
    path = file("mine.txt", "".join(" ".join(map(str, one.ravel())) + "\n" for one in drawn))
    notes = own(path, "tour").describe()["notes"]
    said = "the files have no tour for {} of more than 12 points; the tours were found by insertion"
    sizes = (("train", "10 sets"), ("val", "1 set"), ("test", "1 set"))
    expected = [f"{split}: {said.format(size)}" for split, size in sizes]
    assert [note.partition(", 2-opt")[0] for note in notes] == expected


def test_parts_of_a_test():
    assert parts_of(np.array([10, 5, 5, 50])) == [(5, 5), (10, 10), (50, 50)]
    assert parts_of(np.arange(5, 5 + MOST_PARTS + 1)) == [(4, 7), (8, 15)]
    assert [name_of_part(part) for part in ((5, 5), (8, 15))] == ["n5", "n8_to_15"]


def test_sets_are_told_apart_by_their_part(file, cache_dir):
    test = file("test.txt", "".join(f"0 0 1 0 0 1{' 0.3 0.3' * (n % 2)}\n" for n in range(8)))
    data = own(file("train.txt", lines(20)), split={"test": str(test)})
    (batch,) = batches(data, "test")
    assert data.spec.groups == ("n3", "n4") and (batch.group == batch.point_mask.sum(1) - 3).all()
    assert batches(data, "train")[0].group.tolist() == [0] * 18


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"path": "empty"}, DataError, "empty: the folder is empty; expected: a file of sets"),
        ({"path": "few.txt", "split": {"test": "empty"}}, DataError, "empty: no .tsp in this folder"),
        ({"path": "mine.doc"}, DataError, "mine.doc: unknown kind of file '.doc'"),
        ({"path": "few.txt"}, DataError, "few.txt: too few sets (2) to draw val and test from them"),
        ({"path": "few.txt", "goal": "hul"}, ConfigError, "data.goal=hul: expected hull, triangulation,"),
        ({"path": "few.txt", "split": {"test": "no.txt"}}, DataError, "no.txt: No such file or directory (data"),
        ({"path": "few.txt", "split": {"test": 2.0}}, ConfigError, "data.split.test=2.0: expected a share betw"),
    ],
)
def test_what_cannot_be_data(file, tmp_path, monkeypatch, arguments, error, said, cache_dir):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    file("few.txt", lines(2)), file("mine.doc", "x")
    with pytest.raises(error) as raised:
        own(**arguments)
    assert said in str(raised.value)
