"""A classifier for classes of unequal size: weights, a threshold that is kept, and baselines."""

import csv
import random

import pytest

import zoo
from tests.run.programs import SHORT, launch, result
from zoo.export.folder import manifest
from zoo.export.readme import readme
from zoo.export.targets import TARGETS
from zoo.run.checkpoint import read_checkpoint
from zoo.run.weights import write_folder

OPTIONS = ["data=documents", "data.path=few.csv", "hydra.run.dir=run", "callbacks=checkpoint", "optimizer.lr=0.03"]
OWN = ["task.class_weights=balanced", "task.threshold=f1", "task.monitor=val/f1", "task.baselines=true"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a run on 96 documents. Every sixth is of the second class, as its words show."""
    folder = tmp_path_factory.mktemp("few")
    draw = random.Random(1)
    with (folder / "few.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(96):
            rare = number % 6 == 0
            words = [draw.choice(["tea", "cake", "lake", "bus"]) for _ in range(5)] + ["refund" if rare else "fine"]
            writer.writerow([f"{' '.join(words)} {number}.", "urgent" if rare else "ordinary"])
    overrides = [one for one in SHORT if not one.startswith(("data.sample", "callbacks"))]
    assert launch([*overrides, *OPTIONS, *OWN], folder) == 0
    return folder / "run"


def test_result_json_has_the_classes_the_threshold_and_the_baselines(trained):
    facts = result(trained)
    assert {name: row["support"] for name, row in facts["classes"].items()} == {"ordinary": 8, "urgent": 2}
    assert facts["metrics"]["test/f1"] == pytest.approx(facts["classes"]["urgent"]["f1"])
    assert facts["baselines"]["majority class"]["accuracy"] == 0.8
    assert facts["baselines"]["TF-IDF + logistic regression"].keys() == {"accuracy", "macro_f1", "f1", "C"}
    assert facts["monitor"] == "val/f1" and all(isinstance(value, float) for value in facts["metrics"].values())


def test_every_form_of_the_network_keeps_the_threshold(trained, tmp_path):
    checkpoint, threshold = trained / "checkpoints" / "best.ckpt", result(trained)["threshold"]
    write_folder(tmp_path / "pushed", read_checkpoint(checkpoint), "card")
    for path in (checkpoint, tmp_path / "pushed"):
        predictor = zoo.load(path)
        assert predictor.task.threshold == threshold
        predictor.task.threshold = predictor(["Fine tea."])[0].probabilities["urgent"]
        assert predictor(["Fine tea."])[0].label == "urgent"
        predictor.task.threshold += 1e-6
        assert predictor(["Fine tea."])[0].label == "ordinary"
    about = manifest(zoo.load(checkpoint), [], TARGETS["torch"], [])
    assert about["rule"] == {"threshold": threshold} and f"`threshold` {threshold}" in readme(about, "torch", {})


def test_an_old_checkpoint_has_no_threshold(trained, tmp_path):
    content = read_checkpoint(trained / "checkpoints" / "best.ckpt")
    del content["zoo"]["rule"]
    for name in ("class_weights", "label_smoothing", "threshold", "baselines"):
        del content["hyper_parameters"][name]
    write_folder(tmp_path / "old", content, "card")
    found = zoo.load(tmp_path / "old")(["Fine tea.", "Refund, tea."])
    assert all(one.label == max(one.probabilities, key=one.probabilities.get) for one in found)
