"""Errors of questions that are of several tasks: each task counts the same, however many questions it has."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torchmetrics import Metric


class TaskErrors(Metric):
    """The share of wrong answers in each task; exact over batches and ranks."""

    full_state_update = False
    higher_is_better = False
    FAILED: ClassVar[float] = 0.05
    """A task with a higher error counts as failed (Weston et al. 2015)."""
    wrong: Tensor
    seen: Tensor

    def __init__(self, tasks: int, networks: tuple[int, ...] = ()) -> None:
        """Of T = `tasks` tasks; of several networks at once where `networks` is their number (R,)."""
        super().__init__()
        self.add_state("wrong", torch.zeros(*networks, tasks, dtype=torch.long), dist_reduce_fx="sum")
        self.add_state("seen", torch.zeros(tasks, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, wrong: Tensor, task: Tensor) -> None:
        """`wrong` (..., B) True at wrong answers; `task` (B,) the number of the task of each question."""
        self.wrong.index_add_(-1, task, wrong.long())
        self.seen.index_add_(0, task, torch.ones_like(task))

    def compute(self) -> Tensor:
        """(..., T), NaN for a task without a question."""
        return self.wrong / self.seen


def mean_error(errors: Tensor) -> Tensor:
    """(..., T) -> (...), the mean over the tasks that have questions."""
    return errors.nanmean(-1)


def failed_tasks(errors: Tensor) -> Tensor:
    """(..., T) -> (...), the number of tasks with an error of more than 5 %; NaN where no task has a question."""
    return (errors > TaskErrors.FAILED).sum(-1).float().masked_fill(errors.isnan().all(-1), torch.nan)
