"""python results/tree_grammar.py FILE.csv [data.sample.test=N]: the accuracy of the root's class from the words alone.

Each sentence of the test split of `data=sst` is generated. The inside algorithm, over spans, symbols and meanings, sums
the probabilities of all trees that the grammar has for its words. The most probable class of the root is the best
answer without the tree.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from multiprocessing import Pool
from pathlib import Path

from hydra.utils import instantiate
from rows import merge, of_program
from tqdm import tqdm
from tree_baselines import sentences

from zoo.data.trees.samples.lexicon import PHRASES
from zoo.data.trees.samples.sentiment import CATEGORIES, MEANINGS, RULES, Meaning, composed
from zoo.run.compose import compose

Cell = dict[str, dict[Meaning, float]]
"""The probability that each symbol makes the words of a span, for each meaning of the words."""


def _rules() -> tuple[dict[tuple[str, str], list[tuple[str, float]]], list[tuple[str, str, float]]]:
    """The symbols of two parts and those of one part, each lower symbol before the higher ones."""
    pairs, single = defaultdict(list), defaultdict(list)
    for symbol, weights in RULES.items():
        for alternative, weight in weights.items():
            parts, share = tuple(alternative.split()), weight / sum(weights.values())
            if len(parts) == 2:
                pairs[parts].append((symbol, share))
            else:
                single[symbol].append((parts[0], share))
    order: dict[str, None] = {}

    def visit(symbol: str) -> None:
        for lower, _ in single.get(symbol, ()):
            visit(lower)
        order.setdefault(symbol)

    for symbol in list(single):
        visit(symbol)
    return dict(pairs), [(symbol, lower, share) for symbol in order for lower, share in single.get(symbol, ())]


PAIRS, SINGLE = _rules()


def _put(cell: Cell, symbol: str, meaning: Meaning, likely: float) -> None:
    meanings = cell.setdefault(symbol, {})
    meanings[meaning] = meanings.get(meaning, 0.0) + likely


def _climbed(cell: Cell) -> Cell:
    for symbol, lower, share in SINGLE:
        for meaning, likely in list(cell.get(lower, {}).items()):
            _put(cell, symbol, meaning, share * likely)
    return cell


def _word(word: str) -> Cell:
    cell: Cell = {}
    meaning = MEANINGS.get(word, Meaning("plain", 0))
    kinds = [kind for kind, words in CATEGORIES.items() if word in words]
    for kind in kinds:
        _put(cell, kind, meaning, 1 / len(CATEGORIES[kind]))
    if word not in CATEGORIES:
        _put(cell, word, meaning, 1.0)
    return _climbed(cell)


def _joined(lower: Iterator[tuple[Cell, Cell]], phrase: str | None) -> Cell:
    """The cell of a span of two words or more from the cells of its parts; `phrase` gives the meaning of two words."""
    cell: Cell = {}
    for lefts, rights in lower:
        for left, of_left in lefts.items():
            for right, of_right in rights.items():
                for symbol, share in PAIRS.get((left, right), ()):
                    for (a, likely_a), (b, likely_b) in product(of_left.items(), of_right.items()):
                        meaning = Meaning(phrase, 0) if phrase else composed(a, b)
                        _put(cell, symbol, meaning, share * likely_a * likely_b)
    return _climbed(cell)


def worths(words: Sequence[str]) -> dict[int, float]:
    """The probability of each value of the sentence, -2 to 2."""
    chart = {(first, first + 1): _word(word) for first, word in enumerate(words)}
    for size in range(2, len(words) + 1):
        for first in range(len(words) - size + 1):
            last = first + size
            parts = ((chart[first, middle], chart[middle, last]) for middle in range(first + 1, last))
            chart[first, last] = _joined(parts, PHRASES.get(tuple(words[first:last])) if size == 2 else None)  # type: ignore[arg-type]
    found: dict[int, float] = defaultdict(float)
    for meaning, likely in chart[0, len(words)]["TEXT"].items():
        found[meaning.worth] += likely
    total = sum(found.values())
    return {worth: likely / total for worth, likely in found.items()}


def main() -> None:
    """Reads the command line, measures, writes the row."""
    file, overrides = Path(sys.argv[1]), sys.argv[2:]
    cfg = compose(["data=sst", *overrides])
    data = instantiate(cfg.data, _convert_="all")
    data.prepare_data()
    data.setup()
    texts, labels = sentences(data, "test")
    with Pool() as pool:
        read = list(tqdm(pool.imap(worths, (text.split() for text in texts), chunksize=8), total=len(texts)))
    right = sum(max(likely, key=likely.__getitem__) + 2 == label for likely, label in zip(read, labels, strict=True))
    sure = sum(max(likely.values()) for likely in read) / len(read)
    several = sum(len(likely) > 1 for likely in read) / len(read)
    print(f"right {right / len(read):.4f}, as expected {sure:.4f}; more than one class is possible for {several:.3f}")
    row = of_program("tree_grammar", file, overrides, cfg, data.source_description)
    found = {"model": "the grammar, over the words alone", "metric": "accuracy_roots"}
    merge(file, [row | found | {"ours": f"{right / len(read):.4f}"}])


if __name__ == "__main__":
    main()
