"""Every file of conf composes, fits what it configures, and says what it is for."""

import functools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from tests.catalogue import ROOT
from tests.commands import compositions, resolve
from zoo.run.catalogue import data_for, datasets, experiments, has_sample, models, models_for
from zoo.run.compose import compose

CONF = ROOT / "conf"
EXPERIMENTS = {path.stem: path for path in sorted((CONF / "experiment").glob("*.yaml"))}
"""Whole runs, and the recipes that they inherit, whose names begin with an underscore."""
RUNS = [path for name, path in EXPERIMENTS.items() if not name.startswith("_")]
FILES = sorted(
    path
    for path in CONF.rglob("*.yaml")
    if path.parent != CONF and path.parent.name != "local" and not path.name.startswith("_")
)


def name(path: Path) -> str:
    return path.relative_to(CONF).with_suffix("").as_posix()


def network(tasks: tuple[str, ...]) -> str:
    """The model to compose data or a task with: the Tree-LSTM where trees are read, else the first that fits."""
    fitting = models_for(tasks)
    return "tree_lstm" if "tree_lstm" in fitting else fitting[0]


def partner(model: str) -> str:
    """The data to compose a model with: binary trees where the model reads trees, else the first that fit."""
    fitting = data_for(models()[model].tasks)
    return "sst" if "sst" in fitting else fitting[0]


def choice(path: Path) -> list[str]:
    """The overrides that choose one file of conf, with a partner that fits it."""
    group, stem = path.parent.relative_to(CONF).as_posix(), path.stem
    overrides = [f"{group}={stem}"]
    if group == "data":
        overrides.append(f"model={network(datasets()[stem].tasks)}")
    if group == "data/text":
        overrides += {
            "dialogues": ["data=dialogues", "model=hred"],
            "documents": ["data=yelp"],
            "pairs": ["data=multi30k", "model=luong"],
            "captions": ["data=scenes", "model=show_attend_tell"],
            "trees": ["data=sst", "model=tree_lstm"],
            "language": ["data=text", "model=rnn_lm"],
            "summaries": ["data=summaries", "model=pointer_generator"],
            "passages": ["data=passages", "model=t_dmca"],
            "transcripts": ["data=tones", "model=las"],
        }[stem]
    if group in ("objective", "decoding", "regularizer") or overrides == ["scheduler=noam"]:  # it needs a model's width
        tour = stem.startswith("reinforce_")
        overrides += ["data=tsp", "model=pointer_net"] if tour else ["data=copy", "model=transformer"]
    if group == "task":
        fitting = [data for data in datasets().values() if stem in data.tasks]
        data = next((data for data in fitting if data.tasks[0] == stem), fitting[0])
        overrides = [f"data={data.name}", f"model={network((stem,))}", *overrides]
    if group == "model":
        overrides.append(f"data={partner(stem)}")
    if group.startswith("model/"):
        chosen = next(
            model for model in models() if group.removeprefix("model/") in defaults_of(CONF / f"model/{model}.yaml")
        )
        overrides = [f"model={chosen}", f"data={partner(chosen)}", *overrides]
    return overrides


def defaults_of(path: Path) -> set[str]:
    """The groups that a file chooses from."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8")).get("defaults", [])
    return {str(key) for entry in entries if isinstance(entry, dict) for key in entry}


@functools.cache
def composed(path: Path) -> DictConfig:
    """The configuration with this file chosen, to be read; paths that only a user can know are filled in."""
    cfg = compose(choice(path))
    for key in [key for key in cfg.data if OmegaConf.is_missing(cfg.data, key)]:
        cfg.data[key] = "reviews.csv"
    return cfg


def header(path: Path) -> list[str]:
    """The comment lines that a file begins with, `# @package` aside."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return [line.lstrip("# ") for line in lines[:end] if not line.startswith("# @package")]


@pytest.mark.parametrize("path", [path for path in FILES if path not in RUNS], ids=name)
def test_composes(path: Path) -> None:
    resolve(composed(path))


def test_the_default_is_han_on_yelp() -> None:
    cfg = resolve(compose([]))
    chosen = cfg.hydra.runtime.choices
    assert [chosen[group] for group in ("model", "data", "trainer", "logger")] == ["han", "yelp", "default", "csv"]
    named = compose(["model=han", "data=yelp", "trainer=default", "logger=csv"])
    assert {key: cfg[key] for key in cfg if key != "hydra"} == {key: named[key] for key in named if key != "hydra"}


