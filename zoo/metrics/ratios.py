"""Sums divided by counts: shares of what is right, means by group, loss per token. They are exact over batches and
ranks, because sums and counts are added up first and divided once."""

from collections.abc import Sequence
from math import log
from typing import ClassVar

import torch
from torch import Tensor
from torchmetrics import Metric


class Ratio(Metric):
    """`total` / `count`; NaN where the count is 0. A subclass adds to both in its `update`."""

    full_state_update = False
    real: ClassVar[bool] = False  # Whether both are in double precision instead of whole numbers
    total: Tensor
    count: Tensor

    def __init__(self, *shape: int, by: tuple[int, ...] | None = None) -> None:
        """The total has the `shape`, the count the shape `by`, by default the same."""
        super().__init__()
        dtype = torch.float64 if self.real else torch.long
        for name, size in (("total", shape), ("count", shape if by is None else by)):
            self.add_state(name, torch.zeros(size, dtype=dtype), dist_reduce_fx="sum")

    def compute(self) -> Tensor:
        """The quotient."""
        return self.total / self.count


class Share(Ratio):
    """The share of statements that are true, 0 to 1, such as "this example has the right class"."""

    higher_is_better = True

    def update(self, statements: Sequence[bool] | Tensor) -> None:
        """Count statements (N,), True where they are true."""
        each = torch.as_tensor(statements, dtype=torch.bool, device=self.total.device)
        self.total += each.sum()
        self.count += each.numel()


class Mean(Ratio):
    """The mean of a number over the examples of a split."""

    real = True

    def update(self, values: Tensor) -> None:
        """Count the `values` (N,)."""
        self.total += values.sum(dtype=torch.float64)
        self.count += values.numel()


class GroupMeans(Ratio):
    """The mean of a number over the examples of each group, such as sequences of one length."""

    real = True

    def __init__(self, groups: int) -> None:
        super().__init__(groups)

    def update(self, values: Tensor, group: Tensor) -> None:
        """Count the `values` (B,) of examples in their groups (B,), numbered from 0."""
        self.total.index_add_(0, group, values.detach().double())
        self.count.index_add_(0, group, torch.ones_like(group).double())


class TaskErrors(Ratio):
    """The share of wrong answers in each task."""

    higher_is_better = False
    FAILED: ClassVar[float] = 0.05
    """A task with a higher error counts as failed (Weston et al. 2015)."""

    def __init__(self, tasks: int, networks: tuple[int, ...] = ()) -> None:
        """For T = `tasks` tasks. `networks` is (R,) if R networks are scored at once."""
        super().__init__(*networks, tasks, by=(tasks,))

    def update(self, wrong: Tensor, task: Tensor) -> None:
        """`wrong` (..., B) True at wrong answers; `task` (B,) the number of the task of each question."""
        self.total.index_add_(-1, task, wrong.long())
        self.count.index_add_(0, task, torch.ones_like(task))


def mean_error(errors: Tensor) -> Tensor:
    """(..., T) -> (...), the mean over the tasks that have questions: each task counts the same."""
    return errors.nanmean(-1)


def failed_tasks(errors: Tensor) -> Tensor:
    """(..., T) -> (...), the number of tasks with an error of more than 5 %; NaN if no task has a question."""
    return (errors > TaskErrors.FAILED).sum(-1).float().masked_fill(errors.isnan().all(-1), torch.nan)


class TokenLoss(Ratio):
    """The mean negative log-likelihood of a token over a corpus, in nats. A mean of batch means differs from it."""

    higher_is_better = False
    real = True

    def update(self, total: Tensor, tokens: float | Tensor) -> None:
        """`total` () the sum of -log p over `tokens` tokens, ends of targets included, without label smoothing."""
        self.total += total.detach()
        self.count += tokens


class Perplexity(TokenLoss):
    """exp of the mean negative log-likelihood per token over a corpus."""

    def compute(self) -> Tensor:
        """The perplexity; NaN without tokens."""
        return super().compute().exp()


class Bits(TokenLoss):
    """The negative log-likelihood of a corpus in bits, per token or per byte: `update` gets nats and their number."""

    def compute(self) -> Tensor:
        """The bits; NaN without tokens."""
        return super().compute() / log(2)


class PolarAccuracy(Ratio):
    """The share of examples with the right polarity among those that have one; neutral ones do not count.

    If a polarity has several classes, they are merged as in Stanford CoreNLP: predicting neutral for an example that is
    not neutral is wrong. If each polarity has one class, only these two are compared, as in Tai et al. (2015).
    """

    higher_is_better = True

    def __init__(self, polarity: tuple[int, ...]) -> None:
        """`polarity` (C,) is -1, 0 or 1 for each class."""
        super().__init__()
        self.polarity = torch.tensor(polarity)
        self.merges = polarity.count(1) > 1 or polarity.count(-1) > 1

    def update(self, logits: Tensor, label: Tensor) -> None:
        """`logits` (B, C), `label` (B,) the true classes."""
        polarity = self.polarity.to(label.device)
        true = polarity[label]
        scores = logits if self.merges else logits.masked_fill(polarity == 0, -torch.inf)
        counted = true != 0
        self.total += ((polarity[scores.argmax(1)] == true) & counted).sum()
        self.count += counted.sum()
