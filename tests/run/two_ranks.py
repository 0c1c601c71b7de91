"""One rank of two that walk the whole catalogue: the gradients of each loss, added up, are those of one process.

Run by test_catalogue_ranks.py in two processes with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tests.catalogue import MODELS
from tests.families import FAMILIES
from tests.test_contract import small
from zoo.attention.source import source_attention
from zoo.objectives import CoverageLoss, CrossEntropy
from zoo.tasks import Classification, Translation


def loss(task: Any, network: Any, batch: Any) -> Tensor:
    """As the task's training step forms it."""
    if isinstance(task, Classification):
        total = torch.nn.functional.cross_entropy(network(batch).logits, batch.label, reduction="sum")
        return task.global_mean(total, len(batch))
    found = CrossEntropy(label_smoothing=0.1)(
        network, batch, spec=FAMILIES["translation"].spec, step=0, need_weights=True
    )
    terms = [term for term in found.terms if term.weight]
    if source_attention(found.output.attention) is not None:
        terms.append(CoverageLoss(weight=0.5)(found.output, batch))
    return torch.stack([term.weight * task.global_mean(term.total, term.count) for term in terms]).sum()


def gradients(network: Any, value: Tensor) -> list[Tensor]:
    found = torch.autograd.grad(value, list(network.parameters()))
    return [gradient.clone() for gradient in found]  # two biases of one sum share theirs


def main() -> None:
    rank = int(os.environ["RANK"])
    tasks = {
        "classification": Classification(model={}, monitor="x", mode="max"),
        "translation": Translation(model={}, objective={}, decoding={}, monitor="x", mode="min"),
    }
    alone = {}
    cases = [(model, name) for model in MODELS.values() for name in model.cls.tasks]

    def made(model: Any, name: str) -> tuple[Any, Any]:
        torch.manual_seed(0)
        return model.cls(FAMILIES[name].spec, **small(model.arguments)).double(), FAMILIES[name].batch(3, empty=False)

    for model, name in cases:
        network, batch = made(model, name)
        alone[model.name, name] = gradients(network, loss(tasks[name], network, batch))
    dist.init_process_group("gloo")
    for model, name in cases:
        network, batch = made(model, name)
        mine = FAMILIES[name].part(batch, list(range(len(batch)))[rank::2])  # 3 and 2 of 5
        for expected, found in zip(
            alone[model.name, name], gradients(network, loss(tasks[name], network, mine)), strict=True
        ):
            dist.all_reduce(found)
            torch.testing.assert_close(found / 2, expected, rtol=1e-9, atol=1e-12)
        print(f"{model.name} on {name}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
