"""The learning rate of a step is multiplied by the share that its batch has, and the schedule does not notice."""

import pytest
import torch

from tests.callbacks.runs import loader, task, trainer
from zoo.data.documents.batch import DocumentBatch


def test_a_step_is_at_the_share_of_the_rate_that_its_batch_has(tmp_path, monkeypatch):
    network, seen = task(), []
    network.hparams["optimizer"] = {"_target_": "torch.optim.SGD", "lr": 0.5}
    halved = {"_target_": "torch.optim.lr_scheduler.StepLR", "step_size": 1, "gamma": 0.5}
    network.hparams["scheduler"] = {"scheduler": halved, "interval": "step"}
    monkeypatch.setattr(DocumentBatch, "rate_share", property(lambda batch: 1 + batch.index[0].item() / 6))
    step = torch.optim.SGD.step

    def noted(self, closure=None):
        seen.append(self.param_groups[0]["lr"])
        return step(self, closure)

    monkeypatch.setattr(torch.optim.SGD, "step", noted)
    trainer(tmp_path, [], limit_val_batches=0).fit(network, loader())
    assert seen == pytest.approx([0.5 * 1, 0.25 * 2, 0.125 * 3, 0.0625 * 4])
