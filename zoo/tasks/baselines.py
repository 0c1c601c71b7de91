"""Baselines of text classification: the majority class, and TF-IDF with logistic regression by scikit-learn."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchmetrics.functional.classification import binary_f1_score, multiclass_f1_score

Texts = tuple[list[str], NDArray[Any]]
"""N texts, words with blanks between, and (N,) the numbers of their classes."""

CHOICES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Values of C, the inverse strength of the regularisation, among which the validation split chooses."""
DEFAULT = 1.0
"""The value of C without a validation split; it is the default of scikit-learn."""


def baselines(
    splits: Mapping[str, Texts], classes: int, weights: Sequence[float] | None = None
) -> dict[str, dict[str, float]]:
    """Return the test metrics of each baseline, by its name, for data with so many classes. `splits` and `weights` are
    those of `tfidf`."""
    labels = splits["test"][1]
    majority = np.full_like(labels, np.bincount(splits["train"][1]).argmax())
    c, predicted = tfidf(splits, weights)
    return {
        "majority class": _metrics(majority, labels, classes),
        "TF-IDF + logistic regression": {**_metrics(predicted, labels, classes), "C": c},
    }


def _metrics(predicted: NDArray[Any], labels: NDArray[Any], classes: int) -> dict[str, float]:
    """The metrics by the names that a network's have."""
    guesses, truth = (torch.from_numpy(one.astype(np.int64)) for one in (predicted, labels))
    found = {"accuracy": (guesses == truth).double().mean()}
    found["macro_f1"] = multiclass_f1_score(guesses, truth, classes, average="macro")
    if classes == 2:
        found["f1"] = binary_f1_score(guesses, truth)
    return {name: value.item() for name, value in found.items()}


def tfidf(splits: Mapping[str, Texts], weights: Sequence[float] | None = None) -> tuple[float, NDArray[Any]]:
    """Return C and the predicted classes (N,) of the test split.

    The features are unigrams and bigrams. C is chosen by the accuracy on the validation split; the test split is
    scored once. Needs scikit-learn.

    Args:
        splits: `train`, `test` and, if there is one, `val`.
        weights: (C,) the weight of each class in the loss; by default 1.
    """
    text, linear = import_module("sklearn.feature_extraction.text"), import_module("sklearn.linear_model")
    # words are split already, and punctuation is one of them
    vectorizer = text.TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=None, tokenizer=str.split, lowercase=False
    )
    learned, (test, _) = vectorizer.fit_transform(splits["train"][0]), splits["test"]

    def fitted(c: float) -> Any:
        by_class = None if weights is None else dict(enumerate(weights))
        return linear.LogisticRegression(C=c, class_weight=by_class, max_iter=2000).fit(learned, splits["train"][1])

    if "val" not in splits:
        best = fitted(DEFAULT)
    else:
        texts, labels = vectorizer.transform(splits["val"][0]), splits["val"][1]
        best = max(map(fitted, CHOICES), key=lambda model: model.score(texts, labels))
    return best.C, best.predict(vectorizer.transform(test))
