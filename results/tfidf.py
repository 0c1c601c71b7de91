"""python results/tfidf.py FILE.csv data=yelp [data.source=...]: TF-IDF and logistic regression on the splits
of a data module.

Unigrams and bigrams; C is chosen on the validation split, then the test split is scored once. Needs scikit-learn.
`task.baselines=true` adds the same to the table of a run.
"""

import sys
from pathlib import Path

import numpy as np
from hydra.utils import instantiate
from rows import merge, of_program

from zoo.run.compose import compose
from zoo.tasks.baselines import tfidf


def main() -> None:
    """Reads the command line, measures, writes one row."""
    file, overrides = Path(sys.argv[1]), sys.argv[2:]
    cfg = compose(overrides)
    data = instantiate(cfg.data, _convert_="all")
    data.prepare_data()
    data.setup()
    splits = {split: data.texts(split) for split in ("train", "val", "test")}
    c, predicted = tfidf(splits)
    accuracy = np.mean(predicted == splits["test"][1])
    print(f"C={c:g}: test accuracy {accuracy:.4f}")
    row = of_program("tfidf", file, overrides, cfg, data.source_description)
    found = {"model": "TF-IDF + logistic regression", "metric": "accuracy", "ours": f"{accuracy:.4f}"}
    merge(file, [row | found])


if __name__ == "__main__":
    main()
