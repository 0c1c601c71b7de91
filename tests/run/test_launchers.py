"""The launchers and sweepers that the README names, each with two small jobs."""

import pytest

from tests.run.programs import SHORT, launch, result

ONE = [*SHORT, "trainer.max_epochs=1", "logger=none"]


def test_side_by_side(tmp_path, capfd):
    """The launcher joblib has its own test in test_sweep.py."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    assert launch(["-m", *ONE, "hydra/launcher=submitit_local", "model.word_hidden_dim=3,5"], tmp_path) == 0
    (sweep,) = (tmp_path / "logs/sweeps").iterdir()
    sizes = [result(sweep / job)["parameters"] for job in ("0", "1")]
    assert sizes[0] < sizes[1]
    assert capfd.readouterr().out.splitlines()[-1].startswith("best: val/accuracy")


def test_optuna(tmp_path, capfd):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    assert launch(["-m", *ONE, "sweep=optuna_han", "hydra.sweeper.n_trials=2"], tmp_path) == 0
    sweep = max((tmp_path / "logs/sweeps").iterdir())
    scores = [result(sweep / job)["score"] for job in ("0", "1")]
    assert f"best: val/accuracy {max(scores):.4f}" in capfd.readouterr().out
