"""The first examples of a split, kept to be predicted again when the epoch has ended."""

from __future__ import annotations

from typing import Any

import torch

from zoo.tasks import Task


class Examples:
    """Keeps the first `count` examples of the batches it is shown, on the CPU: a split's order stays as it is."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self._batches: list[Any] = []

    def add(self, batch: Any) -> None:
        """Takes as many examples of `batch` as are still missing."""
        taken = min(self.missing, len(batch))
        if taken:
            self._batches.append(batch.first(taken))
            self.missing -= taken

    def close(self) -> None:
        """Takes no more: the split has been seen to its end, and comes again in the next epoch."""
        self.missing = 0

    def review(self, task: Task) -> list[Any]:
        """What the task's network says of each example now, without gradients, dropout and collectives."""
        network = task.network
        assert network is not None
        modes = [(module, module.training) for module in network.modules()]
        network.eval()
        try:
            with torch.no_grad():
                return [reviewed for batch in self._batches for reviewed in task.review(batch.to(task.device))]
        finally:
            for module, training in modes:
                module.training = training
