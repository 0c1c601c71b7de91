"""The first examples of a split, kept to be predicted again when the epoch has ended."""

from __future__ import annotations

from typing import Any

import torch

from zoo.layers.modes import evaluating
from zoo.tasks import Task


class FirstExamples:
    """Keeps the first `count` examples of the batches it is shown, on the CPU: a split's order stays as it is."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self._batches: list[Any] = []

    def add(self, batch: Any) -> None:
        """Takes as many examples of `batch` as are still missing."""
        taken = min(self.missing, batch.shown)
        if taken:
            self._batches.append(batch.first(taken))
            self.missing -= taken

    def close(self) -> None:
        """Takes no more: the split has been seen to its end, and comes again in the next epoch."""
        self.missing = 0

    def examine(self, task: Task) -> list[Any]:
        """What the task's network says of each example now: without gradients, dropout and collectives, and what it
        draws, as in sampling, is not taken from the random numbers of the training."""
        assert task.network is not None
        with evaluating(task.network), _own_random_numbers(task.device):
            return [examined for batch in self._batches for examined in task.examine(batch.to(task.device))]


def _own_random_numbers(device: torch.device) -> Any:
    """Within it torch draws without the outside noticing, on the CPU and on `device`."""
    if device.type == "cpu":
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)
