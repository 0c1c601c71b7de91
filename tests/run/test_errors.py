"""Mistakes at the command line: one line, no traceback, exit code 2."""

import sys

import pytest

from tests.run.programs import ROOT, SHORT, Program, launch, run


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("model.word_hiden_dim=3", "did you mean model.word_hidden_dim?"),
        ("modl=han", "did you mean model?"),
        ("seed=abc", "seed=abc"),
        ("model.word_pooling=median", "pooling is one of attention, mean, max; got 'median'"),
        ("ckpt_path=nowhere.ckpt", "nowhere.ckpt: no such checkpoint"),
        ("ckpt_path=last", "no earlier run"),
        ("train=false", "give ckpt_path=PATH or ckpt_path=last"),
        ("data.source=/nowhere", "/nowhere"),
        ("hydra.run.dir=file/run", "hydra.run.dir"),
        ("trainer.accelerator=gpu", "gpu"),
    ],
)
def test_one_line(tmp_path, capfd, override, expected):
    (tmp_path / "file").write_text("")
    assert launch([*SHORT, override], tmp_path) == 2
    printed = capfd.readouterr()
    *before, line = printed.err.splitlines()
    assert line.startswith("error: ") and expected in line
    assert not [other for other in before if "rror" in other]
    assert "Traceback" not in printed.err + printed.out


def test_a_mistake_in_one_job_of_a_sweep(tmp_path, capfd):
    assert launch(["-m", *SHORT, "model.word_pooling=median,mean"], tmp_path) == 2
    printed = capfd.readouterr()
    assert "error: HAN: pooling is one of" in printed.err and "Traceback" not in printed.err


ENDS = (2, "error: modl: there is no such key; did you mean model?\n")


def test_the_programs_exit_code(program_env, tmp_path):
    for words in ([str(ROOT / "train.py"), "modl=han"], ["-m", "zoo", "train", "modl=han"]):
        done = Program(words, tmp_path, program_env)
        assert (done.wait(), done.stderr) == ENDS


def test_a_program_started_anew_says_nothing_more(program_env, tmp_path):
    done = run([sys.executable, str(ROOT / "train.py"), "modl=han"], tmp_path, program_env)
    assert (done.returncode, done.stderr) == ENDS
