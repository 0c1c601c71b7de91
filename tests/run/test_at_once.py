"""Predictions do not wait for what only training needs."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from tests.outside.tiny_tagging import Tagging
from zoo.dotted import class_at, name_of
from zoo.predicting import Predicting
from zoo.run.checkpoint import Predictor, load
from zoo.run.old_checkpoints import modernised
from zoo.tasks import Classification, Task

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("lightning", "torchmetrics", "hydra", "omegaconf", "datasets", "matplotlib", "torch._dynamo", "nltk", "pandas")
EVERYTHING = """
import sys
from importlib import import_module
from pathlib import Path
from zoo import cli
from zoo.predicting import Predicting
from zoo.visualize.view import view_of

root, checkpoint, *heavy = sys.argv[1:]
cli.main(["predict", checkpoint, "ein Hund rennt ."])
for pattern in ("predicting/*", "models/*", "data/*/encoding", "data/bits/goals/*"):
    for path in sorted(Path(root).glob(f"zoo/{pattern}.py")):
        import_module(".".join(path.relative_to(root).with_suffix("").parts))

def leaves(cls):
    return [leaf for below in cls.__subclasses__() for leaf in leaves(below)] or [cls]

print(sorted(type(view_of(cls)).__name__ for cls in leaves(Predicting)))
print(sorted(set(heavy) & set(sys.modules)))
"""
TASKS = {
    path.stem: class_at(yaml.safe_load(path.read_text("utf-8"))["_target_"], Task)
    for path in sorted((ROOT / "conf/task").glob("[!_]*.yaml"))
}


def test_a_prediction_imports_nothing_that_only_training_needs(translated, program_env):
    """Nor do the predictions, the views, the encoders and the networks of all other tasks."""
    command = [sys.executable, "-c", EVERYTHING, str(ROOT), str(translated), *HEAVY]
    run = subprocess.run(command, cwd=ROOT, env=program_env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    *_, views, found = run.stdout.splitlines()
    assert len(eval(views)) == len(TASKS)
    assert found == "[]"


@pytest.mark.parametrize("name", TASKS)
def test_a_checkpoint_names_the_class_that_predicts(name):
    """One that was written before there were such classes is read as if it did."""
    found = TASKS[name].predicting()
    assert found.__module__ == f"zoo.predicting.{name}" and not issubclass(found, Task)
    about = {"format": 1, "task": name_of(TASKS[name])}
    assert class_at(modernised({"zoo": about})["zoo"]["predicting"], Predicting) is found


def test_a_task_with_its_own_predictions_is_loaded_itself():
    changed = type("Changed", (Classification,), {})
    assert changed.predicting() is changed and Tagging.predicting() is Tagging
    about = {"format": 1, "task": name_of(Tagging)}
    assert modernised({"zoo": about})["zoo"]["predicting"] == name_of(Tagging)


def test_a_task_and_its_checkpoint_predict_the_same(translated):
    content = torch.load(translated / "checkpoints/last.ckpt", weights_only=True)
    predictor = load(translated / "checkpoints/last.ckpt")
    assert not isinstance(predictor.task, Task) and predictor.task.state_dict().keys() <= content["state_dict"].keys()
    task = class_at(content["zoo"]["task"], Task)(**content["hyper_parameters"])
    task.build(predictor.task.spec, predictor.encoder)
    task.load_state_dict(content["state_dict"])
    for search in (None, 3):
        if search:
            task.search(search, search), predictor.task.search(search, search)
        same = [one(["ein Hund rennt .", "zwei"]) for one in (predictor, Predictor(task, predictor.encoder))]
        assert same[0] == same[1] and len(same[0][0].translations) == (search or 1)
