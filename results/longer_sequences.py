"""python results/longer_sequences.py FILE.csv RUN [RUN ...]: exact match of the networks of finished runs of data=copy,
reverse or sort, on sequences of one length each, also longer than those of the training (3 to 12 symbols).

Writes a row for each length, such as `exact_match_n20`, with the command and the commit of the run. The sequences of a
length are 200 generated ones that no training has.
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


def exact_match(predictor: Any, order: str, length: int) -> float:
    """The share of sequences of a length whose translation is right to the last symbol."""
    pairs = list(symbols.generate(COUNT, seed=SEED, order=order, shortest=length, longest=length))
    found = predictor([" ".join(pair.source) for pair in pairs])
    return sum(one.best.text.split() == pair.target for one, pair in zip(found, pairs, strict=True)) / COUNT


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
        names = [f"exact_match_n{length}" for length in LENGTHS]
        for name, length in zip(names, LENGTHS, strict=True):
            result["metrics"][f"test/{name}"] = exact_match(predictor, result["data"], length)
        merge(options.file, rows(result, dict.fromkeys(["parameters", "minutes", *names], "")))


if __name__ == "__main__":
    main()
