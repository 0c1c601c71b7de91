"""`zoo list`: the catalogue."""

import argparse

from zoo.commands import new_parser, terminal
from zoo.run.streams import as_json

ABOUT = "the models, their papers and tasks, the data that fit, the experiments"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo list`."""
    catalogue = new_parser("list", ABOUT)
    catalogue.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="only entries with these words, e.g. models, data, experiments, a task, a name",
    )
    catalogue.add_argument("--json", action="store_true", help="as JSON")
    return catalogue


def complete(words: list[str], current: str) -> list[str]:
    """Return the parts of the catalogue and the names of models and data."""
    from zoo.run.catalogue import choices

    return ["models", "data", "experiments", *choices("model"), *choices("data")]


def run(words: list[str]) -> None:
    """Print the entries with all of the given words."""
    from zoo.run.listing import as_text, catalogue_entries

    options = parser().parse_intermixed_args(words)
    entries = catalogue_entries(options.words)
    if options.json:
        print(as_json(entries, indent=2))
    else:
        console = terminal(highlight=False)
        console.print(as_text(entries, console.width), soft_wrap=True)
