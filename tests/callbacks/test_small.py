"""Small callbacks: settings that they refuse, a loss that is not finite, random states, and rates."""

import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from zoo.callbacks import (
    AttentionMaps,
    ExponentialAverage,
    LastCheckpoint,
    NonFiniteLoss,
    PredictionsTable,
    RandomState,
    StopOnNonFiniteLoss,
    Throughput,
    throughput,
)
from zoo.callbacks.random_state import random_state, set_random_state
from zoo.errors import ConfigError

ZOO = Path(__file__).resolve().parents[2] / "zoo"


@pytest.mark.parametrize(
    ("callback", "key", "value"),
    [
        (AttentionMaps, "count", -1),
        (AttentionMaps, "every_n_minutes", 0),
        (PredictionsTable, "count", -1),
        (LastCheckpoint, "every_n_steps", 0),
        (ExponentialAverage, "decay", -0.1),
        (ExponentialAverage, "decay", 1.0),
    ],
)
def test_impossible_settings_are_refused(callback, key, value):
    with pytest.raises(ConfigError, match=f"{key}={value}: expected"):
        callback(**{key: value})


def trainer(folder, step=7):
    return SimpleNamespace(
        global_step=step, current_epoch=1, world_size=1, log_every_n_steps=10, default_root_dir=folder
    )


def batch(*index):
    return SimpleNamespace(index=torch.tensor(index))


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_names_the_step_the_examples_and_the_checkpoint(tmp_path, loss):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "last.ckpt").write_text("")
    callback = StopOnNonFiniteLoss()
    callback.on_train_batch_end(trainer(tmp_path), None, {"loss": torch.tensor(1.0)}, batch(1, 2), 0)
    with pytest.raises(NonFiniteLoss, match=r"step 7 \(epoch 1, training examples \[3, 4\]\).*last\.ckpt") as caught:
        callback.on_train_batch_end(trainer(tmp_path), None, {"loss": torch.tensor(loss)}, batch(3, 4), 1)
    assert str(loss) in str(caught.value)


@pytest.mark.parametrize("hook", [("on_save_checkpoint", {}), ("on_validation_start",)])
def test_unseen_bad_losses_are_looked_at_before_a_checkpoint_and_before_validation(tmp_path, hook):
    """On a GPU, where a look at each loss would hold up the next step."""
    callback = StopOnNonFiniteLoss()
    callback._unseen = [
        (3, 0, torch.tensor([5]), torch.tensor(1.0)),
        (4, 0, torch.tensor([6]), torch.tensor(float("nan"))),
    ]
    with pytest.raises(NonFiniteLoss, match=r"step 4 .*\[6\].*none yet"):
        getattr(callback, hook[0])(trainer(tmp_path), None, *hook[1:])


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


def test_validation_does_not_count(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(throughput, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    callback = Throughput()
    assert callback.examples_per_second == 0

    class Words(list):
        unit, units = "words", 24  # of eight examples

    def batches(count):
        for _ in range(count):
            callback.on_train_batch_start(None, None, Words([0] * 8), 0)
            now[0] += 2.0
            callback.on_train_batch_end(None, None, None, Words([0] * 8), 0)

    batches(3)
    callback.on_validation_start(None, None)
    now[0] += 100.0
    batches(2)
    callback.on_train_epoch_end(None, None)
    now[0] += 100.0
    assert callback.examples_per_second == 40 / 10
    assert (callback.unit, callback.units_per_second) == ("words", 120 / 10)