@pytest.mark.parametrize("path", sorted((CONF / "data").glob("[!_]*.yaml")), ids=name)
def test_data_says_what_it_is_and_picks_its_task(path: Path) -> None:
    assert header(path), f"{name(path)}: begin with a comment line, `zoo list` shows it"
    cfg, listed = composed(path), datasets()[path.stem]
    assert listed.tasks == get_class(cfg.data._target_).tasks
    assert cfg.hydra.runtime.choices["task"] in listed.tasks


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_experiment_gives_its_number_and_its_command_and_no_sample(path: Path) -> None:
    about, command = header(path)[:2]
    assert re.search(r"\d+\.\d+", about), "the first line gives the number to reach"
    start, experiment, *words = shlex.split(command, comments=True)[1:]
    assert (start, experiment) == ("train.py", f"experiment={path.stem}")
    source = with_recipes(path).get("data.source", "sample")
    for cfg in compositions((experiment, *words)):
        real = source != "sample" or not has_sample(cfg.hydra.runtime.choices.data)
        assert real, "an experiment runs on the real data"


def settings(content: Any, above: str = "") -> dict[str, Any]:
    """Each value that a file sets, by its dotted key, and each choice of its defaults."""
    found = {}
    for key, value in content.items():
        if key == "defaults":
            found |= {str(choice): entry[choice] for entry in value if isinstance(entry, dict) for choice in entry}
        elif isinstance(value, dict):
            found |= settings(value, f"{above}{key}.")
        else:
            found[above + key] = value
    return found


@functools.cache
def stated(path: Path) -> dict[str, Any]:
    return settings(yaml.safe_load(path.read_text(encoding="utf-8")))


def recipes_of(path: Path) -> list[Path]:
    """The files that an experiment inherits, the nearest first."""
    found = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["defaults"]:
        if isinstance(entry, str) and entry != "_self_":
            found += [EXPERIMENTS[entry], *recipes_of(EXPERIMENTS[entry])]
    return found


def with_recipes(path: Path, *, itself: bool = True) -> dict[str, Any]:
    """The settings of the recipes of an experiment, and its own."""
    files = [*reversed(recipes_of(path)), *([path] if itself else [])]
    return {key: value for file in files for key, value in stated(file).items()}


@pytest.mark.parametrize("path", EXPERIMENTS.values(), ids=name)
def test_an_experiment_repeats_nothing_of_its_recipe(path: Path) -> None:
    inherited = with_recipes(path, itself=False)
    repeated = [key for key, value in stated(path).items() if key in inherited and inherited[key] == value]
    assert repeated == [], f"{name(path)}: its recipe states these already"


@pytest.mark.parametrize("path", EXPERIMENTS.values(), ids=name)
def test_what_experiments_share_is_a_recipe(path: Path) -> None:
    """Two files may agree in a few settings by chance, not in most of what a file states."""
    own = set(map(repr, stated(path).items()))
    for other in EXPERIMENTS.values():
        common = own & set(map(repr, stated(other).items()))
        assert other == path or len(common) <= 13, f"{name(path)} and {name(other)} both state {sorted(common)}"


def test_a_recipe_is_inherited_and_not_listed() -> None:
    recipes = set(EXPERIMENTS) - {path.stem for path in RUNS}
    assert recipes == {recipe.stem for path in RUNS for recipe in recipes_of(path)} - {path.stem for path in RUNS}
    assert set(experiments()) == {path.stem for path in RUNS}


@pytest.mark.parametrize("path", sorted((CONF / "sweep").glob("*.yaml")), ids=name)
def test_sweep_searches_keys_that_exist_in_the_right_direction(path: Path) -> None:
    cfg = composed(path)
    sweeper = cfg.hydra.sweeper
    parameters = {key: str(value) for key, value in (sweeper.get("params") or {}).items()}
    for override in OverridesParser.create().parse_overrides([f"{key}={value}" for key, value in parameters.items()]):
        assert override.is_sweep_override(), override.input_line
        assert OmegaConf.select(cfg, override.get_key_element(), throw_on_missing=True) is not None
    if "direction" in sweeper:  # Optuna minimises by default
        assert sweeper.direction == {"max": "maximize", "min": "minimize"}[cfg.task.mode]


def test_configuration_files_give_no_facts_of_the_data() -> None:
    """Vocabulary sizes and class counts come from the data's spec."""
    for path in (CONF / "model").glob("*.yaml"):
        keys = set(yaml.safe_load(path.read_text(encoding="utf-8")))
        assert not {key for key in keys if re.search(r"vocab|class|num_labels|spec", str(key))}, name(path)


@pytest.mark.parametrize("name", ["encoder_decoder_wmt14", "rnnsearch_wmt14", "luong_wmt14"])
def test_half_as_many_words_as_the_source_and_the_end(name: str) -> None:
    """The authors forbid the end before half the source's length in words, and our lengths count the end."""
    decoding = instantiate(compose([f"experiment={name}"]).decoding)
    assert decoding.rules.lengths(torch.tensor([10])).shortest.tolist() == [6]
