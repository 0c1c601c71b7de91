"""The embedded sample of dates: as people write them, and in ISO 8601. A token is one character on both sides.

Each style of numbers alone has one rule: dots and Roman months put the day first, slashes put the month first if the
year is last, and a year in front is followed by the month. Years have four digits.
"""

import random
import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from string import capwords

from zoo.data.pairs.samples import Pair

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MONTHS, WEEKDAYS, ROMAN, ORDINALS, STYLES = (
    _TABLES[name] for name in ("months", "weekdays", "roman", "ordinals", "styles")
)
SLOT = re.compile(r"\{(\w+)\}")
CASES = (str.lower, str.lower, str.lower, capwords, str.upper)
"""Case conversions of a whole date; most stay in lower case."""


def generate(count: int, *, seed: int) -> Iterator[Pair]:
    """`count` pairs. Pair i depends only on `seed` and on i."""
    for index in range(count):
        yield _pair(random.Random(f"date {seed} {index}"))


def _pair(draw: random.Random) -> Pair:
    when = FIRST + timedelta(days=draw.randrange((LAST - FIRST).days + 1))
    style, case = draw.choice(STYLES), draw.choice(CASES)
    parts = _parts(when)
    source: list[str] = []
    links: list[tuple[int, int]] = []
    for piece in re.split(r"(\{\w+\})", style):
        slot = SLOT.fullmatch(piece)
        text, place = parts[slot[1]] if slot else (piece, range(0))
        links += _links(len(source), text, place)
        source += text
    return Pair(list(case("".join(source))), list(when.isoformat()), sorted(links))


def _parts(when: date) -> dict[str, tuple[str, range]]:
    """The text of each slot, and its positions in the ISO 8601 date."""
    year, month, day = range(4), range(5, 7), range(8, 10)
    month_name, weekday = MONTHS[when.month - 1], WEEKDAYS[when.weekday()]
    th = {1: "st", 2: "nd", 3: "rd"}.get(when.day % 10, "th") if when.day not in (11, 12, 13) else "th"
    return {
        "year": (f"{when.year}", year),
        "month": (month_name, month),
        "mon": (month_name[:3], month),
        "number": (f"{when.month}", month),
        "00number": (f"{when.month:02d}", month),
        "roman": (ROMAN[when.month - 1], month),
        "day": (f"{when.day}", day),
        "00day": (f"{when.day:02d}", day),
        "word": (ORDINALS[when.day - 1], day),
        "th": (th, range(0)),
        "weekday": (weekday, range(0)),
        "wday": (weekday[:3], range(0)),
    }


def _links(start: int, text: str, place: range) -> list[tuple[int, int]]:
    """Links digit to digit if a number is written in full, otherwise every character to every digit."""
    if text.isdigit() and len(text) == len(place):
        return [(start + i, t) for i, t in enumerate(place)]
    return [(start + i, t) for i in range(len(text)) for t in place]
