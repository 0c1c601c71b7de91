"""A run that was killed and resumed reaches the weights of an uninterrupted one, bit for bit, wherever it was
killed."""

import contextlib
import signal

import pytest
import torch
from lightning import Callback, seed_everything

from tests.tasks.running import trainer
from zoo.callbacks import BestCheckpoint, FinalValidation, Interrupted, LastCheckpoint, RandomState, StopOnNonFiniteLoss
from zoo.data.documents.yelp import Yelp
from zoo.run.checkpoint import AtomicCheckpointIO
from zoo.tasks import Classification

MODEL = {
    "_target_": "zoo.models.HAN",
    "embedding_dim": 8,
    "word_hidden_dim": 4,
    "word_attention_dim": 4,
    "sentence_hidden_dim": 4,
    "sentence_attention_dim": 4,
    "dropout": 0.3,  # so that the random state matters
}
SCHEDULER = {
    "scheduler": {"_target_": "torch.optim.lr_scheduler.StepLR", "step_size": 1, "gamma": 0.5},
    "interval": "epoch",
}
EPOCHS, STEPS = 3, 5  # optimiser steps per epoch: 80 documents, 16 per step


class Killed(BaseException):
    """Stands for SIGKILL: nothing runs after it that would save anything."""


class KillBefore(Callback):
    def __init__(self, step):
        self.step = step

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if trainer.global_step == self.step:
            raise Killed


class Trace(Callback):
    """The documents of every step."""

    def __init__(self):
        self.documents = []

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.documents.append(batch.index.tolist())


