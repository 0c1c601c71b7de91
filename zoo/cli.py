"""The `zoo` command, which runs one of the files of `zoo/commands`."""

from __future__ import annotations

import argparse
import sys

from zoo import __version__, commands
from zoo.errors import ConfigError, ZooError, did_you_mean
from zoo.run.streams import patient_streams, stopped_by_ctrl_c

EXAMPLES = """examples:
  zoo list
  zoo explore
  zoo show han
  zoo train model=han data=yelp
  zoo predict logs/han_yelp/<time>/checkpoints/best.ckpt "The food was lovely."
  zoo predict logs/luong_multi30k/<time>/checkpoints/best.ckpt "Ein Mann schläft." --beam 5 --nbest 3
  zoo runs --sort accuracy
  zoo compare logs/sweeps/<time>/* --html curves.html
  zoo data documents data.path=my.csv data.text_column=text data.label_column=label
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo --help` and `zoo --version`. Each command has a parser of its own."""
    root = argparse.ArgumentParser(
        prog="zoo",
        description="Attention and memory networks: one paper per file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"attention-zoo {__version__}")
    names = commands.names()
    choices = root.add_subparsers(dest="command", required=True, metavar=" | ".join(names))
    for name in names:
        choices.add_parser(name, help=commands.command(name).ABOUT, add_help=False)
    return root


@patient_streams()
@stopped_by_ctrl_c()
def main(arguments: list[str] | None = None) -> None:
    """Run one command; a ZooError ends in one line and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["train"]:  # Hydra reads what follows, and prints its errors itself
        return commands.command("train").run(words[1:])
    try:
        from zoo.run import search_path

        words = search_path.take(words)
        name, rest = (words[0], words[1:]) if words else ("", [])
        if name.startswith("-") or not name:
            parser().parse_args(words)
        if name not in commands.names():
            raise ConfigError(f"zoo {name}: unknown command; {did_you_mean(name, commands.names(), 'zoo ')}")
        commands.command(name).run(rest)
    except ZooError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        from zoo.run.messages import explain

        message = explain(error, [])  # the line that `python train.py` prints
        if message is None:
            raise
        print(message, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
