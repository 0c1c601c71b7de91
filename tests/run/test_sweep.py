"""The ranking of a multirun's jobs."""

import json

from omegaconf import OmegaConf

from zoo.run.sweep import BestTrial, rank


def result(job, score, mode="max"):
    overrides = ["data=yelp", f"seed={job}"]
    return {
        "folder": f"sweeps/x/{job}",
        "score": score,
        "mode": mode,
        "monitor": "val/accuracy",
        "overrides": overrides,
        "headline": ["test/accuracy", "test/recall"],
        "metrics": {"test/accuracy": 0.125},
        "parameters": 1234,
        "wall_seconds": 90,
    }


def names(results):
    return [entry["folder"][-1] for entry in results]


def test_the_best_stands_last_whatever_the_direction():
    scores = [0.2, 0.9, 0.5]
    assert names(rank([result(job, score) for job, score in enumerate(scores)])) == ["0", "2", "1"]
    assert names(rank([result(job, score, "min") for job, score in enumerate(scores)])) == ["1", "2", "0"]


def test_of_equals_the_first_is_best():
    assert names(rank([result(job, 0.5) for job in (1, 0, 2)])) == ["2", "1", "0"]


def test_prints_the_best_trials_score_and_overrides_last(tmp_path, capsys):
    for job, score in enumerate([0.3, 0.8, None]):
        (tmp_path / str(job)).mkdir()
        (tmp_path / str(job) / "result.json").write_text(json.dumps(result(job, score)))
    BestTrial().on_multirun_end(OmegaConf.create({"hydra": {"sweep": {"dir": str(tmp_path)}}}))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "best: val/accuracy 0.8000 with data=yelp seed=1"
    assert "2 jobs" in " ".join(lines)
    header, row = (next(line for line in lines if word in line) for word in ("overrides ", "seed=0"))
    assert "accuracy" in header.replace("val/accuracy", "") and "recall" not in header  # no job has it
    assert all(value in row for value in ("0.3000", "0.125", "1,234", "1.5"))


def test_a_sweep_without_scores_prints_nothing(tmp_path, capsys):
    BestTrial().on_multirun_end(OmegaConf.create({"hydra": {"sweep": {"dir": str(tmp_path)}}}))
    assert capsys.readouterr().out == ""
