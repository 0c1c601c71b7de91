"""A multirun: its ranking, jobs that fail, and the launchers and sweepers that the README names."""

import json
from pathlib import Path

import pytest
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins

from tests.run.programs import SHORT, launch
from tests.run.programs import result as result_of
from zoo.run.sweep import conclude, note_failure, rank

ONE = [*SHORT, "trainer.max_epochs=1", "logger=none"]


def result(job, score, mode="max"):
    overrides = ["data=yelp", f"seed={job}"]
    return {
        "folder": f"sweeps/x/{job}",
        "score": score,
        "mode": mode,
        "task": "classification",
        "monitor": "val/accuracy",
        "overrides": overrides,
        "seed": job,
        "headline": ["test/accuracy", "test/recall"],
        "metrics": {"test/accuracy": 0.125},
        "parameters": 1234,
        "wall_seconds": 90,
    }


def written(folder, content):
    folder.mkdir(exist_ok=True)
    (folder / "result.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("scores", "mode", "expected"),
    [
        ({0: 0.2, 1: 0.9, 2: 0.5}, "max", "021"),
        ({0: 0.2, 1: 0.9, 2: 0.5}, "min", "120"),
        ({1: 0.5, 0: 0.5, 2: 0.5}, "max", "210"),  # of equals the first is best
    ],
)
def test_the_best_is_last_whatever_the_direction(scores, mode, expected):
    ranked = rank([result(job, score, mode) for job, score in scores.items()])
    assert "".join(entry["folder"][-1] for entry in ranked) == expected


