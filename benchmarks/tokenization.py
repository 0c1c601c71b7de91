"""Sentences and words of real text against NLTK's, which they equal. Run: python -m benchmarks.tokenization FILE ...

The files are plain text. Both variants alternate in one process; megabytes per second of one core, medians of rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from benchmarks.timing import write
from zoo.data.text import word_rules
from zoo.data.text.sentences import BLANK_LINE, WORDS, _abbreviations, _punkt, clean
from zoo.data.text.word_rules import _at_end, _inside, _nltk_words, treebank_words


def rates(variants: dict[str, Callable[[], object]], size: int, rounds: int) -> dict[str, float]:
    """Megabytes per second of each variant, the median of some rounds in which they alternate."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            begin = time.process_time()
            run()
            seconds[name].append(time.process_time() - begin)
    return {name: round(size / statistics.median(each) / 1e6, 2) for name, each in seconds.items()}


def cold(sentences: Sequence[str]) -> list[list[str]]:
    """Words of sentences when no piece of text is remembered yet."""
    _inside.clear()
    _at_end.clear()
    return list(map(treebank_words, sentences))


def main() -> None:
    """Compares, times and writes the result."""
    parser = argparse.ArgumentParser(description="Sentences and words of text files against NLTK's")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sentences", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    parameters = PunktParameters()
    parameters.abbrev_types = set(_abbreviations("en"))
    parameters.sent_starters = set(WORDS["starters"]["en"].split())
    nltk, ours = PunktSentenceTokenizer(parameters), _punkt("en")
    blocks: list[str] = []
    sentences: list[str] = []
    for file in options.files:
        for block in map(str.strip, BLANK_LINE.split(clean(file.read_text("utf-8", errors="replace")))):
            if len(sentences) < options.sentences and block:
                blocks.append(block)
                sentences += ours.split(block)
    different = sum(treebank_words(one) != _nltk_words(one) for one in sentences)
    cut_differently = sum(ours.split(block) != nltk.tokenize(block) for block in blocks)
    some, few = sentences[::10], blocks[::10]
    size = sum(len(one.encode()) for one in some)
    words = rates({"ours": lambda: cold(some), "nltk": lambda: list(map(_nltk_words, some))}, size, options.rounds)
    size = sum(len(one.encode()) for one in few)
    cuts = {"ours": lambda: list(map(ours.split, few)), "nltk": lambda: list(map(nltk.tokenize, few))}
    result = {
        "sentences": len(sentences),
        "sentences_with_other_words": different,
        "paragraphs_with_other_sentences": cut_differently,
        "remembered": word_rules.REMEMBERED,
        "words_mb_per_second": words,
        "sentences_mb_per_second": rates(cuts, size, options.rounds),
    }
    write("tokenization", result)


if __name__ == "__main__":
    main()
