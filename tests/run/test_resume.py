"""A run that was killed and resumed reaches the weights of an uninterrupted one, bit for bit, wherever it was
killed."""

import csv
import shutil
import signal

import pytest
import torch

from tests.run.programs import TINY, killed_and_resumed, launch, result, saved, weights
from zoo.tasks import Classification

RUN = [*TINY, "model.dropout=0.3", "callbacks=checkpoint", "trainer.max_epochs=3", "task.monitor=val/loss"]
"""Four steps per epoch; with dropout, so that the random state matters."""
HALVED = ["scheduler=plateau", "scheduler.scheduler.patience=0", "scheduler.scheduler.mode=max"]


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (["scheduler=step"], (1, 3, 4, 5, 11)),
        (["scheduler=step", "trainer.accumulate_grad_batches=2"], (3,)),
        (HALVED, (4, 8, 9)),  # a rate that follows the validation
    ],
)
def test_killed_before_a_step(tmp_path, monkeypatch, words, steps):
    """In the middle of an accumulated step, the files are those before it."""
    killed_and_resumed([*RUN, *words], tmp_path, Classification, monkeypatch, *steps)
    whole = saved(tmp_path / "whole")
    for step in steps:
        assert result(tmp_path / f"resumed{step}")["metrics"] == result(tmp_path / "whole")["metrics"]
        resumed = saved(tmp_path / f"resumed{step}")
        assert resumed["lr_schedulers"] == whole["lr_schedulers"] and resumed["global_step"] == whole["global_step"]
        torch.testing.assert_close(resumed["optimizer_states"], whole["optimizer_states"], rtol=0, atol=0)
    assert whole["optimizer_states"][0]["param_groups"][0]["lr"] < 0.003, "the schedule has changed the rate"


def validations(folder):
    """The loss of each validation, by the step that it follows."""
    with (folder / "metrics.csv").open() as file:
        return {int(row["step"]): row["val/loss"] for row in csv.DictReader(file) if row.get("val/loss")}


@pytest.mark.parametrize("interval", [1.0, 2])
def test_a_resume_skips_no_validation(tmp_path, monkeypatch, interval):
    """A checkpoint after every step: none is written before a validation that the resumed run would leave out."""
    words, start = [*RUN, f"trainer.val_check_interval={interval}"], Classification.on_validation_start

    def copied(task):
        start(task)
        if task.global_step in (2, 4) and not (during := tmp_path / f"during{task.global_step}").exists():
            shutil.copytree(tmp_path / "whole", during)

    monkeypatch.setattr(Classification, "on_validation_start", copied)
    killed_and_resumed(words, tmp_path, Classification, monkeypatch, 2, 5)
    every, best = validations(tmp_path / "whole"), saved(tmp_path / "whole", "best")
    assert [*every] == [3, 7, 11] if interval == 1 else [1, 3, 5, 7, 9, 11]
    for killed in tmp_path.glob("during*"):
        resumed = ["callbacks.last.every_n_steps=1", f"hydra.run.dir=resumed_{killed.name}", f"ckpt_path={killed.name}"]
        assert launch([*words, *resumed], tmp_path) == 0
    for folder in tmp_path.glob("resumed*"):
        again, begun = validations(folder), int(folder.name[-1])
        repeated = begun if "during" in folder.name else begun + 1
        assert again == {step: loss for step, loss in every.items() if step >= repeated - 1}
        found = saved(folder, "best")
        assert found["global_step"] == best["global_step"]
        torch.testing.assert_close(found["state_dict"], best["state_dict"], rtol=0, atol=0)


def test_from_the_best_checkpoint_in_the_middle_of_an_epoch(tmp_path):
    words = [*RUN, "trainer.val_check_interval=2", "task.monitor=val/accuracy"]
    assert launch([*words, "hydra.run.dir=whole"], tmp_path) == 0
    assert saved(tmp_path / "whole", "best")["global_step"] in (2, 6, 10)
    assert launch([*words, "hydra.run.dir=again", "ckpt_path=whole/checkpoints/best.ckpt"], tmp_path) == 0
    whole, again = weights(tmp_path / "whole"), weights(tmp_path / "again")
    assert all(torch.equal(value, again[name]) for name, value in whole.items())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The weights of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole")
    assert launch([*RUN, "hydra.run.dir=run"], folder) == 0
    return weights(folder / "run")


@pytest.fixture
def signalled(monkeypatch):
    """Sends signals to this thread, which handles each before the next one comes, as a step begins."""

    def send(step, *numbers):
        training_step = Classification.training_step

        def sending(task, batch, batch_idx):
            if task.global_step == step - 1:
                for number in numbers:
                    signal.raise_signal(number)
            return training_step(task, batch, batch_idx)

        monkeypatch.setattr(Classification, "training_step", sending)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest's own ignores it
    yield send
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("number", "step", "name"),
    [(signal.SIGTERM, 2, "SIGTERM"), (signal.SIGTERM, 4, "SIGTERM"), (signal.SIGINT, 2, "Ctrl-C")],
)
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, whole, signalled, capfd, monkeypatch, number, step, name):
    before = signal.getsignal(number)
    signalled(step, number)
    assert launch([*RUN, "hydra.run.dir=first"], tmp_path) == 128 + number
    said = capfd.readouterr().err
    assert f"({name}) at step {step}: saved first/checkpoints/last.ckpt" in said and "ckpt_path=last" in said
    assert signal.getsignal(number) == before
    monkeypatch.undo()
    assert launch([*RUN, "hydra.run.dir=second", "ckpt_path=first"], tmp_path) == 0
    assert all(torch.equal(value, whole[name]) for name, value in weights(tmp_path / "second").items())


def test_a_second_ctrl_c_ends_at_once(tmp_path, signalled):
    signalled(4, signal.SIGINT, signal.SIGINT)
    words = [*RUN, "callbacks.last.every_n_steps=1", "hydra.run.dir=run"]
    assert launch(words, tmp_path) != 0
    assert saved(tmp_path / "run")["global_step"] == 3


def test_a_cosine_over_a_whole_run_is_not_continued_beyond_its_end(tmp_path, capfd):
    """Its rate would rise again. A period that the user gave may be shorter than the run."""
    short = [*RUN, "trainer.max_epochs=1", "scheduler=cosine"]
    assert launch([*short, "hydra.run.dir=whole"], tmp_path) == 0
    longer = ["trainer.max_epochs=2", "ckpt_path=whole/checkpoints/last.ckpt", "hydra.run.dir=longer"]
    assert launch([*short, *longer], tmp_path) == 2
    assert "planned for 4 steps and ends there; this run takes 8" in capfd.readouterr().err
    period = "scheduler.scheduler.T_max=2"
    assert launch([*short, period, "hydra.run.dir=period"], tmp_path) == 0
    again = ["trainer.max_epochs=2", "ckpt_path=period/checkpoints/last.ckpt", "hydra.run.dir=again"]
    assert launch([*short, period, *again], tmp_path) == 0
