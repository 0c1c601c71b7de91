"""`zoo train`: the same as `python train.py`, from any folder."""

import argparse
import sys

from zoo.commands import new_parser
from zoo.run import search_path

ABOUT = "the same as python train.py, from any folder"


def parser() -> argparse.ArgumentParser:
    """Return a parser that leaves all words to Hydra, --help and -m among them."""
    training = new_parser("train", ABOUT)
    training.add_argument("overrides", nargs=argparse.REMAINDER)
    return training


def complete(words: list[str], current: str) -> list[str]:
    """Return the overrides and flags that a word can become."""
    from zoo.run.completion import overrides

    if current.startswith("-"):
        return ["--multirun", "--help", "--cfg", "--info", "--config-dir"]
    return overrides(words, current)


def run(words: list[str]) -> None:
    """Train with Hydra's command line."""
    from zoo.run.launch import main

    sys.argv[1:] = [*words, *search_path.overrides()]
    main(command=("train",))
