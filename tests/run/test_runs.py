"""`zoo runs` and `zoo compare`: finished, stopped, failed and killed runs, damaged files, and what differs."""

import json
import math
import os
import signal

import pytest

from tests.run.programs import SHORT, TINY, launch
from tests.visualize.reading import CHROMIUM, EVIL, Page, browse
from zoo.cli import main
from zoo.run.comparison import best_columns, differing, names, read_all
from zoo.run.record import read_run
from zoo.tasks import Classification

RESULT = {
    "model": "han", "data": "yelp", "task": "classification", "source": "sample", "seed": 1, "epochs": 4, "steps": 80,
    "parameters": 1234, "wall_seconds": 9.5, "monitor": "val/accuracy", "mode": "max", "score": 0.5,
    "modes": {"loss": "min", "accuracy": "max"}, "headline": ["test/accuracy", "test/macro_f1"],
    "metrics": {"test/accuracy": 0.5, "test/loss": 1.5}, "overrides": ["optimizer.lr=0.01"],
}  # fmt: skip
CSV = "epoch,step,train/loss,val/accuracy,val/loss\n0,9,1.0,,\n0,9,,0.25,2\n1,19,0.5,,\n1,19,,0.75,nan\n"
HYDRA = """hydra:
  runtime: {choices: {model: ntm, data: copy_bits, task: algorithmic}}
  overrides: {task: [optimizer.lr=0.02]}
"""
CONFIG = "seed: 3\ntask: {monitor: val/accuracy}\noptimizer: {lr: 0.02, eps: 0.1}\n"


def finished(folder, csv=CSV, **changed):
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(RESULT | changed))
    if csv:
        (folder / "metrics.csv").write_text(csv)
    return folder


def killed(folder, csv=CSV):
    (folder / ".hydra").mkdir(parents=True)
    (folder / ".hydra/hydra.yaml").write_text(HYDRA)
    (folder / ".hydra/config.yaml").write_text(CONFIG)
    if csv:
        (folder / "metrics.csv").write_text(csv)
    return folder


