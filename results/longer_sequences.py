"""python results/longer_sequences.py FILE.csv RUN [RUN ...]: the networks of finished runs of data=copy, reverse or
sort, on sequences of one length each, also longer than those of the training (3 to 12 symbols).

Writes two rows for each length, with the command and the commit of the run. `exact_match_n20` is the share of
sequences of 20 symbols that are right to the last symbol. `symbols_n20` is the share of their symbols that are right
at their places. The sequences of a length are 200 generated ones that no training has.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from add import rows
from rows import merge

import zoo
from zoo.data.pairs.samples import symbols

LENGTHS, COUNT, SEED = (8, 12, 14, 16, 20, 30, 40), 200, 2  # The seed of the training data is 1


def scores(predictor: Any, order: str, length: int) -> dict[str, float]:
    """The shares of sequences of a length, and of their symbols, that are right."""
    pairs = list(symbols.generate(COUNT, seed=SEED, order=order, shortest=length, longest=length))
    found = [one.best.text.split() for one in predictor([" ".join(pair.source) for pair in pairs])]
    right = [sum(map(str.__eq__, one, pair.target)) for one, pair in zip(found, pairs, strict=True)]
    exact = sum(one == pair.target for one, pair in zip(found, pairs, strict=True))
    return {f"exact_match_n{length}": exact / COUNT, f"symbols_n{length}": sum(right) / (COUNT * length)}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("run", type=Path, nargs="+")
    options = parser.parse_args()
    for run in options.run:
        result = json.loads((run / "result.json").read_text("utf-8"))
        if result["data"] not in symbols.ORDERS:
            raise SystemExit(f"{run}: data={result['data']}; expected a run of data={', '.join(symbols.ORDERS)}")
        predictor = zoo.load(run / "checkpoints" / "best.ckpt")
        found: dict[str, float] = {}
        for length in LENGTHS:
            found |= scores(predictor, result["data"], length)
        result["metrics"] |= {f"test/{name}": value for name, value in found.items()}
        merge(options.file, rows(result, dict.fromkeys(["parameters", "minutes", *found], "")))


if __name__ == "__main__":
    main()
