"""Mistakes at the command line: one line, no traceback, exit code 2."""

import sys

import pytest

from tests.run.programs import ROOT, SHORT, Program, launch, run
from zoo.run import search_path


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
        ("scheduler=null", "error: scheduler=null: a group takes the name of a choice; to do without it, ~scheduler"),
        ("model._target_=zoo.models.nothing.Net", "model._target_: it names zoo.models.nothing.Net, which is not here"),
        ("optimizer._target_=torch.optim.Adamm", "optimizer._target_: it names torch.optim.Adamm, which is not here"),
        ("callbacks.best._target_=nothing", "callbacks.best._target_: it names nothing, which is not here"),
        ("model._target_=os.getcwd", "model._target_: it names os.getcwd, which is no class"),
        ("trainer.accumulate_grad_batches=0", "trainer.accumulate_grad_batches=0: expected more than 0"),
        ("trainer.val_check_interval=0", "trainer.val_check_interval=0: expected more than 0"),
        ("trainer.val_check_interval=1000", "trainer.val_check_interval: `val_check_interval` (1000) must be less"),
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
    assert not [other for other in before if "rror" in other]
    assert "Traceback" not in printed.err + printed.out
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("group", "code", "expected"),
    [
        (
            "model",
            "class Mine(:",
            "model._target_: it names {module}.Mine, which is not here: invalid syntax ({module}.py",
        ),
        ("model", "class Mine: pass", "{module}.Mine does not say its `attends`; give it as a class attribute"),
        ("model", "class Mine: attends = {{}}", "{module}.Mine does not say its `tasks`; give it as a class attribute"),
        ("task", "class Mine: name, headline = 'mine', ()", "{module}.Mine does not say its `monitors`"),
        ("task", "class Mine: name, headline, monitors = 'mine', (), {{'x': 'max'}}", "Mine names no view"),
    ],
)
def test_a_class_of_ones_own_that_cannot_be_taken(tmp_path, capfd, monkeypatch, group, code, expected):
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    module, own = f"mine_{tmp_path.name}", tmp_path / "my zoo, the first"
    (own / "conf" / group).mkdir(parents=True)
    monitor = "monitor: val/x\nmode: max\n" if group == "task" else ""
    (own / "conf" / group / "mine.yaml").write_text(f"_target_: {module}.Mine\n{monitor}")
    (own / f"{module}.py").write_text(code.format())
    mine = [word for word in SHORT if not word.startswith("model.")]
    assert launch([*mine, f"{group}=mine", "--config-dir", str(own / "conf")], tmp_path) == 2
    line = capfd.readouterr().err.splitlines()[-1]
    assert line.startswith("error: ") and expected.format(module=module) in line
    assert [path.name for path in tmp_path.iterdir()] == [own.name]


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
