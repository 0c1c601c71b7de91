"""`python train.py model=luong data=multi30k` and `zoo predict` on what it leaves, as a user runs them."""

import csv
import json

import pytest
import torch
from PIL import Image

import zoo
from tests.run.programs import TINY_PAIRS, launch, result
from zoo.cli import main

TINY = [*TINY_PAIRS, "trainer.max_epochs=2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One finished run with everything on."""
    where = tmp_path_factory.mktemp("translation")
    assert launch([*TINY, "regularizer=[coverage,entropy]", "hydra.run.dir=run"], where) == 0
    return where / "run"


@pytest.fixture
def checkpoint(folder):
    return str(folder / "checkpoints/best.ckpt")


def test_result_json(folder):
    facts = result(folder)
    assert facts["task"] == "translation"
    assert facts["sizes"] == {"train": 61, "val": 23, "test": 37}
    metrics = {name.removeprefix("test/") for name in facts["metrics"]}
    assert {"loss", "perplexity", "free_running_perplexity", "bleu", "token_bleu", "chrf", "exact_match"} <= metrics
    assert {"attention_recall", "attention_chance", "alignment_error_rate"} <= metrics
    assert "tok:13a" in facts["signatures"]["test/bleu"]


def test_pictures_and_table_of_predictions(folder):
    names = {path.name for path in (folder / "attention").glob("*.png")}
    assert {"val_epoch00_1.png", "val_epoch01_4.png", "test_1.png"} <= names
    rows = list(csv.DictReader((folder / "predictions.csv").open(encoding="utf-8")))
    assert len(rows) == 20
    assert all(row["reference"] and row["source"].endswith("</s>") for row in rows)
    assert not (folder / "confusion.png").exists()  # a translation has no classes


def test_training_logs_the_penalties(folder):
    header = (folder / "metrics.csv").read_text().splitlines()[0].split(",")
    assert {"train/loss", "train/nll", "train/coverage", "train/attention_entropy", "val/bleu"} <= set(header)


def test_the_checkpoint_alone_translates(checkpoint):
    first, second = zoo.load(checkpoint)(["ein mann steht auf der straße .", "zwei hunde spielen ."])
    assert first.source[-1] == "</s>"
    assert len(first.best.attention) == len(first.best.tokens)
    assert len(first.best.attention[0]) == len(first.source)
    assert len(second.source) == 5


def test_one_line_out_for_each_line_in(checkpoint, tmp_path, capsys):
    lines = tmp_path / "in.txt"
    lines.write_text("ein mann .\n\nzwei hunde spielen .\n", encoding="utf-8")
    main(["predict", checkpoint, "--file", str(lines)])
    out = capsys.readouterr().out.split("\n")
    assert len(out) == 4
    assert out[1] == out[3] == ""
    assert [out[0], out[2]] == [p.best.text for p in zoo.load(checkpoint)(["ein mann .", "zwei hunde spielen ."])]


def test_nbest(checkpoint, capsys):
    main(["predict", checkpoint, "ein mann .", "zwei hunde .", "--beam", "4", "--nbest", "3"])
    rows = [line.split(" ||| ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    scores = [float(row[2]) for row in rows]
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert len({row[1] for row in rows[:3]}) == 3


def test_json(checkpoint, capsys):
    main(["predict", checkpoint, "ein mann .", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["source"] == ["ein", "mann", ".", "</s>"]
    assert len(found["translations"]) == 1


def test_alignments_as_pictures_and_as_pairs(checkpoint, tmp_path):
    picture, pairs = tmp_path / "maps" / "a.png", tmp_path / "pairs.txt"
    texts = ["ein mann .", "zwei hunde spielen ."]
    main(["predict", checkpoint, *texts, "--attention", str(picture), "--pharaoh", str(pairs)])
    for number in (1, 2):
        with Image.open(picture.with_name(f"a-{number}.png")) as image:
            assert image.width > 100
    expected = [prediction.best.pharaoh for prediction in zoo.load(checkpoint)(texts)]
    assert pairs.read_text().split("\n") == [*expected, ""]


def test_unknown_words_are_copied(checkpoint, tmp_path, capsys):
    words = tmp_path / "words.tsv"
    words.write_text("mann\tMANN\n")
    main(["predict", checkpoint, "ein mann .", "--replace-unknown", str(words)])
    assert "<unk>" not in capsys.readouterr().out
    words.write_text("mann man\n")
    with pytest.raises(SystemExit):
        main(["predict", checkpoint, "ein mann .", "--replace-unknown", str(words)])
    assert f"{words}, line 1: found 1 columns; expected source<tab>target" in capsys.readouterr().err


def test_a_page_is_for_documents(checkpoint, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["predict", checkpoint, "ein mann .", "--html", str(tmp_path / "page.html")])
    assert "--html: not for a network that was trained for translation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model=han", "data=copy"], "HAN and Copy do not fit"),
        (["objective=reinforce"], "objective: the data is for classification, which takes none"),
        (["model=luong", "data=copy", "objective=reenforce"], "did you mean objective=reinforce?"),
        (["model=luong", "data=copy", "objective.label_smothing=0.1"], "label_smothing"),
        (["model=luong", "data=copy", "regularizer=coverage", "regularizer.coverage.tou=1"], "tou"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(overrides, message, tmp_path, capsys):
    assert launch(overrides, tmp_path) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors


def test_start_from_takes_the_weights_and_another_objective(checkpoint, tmp_path, capsys):
    still = ["optimizer=sgd", "optimizer.lr=0.0", "scheduler=none", "callbacks=none", "trainer.max_epochs=1"]
    begin = [*TINY, *still, "objective=self_critical", f"start_from={checkpoint}", "hydra.run.dir=again"]
    assert launch(begin, tmp_path) == 0
    before, after = (
        torch.load(path, weights_only=True) for path in (checkpoint, tmp_path / "again/checkpoints/last.ckpt")
    )
    assert after["global_step"] == 4  # counted anew
    for name, value in after["state_dict"].items():
        assert torch.equal(value, before["state_dict"][name]), name
    assert launch([*begin, "model.hidden_dim=9", "hydra.run.dir=other"], tmp_path) == 2
    assert "start_from: the checkpoint's weights are of another network" in capsys.readouterr().err
