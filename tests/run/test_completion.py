"""Completion: what can follow on a line, and the scripts in the shells themselves."""

import shutil
import subprocess
import sys

import pytest

from tests.catalogue import ROOT
from zoo.commands.completion import candidates
from zoo.run import catalogue, search_path
from zoo.run.completion import SCRIPTS, split


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("zoo tr", ["train"]),
        ("zoo train model=luo", ["model=luong"]),
        ("zoo train model=han,luo", ["model=han,luong"]),
        ("zoo train -m data=yel", ["data=yelp"]),
        ("zoo train experiment=han_im", ["experiment=han_imdb"]),
        ("zoo train optim", ["optimizer="]),
        ("zoo train model=luong model.hidden", ["model.hidden_dim="]),
        ("zoo train model=show_attend_tell model.encoder.w", ["model.encoder.width="]),
        ("zoo train model.word_a", ["model.word_attention_dim="]),
        ("zoo train compile=t", ["compile=true"]),
        ("zoo train --mul", ["--multirun"]),
        ("zoo train ckpt_path=lo", []),
        ("zoo data mult", ["multi30k"]),
        ("zoo data yelp data.so", ["data.source="]),
        ("zoo data --wr", ["--write"]),
        ("zoo show pointer", ["pointer_generator", "pointer_net"]),
        ("zoo list kv", ["kv_memnn"]),
        ("zoo runs --so", ["--sort"]),
        ("zoo compare lo", []),
        ("zoo predict last --att", ["--attention"]),
        ("zoo completion ", ["bash", "zsh", "fish"]),
        ("~/bin/zoo --ver", ["--version"]),
        ("zoo --config-dir ", []),
        ("zoo nothing x", []),
        ('zoo predict last "The fo', []),
        ("zoo", []),
        ("", []),
    ],
)
def test_what_can_follow(line, found):
    assert candidates(line) == found


def test_all_names_of_a_group(monkeypatch):
    assert candidates("zoo train model=") == [f"model={name}" for name in catalogue.choices("model")]
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", sys.path[:])
    own = sorted(path.stem for path in (ROOT / "tests/outside/conf/model").glob("[!_]*.yaml"))[0]
    assert f"model={own}" in candidates(f"zoo train --config-dir {ROOT / 'tests/outside/conf'} model={own[:3]}")


def test_a_line_is_split_as_a_shell_does():
    assert split("zoo a 'b c' d") == (["zoo", "a", "b c"], "d")
    assert split("zoo a ") == (["zoo", "a"], "")
    assert split("zoo model=x#1 c=") == (["zoo", "model=x#1"], "c=")


def test_no_answer_waits_for_torch():
    code = (
        "import sys; from zoo.commands.completion import candidates; from zoo.cli import main; "
        "[candidates(f'zoo {line}') for line in ('', 'train model=h', 'predict -', 'data y', 'train model.d')]; "
        "print(sorted({'torch', 'numpy', 'hydra', 'lightning', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "[]\n"


@pytest.fixture
def program(tmp_path):
    """A folder with a program named zoo."""
    path = tmp_path / "bin/zoo"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m zoo "$@"\n')
    path.chmod(0o755)
    return path


def test_bash(program):
    """COMP_WORDS are split at the =, as readline does it, and only what follows is replaced."""
    if (bash := shutil.which("bash")) is None:
        pytest.skip("no bash")
    script = """
eval "$(zoo completion bash)"
complete() { echo "$@"; }
answer() { COMP_LINE="$1"; COMP_POINT=${#1}; _zoo zoo; echo "$1 -> ${COMPREPLY[*]}"; }
answer "zoo tr"
answer "zoo train model=luo"
answer "zoo train data=babi model=kv"
answer "zoo train mod"
answer "zoo compare log"
"""
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(program.parent)}
    done = subprocess.run([bash, "--norc", "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "zoo tr -> train",
        "zoo train model=luo -> luong",
        "zoo train data=babi model=kv -> kv_memnn",
        "zoo train mod -> model=",
        "zoo compare log -> ",
    ], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_accepts_its_script(shell, tmp_path):
    if (path := shutil.which(shell)) is None:
        pytest.skip(f"no {shell}")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell])
    subprocess.run([path, "-n", str(script)], check=True, timeout=60)


def test_fish(program):
    if (fish := shutil.which("fish")) is None:
        pytest.skip("no fish")
    script = "zoo completion fish | source; complete -C 'zoo train model=luo'; complete -C 'zoo sho'"
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(program.parent)}
    done = subprocess.run(
        [fish, "--no-config", "-c", script], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["model=luong", "show"], done.stderr
