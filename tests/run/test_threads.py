"""The number of threads: the key, else the model's own number, else one that depends on no machine."""

import pytest
import torch
from omegaconf import OmegaConf
from torch import nn

from zoo.run.machine import MEASURED_WITH, threads_of


class Small(nn.Module):
    threads = 1


class Large(nn.Module):
    pass


def inside(model, threads, before):
    """Return the threads within and afterwards."""
    kept = torch.get_num_threads()
    torch.set_num_threads(before)
    try:
        with threads_of(OmegaConf.create({"threads": threads, "model": {"_target_": f"{__name__}.{model.__name__}"}})):
            within = torch.get_num_threads()
        return within, torch.get_num_threads()
    finally:
        torch.set_num_threads(kept)


@pytest.mark.parametrize(
    ("key", "environment", "before", "small", "large"),
    [
        (None, None, 1, 1, MEASURED_WITH),
        (None, None, 3, 1, MEASURED_WITH),
        (None, "3", 3, 1, 3),  # the environment, where a model has no number of its own
        (2, "1", 3, 2, 2),
        (2, "3", 3, 2, 2),
    ],
)
def test_threads_do_not_depend_on_the_machine(monkeypatch, key, environment, before, small, large):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if environment is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", environment)
    assert inside(Small, key, before) == (small, before) and inside(Large, key, before) == (large, before)
