"""Random streams continue where they were saved, and differ between ranks."""

import random
from types import SimpleNamespace

import numpy as np
import torch

from zoo.callbacks import RandomState
from zoo.callbacks.random_state import random_state, set_random_state


def draw():
    return (
        torch.rand(3).tolist() + np.random.rand(3).tolist() + [random.random(), random.gauss(0, 1), np.random.randn()]
    )


def test_streams_continue_where_they_were(tmp_path):
    draw()
    state = random_state()
    torch.save(state, tmp_path / "state")
    expected = draw()
    set_random_state(torch.load(tmp_path / "state", weights_only=True))
    assert draw() == expected


def test_each_rank_has_its_own_stream_and_the_same_one_again():
    drawn = []
    for rank in (0, 1, 0):
        RandomState(seed=3).on_fit_start(SimpleNamespace(global_rank=rank), None)
        drawn.append(draw())
    assert drawn[0] == drawn[2] and drawn[0] != drawn[1]


def test_the_state_is_restored_at_the_start_of_training_not_before():
    callback = RandomState(seed=3)
    callback.load_state_dict(RandomState(seed=3).state_dict())
    expected = draw()
    callback.on_train_start(SimpleNamespace(global_rank=0), None)
    assert draw() == expected
