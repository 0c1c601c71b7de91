"""The formats of sets of points; each reader streams `PointSet`s and names file, line and column of whatever it cannot
use."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.points.goals import GOALS, Goal
from zoo.data.points.goals.tour import counter_clockwise
from zoo.data.points.sets import PointSet, flat, problem
from zoo.data.readers import delimiter_of, kind_of
from zoo.data.rows import BadRows, Lines, NeverSkipped, csv_rows, guarded, line_of, read_lines
from zoo.errors import DataError, alternatives

TSPLIB = ".tsp"
KINDS = (".txt", ".csv", ".tsv", TSPLIB)
OUTPUT = "output"
AXES = ("x", "y")
SET = "set"
PLANAR = ("EUC_2D", "CEIL_2D")  # Kinds of TSPLIB distances that are those of a plane, if rounded
PROBLEMS = {
    "ATSP": "a problem with distances that differ by direction",
    "CVRP": "vehicle routing",
    "HCP": "a Hamiltonian cycle",
    "SOP": "sequential ordering",
    "TOUR": "a tour",
}
"""Other types of TSPLIB files."""
COMMENTS = ("#", "!", "//", "{", "(", "%")
"""The beginnings of a comment."""


class Unusable(Exception):
    """A set that cannot be used. The arguments are those of `BadRows`: the place, the kind of problem, the detail."""


@guarded
def read_sets(path: Path, goal: str, bad: BadRows | None = None) -> Iterator[PointSet]:
    """The sets of a file by the kind that its name says: `.txt` as the authors of pointer networks wrote them, `.csv`
    and `.tsv` with one point per row, `.tsp` of TSPLIB; see the readers. A set without a target has None. Raises
    DataError for what is not usable, unless `bad` skips it."""
    reader = {".txt": read_lines_of_sets, TSPLIB: read_tsplib}.get(kind_of(path), read_table)
    if kind_of(path) not in KINDS:
        raise DataError(f"{path}: unknown kind of file {kind_of(path)!r}; {', '.join(KINDS)} are read")
    yield from reader(path, GOALS[goal], NeverSkipped() if bad is None else bad)


def _usable(bad: BadRows, make: Callable[..., PointSet], *arguments: Any) -> Iterator[PointSet]:
    """The set that `make` returns, if it can be used."""
    try:
        found = make(*arguments)
    except Unusable as error:
        bad(*error.args)
    else:
        yield found


def usable(points: NDArray[np.float64], goal: Goal, place: str, target: list[int] | None = None) -> PointSet:
    """The set of some points (n, W) with its target, numbers from 0, checked. Raises Unusable."""
    if (found := problem(points, goal)) is not None:
        raise Unusable(place, "unusable set", found)
    if target is not None and (found := _wrong(target, points, goal.name)) is not None:
        raise Unusable(place, "unusable target", found)
    return PointSet(points, target)


def _wrong(target: Sequence[int], points: NDArray[np.float64], goal: str) -> str | None:
    """The problem of a target, numbers from 0, in a set of points (n, W)."""
    count = len(points)
    if outside := [number + 1 for number in target if not 0 <= number < count]:
        return f"it points at {outside[0]}, the set has points 1 to {count}"
    if goal in ("tour", "order") and sorted(target) != list(range(count)):
        what = {"tour": "a tour", "order": "an order"}[goal]
        return f"{what} has each of {count} points once, found {_numbers(target)}"
    if goal == "hull" and (len(target) < 3 or len(set(target)) < len(target)):
        return f"a hull has at least 3 points, none of them twice, found {_numbers(target)}"
    if goal == "hull" and flat(points[target]):
        return f"the corners of a hull do not all lie on a line, found {_numbers(target)}"
    triangles = [tuple(target[at : at + 3]) for at in range(0, len(target), 3)]
    if goal == "triangulation" and (not triangles or any(len({*corners}) < 3 for corners in triangles)):
        return f"a triangulation has three different points for each triangle, found {_numbers(target)}"
    return None


def _numbers(target: Sequence[int]) -> str:
    shown = " ".join(str(number + 1) for number in target[:20])
    return repr(shown + (" ..." if len(target) > 20 else ""))


def _number(word: str, place: str, column: str) -> float:
    try:
        value = float(word)
    except ValueError:
        comma = "; write a decimal point" if word.replace(",", ".", 1).replace(".", "", 1).isdigit() else ""
        detail = f"found {word.strip()[:40]!r} in {column}, expected a number{comma}"
        raise Unusable(place, "text in a column of numbers", detail) from None
    if not isfinite(value):
        raise Unusable(place, "not a finite number", f"found {word.strip()!r} in {column}, expected a number")
    return value


# The authors' text


def read_lines_of_sets(path: Path, goal: Goal, bad: BadRows) -> Iterator[PointSet]:
    """`x1 y1 ... xn yn output i1 ... im`, one set per line; numbers of points from 1. Hulls and tours may have their
    first point once more at the end. A line without `output` has no target."""
    with Lines(path, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            if line.strip():
                yield from _usable(bad, _line, line, goal, place)


def _line(line: str, goal: Goal, place: str) -> PointSet:
    words = line.split()
    at = words.index(OUTPUT) if OUTPUT in words else len(words)
    numbers = [_number(word, place, f"field {field}") for field, word in enumerate(words[:at], 1)]
    if len(numbers) % goal.width:
        raise Unusable(
            place, "incomplete point", f"found {len(numbers)} coordinates, expected {' and '.join(AXES)} of each"
        )
    points = np.array(numbers).reshape(-1, goal.width)
    if at == len(words):
        return usable(points, goal, place)
    target = []
    for field, word in enumerate(words[at + 1 :], at + 2):
        if not word.removeprefix("-").isdecimal():
            raise Unusable(
                place, "unusable target", f"found {word[:40]!r} in field {field}, expected the number of a point"
            )
        target.append(int(word) - 1)
    if goal.closed and len(target) > 1 and target[0] == target[-1]:
        target.pop()
    return usable(points, goal, place, target)


# Tables


class Row(NamedTuple):
    """A row of a table."""

    line: int
    fields: list[str]


def read_table(path: Path, goal: Goal, bad: BadRows) -> Iterator[PointSet]:
    """One point per row: x and y, or one number if the goal is an order. A first row without numbers names the columns.
    If the first column is called `set`, it has the number or the name of each point's set; otherwise a blank line
    begins a new set. There are no targets."""
    with Lines(path, encoding=bad.encoding) as lines:
        rows = [Row(*row) for row in csv_rows(lines, delimiter_of(path, lines), NeverSkipped())]
    header = rows.pop(0).fields if rows and not any(map(_is_number, rows[0].fields[-goal.width :])) else []
    if not rows:
        raise DataError(f"{path}: no point in it; expected {_columns(goal, False)} in each row")
    named = [*header, ""][0].strip().lower() == SET
    for part in list(_parts(rows, path, named)):  # report separated sets before their consequences
        yield from _usable(bad, _table, part, goal, path, header, named)


def _parts(rows: list[Row], path: Path, named: bool) -> Iterator[list[Row]]:
    """The rows of each set."""
    begins = [
        number
        for number, (before, row) in enumerate(pairwise(rows), 1)
        if (before.fields[0] != row.fields[0] if named else row.line > before.line + 1)
    ]
    seen: dict[str, int] = {}
    for first, end in zip([0, *begins], [*begins, len(rows)], strict=True):
        name = rows[first].fields[0]
        if named and name in seen:
            raise DataError(
                f"{line_of(path, rows[first].line)}: set {name!r} continues here, but ended in line {seen[name]}; "
                "put its points in consecutive rows"
            )
        seen[name] = rows[end - 1].line
        yield rows[first:end]


def _table(rows: Sequence[Row], goal: Goal, path: Path, header: Sequence[str], named: bool) -> PointSet:
    points = []
    for row in rows:
        place = line_of(path, row.line)
        if len(row.fields) != goal.width + named:
            found = f"found {len(row.fields)}, expected {goal.width + named}: {_columns(goal, named)}"
            raise Unusable(place, "wrong number of columns", found)
        columns = header or [str(number) for number in range(1, len(row.fields) + 1)]
        pairs = list(zip(row.fields, columns, strict=False))[named:]
        points.append([_number(word, place, f"column {column.strip()}") for word, column in pairs])
    of_lines = f"{path}, lines {rows[0].line} to {rows[-1].line}" if len(rows) > 1 else line_of(path, rows[0].line)
    return usable(np.array(points), goal, of_lines)


def _columns(goal: Goal, named: bool) -> str:
    axes = ["a number"] if goal.width == 1 else list(AXES)
    return " and ".join([SET] * named + axes)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# TSPLIB


def read_tsplib(path: Path, goal: Goal, bad: BadRows) -> Iterator[PointSet]:
    """One TSPLIB instance with places in a plane, and its best tour if NAME.opt.tour exists next to NAME.tsp.

    TSPLIB rounds distances; here they are not rounded, so that lengths differ a little.
    """
    if goal.name != "tour":
        raise DataError(f"{path}: a file of TSPLIB is a set for data.goal=tour, found data.goal={goal.name}")
    yield from _usable(bad, _tsplib, path, goal, bad.encoding)


def _tsplib(path: Path, goal: Goal, encoding: str) -> PointSet:
    facts, rows = _sections(path, encoding)
    if (problem_type := _first_word(facts, "TYPE", "TSP").upper()) != "TSP":
        named = PROBLEMS.get(problem_type, "another problem")
        raise Unusable(str(path), "another problem", f"found TYPE {problem_type} ({named}), expected TSP")
    kind = _first_word(facts, "EDGE_WEIGHT_TYPE", "none").upper()
    if kind not in PLANAR:
        raise Unusable(
            str(path), "no distances of a plane", f"found EDGE_WEIGHT_TYPE {kind}, expected {alternatives(PLANAR)}"
        )
    cities = rows.get("NODE_COORD_SECTION", [])
    dimension = _first_word(facts, "DIMENSION", str(len(cities)))
    if not cities or str(len(cities)) != dimension:
        raise Unusable(
            str(path), "wrong number of cities", f"DIMENSION is {dimension}, NODE_COORD_SECTION has {len(cities)}"
        )
    number: dict[str, int] = {}
    points: list[list[float]] = []
    for line, fields in cities:
        place = line_of(path, line)
        if len(fields) != 3 or fields[0] in number:
            detail = f"found {' '.join(fields)!r}, expected a number of its own, x and y"
            raise Unusable(place, "no city", detail)
        number[fields[0]] = len(points)
        points.append([_number(word, place, f"column {axis}") for word, axis in zip(fields[1:], AXES, strict=True)])
    one = usable(np.array(points), goal, str(path))
    return one._replace(target=_best(path, one, number, encoding))


def _first_word(facts: dict[str, str], key: str, default: str) -> str:
    """The first word of a value; what follows is a comment, such as the author's name after TSP."""
    return (facts.get(key, "").split() or [default])[0].strip(",;")


