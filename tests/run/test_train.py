"""`python train.py` as a user starts it: what a run leaves, and what its checkpoint is good for."""

import csv
import json
import re

import pytest
import torch

import zoo
from tests.run.programs import SHORT, Program, launch, result
from zoo.models import HAN


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
    assert 0 <= metrics["test/accuracy"] <= 1 and metrics["test/accuracy"] * 37 == pytest.approx(
        round(metrics["test/accuracy"] * 37)
    )
    assert (
        facts["versions"]["torch"] == torch.__version__.split("+")[0] or facts["versions"]["torch"] == torch.__version__
    )
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
    predictions = zoo.load(finished[0] / "checkpoints/best.ckpt")(
        ["The food was great. The service was slow.", "...", ""]
    )
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
