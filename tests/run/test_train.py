"""`python train.py` as a user starts it: what a run leaves, how it ends, and what its checkpoint is good for."""

import csv
import json
import re

import pytest
import torch

import zoo
from tests.run.programs import SHORT, TINY, TINY_PAIRS, Program, launch, result, saved
from zoo.models import HAN
from zoo.run import machine


def test_the_run_folder(finished):
    folder, _ = finished
    for name in ("train.log", "metrics.csv", "result.json", ".hydra/config.yaml", "confusion.png", "predictions.csv"):
        assert (folder / name).stat().st_size > 0, name
    assert {path.name for path in (folder / "checkpoints").iterdir()} == {"best.ckpt", "last.ckpt"}
    assert len(list((folder / "attention").glob("*.png"))) >= 4
    assert not list(folder.rglob("*.tmp"))


def test_result_json(finished):
    facts = result(finished[0])
    assert facts["model"] == "han" and facts["data"] == "yelp" and facts["task"] == "classification"
    assert facts["source"] == "sample: 121 generated reviews, seed 1"
    assert facts["sizes"] == {"train": 61, "val": 23, "test": 37}
    assert facts["seed"] == 1 and facts["epochs"] == 2 and facts["steps"] == 2 * 4 and facts["devices"] == 1
    assert facts["tags"] == ["a test"] and "trainer.max_epochs=2" in facts["overrides"]
    metrics = facts["metrics"]
    assert {"test/loss", "test/accuracy", "test/macro_f1", "test/attention_recall"} <= metrics.keys()
    right = metrics["test/accuracy"] * 37
    assert 0 <= right <= 37 and right == pytest.approx(round(right))
    assert facts["versions"]["torch"] in (torch.__version__, torch.__version__.split("+")[0])
    assert facts["wall_seconds"] > 0 and facts["examples_per_second"] > 0
    weights = torch.load(facts["checkpoint"], weights_only=True)["state_dict"]
    assert facts["parameters"] == sum(tensor.numel() for tensor in weights.values())


def test_the_table_says_what_ran_in_plain_words(finished):
    folder, done = finished
    facts = result(folder)
    lines = done.stdout
    assert "sample: 121 generated reviews, seed 1" in lines
    assert f"{facts['metrics']['test/accuracy']:.4f}" in lines
    assert f"{facts['parameters']:,}" in lines and "examples/s" in lines
    assert re.search(r"^Try it: zoo predict run/checkpoints/best\.ckpt '.+'$", lines, re.MULTILINE)


def test_metrics_csv_holds_training_and_validation(finished):
    rows = list(csv.DictReader((finished[0] / "metrics.csv").open()))
    for name in ("train/loss", "val/loss", "val/accuracy"):
        assert len([row for row in rows if row.get(name)]) == 2, name  # one per epoch


def test_the_checkpoint_alone_predicts(finished):
    texts = ["The food was great. The service was slow.", "...", ""]
    predictions = zoo.load(finished[0] / "checkpoints/best.ckpt")(texts)
    assert len(predictions) == 3
    first = predictions[0]
    assert [len(sentence.words) for sentence in first.sentences] == [5, 5]
    assert sum(first.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert first.label == max(first.probabilities, key=first.probabilities.get)
    assert sum(sentence.weight for sentence in first.sentences) == pytest.approx(1, abs=1e-5)
    for sentence in first.sentences:
        assert sum(sentence.word_weights) == pytest.approx(1, abs=1e-5)
    json.dumps([prediction.to_dict() for prediction in predictions])


def test_more_texts_than_a_batch_keep_their_words_and_order(finished):
    predictor, texts = zoo.load(finished[0] / "checkpoints/best.ckpt"), ["One.", "Two or three.", "Four."]
    predictor.batch_size = 2
    found = [[sentence.words for sentence in prediction.sentences] for prediction in predictor(texts)]
    assert found == [[("One", ".")], [("Two", "or", "three", ".")], [("Four", ".")]]


def test_loading_reproduces_the_tested_accuracy(finished, tmp_path):
    folder, _ = finished
    again = ["train=false", f"ckpt_path={folder}/checkpoints/best.ckpt", "hydra.run.dir=again"]
    assert launch([*SHORT, "data.text.minimum_frequency=1", *again], tmp_path) == 0
    again, before = result(tmp_path / "again"), result(folder)
    assert again["metrics"] == before["metrics"] and again["steps"] == 0


@pytest.mark.parametrize("how", ["text", "stdin"])
def test_zoo_predict(finished, program_env, tmp_path, how):
    words = ["-m", "zoo", "predict", str(finished[0] / "checkpoints/best.ckpt")]
    words += ["--json"] if how == "stdin" else ["The food was great."]
    done = Program(words, tmp_path, program_env, "One.\n\nTwo.\n" if how == "stdin" else "")
    assert done.wait() == 0, done.stderr
    if how == "stdin":
        assert [line == "null" for line in done.stdout.splitlines()] == [False, True, False]
    else:
        assert "The food was great" in done.stdout and "star" in done.stdout


def test_mixed_precision_compiled_in_place(tmp_path, monkeypatch):
    types, compiled, read = set(), [], HAN.forward

    def forward(network, batch):
        output = read(network, batch)
        types.add(output.logits.dtype)
        return output

    monkeypatch.setattr(HAN, "forward", forward)
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module: compiled.append(type(module).__name__))
    words = ["trainer=fast", "trainer.precision=bf16-mixed", "compile=true", "hydra.run.dir=run"]
    assert launch([*SHORT, *words], tmp_path) == 0
    assert types == {torch.bfloat16} and compiled == ["HAN"]
    assert zoo.load(tmp_path / "run/checkpoints/last.ckpt")(["fine"])


