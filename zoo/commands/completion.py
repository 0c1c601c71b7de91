"""`zoo completion`: a script with which a shell completes commands, options and the names of the catalogue."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from zoo import commands
from zoo.commands import new_parser
from zoo.errors import ZooError
from zoo.run import search_path
from zoo.run.completion import SCRIPTS, split

ABOUT = 'a script that completes zoo commands in your shell: eval "$(zoo completion bash)"'


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo completion`."""
    completion = new_parser("completion", ABOUT)
    either = completion.add_mutually_exclusive_group(required=True)
    either.add_argument("shell", nargs="?", choices=SCRIPTS, help="for fish: zoo completion fish | source")
    either.add_argument(
        "--line", metavar="TEXT", help="print what the last word of a command can become, as the scripts do"
    )
    return completion


def run(words: list[str]) -> None:
    """Print the script of a shell, or one completion per line."""
    options = parser().parse_args(words)
    print(SCRIPTS[options.shell] if options.line is None else "\n".join(candidates(options.line)))


def candidates(line: str) -> list[str]:
    """Return the words that the last word of a line can become; empty where only files or free text can follow.

    A command may have `complete(words, current)`. It gets the words between its name and the one that is being typed,
    and the beginning of that word, and returns what the word can become. Otherwise the options of its parser and their
    choices are proposed.
    """
    whole, current = split(line)
    if not whole:
        return []
    words = whole[1:]
    if words[-1:] in (["--config-dir"], ["-cd"]):
        return []
    with suppress(ZooError):  # a folder that does not exist yet
        words = search_path.take(words)
    if not words:
        return _beginning(current, [*commands.names(), "--help", "--version", "--config-dir"])
    if words[0] not in commands.names():
        return []
    command = commands.command(words[0])
    own = getattr(command, "complete", None)
    found = [] if own is None else _beginning(current, own(words[1:], current))
    return found or _beginning(current, of_parser(command.parser(), words[1:], current))


def _beginning(current: str, words: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(current)]


def of_parser(parser: argparse.ArgumentParser, words: Sequence[str], current: str) -> list[str]:
    """Return the options of a parser, or the choices of the argument that is being typed."""
    actions: dict[str, Any] = parser._option_string_actions
    if words and words[-1] in actions and actions[words[-1]].nargs != 0:
        return list(actions[words[-1]].choices or ())
    if current.startswith("-"):
        return [name for name in actions if name.startswith("--")]
    if words:
        return []
    return [name for action in parser._get_positional_actions()[:1] for name in action.choices or ()]
