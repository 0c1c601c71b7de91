"""Checkpoint files: whole or not at all, plain data only, clear errors."""

import errno
import os
import shutil
import socket
import subprocess
import sys
import zipfile

import pytest
import torch
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st

import zoo
from tests.run.programs import SHORT, launch
from zoo.data.documents.yelp import Yelp
from zoo.errors import CheckpointError, ConfigError
from zoo.run.checkpoint import load, read_checkpoint
from zoo.run.checkpoint_io import AtomicCheckpointIO
from zoo.run.compose import override
from zoo.run.folder import find_last, remove_leftovers, resolve
from zoo.tasks import Classification

CONTENT = {"zoo": {"format": 1}, "state_dict": {"w": torch.arange(3.0)}}


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, monkeypatch, where):
    path = tmp_path / "a.ckpt"
    AtomicCheckpointIO().save_checkpoint(CONTENT, path)
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, where, full)
    with pytest.raises(CheckpointError, match=r"a\.ckpt.*No space left on device.*last good one, unchanged"):
        AtomicCheckpointIO().save_checkpoint({"zoo": {"format": 1}, "other": 1}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ckpt"]


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = socket.gethostname()
    gone = [f".last.ckpt.{ended.pid}.tmp", f".last.ckpt.{here}-{ended.pid}.tmp"]
    kept = [f".last.ckpt.{here}-{os.getpid()}.tmp", f".last.ckpt.elsewhere-{ended.pid}.tmp", ".mine.tmp", "last.ckpt"]
    for name in (*gone, *kept):
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


def test_a_write_that_fails_in_the_middle_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    import signal

    path = tmp_path / "a.ckpt"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(CheckpointError, match="could not write"):
            AtomicCheckpointIO().save_checkpoint({"zoo": {"format": 1}, "w": torch.zeros(100_000)}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"hydra\.run\.dir"):
        AtomicCheckpointIO().save_checkpoint(CONTENT, tmp_path / "file" / "a.ckpt")


def cut_short(path):
    AtomicCheckpointIO().save_checkpoint(CONTENT, path)
    path.write_bytes(path.read_bytes()[:200])


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: None, "no such checkpoint"),
        (cut_short, "not a readable checkpoint"),
        (lambda path: path.write_text("hello"), "not a readable checkpoint"),
        (lambda path: torch.save(torch.nn.Linear(1, 1), path), "not plain data"),
        (lambda path: torch.save({"state_dict": {}}, path), "not written by attention-zoo"),
        (lambda path: torch.save({"zoo": {"format": 99}}, path), "format 99; this version reads format 1"),
    ],
)
def test_a_file_that_is_not_a_checkpoint(tmp_path, write, message):
    """A pickled module is not run."""
    write(tmp_path / "a.ckpt")
    with pytest.raises(CheckpointError, match=rf"a\.ckpt: .*{message}"):
        zoo.load(tmp_path / "a.ckpt")


def test_what_a_run_was_trained_by_is_not_called_to_predict(translated, tmp_path):
    """A checkpoint of someone else's may name anything there."""
    content = torch.load(translated / "checkpoints/last.ckpt", weights_only=True)
    called = {"_target_": "pathlib.Path.mkdir", "self": {"_target_": "pathlib.Path", "_args_": [str(tmp_path / "no")]}}
    content["hyper_parameters"] |= {"objective": called, "regularizer": {"any": called}}
    torch.save(content, tmp_path / "a.ckpt")
    assert len(load(tmp_path / "a.ckpt")(["ein Hund"])) == 1
    assert not (tmp_path / "no").exists()
    content["hyper_parameters"]["decoding"] = called
    torch.save(content, tmp_path / "a.ckpt")
    with pytest.raises(CheckpointError, match=r"a checkpoint may not import pathlib.Path.mkdir"):
        load(tmp_path / "a.ckpt")
    assert not (tmp_path / "no").exists()
    instantiate(called)
    assert (tmp_path / "no").exists()  # it would have been


