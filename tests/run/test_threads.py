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


@pytest.mark.parametrize("before", [1, 3])
def test_threads_do_not_depend_on_the_machine(monkeypatch, before):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert inside(Small, None, before) == (1, before)
    assert inside(Large, None, before) == (MEASURED_WITH, before)


def test_the_key_wins_over_the_model_and_the_environment(monkeypatch):
    for name in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", name)
        assert inside(Small, 2, 3) == inside(Large, 2, 3) == (2, 3)


def test_the_environment_wins_where_a_model_has_no_number_of_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert inside(Large, None, 3) == (3, 3) and inside(Small, None, 3) == (1, 3)
