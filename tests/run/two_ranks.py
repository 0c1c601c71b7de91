"""One rank of two that walk the catalogue: the gradients of each training step, added up, are those of one process, and
the metrics of captions, with unequal numbers of captions and of updates, have the values of one process.

Run by test_catalogue_ranks.py in two processes with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
"""

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tests.catalogue import MODELS, Model
from tests.families import family_of
from tests.metrics.test_captions import corpus, metrics
from tests.test_contract import small
from zoo.dotted import class_at, name_of
from zoo.metrics import Meteor, captions
from zoo.tasks import Task

SHARES = ((slice(0, 9), slice(9, 12)), (slice(12, 30),))
"""The parts of 30 captions that each rank updates a metric with."""
WEIGHTED = {"class_weights": {"bad": 3.0, "good": 0.01}, "label_smoothing": 0.2}
"""A loss whose weights add up to another sum on each rank."""


def task_of(name: str, model: Model, **options: Any) -> Task:
    """The task with a small network of the model."""
    family, cls = family_of(name), model.cls
    described = {"_target_": name_of(cls), **small(model.arguments)}
    if options:
        task = class_at(family.task_class, Task)(model=described, monitor="val/loss", mode="min", **options)
    else:
        task = family.task(described, attends=bool(cls.attends))
    torch.manual_seed(0)
    task.build(family.spec, family.encoder)
    task.prepare_training()
    task.log = lambda *_, **__: None  # type: ignore[method-assign]
    return task.double()


def gradients(name: str, model: Model, batch: Any, **options: Any) -> list[Tensor]:
    """The gradient of the loss of a training step."""
    task = task_of(name, model, **options)
    assert task.network is not None
    found = torch.autograd.grad(task.training_step(batch, 0), list(task.network.parameters()))
    return [gradient.clone() for gradient in found]  # two biases of one sum share theirs


def scores(parts: tuple[slice, ...]) -> dict[str, float]:
    """The metrics of captions; a count of letters replaces Java's METEOR."""
    captions.meteor = lambda rows: float(sum(len(text) for row in rows for text in row))  # type: ignore[assignment]
    hypotheses, references = corpus()
    every = {**metrics(), "meteor": Meteor()}
    for metric in every.values():
        for part in parts:
            metric.update(hypotheses[part], references[part])
    return {name: metric.compute().item() for name, metric in every.items()}


def main() -> None:
    rank = int(os.environ["RANK"])
    cases: list[tuple[Model, str, dict[str, Any]]] = [
        (model, name, {}) for model in MODELS.values() for name in model.cls.tasks
    ]
    # a task that steps several optimisers itself has a test of its own (tests/tasks/test_adversarial.py)
    cases = [case for case in cases if not class_at(family_of(case[1]).task_class, Task).several_optimizers]
    cases.append((MODELS["han"], "classification", WEIGHTED))
    batches = {name: family_of(name).batch(3, empty=False) for _, name, _ in cases}
    alone = [gradients(name, model, batches[name], **options) for model, name, options in cases]
    expected_scores = scores((slice(0, 30),))
    dist.init_process_group("gloo")
    torch.testing.assert_close(scores(SHARES[rank]), expected_scores, rtol=1e-14, atol=0)
    for (model, name, options), expected in zip(cases, alone, strict=True):
        batch = batches[name]
        mine = family_of(name).part(batch, list(range(len(batch)))[rank::2])  # 3 and 2 of 5
        for one, whole in zip(gradients(name, model, mine, **options), expected, strict=True):
            dist.all_reduce(one)
            torch.testing.assert_close(one / 2, whole, rtol=1e-9, atol=1e-12)
        print(f"{model.name} on {name}{', weighted' if options else ''}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
