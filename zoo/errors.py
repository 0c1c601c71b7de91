"""Errors meant for the person at the keyboard: one line, no traceback, exit code 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class ZooError(Exception):
    """What was found, what was expected, and the next thing to try; printed as it is by `train.py` and `zoo`."""

    exit_code = 2


class DataError(ZooError):
    """A data file, row or column that cannot be used; the message begins with the file and, if known, the line."""


class UnusableInput(DataError):
    """One of several inputs that cannot be used, whatever the others are; the message begins with its name."""


class CheckpointError(ZooError):
    """A checkpoint that cannot be read, written or used."""


class ConfigError(ZooError, ValueError):
    """A key, group or choice that does not exist, has the wrong type, or does not fit the others."""


def nearest(name: object, names: Iterable[str]) -> str | None:
    """The one of `names` that a mistyped `name` was probably meant to be, capitals or not."""
    folded = {each.strip().casefold(): each for each in names}
    close = get_close_matches(str(name).strip().casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def did_you_mean(name: object, names: Iterable[str], prefix: str = "") -> str:
    """What to try in place of `name`: the nearest of `names` behind `prefix`, or all that there are."""
    names = list(names)
    near = nearest(name, names)
    return f"did you mean {prefix}{near}?" if near else f"there are {', '.join(sorted(names)) or 'none'}"


def or_nearest(value: object, choices: Iterable[str]) -> str:
    """`; did you mean ...?` behind a sentence that says what there is; nothing where nothing is near."""
    near = nearest(value, choices)
    return f"; did you mean {near!r}?" if near else ""


def alternatives(words: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def one_of(key: str, value: str, choices: Iterable[str]) -> str:
    """`value`, a choice by name. Raises ConfigError with all `choices`, and the nearest one, if it is none of them."""
    choices = list(choices)
    if value in choices:
        return value
    raise ConfigError(f"{key}={value}: expected {alternatives(choices)}, found {value!r}{or_nearest(value, choices)}")
