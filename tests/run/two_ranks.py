"""One rank of two that walk the catalogue: the gradients of each training step, added up, are those of one process.

Run by test_catalogue_ranks.py in two processes with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tests.catalogue import MODELS, Model
from tests.families import FAMILIES
from tests.test_contract import small
from zoo.data.pairs.options import PairTextOptions
from zoo.tasks import Classification, Task, Translation


def task_of(name: str, model: Model) -> Task:
    """The task with a small network of the model, and a penalty on its attention where it has any."""
    options: dict[str, Any] = {"model": {}, "monitor": "val/loss", "mode": "min"}
    if name == "classification":
        task: Task = Classification(**options)
    else:
        penalty = {"coverage": {"_target_": "zoo.objectives.Coverage", "weight": 0.5, "tau": 1.0}}
        task = Translation(
            objective={"_target_": "zoo.objectives.CrossEntropy", "label_smoothing": 0.1},
            decoding={"_target_": "zoo.decoding.Greedy"},
            regularizer=penalty if model.cls.attends_to is not None else None,
            **options,
        )
    target = f"{model.cls.__module__}.{model.cls.__qualname__}"
    task.hparams["model"] = {"_target_": target, **small(model.arguments)}
    torch.manual_seed(0)
    task.build(FAMILIES[name].spec, SimpleNamespace(text_options=PairTextOptions()))
    task.log = lambda *_, **__: None  # type: ignore[method-assign]
    return task.double()


def gradients(name: str, model: Model, batch: Any) -> list[Tensor]:
    """Of the loss of a training step."""
    task = task_of(name, model)
    assert task.network is not None
    found = torch.autograd.grad(task.training_step(batch, 0), list(task.network.parameters()))
    return [gradient.clone() for gradient in found]  # two biases of one sum share theirs


def main() -> None:
    rank = int(os.environ["RANK"])
    cases = [(model, name) for model in MODELS.values() for name in model.cls.tasks]
    batches = {name: family.batch(3, empty=False) for name, family in FAMILIES.items()}
    alone = [gradients(name, model, batches[name]) for model, name in cases]
    dist.init_process_group("gloo")
    for (model, name), expected in zip(cases, alone, strict=True):
        batch = batches[name]
        mine = FAMILIES[name].part(batch, list(range(len(batch)))[rank::2])  # 3 and 2 of 5
        for one, whole in zip(gradients(name, model, mine), expected, strict=True):
            dist.all_reduce(one)
            torch.testing.assert_close(one / 2, whole, rtol=1e-4, atol=1e-6)  # losses are formed in single precision
        print(f"{model.name} on {name}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
