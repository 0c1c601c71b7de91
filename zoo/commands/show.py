"""`zoo show`: one model of the catalogue."""

import argparse

from zoo.commands import new_parser, terminal
from zoo.run.streams import as_json

ABOUT = "a model: its paper, what differs from it, every key, the data that fit, results"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo show`."""
    show = new_parser("show", ABOUT)
    show.add_argument("model", help="as in model=NAME; zoo list models prints the names")
    show.add_argument("--json", action="store_true", help="as JSON")
    return show


def complete(words: list[str], current: str) -> list[str]:
    """Return the names of models."""
    from zoo.run.catalogue import choices

    return [] if words else choices("model")


def run(words: list[str]) -> None:
    """Print the facts of a model."""
    from zoo.run.model_facts import as_text, model_facts

    options = parser().parse_args(words)
    facts = model_facts(options.model)
    if options.json:
        print(as_json(facts.to_dict(), indent=2))
    else:
        console = terminal(highlight=False)
        console.print(as_text(facts, console.width))
