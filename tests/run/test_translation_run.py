"""`python train.py model=luong data=multi30k` and `zoo predict` on what it leaves, as a user runs them."""

import csv
import itertools
import os

import pytest
import sacrebleu
import torch
from PIL import Image

import zoo
from tests.run.programs import TINY_PAIRS, launch, result, saved
from zoo.cli import main

TINY = [*TINY_PAIRS, "trainer.max_epochs=2"]


@pytest.fixture
def checkpoint(translated):
    return str(translated / "checkpoints/best.ckpt")


def test_result_json(translated):
    facts = result(translated)
    assert facts["task"] == "translation"
    assert facts["sizes"] == {"train": 61, "val": 23, "test": 37}
    metrics = {name.removeprefix("test/") for name in facts["metrics"]}
    assert {"loss", "perplexity", "free_running_perplexity", "bleu", "token_bleu", "chrf", "exact_match"} <= metrics
    assert {"attention_recall", "attention_chance", "alignment_error_rate"} <= metrics
    assert "tok:13a" in facts["signatures"]["test/bleu"]


def test_training_logs_the_penalties(translated):
    header = (translated / "metrics.csv").read_text().splitlines()[0].split(",")
    assert {"train/loss", "train/nll", "train/coverage", "train/entropy", "val/bleu"} <= set(header)


def test_nbest(checkpoint, capsys):
    main(["predict", checkpoint, "ein mann .", "zwei hunde .", "--beam", "4", "--nbest", "3"])
    rows = [line.split(" ||| ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    scores = [float(row[2]) for row in rows]
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert len({row[1] for row in rows[:3]}) == 3


def test_alignments_as_pictures_and_as_pairs(checkpoint, tmp_path):
    picture, pairs = tmp_path / "maps" / "a.png", tmp_path / "pairs.txt"
    texts = ["ein mann .", "zwei hunde spielen ."]
    main(["predict", checkpoint, *texts, "--attention", str(picture), "--pharaoh", str(pairs)])
    for number in (1, 2):
        with Image.open(picture.with_name(f"a-{number}.png")) as image:
            assert image.width > 100
    expected = [prediction.best.pharaoh for prediction in zoo.load(checkpoint)(texts)]
    assert pairs.read_text().split("\n") == [*expected, ""]


def test_unknown_words_are_copied(checkpoint, tmp_path, capsys, refusal):
    words = tmp_path / "words.tsv"
    words.write_text("mann\tMANN\n")
    main(["predict", checkpoint, "ein mann .", "--replace-unknown", str(words)])
    assert "<unk>" not in capsys.readouterr().out
    words.write_text("mann man\n")
    said = refusal("predict", checkpoint, "ein mann .", "--replace-unknown", words)
    assert f"{words}, line 1: found 1 columns; expected source<tab>target" in said.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ein mann .\n\xff\n", "line 2: not UTF-8: byte 0xff at offset 11 of the file"),
        (b"ein\nmann\n\0\n", "line 3: NUL byte"),
    ],
)
def test_a_file_that_is_no_text_is_named_with_its_line(checkpoint, tmp_path, refusal, content, message):
    lines = tmp_path / "in.txt"
    lines.write_bytes(content)
    said = refusal("predict", checkpoint, "--file", lines).err
    assert f"{lines}, {message}" in said and "; --file takes a text file with one text per line" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--beam", "2", "--nbest", "5"], "nbest=5, beam_size=2"),
        (["--beam", "0"], "beam_size=0"),
        (["--nbest", "0"], "nbest=0"),
        (["--pharaoh", "/proc/none/links.txt"], "--pharaoh /proc/none/links.txt"),
    ],
)
def test_options_that_make_no_sense_are_said_in_one_line(checkpoint, refusal, words, message):
    said = refusal("predict", checkpoint, *words, "ein mann .")  # the text may follow the options
    assert message in said.err and said.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("multi30k data.source_language=xx", "data.source_language=xx: expected en, de, fr or cs, found 'xx'"),
        ("yelp task=translation", "task=translation and Yelp do not fit: the data are for classification"),
        ("multi30k data=dates", "data=dates: `zoo data multi30k` already names the data"),
    ],
)
def test_data_that_cannot_be_described_are_named(refusal, words, message):
    assert f"error: {message}" in refusal("data", *words.split()).err


