"""Mistakes at the command line, impossible sizes and parts that do not fit: one line, no traceback, exit code 2."""

import errno
import signal
import sys
from pathlib import Path

import pytest
import torch

from tests.run.programs import ROOT, SHORT, TINY, Program, launch, run
from zoo.cli import main
from zoo.data.documents.batch import DocumentSpec
from zoo.errors import ConfigError, Interrupted
from zoo.run import search_path
from zoo.run.check import check
from zoo.run.compose import compose
from zoo.run.messages import explain
from zoo.tasks.size import check_size


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
    if "wandb" in sys.modules:  # wandb keeps the settings that it started with
        sys.modules["wandb"].teardown()


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("modl=han", "did you mean model?"),
        ("seed=abc", "seed=abc: expected a whole number from 0 to 4294967295, found 'abc'"),
        ("ckpt_path=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("start_from=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("ckpt_path=last", "no earlier run of model=han data=yelp"),
        ("train=false", "set ckpt_path=PATH or ckpt_path=last"),
        ("data.source=/nowhere", "/nowhere"),
        ("hydra.run.dir=file/run", "hydra.run.dir"),
        ("hydra.run.dir=file", "file: File exists; choose another folder with hydra.run.dir=..."),
        ("hydra.searchpath=[a", "hydra.searchpath=[a: expected a list of folders, hydra.searchpath=[DIR,DIR]"),
        ("--config-dir=", "--config-dir=: expected a folder after it, found nothing"),
        ("logger=wandb", "wandb has no API key; run `wandb login` once, or set logger.wandb.offline=true"),
        ("model=han,luong", "model=han,luong: several values; for one run per value use -m model=han,luong"),
        ("optimizer.lr=0.1,0.2", "-m optimizer.lr=0.1,0.2"),
        pytest.param(
            "trainer.accelerator=gpu",
            "torch finds no GPU; use trainer=cpu",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU"),
        ),
        ("trainer.max_epochs=-2", "trainer: `max_epochs` must be"),
        ("trainer.devices=0", "trainer: `Trainer(devices=0)` value is not"),
        ("trainer.strategy=foo", "trainer: You selected an invalid strategy"),
        ("trainer.accelerator=foo", "trainer: You selected an invalid accelerator"),
        ("trainer.limit_train_batches=1.5", "trainer: You have passed invalid value 1.5 for limit_train_batches"),
        ("trainer.overfit_batches=-1", "trainer: You have passed invalid value -1 for overfit_batches"),
        ("trainer.gradient_clip_algorithm=foo", "trainer: `gradient_clip_algorithm` foo is invalid"),
        ("trainer.max_time=soon", "is not a valid duration"),
        ("trainer.profiler=foo", "trainer: When passing string value for the `profiler`"),
    ],
)
def test_one_line_and_no_folder(refused, override, expected):
    """One failure of each kind, from every stage of a run; test_messages.py has more mistakes of each kind."""
    assert expected in refused(*SHORT, override)


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
        ("model", "class Mine(:", "model._target_: {module}.Mine cannot be imported: invalid syntax ({module}.py"),
        ("model", "class Mine: pass", "{module}.Mine has no `attends`; add it as a class attribute"),
        ("model", "class Mine: attends = {{}}", "{module}.Mine has no `tasks`; add it as a class attribute"),
        ("task", "class Mine: name, headline = 'mine', ()", "{module}.Mine has no `monitors`"),
        ("task", "class Mine: name, headline, monitors = 'mine', (), {{'x': 'max'}}", "Mine has no `view`"),
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
    (tmp_path / "results/run/notes.txt").write_text("mine")
    assert launch([*SHORT, "hydra.run.dir=results/run", "seed=-1"], tmp_path) == 2
    assert {path.name for path in (tmp_path / "results/run").iterdir()} >= {"notes.log", "notes.txt"}
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
    """The user's own reviews have no known evidence, so attention recall is not computed."""
    rows = "".join(f'"text {n} is {"good" if n % 2 else "bad"}.",{n % 2}\n' for n in range(40))
    (tmp_path / "my.csv").write_text("text,label\n" + rows)
    own = ["data=documents", "data.path=my.csv", "data.text_column=text", "data.label_column=label"]
    words = [word for word in TINY if not word.startswith("data.sample")]
    assert launch([*words, *own, "task.monitor=val/attention_recall", "hydra.run.dir=run"], tmp_path) == 2
    assert "the validation of these data has no such metric" in capfd.readouterr().err
    assert not (tmp_path / "run/checkpoints").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "han"], "error: --model: unknown option; overrides have no dashes: model=han"),
        (["--model=han"], "overrides have no dashes: model=han"),
        (["-model", "han"], "overrides have no dashes: model=han"),
        (["--trainer.max_epochs", "3"], "overrides have no dashes: trainer.max_epochs=3"),
    ],
)
def test_overrides_with_dashes(tmp_path, capfd, words, expected):
    assert launch(words, tmp_path) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.parametrize(
    ("values", "said", "count"),
    [("seed=-1,-2", "error: seed=-", 2), ("model=hann,haan", "error: model=hann: unknown model; did you mean", 1)],
)
def test_a_sweep_of_refused_jobs_leaves_no_folder(tmp_path, capfd, values, said, count):
    """Nor does one of jobs that cannot be composed."""
    assert launch(["-m", *SHORT, values], tmp_path) == 2
    printed = capfd.readouterr()
    assert printed.err.count(said) == count and "Traceback" not in printed.err
    assert not list(tmp_path.iterdir())