def fit(folder, *, checkpoint=None, extra=(), accumulate=1, val_check_interval=1.0, scheduler=SCHEDULER, **options):
    seed_everything(1, verbose=False)
    task = Classification(
        model=MODEL,
        optimizer={"_target_": "torch.optim.Adam", "lr": 0.01},
        scheduler=scheduler,
        monitor="val/loss",
        mode="min",
    )
    data = Yelp(
        sample={"train": 80, "val": 20, "test": 20},
        loader={"batch_size": 16 // accumulate},
        text={"minimum_frequency": 1},
    )
    callbacks = [
        FinalValidation(),
        BestCheckpoint("val/loss", "min"),
        LastCheckpoint(every_n_steps=1),
        RandomState(1),
        StopOnNonFiniteLoss(),
    ]
    made = trainer(
        folder,
        max_epochs=EPOCHS,
        callbacks=[*callbacks, *extra],
        enable_checkpointing=True,
        plugins=[AtomicCheckpointIO()],
        accumulate_grad_batches=accumulate,
        val_check_interval=val_check_interval,
        use_distributed_sampler=False,
        log_every_n_steps=1,
        **options,
    )
    made.fit(task, datamodule=data, ckpt_path=checkpoint)
    return {
        "weights": task.state_dict(),
        "optimizer": made.optimizers[0].state_dict()["state"],
        "rate": made.optimizers[0].param_groups[0]["lr"],
        "best": made.checkpoint_callback.best_model_score.item(),
        "step": made.global_step,
        "epoch": made.current_epoch,
    }


def equal(left, right):
    if isinstance(left, torch.Tensor):
        return torch.equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return left == right


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The uninterrupted run, and the documents of its steps."""
    trace = Trace()
    return fit(tmp_path_factory.mktemp("whole"), extra=[trace]), trace.documents


@pytest.mark.parametrize("step", [1, 4, 5, 6, 14])
def test_killed_before_a_step(tmp_path, whole, step):
    result, documents = whole
    with pytest.raises(Killed):
        fit(tmp_path / "first", extra=[KillBefore(step)])
    trace = Trace()
    resumed = fit(tmp_path / "second", checkpoint=tmp_path / "first/checkpoints/last.ckpt", extra=[trace])
    assert trace.documents == documents[step:]
    for part, value in result.items():
        assert equal(resumed[part], value), part


def test_from_the_best_checkpoint_in_the_middle_of_an_epoch(tmp_path):
    whole = fit(tmp_path / "whole", val_check_interval=2)
    with pytest.raises(Killed):
        fit(tmp_path / "first", val_check_interval=2, extra=[KillBefore(4)])
    resumed = fit(tmp_path / "second", val_check_interval=2, checkpoint=tmp_path / "first/checkpoints/best.ckpt")
    assert equal(resumed["weights"], whole["weights"])


def test_accumulated_gradients_are_not_lost(tmp_path):
    whole = fit(tmp_path / "whole", accumulate=2)
    assert whole["step"] == EPOCHS * STEPS

    class KillInTheMiddle(Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            if trainer.global_step == 3 and batch_idx % 2 == 1:
                raise Killed

    with pytest.raises(Killed):
        fit(tmp_path / "first", accumulate=2, extra=[KillInTheMiddle()])
    resumed = fit(tmp_path / "second", accumulate=2, checkpoint=tmp_path / "first/checkpoints/last.ckpt")
    assert equal(resumed, whole)


class Validations(Callback):
    """The steps after which was validated, and what was found."""

    def __init__(self):
        self.found = {}

    def on_validation_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            assert trainer.global_step not in self.found
            self.found[trainer.global_step] = trainer.callback_metrics["val/loss"].item()


def best(folder):
    content = torch.load(folder / "checkpoints/best.ckpt", weights_only=True)
    return {"step": content["global_step"], "weights": content["state_dict"]}


class KillDuringValidation(Callback):
    def __init__(self, step):
        self.step = step

    def on_validation_start(self, trainer, pl_module):
        if trainer.global_step == self.step:
            raise Killed


@pytest.fixture(scope="module", params=[1.0, 2], ids=["each epoch", "each second step"])
def validated(request, tmp_path_factory):
    """The validations of an uninterrupted run, their scores, and its best weights."""
    folder, validations = tmp_path_factory.mktemp("validated"), Validations()
    fit(folder, val_check_interval=request.param, extra=[validations])
    return request.param, validations.found, best(folder)


@pytest.mark.parametrize("kill", [KillBefore, KillDuringValidation])
@pytest.mark.parametrize("step", [2, 5])
def test_a_resume_skips_no_validation(tmp_path, validated, kill, step):
    """A checkpoint after every step: none is written before a validation that the resumed run would leave out."""
    interval, found, weights = validated
    first, second = Validations(), Validations()
    with contextlib.suppress(Killed):
        fit(tmp_path / "first", val_check_interval=interval, extra=[first, kill(step)])
    last = tmp_path / "first/checkpoints/last.ckpt"
    fit(tmp_path / "second", val_check_interval=interval, extra=[second], checkpoint=last)
    assert first.found | second.found == found
    assert equal(best(tmp_path / "second"), weights)


@pytest.mark.parametrize("step", [5, 6])
def test_a_rate_that_follows_the_validation_resumes(tmp_path, step):
    plateau = {"_target_": "torch.optim.lr_scheduler.ReduceLROnPlateau", "factor": 0.5, "patience": 0, "mode": "max"}
    scheduler = {"scheduler": plateau, "monitor": "val/loss", "interval": "epoch"}
    whole = fit(tmp_path / "whole", scheduler=scheduler)
    with pytest.raises(Killed):
        fit(tmp_path / "first", scheduler=scheduler, extra=[KillBefore(step)])
    last = tmp_path / "first/checkpoints/last.ckpt"
    assert equal(fit(tmp_path / "second", scheduler=scheduler, checkpoint=last), whole)


class Send(Callback):
    def __init__(self, number, step):
        self.number, self.step = number, step

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if trainer.global_step == self.step - 1:
            signal.raise_signal(self.number)  # to this thread, which handles it before the next one comes


@pytest.mark.parametrize(
    ("number", "step", "name"),
    [(signal.SIGTERM, 2, "SIGTERM"), (signal.SIGTERM, 5, "SIGTERM"), (signal.SIGINT, 2, "Ctrl-C")],
)
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, whole, number, step, name):
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match=rf"\({name}\) at step {step}: saved .*last\.ckpt.*ckpt_path=last") as caught:
        fit(tmp_path / "first", extra=[Send(number, step)])
    assert caught.value.exit_code == 128 + number
    assert signal.getsignal(number) == before
    resumed = fit(tmp_path / "second", checkpoint=tmp_path / "first/checkpoints/last.ckpt")
    assert equal(resumed, whole[0])


def test_a_second_ctrl_c_ends_at_once(tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest's own ignores it
    try:
        with pytest.raises(SystemExit):
            fit(tmp_path, extra=[Send(signal.SIGINT, 4), Send(signal.SIGINT, 4)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert torch.load(tmp_path / "checkpoints/last.ckpt", weights_only=True)["global_step"] == 3
