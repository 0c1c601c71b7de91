"""`zoo completion`: a script with which a shell completes commands, options and the names of the catalogue."""

import argparse

from zoo.commands import new_parser
from zoo.run.completion import SCRIPTS, candidates

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
