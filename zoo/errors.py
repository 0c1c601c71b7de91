"""Errors for the user: one line, no traceback, exit code 2."""

import re
import signal
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_VALUE, LONGEST_MESSAGE = 120, 4000  # Characters that a message shows of one quoted value, and of everything
QUOTED = re.compile(r"""(?<!\w)(['"])((?:\\.|(?!\1(?!\w)).)*)\1(?!\w)""", re.DOTALL)
"""Text in quotes, as `repr` writes it; an apostrophe inside a word is not a quote."""


class ZooError(Exception):
    """An error that says what was found, what was expected, and what to do next; printed as one line.

    Values in quotes are cut, since a value of a damaged file may be a megabyte long.
    """

    exit_code = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(_cut_values(str(message)))


def cut(text: str, length: int = LONGEST_VALUE) -> str:
    """Return the first `length` characters of a text, with `...` where there are more."""
    return text if len(text) <= length else f"{text[:length]}..."


def _cut_values(message: str) -> str:
    if len(message) <= LONGEST_VALUE:
        return message
    message = QUOTED.sub(lambda found: f"{found[1]}{cut(found[2])}{found[1]}", message)
    return cut(message, LONGEST_MESSAGE)


class DataError(ZooError):
    """A data file, row or column that cannot be used; the message begins with the file and, if known, the line."""


class UnusableInput(DataError):
    """One input that cannot be used, among others that can; the message begins with its name."""


class CheckpointError(ZooError):
    """A checkpoint that cannot be read, written or used."""


class ConfigError(ZooError, ValueError):
    """A key, group or choice that does not exist, has the wrong type, or does not fit the others."""


class Interrupted(ZooError):
    """The run was asked to end and has saved its state."""

    def __init__(self, message: str, asked_by: signal.Signals) -> None:
        super().__init__(message)
        self.exit_code = 128 + asked_by


def nearest(name: object, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is most like a mistyped `name`; capitals do not matter."""
    folded = {each.strip().casefold(): each for each in names}
    close = get_close_matches(str(name).strip().casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def did_you_mean(name: object, names: Iterable[str], prefix: str = "") -> str:
    """Return a hint for a wrong `name`: the nearest of `names`, with `prefix`, or else all names."""
    names = list(names)
    near = nearest(name, names)
    return f"did you mean {prefix}{near}?" if near else f"available: {', '.join(sorted(names)) or 'none'}"


def or_nearest(value: object, choices: Iterable[str]) -> str:
    """Return `; did you mean ...?` for the end of a sentence; nothing where no choice is near."""
    near = nearest(value, choices)
    return f"; did you mean {near!r}?" if near else ""


def alternatives(words: Sequence[str]) -> str:
    """Return `a, b or c`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def one_of(key: str, value: str, choices: Iterable[str]) -> str:
    """Return `value`. Raises ConfigError, with the nearest choice, unless it is one of `choices`."""
    choices = list(choices)
    if value in choices:
        return value
    raise ConfigError(
        f"{key}={cut(value)}: expected {alternatives(choices)}, found {value!r}{or_nearest(value, choices)}"
    )
