"""The average of the weights: its recurrence, and that it is what is validated, tested, kept and resumed."""

import pytest
import torch
from lightning import Callback, Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from tests.callbacks.runs import loader, task
from tests.callbacks.runs import trainer as quiet_trainer
from zoo.callbacks import BestCheckpoint, ExponentialAverage, LastCheckpoint

EPOCHS, STEPS = 2, 4


class Weights(Callback):
    """The first weight of every parameter, after every step and at every validation."""

    def __init__(self):
        self.steps, self.validated = [], []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.steps.append(first(pl_module.state_dict()))

    def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        if batch_idx == 0:
            self.validated.append(first(pl_module.state_dict()))


def first(weights):
    return torch.stack([weight.flatten()[0].clone() for weight in weights.values()])


def trained(folder, decay, *callbacks, epochs=EPOCHS, checkpoint=None):
    network, weights = task(), Weights()
    callbacks = [ExponentialAverage(decay), BestCheckpoint("val/loss", "min"), LastCheckpoint(), weights, *callbacks]
    trainer = quiet_trainer(folder, callbacks, max_epochs=epochs, enable_checkpointing=True, num_sanity_val_steps=0)
    trainer.fit(network, loader(), loader(), ckpt_path=checkpoint)
    return network, trainer, weights


@pytest.mark.parametrize("decay", [0.3, 0.999])
def test_the_recurrence(tmp_path, decay):
    network, _, weights = trained(tmp_path, decay)
    assert len(weights.steps) == EPOCHS * STEPS
    average = weights.steps[0]
    averages = [average]
    for count, step in enumerate(weights.steps[1:], 1):
        d = min(decay, (1 + count) / (10 + count))
        average = d * average + (1 - d) * step
        averages.append(average)
    torch.testing.assert_close(torch.stack(weights.validated), torch.stack(averages[STEPS - 1 :: STEPS]))
    torch.testing.assert_close(first(network.state_dict()), average)
    assert not torch.allclose(average, weights.steps[-1], atol=1e-4)


def test_the_checkpoint_holds_the_average_and_the_test_behind_a_fit_uses_it(tmp_path):
    _, trainer, weights = trained(tmp_path, 0.9)
    kept = torch.load(tmp_path / "checkpoints/best.ckpt", weights_only=True)
    torch.testing.assert_close(first(kept["state_dict"]), weights.validated[-1])
    torch.testing.assert_close(first(kept["current_model_state"]), weights.steps[-1])
    seen = {}

    class Look(Callback):
        def on_test_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
            seen.setdefault("weights", first(pl_module.state_dict()))

    trainer.callbacks.append(Look())
    trainer.test(trainer.lightning_module, loader(), ckpt_path=tmp_path / "checkpoints/best.ckpt", verbose=False)
    assert torch.equal(seen["weights"], first(kept["state_dict"]))


def test_resuming_goes_on_with_both(tmp_path):
    whole, _, _ = trained(tmp_path / "whole", 0.9, epochs=2)
    trained(tmp_path / "first", 0.9, epochs=1)
    resumed, _, weights = trained(
        tmp_path / "second", 0.9, epochs=2, checkpoint=tmp_path / "first/checkpoints/last.ckpt"
    )
    assert len(weights.steps) == STEPS
    for name, weight in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], weight), name


def test_the_average_stands_where_the_weights_are():
    """Lightning keeps it on the CPU, so that every step of a network on a GPU would wait for a copy of all weights."""
    average, network = ExponentialAverage(), BoringModel()
    average.setup(Trainer(logger=False, enable_checkpointing=False, accelerator="cpu"), network, "fit")
    average.on_fit_start(None, network.to("meta"))  # stands for a GPU
    assert {str(weight.device) for weight in average._average_model.parameters()} == {"meta"}
