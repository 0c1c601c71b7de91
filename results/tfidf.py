"""python results/tfidf.py FILE.csv data=yelp [data.source=...]: TF-IDF and logistic regression on the splits
of a data module.

Unigrams and bigrams; C is chosen on the validation split, then the test split is scored once. Needs scikit-learn.
"""

import sys
from pathlib import Path

import numpy as np
from hydra.utils import instantiate
from rows import merge, of_program
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from zoo.run.compose import compose

CHOICES = (0.3, 1, 3, 10, 30, 100)


def documents(data, split: str) -> tuple[list[str], np.ndarray]:
    """The words of a prepared split as the network sees them, and the classes."""
    names = data.encoder.vocabulary.words
    texts, labels = [], []
    loader = {"train": data.train_dataloader, "val": data.val_dataloader, "test": data.test_dataloader}[split]()
    for batch in loader:
        for words, mask, label in zip(batch.words, batch.word_mask, batch.label, strict=True):
            texts.append(" ".join(names[word] for word in words[mask].tolist()))
            labels.append(int(label))
    return texts, np.array(labels)


def measure(splits: dict[str, tuple[list[str], np.ndarray]]) -> tuple[float, float]:
    """The best C by validation accuracy, and its test accuracy; from the texts and classes of each split."""
    # words are split already, and punctuation is one of them
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=None, tokenizer=str.split, lowercase=False
    )
    x = {"train": vectorizer.fit_transform(splits["train"][0])}
    x |= {split: vectorizer.transform(splits[split][0]) for split in ("val", "test")}
    models = {c: LogisticRegression(C=c, max_iter=2000).fit(x["train"], splits["train"][1]) for c in CHOICES}
    best = max(models, key=lambda c: models[c].score(x["val"], splits["val"][1]))
    return best, models[best].score(x["test"], splits["test"][1])


def main() -> None:
    """Reads the command line, measures, writes one row."""
    file, overrides = Path(sys.argv[1]), sys.argv[2:]
    cfg = compose(overrides)
    data = instantiate(cfg.data, _convert_="all")
    data.prepare_data()
    data.setup()
    c, accuracy = measure({split: documents(data, split) for split in ("train", "val", "test")})
    print(f"C={c}: test accuracy {accuracy:.4f}")
    row = of_program("tfidf", file, overrides, cfg, data.source_description)
    found = {"model": "TF-IDF + logistic regression", "metric": "accuracy", "ours": f"{accuracy:.4f}"}
    merge(file, [row | found])


if __name__ == "__main__":
    main()
