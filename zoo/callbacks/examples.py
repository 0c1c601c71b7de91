"""The first examples of a split, kept to be predicted again at the end of an epoch."""

from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from zoo.layers.modes import evaluating
from zoo.tasks import Task


class FirstExamples:
    """Keeps the first `count` examples of the batches that it is given, on the CPU, in the order of the split."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self._batches: list[Any] = []

    def add(self, batch: Any, began_with: Any = None) -> None:
        """Keep as many examples of `batch` as are still missing, and the carried state that it was read from."""
        taken = min(self.missing, batch.shown)
        if taken:
            first = batch.first(taken)
            state = tree_map_only(torch.Tensor, lambda part: part[: len(first)].clone(), began_with)
            self._batches.append((first, state))
            self.missing -= taken

    def close(self) -> None:
        """Keep no more: the split has ended, and starts again in the next epoch."""
        self.missing = 0

    def examine(self, task: Task) -> list[Any]:
        """The predictions of the task's network for each example now, each from the carried state it was read from.
        Without gradients, dropout and collectives, and without drawing from the random numbers of the training."""
        found = []
        with evaluating(task.network), _own_random_numbers(task.device):
            for batch, began_with in self._batches:
                with task.continuing(began_with):
                    found += task.examine(batch.to(task.device))
        return found


def _own_random_numbers(device: torch.device) -> Any:
    """Within this context torch draws from copies of its generators, on the CPU and on `device`."""
    if device.type == "cpu":
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)
