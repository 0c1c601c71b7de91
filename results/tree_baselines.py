"""python results/tree_baselines.py FILE.csv data=sst|sick ...: baselines that read words only, on a module's splits.

Labelled trees: TF-IDF of unigrams and bigrams with logistic regression classifies the root. C is chosen on the
validation split, then the test split is scored once. Needs scikit-learn. Pairs: the score is compared with the share of
their distinct words that both sentences have. Nothing is learned, and only the test split is read.
"""

import sys
from pathlib import Path

import numpy as np
from hydra.utils import instantiate
from rows import merge, of_program
from scipy.stats import pearsonr, spearmanr

from zoo.data.trees.module import TreeData
from zoo.run.compose import compose
from zoo.tasks.baselines import tfidf


def sentences(data, split: str) -> tuple[list[str], np.ndarray]:
    """The words of each tree as a network sees them, and the class of its root."""
    names = data.encoder.vocabulary.words
    texts, labels = [], []
    loader = {"train": data.train_dataloader, "val": data.val_dataloader, "test": data.test_dataloader}[split]()
    for batch in loader:
        texts += [" ".join(names[word] for word in ids) for ids in batch.trees.ids()]
        labels += batch.label[batch.trees.forest.root].tolist()
    return texts, np.array(labels)


def overlaps(data) -> tuple[list[float], list[float]]:
    """The share of common words and the score of each pair of the test split."""
    shares, scores = [], []
    for batch in data.test_dataloader():
        ids = [set(words) for words in batch.trees.ids()]
        shares += [len(a & b) / len(a | b) for a, b in zip(ids[::2], ids[1::2], strict=True)]
        scores += batch.score.tolist()
    return shares, scores


def main() -> None:
    """Reads the command line, measures, writes the rows."""
    file, overrides = Path(sys.argv[1]), sys.argv[2:]
    cfg = compose(overrides)
    data = instantiate(cfg.data, _convert_="all")
    data.prepare_data()
    data.setup()
    if isinstance(data, TreeData):
        splits = {split: sentences(data, split) for split in ("train", "val", "test")}
        accuracy = float(np.mean(tfidf(splits)[1] == splits["test"][1]))
        model, found = "TF-IDF + logistic regression", {"accuracy_roots": accuracy}
    else:
        shares, scores = overlaps(data)
        model = "share of common words"
        found = {"pearson": pearsonr(shares, scores).statistic, "spearman": spearmanr(shares, scores).statistic}
    print(model, found)
    row = of_program("tree_baselines", file, overrides, cfg, data.source_description) | {"model": model}
    merge(file, [row | {"metric": name, "ours": f"{value:.4f}"} for name, value in found.items()])


if __name__ == "__main__":
    main()
