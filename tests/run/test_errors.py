"""Mistakes at the command line: one line, no traceback, exit code 2."""

import sys

import pytest

from tests.run.programs import ROOT, SHORT, Program, launch, run


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("model.word_hiden_dim=3", "did you mean model.word_hidden_dim?"),
        ("modl=han", "did you mean model?"),
        ("seed=abc", "seed=abc: expected a whole number, found str"),
        ("seed=-1", "seed=-1: expected a whole number from 0 to"),
        ("ckpt_path=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("ckpt_path=last", "no earlier run of model=han data=yelp"),
        ("train=false", "give ckpt_path=PATH or ckpt_path=last"),
        ("data.source=/nowhere", "/nowhere"),
        ("hydra.run.dir=file/run", "hydra.run.dir"),
        ("trainer.accelerator=gpu", "torch finds no GPU here; trainer=cpu runs without one"),
        ("trainer.max_epochs=two", "trainer.max_epochs=two: expected a whole number"),
        ("trainer.precision=bf17", "trainer.precision=bf17: expected"),
        ("task=translation", "the data is for classification; leave task=... out"),
        ("task.monitor=val/acc", "task.monitor=val/acc: classification has no such metric; did you mean val/accuracy?"),
        ("task.monitor=accuracy", "did you mean val/accuracy?"),
        ("task.mode=min", "of val/accuracy the max is best; leave task.mode out"),
        ("logger=wandb", "wandb has no key here; run `wandb login` once, or give logger.wandb.offline=true"),
        ("model=han,luong", "error: model=han,luong: several values; a run for each: -m model=han,luong"),
        ("optimizer.lr=0.1,0.2", "-m optimizer.lr=0.1,0.2"),
        ("optimizer.lr=fast", "optimizer.lr=fast: expected a number, found str"),
        ("optimizer.fused=1", "optimizer.fused=1: expected true or false, found int"),
    ],
)
def test_one_line_and_no_folder(tmp_path, capfd, monkeypatch, override, expected):
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "file").write_text("")
    assert launch([*SHORT, override], tmp_path) == 2
    printed = capfd.readouterr()
    *before, line = printed.err.splitlines()
    assert line.startswith("error: ") and expected in line
    assert not [other for other in before if "rror" in other or "WARNING" in other]
    assert "Traceback" not in printed.err + printed.out
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_bare_command_is_no_mistake(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr("zoo.run.train.train", trained.append)
    assert launch([], tmp_path) == 0
    assert [cfg.model._target_ for cfg in trained] == ["zoo.models.han.HAN"]


def test_nothing_is_prepared_for_a_command_that_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "cache"))
    for override in ("trainer.max_epochs=two", "task=translation", "seed=-1", "task.monitor=val/acc"):
        assert launch([*SHORT, override], tmp_path) == 2
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_not_removed(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/notes.txt").write_text("mine")
    assert launch([*SHORT, "hydra.run.dir=run", "seed=-1"], tmp_path) == 2
    assert (tmp_path / "run/notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "han"], "error: --model: there is no such option; overrides have no dashes: model=han"),
        (["--model=han"], "overrides have no dashes: model=han"),
        (["-model", "han"], "overrides have no dashes: model=han"),
        (["--trainer.max_epochs", "3"], "overrides have no dashes: trainer.max_epochs=3"),
    ],
)
def test_overrides_with_dashes(tmp_path, capfd, words, expected):
    assert launch(words, tmp_path) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert expected in line


def test_a_sweep_of_refused_jobs_leaves_no_folder(tmp_path, capfd):
    assert launch(["-m", *SHORT, "seed=-1,-2"], tmp_path) == 2
    printed = capfd.readouterr()
    assert printed.err.count("error: seed=-") == 2 and "Traceback" not in printed.err
    assert not list(tmp_path.iterdir())


ENDS = (2, "error: modl: there is no such key; did you mean model?\n")


def test_the_programs_exit_code(program_env, tmp_path):
    for words in ([str(ROOT / "train.py"), "modl=han"], ["-m", "zoo", "train", "modl=han"]):
        done = Program(words, tmp_path, program_env)
        assert (done.wait(), done.stderr) == ENDS


def test_a_program_started_anew_says_nothing_more(program_env, tmp_path):
    done = run([sys.executable, str(ROOT / "train.py"), "modl=han"], tmp_path, program_env)
    assert (done.returncode, done.stderr) == ENDS
