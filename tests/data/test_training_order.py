"""Training by Lightning: an order for each epoch, nothing lost or doubled, resumed inside an epoch."""

import pytest
import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from tests.data.serving import batches, prepared
from zoo.data.documents.ag_news import AgNews
from zoo.errors import DataError

STEPS = 5


class Recorder(LightningModule):
    """Notes which documents it sees."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen = []

    def training_step(self, batch, number):
        self.seen.append((self.current_epoch, number, batch.index.tolist()))
        return self.weight * 0

    def validation_step(self, batch, number):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class SaveAndStop(Callback):
    """A checkpoint after `step`, and a kill in the middle of the next one."""

    def __init__(self, step, path):
        self.step, self.path = step, path

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step == self.step:
            trainer.save_checkpoint(self.path)

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if trainer.global_step == self.step:
            raise SystemExit


def data(**options):
    sizes = {"train": 50, "val": 10, "test": 13}
    loader = {"batch_size": 10, "seed": 3} | options.pop("loader", {})
    return AgNews(**{"sample": sizes, "loader": loader, "text": {"minimum_frequency": 1}} | options)


def trainer(folder, **options):
    return Trainer(
        **{"max_epochs": 3} | options,
        default_root_dir=folder,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    module = Recorder()
    trainer(tmp_path_factory.mktemp("whole")).fit(module, datamodule=data())
    return module.seen


def resumed(folder, step, first, second):
    """The batches of a run with the second data, resumed where one with the first data was killed after `step`."""
    path, module = folder / "stopped.ckpt", Recorder()
    with pytest.raises(SystemExit):
        trainer(folder, callbacks=[SaveAndStop(step, path)]).fit(Recorder(), datamodule=first)
    trainer(folder).fit(module, datamodule=second, ckpt_path=path)
    return module.seen


@pytest.mark.parametrize(("step", "workers"), [(2, 0), (4, 2), (5, 0), (8, 2), (10, 0)])
def test_resumed_where_it_stood(tmp_path, whole, step, workers):
    assert resumed(tmp_path, step, data(), data(loader={"num_workers": workers})) == whole[step:]


@pytest.mark.parametrize("changed", [{"loader": {"batch_size": 5}}, {"sample": {"train": 60, "val": 10, "test": 13}}])
def test_other_batches_in_the_middle_of_an_epoch_are_refused(tmp_path, changed):
    with pytest.raises(DataError, match=r"within an epoch of other data or batches \(.* -> .*\): continue with"):
        resumed(tmp_path, 2, data(), data(**changed))


def test_drawn_batches_in_the_middle_of_an_epoch_of_sorted_ones_are_refused(monkeypatch):
    """Also where the checkpoint is of a time when all were sorted and it did not say so."""
    monkeypatch.setattr(AgNews, "training_order", lambda data, part: data._bucketed(part, 1))
    loader = prepared(data()).train_dataloader()
    state = loader.state_dict()
    assert state.pop("pool") == 1
    loader.load_state_dict(state)
    monkeypatch.setattr(loader, "_batches_done", lambda: 2)
    with pytest.raises(DataError, match=r"\(pool 50 -> 1\): continue with"):
        next(iter(loader))


def test_other_batches_after_a_whole_epoch_are_not(tmp_path):
    seen = resumed(tmp_path, 5, data(), data(loader={"batch_size": 25}))
    assert [(epoch, len(batch)) for epoch, _, batch in seen] == [(1, 25)] * 2 + [(2, 25)] * 2


def test_overfitting_sees_the_same_batches_every_epoch(tmp_path):
    module = Recorder()
    trainer(tmp_path, overfit_batches=2).fit(module, datamodule=data())
    epochs = [[batch for epoch, _, batch in module.seen if epoch == n] for n in range(3)]
    assert len(epochs[0]) == 2
    assert epochs[0] == epochs[1] == epochs[2]


def test_the_loaders_leave_the_random_state_alone(cache_dir):
    """Else a resumed run, which makes its loaders anew, would have another dropout from then on."""
    module, state = prepared(data()), torch.get_rng_state()
    assert all(batches(module, split) for split in ("train", "val", "test"))
    assert torch.equal(torch.get_rng_state(), state)