@pytest.mark.parametrize("damage", ["one bit", "a block of zeros"])
def test_a_changed_byte_anywhere_in_the_content_is_found(tmp_path, damage):
    path = tmp_path / "a.ckpt"
    AtomicCheckpointIO().save_checkpoint({**CONTENT, "w": torch.ones(4096)}, path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as parts:
        places = [part.header_offset + 300 + part.file_size // 2 for part in parts.infolist() if part.file_size > 600]
    assert places
    for place in places:
        broken = bytearray(whole)
        if damage == "one bit":
            broken[place] ^= 1
        else:
            broken[place : place + 64] = bytes(64)
        path.write_bytes(broken)
        with pytest.raises(CheckpointError, match=r"a\.ckpt: not a readable checkpoint: damaged"):
            read_checkpoint(path)


def test_the_checksums_of_a_file_are_looked_at_once(tmp_path, monkeypatch):
    AtomicCheckpointIO().save_checkpoint(CONTENT, tmp_path / "a.ckpt")
    looked, testzip = [], zipfile.ZipFile.testzip
    monkeypatch.setattr(zipfile.ZipFile, "testzip", lambda file: looked.append(1) or testzip(file))
    for _ in range(3):
        read_checkpoint(tmp_path / "a.ckpt")
    assert len(looked) == 1
    AtomicCheckpointIO().save_checkpoint({**CONTENT, "more": 1}, tmp_path / "a.ckpt")
    read_checkpoint(tmp_path / "a.ckpt")
    assert len(looked) == 2


def trained(folder):
    """A checkpoint of a small network that was not trained."""
    data = Yelp(sample={"train": 60, "val": 20, "test": 20}, text={"minimum_frequency": 1})
    data.prepare_data()
    data.setup("fit")
    model = {"_target_": "zoo.models.HAN", "embedding_dim": 4, "word_hidden_dim": 2, "dropout": 0.5}
    task = Classification(model=model, monitor="val/accuracy", mode="max")
    task.build(data.spec, data.encoder)
    content = {"state_dict": task.state_dict(), "hyper_parameters": dict(task.hparams)}
    task.on_save_checkpoint(content)
    AtomicCheckpointIO().save_checkpoint(content, folder / "checkpoints/best.ckpt")
    return folder / "checkpoints/best.ckpt", content


def test_a_run_stands_for_its_checkpoint(tmp_path, monkeypatch):
    path, _ = trained(tmp_path / "logs/han_yelp/today")
    said = [prediction.to_dict() for prediction in zoo.load(path)(["Good."])]
    for way in (path, path.parent, path.parent.parent):
        assert [prediction.to_dict() for prediction in zoo.load(way)(["Good."])] == said
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="last: no run under logs"):
        zoo.load("last")
    (path.parent / "last.ckpt").write_text("of the same run")
    assert resolve("last").samefile(path)
    assert resolve(path.parent.parent, prefer="last") == path.parent / "last.ckpt"
    with pytest.raises(CheckpointError, match=f"give that of one run, such as {path.parent.parent}"):
        resolve(path.parent.parent.parent)
    with pytest.raises(CheckpointError, match="a folder without"):
        resolve(tmp_path)


def test_a_flipped_letter_in_the_name_of_a_hyperparameter_is_one_line(tmp_path):
    path, content = trained(tmp_path)
    model = content["hyper_parameters"]["model"]
    model["word_hiddem_dim"] = model.pop("word_hidden_dim")
    AtomicCheckpointIO().save_checkpoint(content, path)
    message = r"best\.ckpt: its hyperparameters do not fit HAN: .*word_hiddem_dim"
    with pytest.raises(CheckpointError, match=message) as caught:
        zoo.load(path)
    assert "\n" not in str(caught.value)


FOREIGN = "a checkpoint may not import venv.__main__.Mine"
UNLIKE = "differs from those that a run writes"


@pytest.mark.parametrize(
    ("lose", "expected"),
    [
        (lambda one: one.pop("hyper_parameters"), "it has no 'hyper_parameters'"),
        (lambda one: one["zoo"].pop("encoder"), "it has no 'encoder'"),
        (lambda one: one["zoo"].pop("format"), "checkpoint format None"),
        (lambda one: one["zoo"]["spec"].pop("classes"), "its spec does not fit: .*'classes'"),
        (
            lambda one: one["zoo"]["spec"].update(unknown="1"),
            "its spec does not fit: unknown=1: expected a whole number",
        ),
        (lambda one: one["zoo"]["spec"].update(classes=[1]), "its spec does not fit: classes="),
        (lambda one: one["zoo"].update(spec=[1]), f"its spec or encoder {UNLIKE}"),
        (lambda one: one["zoo"].update(encoder="text"), f"its spec or encoder {UNLIKE}"),
        (lambda one: one["zoo"].update(encoder_class="builtins.int"), "builtins.int is not a sub"),
        (lambda one: one.update(zoo="text"), "not written by attention-zoo"),
        (lambda one: one.update(hyper_parameters=[1]), "its parts differ from those that a run"),
        (lambda one: one["hyper_parameters"].update(model="han"), "its parts differ from those"),
        (lambda one: one.update(state_dict=[1]), "its parts differ from those that a run"),
        (lambda one: one.update(lr_schedulers=3, optimizer_states=[1]), "its parts differ from those that a run"),
        (lambda one: one["zoo"].update(predicting="venv.__main__.Mine"), FOREIGN),
        (lambda one: one["zoo"].update(predicting="zoo.data.batch.Encoder"), "zoo.data.batch.Encoder is not a sub"),
        (lambda one: one["zoo"].pop("predicting") and one["zoo"].update(task="venv.__main__.Mine"), FOREIGN),
        (lambda one: one["hyper_parameters"]["model"].update(_target_="venv.__main__.Mine"), FOREIGN),
    ],
)
def test_a_part_that_is_missing_is_one_line(tmp_path, lose, expected):
    path, content = trained(tmp_path)
    lose(content)
    AtomicCheckpointIO().save_checkpoint(content, path)
    with pytest.raises(CheckpointError, match=rf"best\.ckpt: {expected}"):
        zoo.load(path)


def test_a_checkpoint_without_the_optimizers_predicts_and_cannot_be_continued(tmp_path, capfd):
    """As by someone who removed them to share a smaller file."""
    path, content = trained(tmp_path)
    content["hyper_parameters"]["model"]["_target_"] = "zoo.models.han.HAN"
    content["lr_schedulers"] = [{"_schedule_phases": [], "total_steps": 9}]
    AtomicCheckpointIO().save_checkpoint(content, path)
    assert len(zoo.load(path)(["Good."])) == 1
    assert launch([*SHORT, f"ckpt_path={path}"], tmp_path) == 2
    line = capfd.readouterr().err.splitlines()[-1]
    assert line.startswith(f"error: ckpt_path: {path} has no optimizer_states, loops, epoch or global_step, so its")
    assert f"start_from={path} begins a new training" in line


def test_a_loaded_network_is_in_evaluation_and_takes_any_input(tmp_path):
    path, _ = trained(tmp_path)
    predictor = zoo.load(path)
    assert predictor(["Good. Bad."])[0].probabilities == predictor(["Good. Bad."])[0].probabilities  # dropout 0.5
    read = []
    encode, display = predictor.encoder, lambda self, one: read.append(one) or [["a"]]
    call = lambda self, chunk: encode(["a"] * len(chunk))  # noqa: E731
    predictor.encoder = type("Numbers", (), {"display": display, "__call__": call})()
    assert len(predictor([3, (4, 5)])) == 2 and read == [3, (4, 5)]


def run_of(folder, age, model="han", data="yelp", overrides=()):
    (folder / "checkpoints").mkdir(parents=True)
    (folder / ".hydra").mkdir()
    choices = {"model": model, "data": data}
    (folder / ".hydra/hydra.yaml").write_text(yaml.safe_dump({"hydra": {"runtime": {"choices": choices}}}))
    (folder / ".hydra/overrides.yaml").write_text(yaml.safe_dump([*overrides]))
    if "sweeps" in folder.parts:
        (folder.parent / "multirun.yaml").write_text("")
    (folder / "checkpoints/last.ckpt").write_text("")
    os.utime(folder / "checkpoints/last.ckpt", (1000 - age, 1000 - age))
    return folder / "checkpoints/last.ckpt"


def test_last_is_the_newest_of_this_model_and_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "logs/han_yelp/now"
    with pytest.raises(CheckpointError, match="no earlier run of model=han data=yelp"):
        find_last("han", "yelp", own, [])
    found = {
        name: run_of(tmp_path / name, age)
        for age, name in [(9, "logs/han_yelp/old"), (8, "logs/sweeps/x/0"), (7, "logs/han_yelp/new")]
    }
    run_of(tmp_path / "logs/luong_yelp/a", 1, model="luong")
    run_of(tmp_path / "logs/han_imdb/a", 1, data="imdb")
    assert find_last("han", "yelp", own, []) == found["logs/han_yelp/new"]
    run_of(tmp_path / "logs/sweeps/x/1", 3)
    assert find_last("han", "yelp", own, []).parent.parent.name == "1"


def test_last_is_looked_for_beside_a_folder_of_ones_own_but_not_below(tmp_path, monkeypatch):
    """Only folders directly beside the run are searched, since its parent may be all of /tmp."""
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path / "runs/deep/down", 1)
    with pytest.raises(CheckpointError, match="no earlier run"):
        find_last("han", "yelp", tmp_path / "runs/b", [])
    before = run_of(tmp_path / "runs/a", 5)
    assert find_last("han", "yelp", tmp_path / "runs/b", []) == before
    assert find_last("han", "yelp", tmp_path / "runs/a", []) == before  # the same folder again


