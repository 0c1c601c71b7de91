"""NT-ASGD: the trigger, the average beside torch's ASGD, and a run that validates, stores and resumes with it."""

import pytest
import torch
from lightning import Callback
from torch import nn

from tests.callbacks.runs import loader, task
from tests.callbacks.runs import trainer as quiet_trainer
from zoo.callbacks import BestCheckpoint, LastCheckpoint
from zoo.optimizers.nt_asgd import NTASGD

STEPS = 4  # of an epoch


def test_the_average_is_that_of_the_weights_and_torchs_without_the_first_two():
    ours, theirs = (nn.Parameter(torch.tensor([3.0, -1.0])) for _ in range(2))
    settings = {"lr": 0.3, "weight_decay": 0.1}
    optimizer = NTASGD([ours], **settings, patience=1)
    other = torch.optim.ASGD([theirs], **settings, t0=0, lambd=0.0)
    for value in (1.0, 1.0, 2.0):
        optimizer.validated(value)
    path = [ours.detach().clone()]
    for step in range(5):
        for one in (ours, theirs):
            one.grad = (one.detach() - torch.tensor([1.0, 2.0])) * (1 + step % 2)
        optimizer.step()
        other.step()
        path.append(ours.detach().clone())
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(optimizer.state[ours]["other"], torch.stack(path).mean(0))
    torch.testing.assert_close(other.state[theirs]["ax"], torch.stack(path[2:]).mean(0))
    stored = optimizer.state_dict()["state"][0]
    assert optimizer.show(True)
    torch.testing.assert_close(ours.detach(), torch.stack(path).mean(0))
    assert not optimizer.show(True)
    assert torch.equal(stored["other"], ours.detach())  # what was stored has not changed
    assert optimizer.show(False)
    assert torch.equal(ours.detach(), path[-1])


@pytest.mark.parametrize(
    ("values", "begins"),
    [
        ([5, 4, 4.9, 4.9], None),  # the last one is compared with [5]
        ([5, 4, 4.9, 4.9, 4.5], 4),  # with [5, 4]
        ([5, 6, 7, 8], 3),  # the least of [5] is exceeded for the first time by the fourth
        ([5, 5, 5, 5, 5], None),  # equal is not worse
    ],
)
def test_it_begins_after_a_validation_worse_than_all_but_the_newest(values, begins):
    optimizer = NTASGD([nn.Parameter(torch.zeros(1))], patience=2)
    found = None
    for number, value in enumerate(values):
        optimizer.validated(value)
        if found is None and optimizer.averaged is not None:
            found = number
    assert found == begins


class Weights(Callback):
    """The first number of the embedding after each step, and in each validation and test."""

    def __init__(self):
        self.steps, self.shown = [], []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.steps.append(pl_module.network.embedding.weight[5, 0].item())

    def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        if batch_idx == 0:
            self.shown.append(pl_module.network.embedding.weight[5, 0].item())

    on_test_batch_start = on_validation_batch_start


def trained(folder, *, epochs, checkpoint=None, **options):
    """A run whose rate is so great that it gets worse."""
    network, weights = task(), Weights()
    network.hparams["optimizer"] = {"_target_": "zoo.optimizers.nt_asgd.NTASGD", "lr": 4.0, "patience": 1}
    network.monitor, network.mode = "val/loss", "min"
    callbacks = [BestCheckpoint("val/loss", "min"), LastCheckpoint(), weights]
    options |= {"max_epochs": epochs, "enable_checkpointing": True, "num_sanity_val_steps": 0}
    trainer = quiet_trainer(folder, callbacks, **options)
    trainer.fit(network, loader(), loader(), ckpt_path=checkpoint)
    return network, trainer, weights


def test_a_run_validates_stores_and_tests_the_average_and_trains_the_weights(tmp_path):
    network, trainer, weights = trained(tmp_path, epochs=6)
    (optimizer,) = trainer.optimizers
    begins = len(weights.steps) - optimizer.averaged  # the number of the first step in the average
    assert STEPS < begins < len(weights.steps) - STEPS
    shown = [*weights.shown]
    for epoch, value in enumerate(shown):
        done = (epoch + 1) * STEPS
        averaged = weights.steps[begins:done]
        expected = sum(averaged) / len(averaged) if averaged else weights.steps[done - 1]
        assert value == pytest.approx(expected, rel=1e-4)
    last = torch.load(tmp_path / "checkpoints/last.ckpt", weights_only=True)
    assert last["state_dict"]["network.embedding.weight"][5, 0].item() == shown[-1] != weights.steps[-1]
    assert network.network.embedding.weight[5, 0].item() == shown[-1]
    trainer.test(network, loader(), verbose=False)
    assert weights.shown[-1] == shown[-1]


@pytest.mark.parametrize("before", [2, 4])
def test_resuming_goes_on_with_both(tmp_path, before):
    """Before the average has begun, and after it."""
    whole, trainer, weights = trained(tmp_path / "whole", epochs=6)
    _, first, _ = trained(tmp_path / "first", epochs=before)
    assert (first.optimizers[0].averaged is None) == (before == 2)
    resumed, second, after = trained(tmp_path / "second", epochs=6, checkpoint=tmp_path / "first/checkpoints/last.ckpt")
    assert after.steps == weights.steps[before * STEPS :]
    assert second.optimizers[0].averaged == trainer.optimizers[0].averaged
    for name, weight in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], weight), name


def test_a_checkpoint_of_a_validation_knows_its_value(tmp_path):
    """Within an epoch it is stored before the task itself learns that the validation has ended."""
    _, trainer, _ = trained(tmp_path, epochs=1, val_check_interval=2)
    values = trainer.optimizers[0].param_groups[0]["values"]
    assert values[0] > values[1]
    best = torch.load(tmp_path / "checkpoints/best.ckpt", weights_only=True)["optimizer_states"][0]
    assert best["param_groups"][0]["values"] == values
