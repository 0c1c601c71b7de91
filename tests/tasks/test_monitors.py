"""Only logged metrics can be monitored, and their best end is that of torchmetrics."""

import pytest

from zoo.data.documents.batch import DocumentSpec
from zoo.run.compose import compose
from zoo.tasks import Classification


@pytest.mark.parametrize(
    ("overrides", "mode"),
    [
        ([], "max"),
        (["task.monitor=val/loss"], "min"),
        (["model=luong", "data=copy"], "min"),
        (["model=luong", "data=copy", "task.monitor=val/exact_match"], "max"),
        (["experiment=rnnsearch_multi30k"], "min"),
    ],
)
def test_the_mode_follows_from_the_metric(overrides, mode):
    cfg = compose(overrides)
    assert cfg.task.mode == cfg.callbacks.best.mode == cfg.callbacks.early_stopping.mode == mode


def test_the_modes_are_those_of_the_metrics():
    task = Classification(model={"_target_": "zoo.models.HAN"}, monitor="val/accuracy", mode="max")
    task.build(DocumentSpec(vocabulary_size=9, classes=("a", "b")), None)
    assert task.monitors.keys() <= task.val_metrics.keys()
    known = {name: metric.higher_is_better for name, metric in task.val_metrics.items()}
    for name, mode in Classification.monitors.items():
        assert known[name] in (None, mode == "max"), name