def test_prints_the_best_trials_score_and_overrides_last(tmp_path, capsys):
    for job, score in enumerate([0.3, 0.8, None]):
        written(tmp_path / str(job), result(job, score))
    assert conclude(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "val/accuracy 0.5500 ± 0.3536 over the seeds 0, 1 with data=yelp"
    assert "2 of 3 jobs" in " ".join(lines)  # one has no score
    header, row = (next(line for line in lines if word in line) for word in ("overrides ", "seed=0"))
    assert "accuracy" in header.replace("val/accuracy", "") and "recall" not in header  # no job has it
    assert all(value in row for value in ("0.3000", "0.125", "1,234", "1.5"))


def test_a_sweep_over_the_seed_alone_ends_in_mean_deviation_and_range(tmp_path, capsys):
    """Deviations 0.2 and 0.01 by hand: the squares of -0.2, 0, 0.2 add up to 0.08, which is divided by 2."""
    for job, (score, accuracy) in enumerate([(0.5, 0.91), (0.9, 0.89), (0.7, 0.90)]):
        metrics = {"test/accuracy": accuracy, "test/recall": [0.25, None, 0.75][job]}
        written(tmp_path / str(job), result(job, score) | {"metrics": metrics})
    assert conclude(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    table = lines[next(number for number, line in enumerate(lines) if "over 3 seeds" in line) :]
    rows = {
        cells[0]: cells[1:] for line in table if len(cells := [cell.strip() for cell in line.split("│")[1:-1]]) == 4
    }
    assert rows == {
        "val/accuracy": ["0.7000", "0.2000", "0.5000 to 0.9000"],
        "test/accuracy": ["0.9000", "0.0100", "0.8900 to 0.9100"],
        "test/recall": ["0.5000", "0.3536", "0.2500 to 0.7500"],
    }
    assert lines[-1] == "val/accuracy 0.7000 ± 0.2000 over the seeds 0, 1, 2 with data=yelp"


def test_a_sweep_over_seeds_prefers_the_best_mean_to_the_luckiest_seed(tmp_path, capsys):
    scores = {("model.hops=1", 1): 0.9, ("model.hops=1", 2): 0.1, ("model.hops=2", 1): 0.6, ("model.hops=2", 2): 0.7}
    for job, ((hops, seed), score) in enumerate(scores.items()):
        written(tmp_path / str(job), result(job, score) | {"overrides": ["data=yelp", hops, f"seed={seed}"]})
    assert conclude(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "best: val/accuracy 0.6500 (mean of 2 seeds) with data=yelp model.hops=2"
    table = lines[next(number for number, line in enumerate(lines) if "over the seeds" in line) :]
    (first,) = (line for line in table if line.rstrip("│ ").endswith("model.hops=1"))
    assert all(word in first for word in ("2", "0.5000", "0.5657", "0.1000 to 0.9000"))


def test_scores_of_different_tasks_are_not_ranked_together(tmp_path, capsys):
    other = {"task": "relatedness", "monitor": "val/pearson"}
    for job, scores in enumerate([{"score": 0.4}, {"score": 0.8} | other, {"score": 0.5}, {"score": 0.7} | other]):
        written(tmp_path / str(job), result(job, 0.0) | scores)
    assert conclude(tmp_path) == 0
    ends = [line for line in capsys.readouterr().out.splitlines() if line.startswith("val/")]
    assert ends == [
        "val/accuracy 0.4500 ± 0.0707 over the seeds 0, 2 with data=yelp",
        "val/pearson 0.7500 ± 0.0707 over the seeds 1, 3 with data=yelp",
    ]


def test_a_sweep_without_scores_prints_nothing(tmp_path, capsys):
    written(tmp_path / "0", result(0, None))
    assert conclude(tmp_path) == 0
    assert capsys.readouterr().out == ""


def test_a_sweep_that_the_launcher_breaks_is_not_taken_for_a_good_one(tmp_path, capfd, monkeypatch):
    Plugins.instance()  # imports its plugins anew
    from hydra._internal.core_plugins.basic_launcher import BasicLauncher

    def broken(self, job_overrides, initial_job_idx):
        raise RuntimeError("the cluster is down")

    monkeypatch.setattr(BasicLauncher, "launch", broken)
    with pytest.raises(RuntimeError, match="the cluster is down"):
        launch(["-m", *SHORT, "seed=1,2"], tmp_path)


def test_a_job_that_cannot_be_composed_costs_no_other_its_result(tmp_path, capfd, monkeypatch):
    mine = result(0, 0.5) | {"overrides": ["model=han", "seed=1"]}
    monkeypatch.setattr("zoo.run.train.train", lambda cfg: written(Path(HydraConfig.get().runtime.output_dir), mine))
    assert launch(["-m", "model=han,hann", "seed=1", "hydra.sweep.dir=sweep"], tmp_path) == 2
    printed = capfd.readouterr()
    assert "val/accuracy 0.5000" in printed.out.splitlines()[-1]
    reason = "model=hann: unknown model; did you mean model=han?"
    assert printed.err.splitlines()[-1] == f"failed: the job with model=hann seed=1: {reason}"


def test_a_sweep_ranks_its_own_jobs_in_a_folder_that_another_one_used(tmp_path, capfd, monkeypatch):
    """The first sweep has more jobs, and they score higher."""
    score = iter([0.7, 0.8, 0.9, 0.2, 0.1])

    def train(cfg):
        written(Path(HydraConfig.get().runtime.output_dir), result(cfg.seed, next(score)) | {"overrides": []})

    monkeypatch.setattr("zoo.run.train.train", train)
    for seeds, first in (("1,2,3", "3 jobs in"), ("8,9", "2 jobs in")):
        assert launch(["-m", "model=han", f"seed={seeds}", "hydra.sweep.dir=sweep"], tmp_path) == 0
        lines = capfd.readouterr().out.splitlines()
        assert any(line.startswith(first) for line in lines), lines
    assert lines[-1].startswith("val/accuracy 0.1500 ± 0.0707 over the seeds 8, 9")
    assert len(list((tmp_path / "sweep").glob("*/result.json"))) == 3, "nothing is lost"


def test_every_reason_is_named_where_no_job_of_a_sweep_can_run(tmp_path, capfd):
    """One job cannot be composed, the other one is refused when it begins."""
    assert launch(["-m", "experiment=nothing,han_yelp2013", "hydra.sweep.dir=sweep"], tmp_path) == 2
    *_, first, second = capfd.readouterr().err.splitlines()
    assert first.startswith("failed: job 0 with experiment=han_yelp2013: data.source is not set")
    assert second.startswith("failed: the job with experiment=nothing: experiment=nothing: unknown experiment")
    assert not (tmp_path / "sweep").exists()


def test_failed_jobs_are_named_by_what_is_their_own(tmp_path, capsys):
    for job in "02":
        (tmp_path / job).mkdir()
    written(tmp_path / "1", result(1, 0.5))
    note_failure(tmp_path / "0", ["data=yelp", "seed=0"], "no room", 2)
    note_failure(tmp_path / "2", ["data=yelp", "seed=2"], "KeyError: 'x'", 1)
    assert conclude(tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        "failed: job 0 with seed=0: no room",
        "failed: job 2 with seed=2: KeyError: 'x'",
    ]
    assert printed.out.splitlines()[-1].startswith("best: val/accuracy 0.5000")


@pytest.mark.parametrize("launcher", ["basic", "joblib", "submitit_local"])
def test_a_sweep_goes_on_after_a_job_that_failed(tmp_path, capfd, launcher):
    if launcher != "basic":
        pytest.importorskip(f"hydra_plugins.hydra_{launcher.removesuffix('_local')}_launcher")
    rates = "1e+38,0.1,-1" if launcher == "basic" else "1e+38,0.1"
    overrides = [*ONE, f"hydra/launcher={launcher}", "hydra.sweep.dir=sweep", "optimizer=sgd", f"optimizer.lr={rates}"]
    assert launch(["-m", *overrides], tmp_path) == 2
    printed = capfd.readouterr()
    assert result_of(tmp_path / "sweep/1")["score"] is not None
    first, *others = [line for line in printed.err.splitlines() if line.startswith("failed: ")]
    assert first.startswith("failed: job 0 with optimizer.lr=1e+38: the loss is")
    assert len(others) == (launcher == "basic")
    for line in others:
        assert line.startswith("failed: job 2 with optimizer.lr=-1: ") and "expected a number from 0 on" in line
    assert printed.out.splitlines()[-1].startswith("best: val/accuracy") and "Traceback" not in printed.err


def test_a_job_that_is_run_again_is_no_longer_one_that_failed(tmp_path, capfd):
    sweep = ["-m", *ONE, "optimizer=sgd", "hydra.sweep.dir=sweep"]
    assert launch([*sweep, "optimizer.lr=1e38,0.1"], tmp_path) == 1 or (tmp_path / "sweep/0/failed.json").is_file()
    assert launch([*sweep, "optimizer.lr=0.1,0.2"], tmp_path) == 0
    assert not list((tmp_path / "sweep").glob("*/failed.json"))
    assert "failed" not in capfd.readouterr().err.splitlines()[-1:]


def test_a_search_goes_on_after_a_trial_that_failed(tmp_path, capfd):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    overrides = [*ONE, "optimizer=sgd", "hydra.sweep.dir=sweep"]
    search = ["hydra/sweeper=optuna", "hydra/sweeper/sampler=grid", "hydra.sweeper.direction=maximize"]
    going_on = ["hydra.sweeper.max_failure_rate=1.0", "hydra.sweeper.n_jobs=1", "optimizer.lr=choice(0.1,1e+38)"]
    assert launch(["-m", *overrides, *search, *going_on], tmp_path) == 2
    assert len(list((tmp_path / "sweep").glob("*/result.json"))) == 1
    assert len(list((tmp_path / "sweep").glob("*/failed.json"))) == 1
    printed = capfd.readouterr()
    assert "best: val/accuracy" in printed.out and "with optimizer.lr=1e+38: the loss is" in printed.err


def test_optuna(tmp_path, capfd):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    assert launch(["-m", *ONE, "sweep=optuna_han", "hydra.sweeper.n_trials=2"], tmp_path) == 0
    sweep = max((tmp_path / "logs/sweeps").iterdir())
    scores = [result_of(sweep / job)["score"] for job in ("0", "1")]
    assert f"best: val/accuracy {max(scores):.4f}" in capfd.readouterr().out
