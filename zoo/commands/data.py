"""`zoo data`: prepare a data set and describe it."""

import argparse
import sys
from pathlib import Path
from typing import Any

from zoo.commands import new_parser, terminal
from zoo.errors import ConfigError
from zoo.run.streams import as_json

ABOUT = "prepare a data set and describe it: counts, lengths, unknown words, examples"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo data`."""
    data = new_parser("data", ABOUT)
    data.add_argument("name", help="as in data=NAME")
    data.add_argument("overrides", nargs="*", help="such as data.source=PATH")
    data.add_argument("--json", action="store_true", help="as JSON")
    data.add_argument("--write", type=Path, metavar="DIR", help="write the examples as files of their official format")
    data.add_argument(
        "--from-text",
        nargs="+",
        default=[],
        metavar="FILE",
        help="make the examples from plain text, if the data set supports it",
    )
    return data


def complete(words: list[str], current: str) -> list[str]:
    """Return the names of data, and then the keys of the chosen data."""
    from zoo.run.catalogue import choices
    from zoo.run.completion import overrides

    if not words:
        return choices("data")
    return overrides([f"data={words[0]}"], current, ("data",)) if current.startswith("data.") else []


def run(words: list[str]) -> None:
    """Prepare the data and print their description; first write the files that the options ask for."""
    options, more = parser().parse_known_args(words)  # argparse does not accept words on both sides of a flag
    if not all("=" in word for word in more):
        parser().error(f"unrecognized arguments: {' '.join(more)}")
    more += [word for word in options.from_text if "=" in word and not Path(word).exists()]
    options.from_text = [word for word in options.from_text if word not in more]
    if named := [word for word in (*options.overrides, *more) if word.startswith("data=")]:
        raise ConfigError(f"{named[0]}: `zoo data {options.name}` already names the data; remove this word")
    from zoo.run.messages import explained

    overrides = [f"data={options.name}", *options.overrides, *more]
    with explained(overrides):
        data = _module(overrides)
    if options.from_text:
        data.from_text([Path(file) for file in options.from_text])
    if options.write is not None:
        for path in data.write(options.write):
            print(f"wrote {path}", file=sys.stderr)
    data.prepare_data()
    data.setup("fit")
    parts = data.describe()
    if options.json:
        print(as_json(parts, indent=2))
    else:
        from zoo.run.description import description

        terminal().print(description(options.name, parts))


def _module(overrides: list[str]) -> Any:
    """Return the data module of the overrides, not prepared yet."""
    from hydra.utils import instantiate

    from zoo.data.stored import hide_bars_in_files
    from zoo.dotted import class_at
    from zoo.run.arguments import check_arguments
    from zoo.run.compose import compose
    from zoo.run.fit import check_data_and_task
    from zoo.tasks import Task

    hide_bars_in_files()
    cfg = compose(overrides)
    check_arguments(cfg.data, "data")
    data = instantiate(cfg.data, _convert_="all")
    check_data_and_task(data, class_at(cfg.task._target_, Task))
    return data