def test_a_pattern_that_fits_two_checkpoints_is_not_taken_for_texts(refusal):
    said = refusal("predict", "a/best.ckpt", "b/best.ckpt", "some text").err
    assert "expected one checkpoint, found a/best.ckpt, b/best.ckpt" in said


STOPPING = [*TINY, "callbacks=[checkpoint,early_stopping]", "hydra.run.dir=run"]  # 4 steps per epoch


def validations(folder):
    with (folder / "metrics.csv").open() as file:
        return [int(row["step"]) + 1 for row in csv.DictReader(file) if row.get("val/loss")]


@pytest.mark.parametrize(
    ("override", "steps"),
    [
        ("trainer.max_steps=10", [4, 8, 10]),  # where torch's OneCycleLR divides by zero
        ("trainer.val_check_interval=3", [3, 7, 11, 15, 16]),
    ],
)
def test_the_last_step_is_validated(tmp_path, override, steps):
    assert launch([*STOPPING, override], tmp_path) == 0
    run = tmp_path / "run"
    assert validations(run) == steps
    assert result(run)["steps"] == saved(run)["global_step"] == steps[-1]
    assert saved(run, "best")["global_step"] in steps
    assert result(run)["checkpoint"].endswith("best.ckpt")


def test_without_validation_the_last_weights_are_kept_and_tested(tmp_path, capfd):
    """And a rate that follows the validation stays, which the log says."""
    without = ["scheduler=plateau", "trainer.limit_val_batches=0", "trainer.max_epochs=2"]
    assert launch([*STOPPING, *without], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert facts["checkpoint"].endswith("last.ckpt") and facts["score"] is None
    assert saved(tmp_path / "run")["global_step"] == 8 and "test/accuracy" in facts["metrics"]
    lines = capfd.readouterr().out.splitlines()
    for said in ("nothing was validated", "it follows val/accuracy; without a validation the learning rate stays"):
        assert len([line for line in lines if said in line]) == 1, said


@pytest.mark.parametrize(("tiny", "metric"), [(TINY, "accuracy"), (TINY_PAIRS, "exact_match")])
def test_debug_overfit_says_whether_its_batches_are_known_by_heart(tmp_path, capfd, tiny, metric):
    """The metric on the training batches is what this mode is for."""
    quick = ["trainer.max_epochs=3"] if tiny is TINY_PAIRS else ["optimizer.lr=0.05"]
    assert launch([*tiny, "debug=overfit", "callbacks=none", *quick, "hydra.run.dir=run"], tmp_path) == 0
    metrics, said = result(tmp_path / "run")["metrics"], capfd.readouterr().out
    assert {"train/loss", f"train/{metric}"} <= metrics.keys()
    assert f"train/{metric}" in said and not any(name.startswith("val/") for name in metrics)
    if tiny is TINY:
        with (tmp_path / "run/metrics.csv").open() as file:
            losses = [float(row["train/loss"]) for row in csv.DictReader(file) if row.get("train/loss")]
        assert losses[-1] < 0.1 * losses[0] and metrics["train/accuracy"] == 1


def test_the_time_is_counted_by_phase_from_the_start_of_the_program(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(machine.Stopwatch, "_first", True)
    monkeypatch.setattr(machine, "seconds_running", lambda: 1000.0)  # before the run began
    assert launch([*STOPPING, "trainer.max_epochs=1"], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert facts["phases"]["imports"] == 1000 and facts["wall_seconds"] > 1000
    assert set(facts["phases"]) == {"imports", "data", "training", "validation and test", "pictures", "other"}
    assert sum(facts["phases"].values()) == pytest.approx(facts["wall_seconds"], abs=0.05)
    assert json.loads((tmp_path / "run/result.json").read_text())["phases"]["training"] > 0
    assert "wall time" in (said := capfd.readouterr().out) and "imports" in said and "pictures" in said
    assert "1 epoch," in said
