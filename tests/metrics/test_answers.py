"""Errors by task, by hand."""

from __future__ import annotations

import torch

from zoo.metrics.answers import TaskErrors, failed_tasks, mean_error


def test_by_hand() -> None:
    """Three of four wrong in the first task, one of twenty in the second, none asked of the third."""
    metric = TaskErrors(3)
    metric.update(torch.tensor([True, False, True]), torch.tensor([0, 1, 0]))
    metric.update(torch.tensor([True, False, True]), torch.tensor([0, 0, 1]))
    metric.update(torch.zeros(18, dtype=torch.bool), torch.ones(18, dtype=torch.long))
    errors = metric.compute()
    torch.testing.assert_close(errors[:2], torch.tensor([0.75, 0.05]))
    assert errors[2].isnan()
    assert mean_error(errors).item() == torch.tensor(0.4).item()  # each task counts the same; 4 of 24 were wrong
    assert failed_tasks(errors) == 1  # 5 % itself is not failed


def test_several_networks() -> None:
    metric = TaskErrors(2, (3,))
    wrong = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
    metric.update(wrong, torch.tensor([0, 1, 1]))
    errors = metric.compute()
    assert errors.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert mean_error(errors).tolist() == [1, 0.5, 0] and failed_tasks(errors).tolist() == [2, 1, 0]
