"""Errors meant for the person at the keyboard: one line, no traceback, exit code 2."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ZooError(Exception):
    """What was found, what was expected, and the next thing to try; printed as it is by `train.py` and `zoo`."""

    exit_code = 2


class DataError(ZooError):
    """A data file, row or column that cannot be used; the message begins with the file and, if known, the line."""


class CheckpointError(ZooError):
    """A checkpoint that cannot be read, written or used."""


class ConfigError(ZooError):
    """A key, group or choice that does not exist, has the wrong type, or does not fit the others."""


def one_of(key: str, value: str, choices: Iterable[str], error: type[Exception] = ValueError) -> str:
    """`value`, a choice by name. Raises `error` with all `choices`, and the nearest one, if it is none of them."""
    choices = list(choices)
    if value in choices:
        return value
    near = get_close_matches(str(value), choices, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise error(f"{key} is one of {', '.join(choices)}; got {value!r}{hint}")