def listed(capsys, *words):
    capsys.readouterr()
    main(["runs", *map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_the_best_run_is_last_whatever_the_direction(tmp_path, capsys):
    for name, (accuracy, loss) in {"a": (0.7, 0.3), "b": (0.9, 0.4), "c": (None, 0.1), "d": (0.8, 0.2)}.items():
        metrics = {"test/accuracy": accuracy, "test/loss": loss}
        finished(tmp_path / f"2026-01-0{ord(name) - 96}_00-00-00-0" / name, metrics=metrics, score=accuracy)
    order = {by: "".join(run["folder"][-1] for run in listed(capsys, tmp_path, "--sort", by)) for by in
             ("accuracy", "test/accuracy", "loss", "score", "model")}  # fmt: skip
    assert order == {"accuracy": "cadb", "test/accuracy": "cadb", "loss": "badc", "score": "cadb", "model": "abcd"}


def test_the_jobs_of_sweeps_are_listed_by_time_and_the_folders_of_a_run_are_not_searched(tmp_path, capsys):
    for place in ("han_yelp/2026-02-01_12-00-00-1", "sweeps/2026-01-01_12-00-00-1/0"):
        run = finished(tmp_path / place)
        (run / "checkpoints").mkdir()
        (run / "checkpoints/result.json").write_text(json.dumps(RESULT))
    os.utime(tmp_path / "sweeps/2026-01-01_12-00-00-1/0/result.json", (0, 0))
    found = listed(capsys, tmp_path)
    assert [run["time"][:4] for run in found] == ["1970", "2026"] and found[1]["time"] == "2026-02-01 12:00:00"


def test_a_killed_run_has_its_last_validation(tmp_path, capsys):
    (run,) = listed(capsys, killed(tmp_path / "x"))
    assert (run["state"], run["model"], run["data"], run["seed"]) == ("unfinished", "ntm", "copy_bits", 3)
    assert (run["metrics"], run["score"]) == ({"val/accuracy": 0.75, "val/loss": None}, 0.75)
    assert (run["epochs"], run["steps"], run["overrides"]) == (2, 20, ["optimizer.lr=0.02"])
    main(["runs", str(tmp_path)])
    line = next(line for line in capsys.readouterr().out.splitlines() if "copy_bits" in line)
    assert "val: accuracy 0.75" in line and "unfinished" in line


def test_a_run_is_finished_stopped_or_failed_as_it_ended(tmp_path, capsys, monkeypatch):
    """A stopped run that was resumed in its own folder is listed as finished."""
    step = Classification.training_step

    def asked(self, batch, batch_idx):
        if self.global_step == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(Classification, "training_step", asked)
        for folder in ("stopped", "resumed"):
            assert launch([*SHORT, f"hydra.run.dir=logs/{folder}"], tmp_path) == 128 + signal.SIGTERM
    assert launch([*SHORT, "hydra.run.dir=logs/resumed", "ckpt_path=logs/resumed"], tmp_path) == 0
    diverging = ["optimizer=sgd", "optimizer.lr=1e30", "trainer.gradient_clip_val=null", "trainer.log_every_n_steps=1"]
    assert launch([*TINY, "callbacks=[checkpoint,steps]", *diverging, "hydra.run.dir=logs/failed"], tmp_path) == 2
    assert launch([*SHORT, "model.dropout=7", "hydra.run.dir=logs/refused"], tmp_path) == 2
    states = {os.path.basename(run["folder"]): run for run in listed(capsys, tmp_path / "logs")}
    assert {name: run["state"] for name, run in states.items()} == {
        "stopped": "stopped", "resumed": "finished", "failed": "failed"
    }  # fmt: skip
    assert "the loss is" in states["failed"]["error"] and "SIGTERM" in states["stopped"]["error"]


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("{", "cannot be read as JSON"),
        ("[1]", "expected an object, found list"),
        (json.dumps(RESULT | {"metrics": 3}), "metrics: expected dict, found 3"),
        (json.dumps({"model": "han"}), "data: expected str, found nothing"),
        (json.dumps(RESULT | {"metrics": {"test/a": "x"}}), "metrics.test/a: expected a number or null, found 'x'"),
        (json.dumps(RESULT | {"score": True}), "score: expected int or float or NoneType, found True"),
    ],
)
def test_a_damaged_file_is_one_line_and_the_other_runs_are_listed(tmp_path, capsys, content, note):
    finished(tmp_path / "good")
    (finished(tmp_path / "bad") / "result.json").write_text(content)
    main(["runs", str(tmp_path), "--json"])
    printed = capsys.readouterr()
    assert [run["folder"] for run in json.loads(printed.out)] == [str(tmp_path / "good")]
    assert printed.err == f"note: left out: {tmp_path / 'bad/result.json'}: {note}\n" or (
        note == "cannot be read as JSON" and note in printed.err and printed.err.count("\n") == 1
    )


def test_damaged_files_of_hydra_and_metrics_are_one_line_each(tmp_path, capsys):
    (killed(tmp_path / "a") / ".hydra/hydra.yaml").write_text("a: [")
    (killed(tmp_path / "b") / ".hydra/config.yaml").write_text("- 1")
    killed(tmp_path / "c", "step,a\nx,1\ny,2\n")
    killed(tmp_path / "d", "")
    main(["runs", str(tmp_path), "--json"])
    printed = capsys.readouterr()
    assert [os.path.basename(run["folder"]) for run in json.loads(printed.out)] == ["d"]
    lines = printed.err.splitlines()
    assert len(lines) == 3 and "hydra.yaml: cannot be read as YAML" in lines[0]
    assert "config.yaml: expected keys with values, found list" in lines[1] and "metrics.csv:2: expected" in lines[2]


def test_wrong_words_are_one_line(tmp_path, refusal):
    assert "folder not found" in refusal("runs", tmp_path / "x").err
    assert "no runs in it" in refusal("runs", tmp_path).err
    finished(tmp_path / "a")
    err = refusal("runs", tmp_path, "--sort", "acuracy").err
    assert err == "error: --sort acuracy: no run has such a metric; did you mean accuracy?\n"
    assert "val/accuracy: no run" in refusal("runs", tmp_path, "--sort", "val/accuracy").err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "neither result.json nor metrics.csv" in refusal("compare", empty).err
    assert f"runs are below it, e.g. {tmp_path / 'a'}" in refusal("compare", tmp_path).err
    assert "folder not found" in refusal("compare", tmp_path / "x").err
    bare = finished(tmp_path / "bare", csv="")
    err = refusal("compare", tmp_path / "a", bare, "--picture", tmp_path / "x.png").err
    assert err == f"error: {bare / 'metrics.csv'}: file not found; a run writes it with logger=csv, the default\n"


