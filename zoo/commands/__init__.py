"""The commands of `zoo`, one file each: a new file is a new command, and nothing else names it.

A file has `ABOUT`, one line for `zoo --help`; `parser()`, the options; and `run(words)`, which gets the words after the
command's name. It may raise a ZooError, which ends the command with one line. A file may also have `complete(words,
current)`, for the completion of shells (`zoo completion`).
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console


CHECKPOINT = "an included network, e.g. han; a checkpoint; the folder of a run; last: the newest run; or hub:USER/REPO"
"""The help of an argument that names a trained network."""


class Command(Protocol):
    """The interface of a file of this folder."""

    ABOUT: str

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the words after the command's name."""

    def run(self, words: list[str]) -> None:
        """Run the command."""


def names() -> list[str]:
    """The names of all commands."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def command(name: str) -> Any:
    """Return the `Command` of a name, which is one of `names()`."""
    return import_module(f"{__name__}.{name}")


def new_parser(name: str, about: str) -> argparse.ArgumentParser:
    """Return a parser of `zoo NAME` with the option that every command has."""
    parser = argparse.ArgumentParser(prog=f"zoo {name}", description=about)
    parser.add_argument(
        "--config-dir",
        metavar="DIR",
        help="a folder with your own configuration; the Python modules beside DIR can be imported",
    )
    return parser


def terminal(*, highlight: bool = True) -> Console:
    """Return a console that is 120 columns wide where the output is not a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, highlight=highlight)