def best_tour(path: Path) -> Path:
    """The file with the best tour of an instance, if there is one."""
    name = path.name.removesuffix(".gz")
    file = path.with_name((name[: -len(TSPLIB)] if name.lower().endswith(TSPLIB) else name) + ".opt.tour")
    packed = file.with_name(f"{file.name}.gz")
    return packed if packed.exists() and not file.exists() else file


def _best(path: Path, given: PointSet, number: dict[str, int], encoding: str) -> list[int] | None:
    """The tour beside an instance, as targets are written: from the first city, counter-clockwise."""
    file = best_tour(path)
    if not file.exists():
        return None
    _, rows = _sections(file, encoding)
    target = []
    for line, fields in rows.get("TOUR_SECTION", []):
        for word in fields:
            if word == "-1":
                continue
            if word not in number:
                raise Unusable(line_of(file, line), "unusable target", f"city {word} is not in {path}")
            target.append(number[word])
    if (wrong := _wrong(target, given.points, "tour")) is not None:
        raise Unusable(str(file), "unusable target", wrong)
    tour = np.roll(target, -target.index(0))
    return counter_clockwise(tour[None], given.points[None])[0].tolist()


def _sections(path: Path, encoding: str) -> tuple[dict[str, str], dict[str, list[Row]]]:
    """The facts (`NAME: berlin52`) of a file of TSPLIB, and the rows of its sections, up to EOF; keys in capitals. A
    section may have a colon, and a row a comment after its numbers."""
    facts: dict[str, str] = {}
    sections: dict[str, list[Row]] = {}
    current: list[Row] | None = None
    for number, line in enumerate(read_lines(path, encoding=encoding), 1):
        fields = line.split()
        if not fields or fields[0].startswith(COMMENTS):
            continue
        if _is_number(fields[0]):
            if current is not None:
                end = next((at for at, word in enumerate(fields) if word.startswith(COMMENTS)), len(fields))
                current.append(Row(number, fields[:end]))
            continue
        key, colon, value = line.partition(":")
        key = key.strip().upper()
        section = (key.split() or [""])[0]
        if section == "EOF":
            break
        if section.endswith("_SECTION") or not colon:
            current = sections.setdefault(section, [])
        elif value.strip():
            facts[key] = value.strip()
    return facts, sections