def test_another_test_set_of_the_same_data_is_no_other_data(checkpoint, tmp_path, capsys):
    evaluate = [*TINY, "train=false", f"ckpt_path={checkpoint}", "hydra.run.dir=other", "callbacks=none"]
    assert launch([*evaluate, "data.sample.test=90"], tmp_path) == 0  # with a longer longest sentence
    assert launch([*evaluate, "data.text.minimum_frequency=2"], tmp_path) == 2
    errors = capsys.readouterr().err
    assert "trained on other data: source_size is" in errors
    assert "the encoder differs in text, vocabularies" in errors


def test_a_run_that_is_over_cannot_be_made_longer(translated, tmp_path, capsys):
    longer = [*TINY, f"ckpt_path={translated / 'checkpoints/last.ckpt'}", "trainer.max_epochs=3"]
    assert launch([*longer, "regularizer=[coverage,entropy]"], tmp_path) == 2
    errors = capsys.readouterr().err
    assert "planned for 8 steps and ends there; this run takes 12" in errors
    path = os.path.relpath(translated / "checkpoints/last.ckpt", tmp_path)
    assert f"use start_from={path} in place of ckpt_path" in errors
    assert launch([*longer, f"start_from={translated / 'checkpoints/best.ckpt'}"], tmp_path) == 2
    assert "set one of them" in capsys.readouterr().err


def test_start_from_takes_the_weights_and_another_objective(checkpoint, tmp_path, capsys):
    still = ["optimizer=sgd", "optimizer.lr=0.0", "scheduler=none", "callbacks=none", "trainer.max_epochs=1"]
    begin = [*TINY, *still, "objective=self_critical", f"start_from={checkpoint}", "hydra.run.dir=again"]
    assert launch(begin, tmp_path) == 0
    before, after = torch.load(checkpoint, weights_only=True), saved(tmp_path / "again")
    assert after["global_step"] == 4  # counted anew
    for name, value in after["state_dict"].items():
        assert torch.equal(value, before["state_dict"][name]), name
    assert launch([*begin, "model.hidden_dim=9", "hydra.run.dir=other"], tmp_path) == 2
    assert "start_from: the checkpoint has the weights of another network" in capsys.readouterr().err


WHO = {"i": "我", "you": "你", "he": "他", "we": "我们", "they": "他们"}
DO = {"like": "喜欢", "see": "看见", "know": "认识", "draw": "画"}
WHAT = {"cats": "猫", "dogs": "狗", "books": "书", "birds": "鸟", "horses": "马"}


def test_bleu_is_counted_by_the_rules_of_a_target_language_without_blanks(tmp_path):
    pairs = [
        (f"{who} {do} {what} .", f"{WHO[who]}{DO[do]}{WHAT[what]}。")
        for who, do, what in itertools.product(WHO, DO, WHAT)
    ]
    lines = "".join(f"{english}\t{chinese}\n" for english, chinese in pairs)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    words = [word for word in TINY_PAIRS if not word.startswith(("data=", "data.sample"))]
    own = ["data=parallel", "data.path=pairs.tsv", "data.text.target_language=zh", "data.text.tokenizer=characters"]
    assert launch([*words, *own, "trainer.max_epochs=1", "decoding=greedy", "hydra.run.dir=run"], tmp_path) == 0
    facts = result(tmp_path / "run")
    assert "tok:zh" in facts["signatures"]["test/bleu"]
    assert "test/token_bleu" not in facts["metrics"]
    with (tmp_path / "run/predictions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = [row["translation"] for row in rows], [[row["reference"] for row in rows]]
    assert len(rows) == facts["sizes"]["test"]  # the table holds all that was tested
    right = sacrebleu.corpus_bleu(*texts, lowercase=True, tokenize="zh").score
    assert facts["metrics"]["test/bleu"] == pytest.approx(right)
    assert abs(sacrebleu.corpus_bleu(*texts, lowercase=True).score - right) > 0.1