def test_every_rank_is_told_which_checkpoint_was_found(finished, tmp_path, monkeypatch):
    """The other ranks repeat the first one's `sys.argv`; a checkpoint of another run may be written meanwhile."""
    earlier, told = "runs/it's, the=first [one]", []
    shutil.copytree(finished[0], tmp_path / earlier)

    def no_further(cfg):
        told.extend(OverridesParser.create().parse_overrides(sys.argv[1:]))
        raise ConfigError("seen enough")

    monkeypatch.setattr("zoo.run.train.build", no_further)
    assert launch([*SHORT, "hydra.run.dir=runs/second", "ckpt_path=last"], tmp_path) == 2
    assert [word.value() for word in told if word.key_or_group == "ckpt_path"] == [
        "last",
        str(tmp_path / earlier / "checkpoints/last.ckpt"),
    ]


@given(st.text(st.characters(exclude_characters="\x00\r\n$", exclude_categories=["Cs"])))
def test_any_text_comes_back_from_an_override(text):
    (read,) = OverridesParser.create().parse_overrides([override("ckpt_path", text)])
    assert read.value() == text


def test_a_job_of_a_sweep_goes_on_with_the_job_that_was_told_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [run_of(tmp_path / f"logs/sweeps/a/{n}", 5 - n, overrides=[f"seed={n}", "model=han"]) for n in range(3)]
    for number, job in enumerate(jobs):
        told = ["model=han", f"seed={number}", "ckpt_path=last", "train=false", "trainer.max_epochs=9", "logger=wandb"]
        assert find_last("han", "yelp", tmp_path / f"logs/sweeps/b/{2 - number}", told) == job
        assert find_last("han", "yelp", tmp_path / "logs/han_yelp/a", told) == job
    with pytest.raises(CheckpointError, match="no earlier run"):
        find_last("han", "yelp", tmp_path / "logs/han_yelp/a", ["seed=9"])


def test_the_jobs_of_one_sweep_do_not_resume_from_each_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    earlier, own = run_of(tmp_path / "logs/sweeps/a/0", 5), run_of(tmp_path / "logs/sweeps/b/0", 1)
    (tmp_path / "logs/sweeps/b/multirun.yaml").write_text("")
    assert find_last("han", "yelp", tmp_path / "logs/sweeps/b/1", []) == earlier
    assert find_last("han", "yelp", tmp_path / "logs/sweeps/b/0", []) == own  # a job that was started again
