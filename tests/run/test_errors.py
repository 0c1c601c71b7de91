"""Mistakes at the command line: one line, no traceback, exit code 2."""

import sys
from pathlib import Path

import pytest
import torch

from tests.run.programs import ROOT, SHORT, TINY, TINY_PAIRS, Program, launch, run
from zoo.run import search_path

RNNSEARCH = ["model=rnnsearch", *(word for word in TINY_PAIRS[1:] if word != "model.num_layers=1")]


@pytest.fixture
def refused(tmp_path, capfd, monkeypatch):
    """The one line that a refused command prints. Nothing is prepared, and no folder remains."""
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("")

    def said(*words):
        assert launch(list(words), tmp_path) == 2
        printed = capfd.readouterr()
        *before, line = printed.err.splitlines()
        assert line.startswith("error: ")
        assert not [other for other in before if "rror" in other or "WARNING" in other]
        assert "Traceback" not in printed.err + printed.out
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        return line.removeprefix("error: ")

    with monkeypatch.context() as patch:
        patch.delenv("WANDB_MODE")
        patch.delenv("WANDB_API_KEY", raising=False)
        patch.setenv("NETRC", str(tmp_path / "netrc"))
        yield said
    if "wandb" in sys.modules:  # it keeps the settings that it began with
        sys.modules["wandb"].teardown()


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("model.word_hiden_dim=3", "did you mean model.word_hidden_dim?"),
        ("modl=han", "did you mean model?"),
        ("seed=abc", "seed=abc: expected a whole number from 0 to 4294967295, found 'abc'"),
        ("seed=-1", "seed=-1: expected a whole number from 0 to 4294967295, found -1"),
        ("ckpt_path=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("ckpt_path=last", "no earlier run of model=han data=yelp"),
        ("train=false", "set ckpt_path=PATH or ckpt_path=last"),
        ("data.source=/nowhere", "/nowhere"),
        ("hydra.run.dir=file/run", "hydra.run.dir"),
        ("trainer.accelerator=gpu", "torch finds no GPU here; trainer=cpu runs without one"),
        ("trainer.max_epochs=two", "trainer.max_epochs=two: expected a whole number"),
        ("trainer.precision=bf17", "trainer.precision=bf17: expected"),
        ("task=translation", "the data are for classification; remove task=..., since the data choose their task"),
        ("task.monitor=val/acc", "task.monitor=val/acc: classification has no such metric; did you mean val/accuracy?"),
        ("task.monitor=accuracy", "did you mean val/accuracy?"),
        ("task.monitor=train/loss", "task.monitor=train/loss: classification has no such metric; did you mean"),
        ("scheduler.scheduler.totl_steps=3", "did you mean scheduler.scheduler.total_steps?"),
        ("model.word_hidden_dim.x=3", ", and has no keys below it"),
        ("ckpt_path.x=3", "ckpt_path is empty; use +ckpt_path.x=... to add to it"),
        ("+scheduler.intervall=epoch", "scheduler.intervall: there is no such key; did you mean scheduler.interval?"),
        ("hydra.searchpath=[a", "hydra.searchpath=[a: expected a list of folders, hydra.searchpath=[DIR,DIR]"),
        ("--config-dir=", "--config-dir=: expected a folder after it, found nothing"),
        ("task.mode=min", "the max of val/accuracy is best; remove task.mode"),
        ("logger=wandb", "wandb has no key here; run `wandb login` once, or give logger.wandb.offline=true"),
        ("model=han,luong", "model=han,luong: several values; for one run each: -m model=han,luong"),
        ("optimizer.lr=0.1,0.2", "-m optimizer.lr=0.1,0.2"),
        ("optimizer.lr=fast", "optimizer.lr=fast: expected a number from 0 on, found 'fast'"),
        ("model.dropout=1.5", "model.dropout=1.5: expected a number from 0 up to 1, without 1, found 1.5"),
        (
            "model.word_pooling=median",
            "model.word_pooling=median: expected attention, mean or max, found 'median'; did you mean 'mean'?",
        ),
        ("data.loader.batch_size=0", "data.loader.batch_size=0: expected a whole number from 1 on, found 0"),
        ("data.loader.batch_size=many", "data.loader.batch_size=many: expected a whole number from 1 on, found 'many'"),
        ("data.batch_size=16", "did you mean data.loader.batch_size?"),
        ("data.text.lower='yes'", "data.text.lower=yes: expected true or false, found 'yes'"),
        (
            "objective=cross_entropy",
            "objective: classification, the task of these data, does not use this group; remove objective=...",
        ),
        ("optimizer.lr=-1", "optimizer.lr=-1: expected a number from 0 on, found -1"),
        (
            "optimizer.betas=[0.9,1]",
            "optimizer.betas=[0.9, 1]: expected a list of 2 (each a number from 0 up to 1,",
        ),
        ("optimizer.weight_decay=-1", "optimizer.weight_decay=-1: expected a number from 0 on, found -1"),
        ("scheduler=noam", "scheduler.scheduler: the rate follows from the network's width"),
        ("trainer.max_epochs=-1", "scheduler: its rate falls until the last step, and this run has none"),
        ("scheduler.interval=never", "scheduler.interval=never: expected step or epoch, found 'never'"),
        ("scheduler.scheduler.warmup=2", "scheduler.scheduler: warmup is a share of the steps, from 0 to 1; got 2"),
        ("hydra.run.dir=file", "file: File exists; choose another folder with hydra.run.dir=..."),
        ("start_from=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("optimizer.fused=1", "optimizer.fused=1: expected true, false or null, found 1"),
        ("scheduler=null", "scheduler=null: a group needs the name of a choice; to remove the group, use ~scheduler"),
        ("model._target_=zoo.models.nothing.Net", "model._target_: it names zoo.models.nothing.Net, which is not here"),
        ("optimizer._target_=torch.optim.Adamm", "optimizer._target_: it names torch.optim.Adamm, which is not here"),
        ("callbacks.best._target_=nothing", "callbacks.best._target_: it names nothing, which is not here"),
        ("model._target_=os.getcwd", "model._target_: it names os.getcwd, which is not a class"),
    ],
)
def test_one_line_and_no_folder(refused, override, expected):
    assert expected in refused(*SHORT, override)


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("callbacks.best.monitor=val/acc", "classification has no such metric; did you mean val/accuracy?"),
        ("callbacks.best.mode=min", "callbacks.best.mode=min: the max of val/accuracy is best"),
        ("callbacks.last.every_n_steps=0", "expected a whole number from 1 on or null, found 0"),
        ("callbacks.last.every_n_minutes=0", "expected a number above 0 or null, found 0"),
        ("callbacks.early_stopping.patience=-1", "expected a whole number from 0 on, found -1"),
        ("callbacks.early_stopping.monitor=val/acc", "did you mean val/accuracy?"),
        ("callbacks.attention_maps.count=-1", "expected a whole number from 0 on, found -1"),
        ("callbacks.attention_maps.every_n_minutes=0", "expected a number above 0, found 0"),
        ("callbacks.predictions.count=1.5", "expected a whole number from 0 on or null, found 1.5"),
        ("callbacks.averaging.decay=1", "expected a number from 0 up to 1, without 1, found 1"),
        ("callbacks.whole_test=3", "callbacks.whole_test has no _target_"),
        ("logger.csv.version=[1]", "logger.csv.version=[1]: expected a whole number, text or null, found [1]"),
        ("logger.wandb.offline=perhaps", "logger.wandb.offline=perhaps: expected true or false, found 'perhaps'"),
        ("logger.wandb.log_model=some", "logger.wandb.log_model=some: expected all, true or false, found 'some'"),
        ("trainer.precision=16-true", "use bf16-true, or 16-mixed on a GPU"),
        ("trainer.max_epochs=-2", "trainer: `max_epochs` must be"),
        ("trainer.devices=0", "trainer: `Trainer(devices=0)` value is not"),
        ("trainer.strategy=foo", "trainer: You selected an invalid strategy"),
        ("trainer.accelerator=foo", "trainer: You selected an invalid accelerator"),
        ("trainer.limit_train_batches=1.5", "trainer: You have passed invalid value 1.5 for limit_train_batches"),
        ("trainer.limit_val_batches=some", "expected a number or null, found 'some'"),
        ("trainer.overfit_batches=-1", "trainer: You have passed invalid value -1 for overfit_batches"),
        ("trainer.val_check_interval=0", "expected a number above 0,"),
        ("trainer.check_val_every_n_epoch=0", "expected a whole number from 1 on or null, found 0"),
        ("trainer.num_sanity_val_steps=-2", "expected a whole number from -1 on or null, found -2"),
        ("trainer.log_every_n_steps=-1", "expected a whole number from 0 on or null, found -1"),
        ("trainer.accumulate_grad_batches=0", "expected a whole number from 1 on, found 0"),
        ("trainer.gradient_clip_val=-1", "expected a number from 0 on or null, found -1"),
        ("trainer.gradient_clip_algorithm=foo", "trainer: `gradient_clip_algorithm` foo is invalid"),
        ("trainer.max_time=soon", "is not a valid duration"),
        ("trainer.profiler=foo", "trainer: When passing string value for the `profiler`"),
        ("trainer.deterministic=maybe", "expected true, false, warn or null, found 'maybe'"),
    ],
)
def test_values_out_of_range_of_what_stands_around_a_run(refused, override, expected):
    line = refused(*SHORT, "callbacks=[default,averaging]", "logger=wandb", "logger.wandb.offline=true", override)
    assert expected in line and line.startswith(override.split("=")[0].split(".")[0])


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["model=luong", "model.score=doot"], "model.score=doot: expected dot, scaled_dot,"),
        (["model.score=doot"], "found 'doot'; did you mean 'dot'?"),
        (["objective=scheduled_sampling", "objective.k=-1"], "objective.k=-1: expected a number from 0 on, found -1"),
        (["objective=scheduled_sampling", "objective.k=0.5"], "objective.decay=inverse_sigmoid needs k >= 1"),
        (["decoding.beam_size=0"], "decoding.beam_size=0: expected a whole number from 1 on, found 0"),
        (["decoding.nbest=9"], "decoding.nbest=9, beam_size=5: give at least 1, and no more than the beam holds"),
        (["regularizer=coverage", "regularizer.coverage.tau=0"], "regularizer.coverage.tau=0: expected a number above"),
        (["scheduler=noam", "scheduler.scheduler.warmup=0"], "scheduler.scheduler.warmup=0: expected a whole number"),
    ],
)
def test_what_is_built_when_the_data_are_prepared_is_refused_before(refused, overrides, expected):
    assert expected in refused(*RNNSEARCH, *overrides)