ENDS = (2, "error: modl: unknown key; did you mean model?\n")


def test_a_program_ends_with_that_line_alone_and_with_its_code(program_env, tmp_path):
    done = Program(["-m", "zoo", "train", "modl=han"], tmp_path, program_env)
    assert (done.wait(), done.stderr) == ENDS
    started_anew = run([sys.executable, str(ROOT / "train.py"), "modl=han"], tmp_path, program_env)
    assert (started_anew.returncode, started_anew.stderr) == ENDS


def test_the_bare_command_is_no_mistake(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr("zoo.run.train.train", trained.append)
    assert launch([], tmp_path) == 0
    assert [cfg.model._target_ for cfg in trained] == ["zoo.models.han.HAN"]


@pytest.mark.parametrize("caught", [False, True])
def test_ctrl_c_outside_a_training_is_one_line(tmp_path, capfd, monkeypatch, caught):
    """Lightning catches it in a test, and ends the process."""

    def stopped(*arguments):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            if caught:
                sys.exit(1)
            raise

    monkeypatch.setattr("zoo.run.train.train", stopped)
    assert launch([], tmp_path) == 130
    assert capfd.readouterr().err.strip().startswith("stopped by Ctrl-C; to resume a training, run")
    monkeypatch.setattr("zoo.run.listing.catalogue_entries", stopped)
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    assert caught or (ended.value.code, capfd.readouterr().err) == (130, "\nstopped by Ctrl-C\n")


def test_more_batches_between_validations_than_there_are(tmp_path, capfd):
    assert launch([*SHORT, "trainer.val_check_interval=1000"], tmp_path) == 2
    said = capfd.readouterr().err.splitlines()[-1]
    assert said.startswith("error: trainer.val_check_interval: `val_check_interval` (1000) must be less")


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(*FULL.args, "/a/b.csv"), "error: /a/b.csv: the disk is full: make room"),
        (FULL, "error: the disk is full: make room"),
        (RuntimeError("can't allocate memory: you tried to allocate 80000000000 bytes. Error 12"), ": 80 GB were"),
        (RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [::1]:1"), "error: another process"),
    ],
)
def test_a_full_disk_too_little_memory_and_a_lost_rank_are_one_line(error, said):
    assert said in (explain(error, []) or "")


def test_another_error_of_torch_keeps_its_traceback():
    assert explain(RuntimeError("shape mismatch"), []) is None


def test_a_run_that_was_asked_to_end_is_not_an_error():
    said = "asked to end (Ctrl-C) at step 3: saved last.ckpt"
    assert explain(Interrupted(said, signal.SIGINT), []) == said


@pytest.mark.parametrize(
    "overrides", ["model=pointer_net data=tsp objective=reinforce_tour", "model=rntn data=sick data.parse=constituency"]
)
def test_what_fits_is_not_refused(overrides):
    check(compose(overrides.split()))


def test_a_network_of_large_data_is_refused_before_it_is_built(monkeypatch):
    """Its vocabulary is known only when the data are prepared."""
    monkeypatch.setattr("zoo.tasks.size.memory", lambda: 25e9)
    model = {"_target_": "zoo.models.HAN", "embedding_dim": 20_000}
    check_size(model, DocumentSpec(vocabulary_size=1000, classes=("a", "b")))
    before = torch.get_rng_state()
    with pytest.raises(ConfigError, match=r"model\.embedding_dim=20000: the network has 20,0"):
        check_size(model, DocumentSpec(vocabulary_size=10**6, classes=("a", "b")))
    assert torch.equal(torch.get_rng_state(), before)


class _Tied(torch.nn.Module):
    def __init__(self, spec, layers):
        super().__init__()
        self.first = torch.nn.Linear(1000, 1000, bias=False)
        for layer in range(layers):
            linear = torch.nn.Linear(1000, 1000, bias=False)
            linear.weight = self.first.weight
            setattr(self, f"layer{layer}", linear)


def test_tied_weights_count_once_in_any_number_of_layers(monkeypatch):
    """Each layer makes a matrix of 4 MB of its own, which the tied one replaces: never more than 8 MB at once."""
    monkeypatch.setattr("zoo.tasks.size.memory", lambda: 17e6)
    check_size({"_target_": f"{__name__}._Tied", "layers": 500}, DocumentSpec(vocabulary_size=10, classes=("a",)))
