"""Groups and values of the command line override an experiment, but only with the keys that they set."""

import importlib
import sys

import pytest
from omegaconf import OmegaConf

from zoo.errors import ConfigError
from zoo.run import search_path
from zoo.run.check import check
from zoo.run.compose import compose, stamp

YELP, WMT, MULTI30K = "experiment=han_yelp2015", "experiment=seq2seq_lstm_wmt14", "experiment=rnnsearch_multi30k"


def composed(*overrides):
    cfg = compose(list(overrides))
    check(cfg)
    return OmegaConf.masked_copy(cfg, [key for key in cfg if key != "hydra"])


def alone(group, *overrides):
    return OmegaConf.to_container(compose(list(overrides))[group])


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([YELP], {"trainer.max_epochs": 20, "optimizer.momentum": 0.9, "data.text.minimum_frequency": 6}),
        # a trainer states its own keys and leaves the others
        (
            [YELP, "trainer=fast"],
            {"trainer.max_epochs": 1, "trainer.limit_train_batches": 4, "trainer.limit_val_batches": 2},
        ),
        (
            [WMT, "trainer=ddp_cpu"],
            {"trainer.strategy": "ddp", "trainer.devices": 2, "trainer.max_epochs": 8, "trainer.max_steps": 703125}
            | {"trainer.gradient_clip_val": 0.167},
        ),
        # a value of the command line wins over both
        ([YELP, "trainer=fast", "trainer.max_epochs=7"], {"trainer.max_epochs": 7}),
        (["trainer.max_epochs=7", "trainer=fast", YELP], {"trainer.max_epochs": 7}),
        ([YELP, "trainer=cpu", "debug=overfit"], {"trainer.max_epochs": 50}),
    ],
)
def test_what_is_chosen_wins_over_an_experiment(overrides, expected):
    cfg = composed(*overrides)
    assert {key: OmegaConf.select(cfg, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("experiment", "group", "choice"),
    [
        (YELP, "optimizer", "adam"),  # and no momentum, which Adam has none of
        (YELP, "optimizer", "sgd"),
        (YELP, "scheduler", "linear"),
        (WMT, "scheduler", "cosine"),
        (WMT, "decoding", "greedy"),  # and no beam
        (MULTI30K, "objective", "cross_entropy"),  # and no decay
        (MULTI30K, "decoding", "beam"),
        (MULTI30K, "model", "luong"),  # and no maxout
    ],
)
def test_a_group_is_what_was_chosen(experiment, group, choice):
    model = [] if group == "model" else ["model=luong", "data=multi30k"] * (experiment != YELP)
    found = OmegaConf.to_container(composed(experiment, f"{group}={choice}")[group])
    assert found == alone(group, f"{group}={choice}", *model)


def test_a_group_inside_a_group_is_what_was_chosen(tmp_path, monkeypatch):
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "conf/data/text").mkdir(parents=True)
    (tmp_path / "conf/data/text/mine.yaml").write_text("defaults: [documents]\nminimum_frequency: 99\n")
    search_path.add(tmp_path / "conf")
    source = "data.source=sample"
    assert composed(YELP, source).data.text.minimum_frequency == 6
    assert composed(YELP, source, "data/text=mine").data.text.minimum_frequency == 99


def test_a_group_that_is_empty_is_empty():
    assert not composed(WMT, "scheduler=none").scheduler
    assert composed(WMT).scheduler.scheduler.milestones[0] == 468750


def test_several_of_a_group():
    cfg = composed(MULTI30K, "callbacks=[none,averaging]")
    assert "averaging" in cfg.callbacks and "early_stopping" not in cfg.callbacks
    assert cfg.trainer.max_epochs == 10


def test_a_folder_of_an_installed_package(tmp_path, monkeypatch):
    monkeypatch.setattr(search_path, "_folders", [])
    (tmp_path / "installed_zoo/conf").mkdir(parents=True)
    (tmp_path / "installed_zoo/__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()
    assert search_path.take(["hydra.searchpath=[pkg://installed_zoo.conf]"]) == []
    assert search_path.folders() == ((tmp_path / "installed_zoo/conf").resolve(),)
    for name in ("installed_zoo.cnf", "his_zoo.conf", "json.decoder"):
        with pytest.raises(ConfigError, match=f"pkg://{name}: package not installed"):
            search_path.take([f"hydra.searchpath=[pkg://{name}]"])


def test_folders_of_ones_own_are_passed_on_to_other_ranks_whatever_they_are_called(tmp_path, monkeypatch):
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("mine, and yours", "it's mine"):
        (tmp_path / name).mkdir()
        search_path.add(tmp_path / name)
    folders, words = search_path.folders(), search_path.overrides()
    monkeypatch.setattr(search_path, "_folders", [])
    assert search_path.take(["seed=1", *words]) == ["seed=1"]
    assert search_path.folders() == folders


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}, "slurm_7_0_0"),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "1", "SLURM_RESTART_COUNT": "2"}, "slurm_7_2_1"),
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2"}, "slurm_7_0"),
        ({"SLURM_JOB_ID": "7"}, "20"),
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "1"}, "20"),
    ],
)
def test_runs_of_one_job_have_folders_of_their_own(monkeypatch, variables, name):
    """The processes of a step share one; a script that starts two runs without steps has the clock, 20.."""
    for variable in ("SLURM_STEP_ID", "SLURM_NTASKS", "SLURM_RESTART_COUNT", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert stamp()[: len(name)] == name and (name != "20") == (stamp() == name)