@pytest.mark.parametrize("key", ["start_from", "ckpt_path"])
def test_a_checkpoint_of_another_model(tmp_path, capfd, monkeypatch, key):
    monkeypatch.setenv("ZOO_CACHE", str(tmp_path / "cache"))
    told = {"model": {"_target_": "zoo.models.luong.Luong"}}
    torch.save({"zoo": {"format": 1}, "hyper_parameters": told, "state_dict": {}}, tmp_path / "luong.ckpt")
    assert launch([*SHORT, f"{key}=luong.ckpt"], tmp_path) == 2
    line = capfd.readouterr().err.splitlines()[-1]
    assert line.startswith(f"error: {key}: luong.ckpt holds the weights of another network, zoo.models.luong.Luong, ")
    assert [path.name for path in tmp_path.iterdir()] == ["luong.ckpt"]


@pytest.mark.parametrize(
    ("group", "code", "expected"),
    [
        (
            "model",
            "class Mine(:",
            "model._target_: it names {module}.Mine, which is not here: invalid syntax ({module}.py",
        ),
        ("model", "class Mine: pass", "{module}.Mine has no `attends`; add it as a class attribute"),
        ("model", "class Mine: attends = {{}}", "{module}.Mine has no `tasks`; add it as a class attribute"),
        ("task", "class Mine: name, headline = 'mine', ()", "{module}.Mine has no `monitors`"),
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


def test_folders_and_logs_of_the_users_own_are_not_removed(tmp_path):
    (tmp_path / "results/run").mkdir(parents=True)
    (tmp_path / "results/run/notes.log").write_text("mine")
    assert launch([*SHORT, "hydra.run.dir=results/run", "seed=-1"], tmp_path) == 2
    assert (tmp_path / "results/run/notes.log").read_text() == "mine"
    assert launch([*SHORT, "hydra.run.dir=results/new", "seed=-1"], tmp_path) == 2
    (tmp_path / "empty").mkdir()
    assert launch([*SHORT, "hydra.run.dir=empty/new", "seed=-1"], tmp_path) == 2
    assert not (tmp_path / "results/new").exists() and (tmp_path / "empty").is_dir()


def test_an_error_of_a_file_that_is_not_the_runs_keeps_its_traceback(tmp_path, monkeypatch):
    def broken(self):
        Path("/nowhere/at/all").read_text()

    monkeypatch.setattr("zoo.data.documents.yelp.Yelp.prepare_data", broken)
    with pytest.raises(FileNotFoundError, match="/nowhere/at/all"):
        launch([*SHORT, "hydra.run.dir=run"], tmp_path)


def test_a_metric_that_the_data_do_not_give_is_refused_before_training(tmp_path, capfd):
    """Reviews of one's own have no evidence, and so no attention recall."""
    rows = "".join(f'"text {n} is {"good" if n % 2 else "bad"}.",{n % 2}\n' for n in range(40))
    (tmp_path / "my.csv").write_text("text,label\n" + rows)
    own = ["data=documents", "data.path=my.csv", "data.text_column=text", "data.label_column=label"]
    words = [word for word in TINY if not word.startswith("data.sample")]
    assert launch([*words, *own, "task.monitor=val/attention_recall", "hydra.run.dir=run"], tmp_path) == 2
    assert "the validation of these data has no such metric" in capfd.readouterr().err
    assert not (tmp_path / "run/checkpoints").exists()


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


class Unrelated:
    def __init__(self, **anything):
        pass


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["~trainer"], "trainer has no _target_: it names nothing to build; choose one with trainer=NAME"),
        (["~model", "model.dropout=0.1"], "model.dropout: ~model removes the whole group; remove one of the two words"),
        (
            ["scheduler=step", "scheduler.scheduler.step_size=0"],
            "scheduler.scheduler.step_size=0: expected a whole number from 1 on, found 0",
        ),
        (["scheduler=cosine", "scheduler.scheduler.T_max=0"], "scheduler.scheduler.T_max=0: expected a whole number"),
        (
            ["trainer.max_epochs=null", "trainer.max_time=00:00:01:00"],
            "add trainer.max_epochs=N or trainer.max_steps=N",
        ),
        (
            ["model=luong", "data=multi30k", "decoding._target_=os.getcwd"],
            "decoding._target_: it names os.getcwd, which is not a class",
        ),
        (
            ["model=luong", "data=multi30k", "decoding._target_=tests.run.test_errors.Unrelated"],
            "tests.run.test_errors.Unrelated, which is not a subclass of Decoding; inherit from zoo.decoding.Decoding",
        ),
    ],
)
def test_refused_before_any_data_are_prepared(tmp_path, capfd, words, expected):
    assert launch(words, tmp_path) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("error: ") and expected in line
    assert not list(tmp_path.iterdir())


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


def test_the_bare_command_is_no_mistake(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr("zoo.run.train.train", trained.append)
    assert launch([], tmp_path) == 0
    assert [cfg.model._target_ for cfg in trained] == ["zoo.models.han.HAN"]


def test_more_batches_between_validations_than_there_are(tmp_path, capfd):
    assert launch([*SHORT, "trainer.val_check_interval=1000"], tmp_path) == 2
    said = capfd.readouterr().err.splitlines()[-1]
    assert said.startswith("error: trainer.val_check_interval: `val_check_interval` (1000) must be less")
