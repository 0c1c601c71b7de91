"""python results/longer_sequences.py FILE.csv RUN [RUN ...]: the networks of finished runs of data=copy, reverse, sort
or parity, on sequences of one length each, also longer than those of the training (3 to 12 symbols, or 1 to 20 bits).

Writes two rows for each length, with the command and the commit of the run. `exact_match_n20` is the share of
sequences of 20 symbols that are right to the last symbol. `symbols_n20` is the share of their symbols that are right
at their places. The sequences of a length are 200 generated ones that no training has.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from add import rows
from rows import merge

import zoo
from zoo.data.pairs.samples import arithmetic, symbols

COUNT, SEED = 200, 2  # The seed of the training data is 1
GENERATORS = {order: partial(symbols.generate, order=order) for order in symbols.ORDERS} | {"parity": arithmetic.parity}
LENGTHS = dict.fromkeys(symbols.ORDERS, (8, 12, 14, 16, 20, 30, 40)) | {"parity": (20, 50, 100, 250)}


def scores(predictor: Any, data: str, length: int) -> dict[str, float]:
    """The shares of sequences of a length, and of their symbols, that are right."""
    pairs = list(GENERATORS[data](COUNT, seed=SEED, shortest=length, longest=length))
    found = [one.best.text.split() for one in predictor([" ".join(pair.source) for pair in pairs])]
    right = [sum(map(str.__eq__, one, pair.target)) for one, pair in zip(found, pairs, strict=True)]
    exact = sum(one == pair.target for one, pair in zip(found, pairs, strict=True))
    count = sum(len(pair.target) for pair in pairs)
    return {f"exact_match_n{length}": exact / COUNT, f"symbols_n{length}": sum(right) / count}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("run", type=Path, nargs="+")
    options = parser.parse_args()
    for run in options.run:
        result = json.loads((run / "result.json").read_text("utf-8"))
        if result["data"] not in GENERATORS:
            raise SystemExit(f"{run}: data={result['data']}; expected a run of data={', '.join(GENERATORS)}")
        predictor = zoo.load(run / "checkpoints" / "best.ckpt")
        found: dict[str, float] = {}
        for length in LENGTHS[result["data"]]:
            found |= scores(predictor, result["data"], length)
        result["metrics"] |= {f"test/{name}": value for name, value in found.items()}
        merge(options.file, rows(result, dict.fromkeys(["parameters", "minutes", *found], "")))


if __name__ == "__main__":
    main()
