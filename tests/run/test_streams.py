"""Output of the commands, in any encoding and to a reader that leaves early."""

import io
import json
import os
import subprocess
import sys

import pytest

from tests.run.programs import ROOT, SHORT, Program, run
from zoo.run.streams import PatientStream, as_json, patient_streams

TEXT = "Łódź 很好 ▁▂▃ Vögel"


def test_every_command_prints_in_an_encoding_that_lacks_the_signs(finished, program_env, tmp_path):
    checkpoint = str(finished[0])
    (tmp_path / "plain.csv").write_text("text,label\n" + "".join(f"{TEXT} {n},{'Łab'[n % 3]}\n" for n in range(40)))
    own = ["data=documents", "data.path=plain.csv"]
    small = [word for word in SHORT if not word.startswith("data.sample")]
    environment = program_env | {"PYTHONIOENCODING": "ascii"}
    for words in (
        ["-m", "zoo", "list"],
        ["-m", "zoo", "list", "--json"],
        ["-m", "zoo", "data", "documents", "data.path=plain.csv"],
        ["-m", "zoo", "predict", checkpoint, TEXT],
        ["-m", "zoo", "predict", checkpoint, TEXT, "--json"],
        [str(ROOT / "train.py"), *small, *own, "trainer.max_epochs=1"],
    ):
        done = Program(words, tmp_path, environment)
        assert done.wait() == 0, done.stderr
        assert "Traceback" not in done.stderr
    done = Program(["-m", "zoo", "train", "model=Łódź"], tmp_path, environment)
    assert done.wait() == 2 and done.stderr.startswith("error: ")


def test_json_is_the_same_in_every_encoding(monkeypatch):
    for encoding, escaped in (("utf-8", False), ("cp1252", True), ("ascii", True)):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        text = as_json({"text": TEXT})
        assert json.loads(text) == {"text": TEXT} and ("\\u" in text) == escaped
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert json.loads(as_json("\ud800 Łódź")) == "\ud800 Łódź"


def test_a_sign_that_the_encoding_lacks_is_a_question_mark(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    with patient_streams():
        print("Łódź, Vögel")
    assert written.getvalue().decode("cp1252") == "?ód?, Vögel\n"


def test_a_stream_goes_on_when_its_reader_has_left():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as file:
        stream = PatientStream(file)
        stream.write("x" * 100_000)
        stream.flush()
        assert stream.write("more") == 4
        stream.flush()
        assert stream.encoding == file.encoding


def test_a_reader_that_leaves_early_ends_a_command_quietly(program_env, tmp_path):
    started = subprocess.Popen(
        [sys.executable, "-m", "zoo", "list"],
        cwd=tmp_path,
        env=program_env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stdout is not None
    started.stdout.close()
    _, said = started.communicate(timeout=240)
    assert (started.returncode, said) == (0, b"")


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ([str(ROOT / "train.py")], "hydra"),
        (["-m", "zoo", "train"], "hydra"),
        (["-m", "zoo", "list"], "rich"),
        (["-m", "zoo", "predict", "a.ckpt"], "torch"),
        (["-c", "from zoo.cli import main; main(['data', 'yelp'])"], "hydra"),  # the script `zoo` has these two lines
    ],
)
def test_ctrl_c_while_a_program_is_imported_is_one_line(program_env, tmp_path, words, module):
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt")
    environment = program_env | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = run([sys.executable, *words], tmp_path, environment)
    assert (done.returncode, done.stderr) == (130, "\nstopped by Ctrl-C\n")
    second = run([sys.executable, *words], tmp_path, environment | {"LOCAL_RANK": "1"})
    assert (second.returncode, second.stderr) == (130, "")
