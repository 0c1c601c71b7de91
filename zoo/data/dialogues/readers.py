"""The formats of dialogues. Each reader streams dialogues, and names file and line of what it cannot use."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from zoo.data.dialogues.dialogue import Dialogue
from zoo.data.readers import columns_of, kind_of, read_columns
from zoo.data.rows import BadRows, Lines, beginning, decode_file, guarded, json_rows, line_of, open_binary
from zoo.errors import DataError

JSON_LINES = (".jsonl", ".ndjson", ".json")
CSV = (".csv", ".tsv")
TEXT = (".txt",)
KINDS = (*JSON_LINES, *CSV, *TEXT)  # Suffixes of the files that `read_dialogues` reads
COLUMNS = ("dialogue", "turn", "speaker", "text")
HINT = f" (expected the columns {', '.join(COLUMNS)}; speaker may be missing)"
TURNS = 'expected "turns", a list of texts or of objects with "text" or "utterance" and perhaps "speaker"'
NAMES = ("text", "utterance")
IDS = ("dialogue_id", "id")
TURN_END, PART_END = "__eot__", "__eou__"


def read_dialogues(path: Path, bad: BadRows) -> Iterator[Dialogue]:
    """The dialogues of json lines, a csv or tsv, or a text with one dialogue per line. Raises DataError for a file with
    another suffix."""
    kind = kind_of(path)
    if kind not in KINDS:
        raise DataError(f"{path}: unknown kind of file {kind!r}; expected {', '.join(KINDS)}")
    read = read_json if kind in JSON_LINES else read_table if kind in CSV else read_marked
    return read(path, bad)


class _Ids:
    """The ids of the dialogues of a file. None may occur twice."""

    def __init__(self, bad: BadRows) -> None:
        self.bad = bad
        self.places: dict[Any, str] = {}

    def is_new(self, one: Any, place: str) -> bool:
        """Whether a dialogue has an id that no other has, or none at all; another one is reported."""
        if one is None or one == "":
            return True
        first = self.places.setdefault(one, place)
        if first != place:
            self.bad(place, "duplicate dialogue", f"the id {one!r} was used in {first}; expected one for each dialogue")
        return first == place


@guarded
def read_json(path: Path, bad: BadRows) -> Iterator[Dialogue]:
    """Json lines with an object for each dialogue, or a file of the Schema-Guided Dialogue data, one json array. Their
    turns are texts, or objects with `speaker` and `utterance`."""
    with Lines(path, encoding=bad.encoding) as lines:
        whole = lines.peek().lstrip().startswith("[")
    ids = _Ids(bad)
    for place, record in _array(path, bad) if whole else _lines(path, bad):
        if not ids.is_new(next((record[name] for name in IDS if name in record), None), place):
            continue
        turns = record.get("turns")
        parts = [_turn(one) for one in turns] if isinstance(turns, list) else [None]
        given = [part for part in parts if part is not None]
        speakers = record.get("speakers") or [speaker for speaker, _ in given]
        if len(given) < len(parts) or not isinstance(speakers, list) or not all(isinstance(s, str) for s in speakers):
            bad(place, "no turns", f"found {beginning(json.dumps(record, ensure_ascii=False))}; {TURNS}")
        elif len(speakers) != len(parts):
            bad(place, "speakers do not fit", f"found {len(speakers)} speakers for {len(parts)} turns")
        else:
            yield Dialogue(tuple(text for _, text in given), tuple(speakers) * all(speakers), place=place)


def _lines(path: Path, bad: BadRows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, record in json_rows(path, ("turns",), f"; {TURNS}", bad):
        yield line_of(path, number), record


def _array(path: Path, bad: BadRows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with open_binary(path) as file:
        text = decode_file(path, file.read(), bad)
    for number, record in enumerate(json.loads(text or "[]"), 1):
        place = f"{path}, dialogue {number}"
        if isinstance(record, dict):
            yield place, record
        else:
            bad(place, "not a json object", f"found {beginning(json.dumps(record))}; {TURNS}")


def _turn(one: Any) -> tuple[str, str] | None:
    """Speaker and text of a turn; None where it has no text."""
    if isinstance(one, str):
        return "", one
    text = next((one[name] for name in NAMES if name in one), None) if isinstance(one, dict) else None
    speaker = one.get("speaker") or "" if isinstance(one, dict) else ""
    return (str(speaker), text) if isinstance(text, str) else None


@guarded
def read_table(path: Path, bad: BadRows) -> Iterator[Dialogue]:
    """A csv or tsv with a row for each turn. The turns of a dialogue are in sequence, with rising numbers."""
    known = columns_of(path, bad.encoding)
    columns = tuple(name for name in COLUMNS if name != "speaker" or name in known)
    rows = (dict(zip(("place", *columns), row, strict=True)) for row in read_columns(path, columns, HINT, bad))
    ids = _Ids(bad)
    for one, turns in groupby(rows, lambda row: row["dialogue"]):
        dialogue = list(turns)
        place, numbers = dialogue[0]["place"], [_number(row["turn"]) for row in dialogue]
        wrong = [n for n, (a, b) in enumerate(pairwise(numbers), 1) if a is None or b is None or b <= a]
        if numbers[0] is None or wrong:
            row = dialogue[wrong[0] if wrong else 0]
            bad(row["place"], "turn out of order", f"found turn {row['turn']!r}; expected rising whole numbers")
        elif ids.is_new(one, place):
            speakers = tuple(row.get("speaker", "") for row in dialogue)
            yield Dialogue(tuple(row["text"] for row in dialogue), speakers * all(speakers), place=place)


def _number(value: str) -> int | None:
    return int(value) if value.strip().isascii() and value.strip().isdigit() else None


@guarded
def read_marked(path: Path, bad: BadRows) -> Iterator[Dialogue]:
    """A text with one dialogue per line. Turns end with `__eou__` (DailyDialog), with `__eot__` where `__eou__` ends
    their sentences (the Ubuntu corpus), or are separated by tabs (MovieTriples)."""
    with Lines(path, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            if not line.strip():
                continue
            mark = next((mark for mark in (TURN_END, PART_END, "\t") if mark in line), "\t")
            turns = [" ".join(turn.replace(PART_END, " ").split()) for turn in line.split(mark)]
            if not turns[-1] and mark != "\t":
                turns.pop()  # the mark ends a turn
            yield Dialogue(tuple(turns), place=place)


def official_folders(path: Path, names: Mapping[str, Sequence[str]], pattern: str) -> dict[str, list[Path]]:
    """The files of each split in a folder of its own. `names` are its possible names."""
    found: dict[str, list[Path]] = {}
    for split, folders in names.items():
        files = [file for name in folders for file in sorted((path / name).glob(pattern))]
        if files:
            found[split] = files
    return found if "train" in found else {}
