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
from tests.families import family_of
from tests.test_contract import small
from zoo.tasks import Classification


def gradients(network: Any, value: Tensor) -> list[Tensor]:
    found = torch.autograd.grad(value, list(network.parameters()))
    return [gradient.clone() for gradient in found]  # two biases of one sum share theirs


def main() -> None:
    rank = int(os.environ["RANK"])
    mean = Classification(model={}, monitor="x", mode="max").global_mean  # that of any task
    alone = {}
    cases = [(model, name) for model in MODELS.values() for name in model.cls.tasks]

    def made(model: Any, name: str) -> tuple[Any, Any]:
        torch.manual_seed(0)
        return model.cls(family_of(name).spec, **small(model.arguments)).double(), family_of(name).batch(3, empty=False)

    for model, name in cases:
        network, batch = made(model, name)
        alone[model.name, name] = gradients(network, family_of(name).shared_loss(network, batch, mean))
    dist.init_process_group("gloo")
    for model, name in cases:
        network, batch = made(model, name)
        mine = family_of(name).part(batch, list(range(len(batch)))[rank::2])  # 3 and 2 of 5
        for expected, found in zip(
            alone[model.name, name], gradients(network, family_of(name).shared_loss(network, mine, mean)), strict=True
        ):
            dist.all_reduce(found)
            torch.testing.assert_close(found / 2, expected, rtol=1e-9, atol=1e-12)
        print(f"{model.name} on {name}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