def test_what_differs_between_runs(tmp_path):
    """A key that one run does not override has the value of its configuration."""
    one = finished(tmp_path / "a", overrides=["model=han", "optimizer.eps=0.2", "optimizer.lr=0.02", "seed=3"])
    runs = read_all([one, killed(tmp_path / "b")])
    assert {key: values for key, *values in differing(runs)} == {
        "model": ["han", "ntm"], "data": ["yelp", "copy_bits"], "optimizer.eps": ["0.2", "0.1"]
    }  # fmt: skip
    assert names(runs) == ["han, yelp, optimizer.eps=0.2", "ntm, copy_bits, optimizer.eps=0.1"]
    assert names([runs[0], runs[0]]) == [os.path.relpath(one)] * 2


def test_the_best_is_marked_by_its_direction():
    assert best_columns([0.1, None, 0.3], "max") == {2} and best_columns([0.1, None, 0.3], "min") == {0}
    assert best_columns([0.3, 0.1, 0.3], "max") == {0, 2}
    assert (
        best_columns([0.3, 0.3], "max") == best_columns([0.3, None], "max") == best_columns([1.0, 2.0], None) == set()
    )


def test_metrics_side_by_side(tmp_path, capsys):
    one = finished(tmp_path / "a")
    two = finished(tmp_path / "b", metrics={"test/accuracy": 0.25, "test/loss": 1.25}, overrides=["optimizer.lr=0.1"])
    other = finished(tmp_path / "c", data="imdb", metrics={"test/accuracy": 0.9})
    main(["compare", str(one), str(two)])
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert rows["test/accuracy"] == ["*0.5", "0.25"] and rows["test/loss"] == ["1.5", "*1.25"]
    assert rows["optimizer.lr"] == ["0.01", "0.1"] and rows["parameters"] == ["1,234", "1,234"]
    main(["compare", str(one), str(other)])
    assert "*" not in capsys.readouterr().out, "metrics of different data are not compared"


def test_a_picture_and_a_page_of_runs_one_of_them_killed(tmp_path, capsys):
    evil = EVIL[0].replace("/", "")
    runs = [finished(tmp_path / "a", overrides=[f"tags=[{evil}]"]), killed(tmp_path / "b")]
    files = ["--picture", str(tmp_path / "new/c.png"), "--html", str(tmp_path / "new/c.html")]
    main(["compare", *map(str, runs), *files])
    assert all((folder / "curves.png").is_file() for folder in runs), "they had none yet"
    assert (tmp_path / "new/c.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "new/c.html").read_text()
    page = Page(text)
    assert page.obeys_nothing() and "training loss" in text and "accuracy" in text
    assert any(evil in cell for cell in page.texts("td")), "shown, and not obeyed"
    if CHROMIUM:
        assert "<title>run</title>" not in browse(tmp_path, text, "--dump-dom")


def test_a_run_without_a_step_is_listed_and_a_run_without_validation_too(tmp_path):
    assert math.isclose(read_run(killed(tmp_path / "a", "epoch,step,train/loss\n0,9,1.5\n")).epochs, 1)
    bare = read_run(killed(tmp_path / "b", ""))
    assert (bare.epochs, bare.metrics, bare.score) == (None, {}, None)


def test_a_finished_run_as_it_is_written_can_be_listed_and_compared(tmp_path, capsys):
    words = [*TINY, "callbacks=[checkpoint,steps]", "trainer.max_epochs=1", "logger=csv"]
    assert launch([*words, "hydra.run.dir=run"], tmp_path) == 0
    (run,) = listed(capsys, tmp_path)
    assert run["state"] == "finished" and run["headline"] == ["accuracy", "macro_f1", "attention_recall"]
    assert read_run(tmp_path / "run").modes["accuracy"] == "max"
    main(["compare", str(tmp_path / "run")])
    assert (tmp_path / "run/curves.png").is_file() and "test/accuracy" in capsys.readouterr().out
