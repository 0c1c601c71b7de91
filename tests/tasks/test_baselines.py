"""Baselines of text classification: C against scikit-learn's own search, figures by hand."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline

from zoo.errors import ConfigError
from zoo.run.check import check
from zoo.run.compose import compose
from zoo.tasks import classification
from zoo.tasks.baselines import CHOICES, DEFAULT, baselines, tfidf


def texts(count, seed):
    """Texts whose word `good` or `bad` mostly shows the class; three of four are of class 1."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(count) < 0.75).astype(np.int32)
    signs = np.where(rng.random(count) < 0.3, rng.integers(0, 2, count), labels)
    others = [" ".join(rng.choice([*"abcdefgh."], 6)) for _ in range(count)]
    labels.flags.writeable = False  # as labels that are mapped from a file
    return [f"{other} {'good' if sign else 'bad'} ." for other, sign in zip(others, signs, strict=True)], labels


SPLITS = {split: texts(count, seed) for seed, (split, count) in enumerate({"train": 90, "val": 60, "test": 50}.items())}


@pytest.mark.parametrize("weights", [None, [3.0, 0.5]])
def test_the_search_is_that_of_scikit_learn(weights):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+", lowercase=False)
    (train, labels), (val, known), (test, _) = SPLITS.values()
    by_class = None if weights is None else {0: 3.0, 1: 0.5}
    pipeline = make_pipeline(vectorizer, LogisticRegression(max_iter=2000, class_weight=by_class))
    split = PredefinedSplit([-1] * len(train) + [0] * len(val))
    search = GridSearchCV(pipeline, {"logisticregression__C": CHOICES}, cv=split, refit=False)
    search.fit(train + val, [*labels, *known])
    pipeline.set_params(**search.best_params_).fit(train, labels)
    c, predicted = tfidf(SPLITS, weights)
    assert c == search.best_params_["logisticregression__C"]
    assert predicted.tolist() == pipeline.predict(test).tolist()


def test_the_metrics_beside_those_of_a_network():
    truth = SPLITS["test"][1]
    c, predicted = tfidf(SPLITS)
    found = baselines(SPLITS, 2)
    share = truth.mean()
    assert found["majority class"] == pytest.approx(
        {"accuracy": share, "macro_f1": share / (1 + share), "f1": 2 * share / (1 + share)}
    )
    assert found["TF-IDF + logistic regression"] == pytest.approx(
        {
            "accuracy": np.mean(predicted == truth),
            "macro_f1": f1_score(truth, predicted, average="macro"),
            "f1": f1_score(truth, predicted),
            "C": c,
        }
    )
    assert "f1" not in baselines(SPLITS, 3)["majority class"]


def test_without_a_validation_split():
    c, _ = tfidf({name: part for name, part in SPLITS.items() if name != "val"})
    assert c == DEFAULT


def test_scikit_learn_is_missed_before_anything_is_prepared(monkeypatch):
    monkeypatch.setattr(classification, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"scikit-learn is not installed; pip install -e '\.\[baselines\]'"):
        check(compose(["task.baselines=true"]))
