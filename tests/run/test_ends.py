"""Runs that end within an epoch, or without a validation: their checkpoints, tests and messages."""

import csv
import json

import pytest

from tests.run.programs import TINY, TINY_PAIRS, launch, result, saved
from zoo.run import machine

STOPPING = [*TINY, "callbacks=[checkpoint,early_stopping]", "hydra.run.dir=run"]  # 4 steps per epoch


def validations(folder):
    with (folder / "metrics.csv").open() as file:
        return [int(row["step"]) + 1 for row in csv.DictReader(file) if row.get("val/loss")]


@pytest.mark.parametrize(
    ("override", "steps"),
    [
        ("trainer.max_steps=10", [4, 8, 10]),  # where torch's OneCycleLR divides by zero
        ("trainer.val_check_interval=3", [3, 7, 11, 15, 16]),
    ],
)
def test_the_last_step_is_validated(tmp_path, override, steps):
    assert launch([*STOPPING, override], tmp_path) == 0
    run = tmp_path / "run"
    assert validations(run) == steps
    assert result(run)["steps"] == saved(run)["global_step"] == steps[-1]
    assert saved(run, "best")["global_step"] in steps
    assert result(run)["checkpoint"].endswith("best.ckpt")


def test_without_validation_the_last_weights_are_kept_and_tested(tmp_path, capfd):
    """And a rate that follows the validation stays."""
    without = ["scheduler=plateau", "trainer.limit_val_batches=0", "trainer.max_epochs=2"]
    assert launch([*STOPPING, *without], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert facts["checkpoint"].endswith("last.ckpt") and facts["score"] is None
    assert saved(tmp_path / "run")["global_step"] == 8 and "test/accuracy" in facts["metrics"]
    said = [line for line in capfd.readouterr().out.splitlines() if "nothing was validated" in line]
    assert len(said) == 1


@pytest.mark.parametrize(("tiny", "metric"), [(TINY, "accuracy"), (TINY_PAIRS, "exact_match")])
def test_debug_overfit_says_whether_its_batches_are_known_by_heart(tmp_path, capfd, tiny, metric):
    """The metric on the training batches is what this mode is for."""
    quick = ["trainer.max_epochs=3"] if tiny is TINY_PAIRS else ["optimizer.lr=0.05"]
    assert launch([*tiny, "debug=overfit", "callbacks=none", *quick, "hydra.run.dir=run"], tmp_path) == 0
    metrics, said = result(tmp_path / "run")["metrics"], capfd.readouterr().out
    assert {"train/loss", f"train/{metric}"} <= metrics.keys()
    assert f"train/{metric}" in said and not any(name.startswith("val/") for name in metrics)
    if tiny is TINY:
        with (tmp_path / "run/metrics.csv").open() as file:
            losses = [float(row["train/loss"]) for row in csv.DictReader(file) if row.get("train/loss")]
        assert losses[-1] < 0.1 * losses[0] and metrics["train/accuracy"] == 1


def test_the_time_is_counted_by_phase_from_the_start_of_the_program(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(machine.Stopwatch, "_first", True)
    monkeypatch.setattr(machine, "seconds_running", lambda: 1000.0)  # before the run began
    assert launch([*STOPPING, "trainer.max_epochs=1"], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert facts["phases"]["imports"] == 1000 and facts["wall_seconds"] > 1000
    assert set(facts["phases"]) == {"imports", "data", "training", "validation and test", "pictures", "other"}
    assert sum(facts["phases"].values()) == pytest.approx(facts["wall_seconds"], abs=0.05)
    assert json.loads((tmp_path / "run/result.json").read_text())["phases"]["training"] > 0
    assert "wall time" in (said := capfd.readouterr().out) and "imports" in said and "pictures" in said
    assert "1 epoch," in said
