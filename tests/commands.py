"""Commands as documents show them: whether they would start, without starting them."""

import contextlib
import functools
import io
import itertools
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from tests.catalogue import ROOT
from zoo import commands
from zoo.cli import parser
from zoo.commands import predict
from zoo.run import search_path
from zoo.run.check import check
from zoo.run.checkpoint import load
from zoo.run.compose import compose
from zoo.run.weights import included
from zoo.visualize.view import View, view_of

PROGRAMS = {"cd", "export", "git", "mypy", "pip", "pre-commit", "pytest", "ruff", "sbatch", "source", "tensorboard"}
PROGRAMS |= {"mkdocs"}
GROUPS = ("model", "data", "task", "optimizer", "scheduler", "trainer", "logger", "callbacks")


def shell_lines(text: str) -> Iterator[str]:
    """The commands in the ```sh and ```bash blocks of a document, continued lines joined, `a && b` taken apart."""
    for block in re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words:
                end = words.index("&&") if "&&" in words else len(words)
                yield shlex.join(words[:end])
                words = words[end + 1 :]


def problem(command: str) -> str | None:
    """Why `command` would not start: a key that does not exist, a file that is missing, an unknown program."""
    words = shlex.split(command)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):  # environment
        words = words[1:]
    if not words or words[0] in PROGRAMS:
        return None
    if "--config-dir" in words:
        at = words.index("--config-dir")
        with beside(words[at + 1]):
            return problem(shlex.join([*words[:at], *words[at + 2 :]]))
    try:
        if "train.py" in words and words[0] in ("python", "torchrun", "srun"):
            return train_problem(words[words.index("train.py") + 1 :])
        if words[:2] == ["zoo", "train"]:
            return train_problem(words[2:])
        if words[0] == "zoo":
            return zoo_problem(words[1:])
    except Exception as error:
        return f"{command}: {type(error).__name__}: {' '.join(str(error).split())}"
    if words[0] == "python":
        script = Path(words[2].replace(".", "/") + ".py") if words[1] == "-m" else Path(words[1])
        known = words[1:3] == ["-m", "venv"] or (ROOT / script).is_file() or (ROOT / script).with_suffix("").is_dir()
        return None if known else f"{command}: there is no {script}"
    return f"{command}: unknown program {words[0]}"


@contextlib.contextmanager
def forgotten() -> Iterator[None]:
    """Removes the folders that a command adds to the search path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_path, "_folders", [])
        patch.setattr(sys, "path", sys.path[:])
        yield


@contextlib.contextmanager
def beside(folder: str) -> Iterator[None]:
    """A folder of configuration that a command names: of the clone, or the one whose files a page shows."""
    with tempfile.TemporaryDirectory() as shown, forgotten():
        write_shown((ROOT / "docs" / "extending" / "model.md").read_text(encoding="utf-8"), Path(shown))
        search_path.add(next(path for path in (ROOT / folder, Path(shown, folder)) if path.is_dir()))
        compositions.cache_clear()
        yield
    compositions.cache_clear()


def write_shown(text: str, folder: Path) -> list[Path]:
    """Writes the files that a document shows in blocks with their names in the first line; which they are."""
    written = []
    for name, content in re.findall(r"^```(?:python|yaml)\n# (\S+/\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        written.append(folder / name)
        written[-1].parent.mkdir(parents=True, exist_ok=True)
        written[-1].write_text(content, encoding="utf-8")
    return written


def train_problem(words: list[str]) -> str | None:
    """Why `train.py words` would not start."""
    try:
        compositions(tuple(words))
    except ValueError as error:
        return str(error)
    return None


@functools.cache
def compositions(words: tuple[str, ...]) -> tuple[DictConfig, ...]:
    """The checked configuration of every job that `train.py words` runs, to be read; raises what keeps it from
    starting."""
    flags = [word for word in words if word.startswith("-")]
    unknown = [flag for flag in flags if flag not in ("-m", "--multirun", "--help", "--cfg", "--info")]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]}")
    overrides = [word for word in words if "=" in word]
    if "--cfg" not in flags and "--info" not in flags and len(overrides) + len(flags) != len(words):
        raise ValueError(f"neither an option nor an override in: {' '.join(words)}")
    every = jobs(overrides, multirun="-m" in flags or "--multirun" in flags)
    return tuple(resolve(compose(job)) for job in every)


def jobs(overrides: list[str], *, multirun: bool) -> Iterator[list[str]]:
    """The overrides of each job; of a range too long to try, its first values."""
    choices = []
    for text, override in zip(overrides, OverridesParser.create().parse_overrides(overrides), strict=True):
        if multirun and override.is_sweep_override():
            values = itertools.islice(override.sweep_string_iterator(), 8) if override.is_discrete_sweep() else ()
            choices.append([f"{override.get_key_element()}={value}" for value in values])
        else:
            choices.append([text])
    yield from (list(job) for job in itertools.product(*filter(None, choices)))


def resolve(cfg: DictConfig) -> DictConfig:
    """Checks a composed configuration as a run would: signatures, the pair of model and data, every interpolation."""
    cfg.hydra.runtime.output_dir = "logs/run"
    cfg.hydra.sweep.dir = "logs/sweep"
    cfg.hydra.mode = "RUN"
    hydra = HydraConfig.instance()
    before, hydra.cfg = hydra.cfg, None
    hydra.set_config(cfg)
    try:
        check(cfg)
        for group in GROUPS:
            if cfg[group] is not None:
                OmegaConf.to_container(cfg[group], resolve=True)
    finally:
        hydra.cfg = before
    return cfg


def zoo_problem(words: list[str]) -> str | None:
    """Parses the arguments of the `zoo` command, and composes what it would compose."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            if words[:1] == ["predict"]:
                predict.parser(_view(words[1])).parse_args(words[1:])
                return None
            parser().parse_known_args(words[:1])
            options = commands.command(words[0]).parser().parse_intermixed_args(words[1:])
    except SystemExit as stop:
        return None if stop.code == 0 else said.getvalue().strip().splitlines()[-1]
    if words[0] == "data":
        compose([f"data={options.name}", *options.overrides])
    return None


def _view(checkpoint: str) -> View | None:
    """The view of an included network, or of a run's task, found from its folder logs/<model>_<data>/<time>; None for
    another path."""
    if checkpoint in included():
        return view_of(load(checkpoint).task)
    parts = Path(checkpoint).parts
    if parts[0] != "logs":
        return None
    return view_of(get_class(compose([f"data={parts[1].rpartition('_')[2]}"]).task._target_))
