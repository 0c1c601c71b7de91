"""Weights of classes, label smoothing and thresholds: the loss against torch's, the decisions against scikit-learn."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, classification_report, f1_score
from sklearn.utils.class_weight import compute_class_weight

from tests.callbacks import runs
from tests.tasks.running import figures
from tests.tasks.test_classification import MODEL, SPEC, Words, batch
from zoo.data.documents.batch import DocumentSpec
from zoo.errors import CheckpointError, ConfigError
from zoo.tasks import Classification
from zoo.tasks.single_label import balanced


def task(spec=SPEC, **options):
    optimizer = {"_target_": "torch.optim.Adam", "lr": 0.03}
    made = Classification(model=MODEL, optimizer=optimizer, monitor="val/accuracy", mode="max", **options)
    made.build(spec, encoder=Words())
    return made


def counting(**counts):
    """A trainer whose data have so many training examples of each class."""
    data = SimpleNamespace(
        name="reviews", describe=lambda: {"splits": {"train": {"classes": counts} if counts else {}}}
    )
    return SimpleNamespace(datamodule=data)


# the loss

BATCHES = [batch(size, seed) for seed, size in enumerate((5, 1, 9))]


@pytest.mark.parametrize("weights", [{"a": 0.05, "c": 3}, None])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_training_loss_is_that_of_torch(weights, smoothing, monkeypatch):
    classification = task(class_weights=weights, label_smoothing=smoothing)
    classification.prepare_training()
    monkeypatch.setattr(classification, "log", lambda *_, **__: None)
    weight = torch.tensor([0.05, 1, 3]) if weights else None

    def expected(logits, label):
        return F.cross_entropy(logits, label, weight, label_smoothing=smoothing).item()

    for one in BATCHES:
        loss = classification.training_step(one, 0).item()
        assert loss == pytest.approx(expected(classification(one).logits, one.label), rel=1e-5)
    logits = torch.cat([classification(one).logits for one in BATCHES])
    label = torch.cat([one.label for one in BATCHES])
    assert classification.train_loss.compute().item() == pytest.approx(expected(logits, label), rel=1e-5)


def test_validation_and_test_give_the_plain_loss(monkeypatch):
    classification = task(class_weights={"a": 9.0}, label_smoothing=0.5).eval()
    classification.prepare_training()
    logits, label = (
        torch.cat([classification(one).logits for one in BATCHES]),
        torch.cat([one.label for one in BATCHES]),
    )
    for stage in ("val", "test"):
        loss = figures(classification, monkeypatch, *BATCHES, stage=stage)["loss"]
        assert loss == pytest.approx(F.cross_entropy(logits, label).item(), rel=1e-5)


def test_balanced_weights_are_those_of_scikit_learn():
    counts = {"a": 7, "b": 1, "c": 12}
    labels = np.repeat(list(counts), list(counts.values()))
    expected = compute_class_weight("balanced", classes=np.array(list(counts)), y=labels)
    assert list(balanced(counts).values()) == pytest.approx(expected)
    assert balanced(counts | {"d": 0}) == balanced(counts) | {"d": 1.0}


def test_balanced_weights_come_from_the_training_split():
    classification = task(class_weights="balanced")
    classification._trainer = counting(a=1, b=2, c=3)
    classification.prepare_training()
    assert classification.class_weight.tolist() == pytest.approx([2, 1, 2 / 3])
    assert not any("class_weight" in name for name in classification.state_dict())
    classification._trainer = counting()
    with pytest.raises(
        ConfigError, match="data=reviews does not count the examples of each class; give the weights by"
    ):
        classification.prepare_training()


def test_a_class_that_the_data_do_not_have():
    spec = DocumentSpec(vocabulary_size=12, classes=("good", "bad"))
    with pytest.raises(ConfigError, match=r"task.class_weights: the data have no class 'godo'; did you mean good\?"):
        task(spec, class_weights={"godo": 2.0}).prepare_training()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"class_weights": "balancd"}, r"class_weights=balancd: expected balanced, .*; did you mean 'balanced'\?"),
        ({"class_weights": {"a": 0}}, "class_weights=.*each a number above 0"),
        ({"label_smoothing": 1.0}, "label_smoothing=1.0: expected a number from 0 to below 1, found 1.0"),
        ({"threshold": 1.0}, "threshold=1.0: expected a number above 0 and below 1, f1 or null, found 1.0"),
        ({"threshold": 0.4}, "task.threshold=0.4: a threshold decides between two classes, and the data have 3"),
    ],
)
def test_values_out_of_their_bounds_are_refused_in_python_too(options, said):
    with pytest.raises(ConfigError, match=said):
        task(**options)


# thresholds


def probabilities(classification):
    """The probability of the second class and the true class of every document of `runs.BATCHES`."""
    with torch.no_grad():
        logits = [classification.network.eval()(one).logits for one in runs.BATCHES]
    return torch.cat(logits).softmax(1)[:, 1].numpy(), torch.cat([one.label for one in runs.BATCHES]).numpy()


TWO = DocumentSpec(len(runs.WORDS), ("bad", "good"))


def test_metrics_and_predictions_follow_a_threshold(monkeypatch):
    torch.manual_seed(0)
    classification = task(TWO, threshold=0.1).eval()
    probability, label = probabilities(classification)
    classification.threshold = threshold = float(np.sort(probability)[[15, 16]].mean())
    expected = probability >= threshold
    assert expected.sum() == 8 != (probability >= 0.5).sum()
    for stage in ("val", "test"):
        found = figures(classification, monkeypatch, *runs.BATCHES, stage=stage)
        assert found["accuracy"] == pytest.approx(accuracy_score(label, expected))
        assert found["f1"] == pytest.approx(f1_score(label, expected))
        assert found["macro_f1"] == pytest.approx(f1_score(label, expected, average="macro"))
    named = [one.prediction.label for each in runs.BATCHES for one in classification.examine(each)]
    assert named == ["good" if one else "bad" for one in expected]


def test_a_validation_chooses_the_threshold_and_a_checkpoint_keeps_it(tmp_path):
    torch.manual_seed(0)
    classification = task(TWO, threshold="f1")
    trainer = runs.trainer(tmp_path, [], max_epochs=1)
    trainer.fit(classification, runs.loader(), runs.loader())
    (probability, label), threshold = probabilities(classification), classification.threshold
    scores = [f1_score(label, probability >= step / 1000) for step in range(1, 1000)]
    assert threshold != 0.5 and f1_score(label, probability >= threshold) == pytest.approx(max(scores))
    assert trainer.callback_metrics["val/f1"].item() == pytest.approx(max(scores))
    expected = accuracy_score(label, probability >= threshold)
    assert trainer.callback_metrics["val/accuracy"].item() == pytest.approx(expected)
    trainer.save_checkpoint(tmp_path / "last.ckpt")

    again = task(TWO, threshold="f1")
    tester = runs.trainer(tmp_path, [])
    with pytest.raises(CheckpointError, match=r"task.threshold=f1: no validation has chosen a threshold"):
        tester.test(again, runs.loader(), verbose=False)
    tester = runs.trainer(tmp_path, [])
    tester.test(again, runs.loader(), ckpt_path=tmp_path / "last.ckpt", verbose=False, weights_only=True)
    assert again.threshold == threshold and tester.callback_metrics["test/accuracy"].item() == pytest.approx(expected)
    assert again.remarks({}) == {"test/accuracy": f"good from a probability of {threshold:g} on"}
    facts = json.loads(json.dumps(again.facts()))
    names = np.array(["bad", "good"])
    report = classification_report(
        names[label], names[(probability >= threshold).astype(int)], output_dict=True, zero_division=0
    )
    for name in names:
        assert facts["classes"][name] == pytest.approx(
            {key.replace("f1-score", "f1"): value for key, value in report[name].items()}
        )
    assert facts["threshold"] == threshold and math.isfinite(tester.callback_metrics["test/ece"])


def test_the_sanity_check_does_not_choose(tmp_path):
    classification = task(TWO, threshold="f1")
    options = {"num_sanity_val_steps": 2, "check_val_every_n_epoch": 2, "max_epochs": 1}
    runs.trainer(tmp_path, [], **options).fit(classification, runs.loader(), runs.loader())
    assert classification.threshold is None
