"""Two jobs of a sweep are two wandb runs, each in its own folder, in one group, with the configuration; also when a
job fails."""

import json

import pytest

from tests.callbacks.wandb_records import finished_records, history
from tests.run.programs import SHORT, TINY, launch
from tests.run.programs import result as result_of


def configuration(found):
    entries = {}
    for record in found:
        if record.HasField("config"):
            entries |= {item.key: json.loads(item.value_json) for item in record.config.update}
        if record.HasField("run"):
            entries |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
    return entries


def summary(found):
    entries = {}
    for record in found:
        if record.HasField("summary"):
            entries |= {
                item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.summary.update
            }
    return entries


def test_the_jobs_of_a_sweep(tmp_path):
    wandb = ["logger=wandb", "logger.wandb.offline=true", "trainer.max_epochs=1"]
    rates = ["callbacks=[learning_rate,steps]", "trainer.log_every_n_steps=1"]
    assert launch(["-m", *TINY, *wandb, *rates, "optimizer.lr=0.01,0.02"], tmp_path) == 0
    (sweep,) = (tmp_path / "logs/sweeps").iterdir()
    runs = []
    for job, rate in (("0", 0.01), ("1", 0.02)):
        found = finished_records(sweep / job)
        runs.append(next(record.run for record in found if record.HasField("run")))
        assert configuration(found)["optimizer"]["lr"] == rate
        assert [row["trainer/global_step"] for row in history(found) if "val/accuracy" in row] == [3]
        logged = [row["train/learning_rate"] for row in history(found) if "train/learning_rate" in row]
        assert logged == pytest.approx([rate, rate * 2 / 3, rate / 3, 0], abs=1e-7)
        for name in ("train/loss_step", "train/gradient_norm"):
            assert [row["trainer/global_step"] for row in history(found) if name in row] == [0, 1, 2, 3]
        result, card = result_of(sweep / job), summary(found)
        assert result["metrics"].items() <= card.items() and card["parameters"] == result["parameters"] > 0
        assert (card["model"], card["data"], card["source"]) == ("han", "yelp", result["source"])
    assert runs[0].run_id != runs[1].run_id
    assert runs[0].run_group == runs[1].run_group == sweep.name
    assert [run.display_name for run in runs] == [f"{sweep.name}_0", f"{sweep.name}_1"]


def test_a_job_that_fails_ends_its_run(tmp_path):
    import wandb

    settings = ["logger=wandb", "logger.wandb.offline=true", "optimizer=sgd", "optimizer.lr=1e38"]
    assert launch([*SHORT, *settings, "trainer.gradient_clip_val=null", "hydra.run.dir=run"], tmp_path) == 2
    assert wandb.run is None
    finished_records(tmp_path / "run")
