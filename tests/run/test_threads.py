"""How many threads compute: the key, else the model's own number, and afterwards as many as before."""

import torch
from omegaconf import OmegaConf
from torch import nn

from zoo.run.threads import threads_of


class Small(nn.Module):
    threads = 1


class Large(nn.Module):
    pass


def inside(model, threads, before=3):
    """Threads within and after."""
    kept = torch.get_num_threads()
    torch.set_num_threads(before)
    try:
        with threads_of(OmegaConf.create({"threads": threads, "model": {"_target_": f"{__name__}.{model.__name__}"}})):
            within = torch.get_num_threads()
        return within, torch.get_num_threads()
    finally:
        torch.set_num_threads(kept)


def test_the_key_wins_over_the_model():
    assert inside(Small, 2) == (2, 3)
    assert inside(Large, 2) == (2, 3)


def test_without_the_key_a_model_takes_what_serves_it_and_never_more_than_there_are():
    assert inside(Small, None) == (1, 3)
    assert inside(Large, None) == (3, 3)
    Small.threads = 8
    try:
        assert inside(Small, None) == (3, 3)
    finally:
        Small.threads = 1
