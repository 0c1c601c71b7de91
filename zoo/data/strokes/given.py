"""Reads a line of handwriting that a user gives, in whose hand a network goes on."""

import json
from pathlib import Path

from zoo.data.rows import NotJson, parse_json
from zoo.data.strokes.points import FORM, Points, strokes_of
from zoo.errors import DataError, UnusableInput


def read_given(path: Path) -> tuple[list[Points], str]:
    """The strokes and the text of a JSON file with one line of handwriting. Raises UnusableInput, with the path."""
    expected = f'expected {{"strokes": {FORM}, "text": "..."}}'
    try:
        record = parse_json(path.read_text("utf-8-sig"))
        if not isinstance(record, dict) or "strokes" not in record:
            raise UnusableInput(f"{path}: found {json.dumps(record)[:40]!r}, {expected}")
        text = record.get("text") or ""
        if not isinstance(text, str):
            raise UnusableInput(f"{path}: text: found {str(text)[:40]!r}, expected a text")
        return strokes_of(record["strokes"]), text
    except OSError as error:
        raise UnusableInput(f"{path}: cannot be read: {error.strerror or error}; {expected}") from error
    except NotJson as error:
        raise UnusableInput(f"{path}: {error.problem}: {error.detail}; {expected}") from error
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{path}: not UTF-8; {expected}") from error
    except UnusableInput:
        raise
    except DataError as error:
        raise UnusableInput(f"{path}: {error}") from error
