"""`zoo show`: the header of a model's file, the keys with their comments and bounds, results, a user's own model."""

import json
import sys

import pytest

from tests.catalogue import ROOT
from zoo.cli import main
from zoo.dotted import class_at
from zoo.run import catalogue, search_path
from zoo.run.model_facts import as_text, model_facts
from zoo.run.settings import read_settings, typed
from zoo.signature import signature


def shown(capsys, *words):
    capsys.readouterr()
    main(["show", *map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_the_facts_of_han(capsys):
    facts = shown(capsys, "han")
    assert facts["title"] == "Hierarchical Attention Networks for Document Classification"
    assert facts["authors"].startswith("Zichao Yang, ") and facts["authors"].endswith("Eduard Hovy")
    assert (facts["venue"], facts["link"]) == ("NAACL 2016", "https://aclanthology.org/N16-1174")
    assert "(5)-(7)" in facts["equations"] and len(facts["differs"]) == 3
    assert facts["differs"][2].startswith("The GRU is torch's: it has a bias") and "\n" not in facts["differs"][2]
    settings = {one["key"]: one for one in facts["settings"]}
    hidden, pooling, dropout = (settings[f"model.{name}"] for name in ("word_hidden_dim", "word_pooling", "dropout"))
    assert (hidden["default"], hidden["comment"], hidden["allowed"]) == (
        "50", "units per direction", "a whole number from 1 on"
    )  # fmt: skip
    assert (pooling["allowed"], dropout["allowed"]) == ("attention, mean or max", "a number from 0 to below 1")
    assert facts["command"] == "zoo train model=han data=yelp" and "imdb" in facts["data"]
    assert "han_yelp2015" in facts["experiments"] and facts["tasks"] == ["classification"]


def test_results_of_several_seeds_are_one_row(capsys):
    rows = [row for row in shown(capsys, "han")["results"] if row["command"] == "python train.py"]
    (accuracy,) = [row for row in rows if row["metric"] == "accuracy" and row["data"] == "yelp (sample)"]
    assert accuracy["seeds"] == "3" and " to " in accuracy["ours"]


@pytest.mark.parametrize("name", catalogue.choices("model"))
def test_every_model_has_a_paper_equations_differences_and_all_its_keys(name):
    facts = model_facts(name)
    assert facts.authors and facts.venue and facts.link.startswith("https://"), facts
    assert facts.equations and facts.differs
    own = {one.key for one in facts.settings if "/" not in one.key}
    target = read_settings(catalogue.model_file(name), "model").target
    arguments = set(signature(class_at(target, object)).parameters) - {"spec"}
    assert {key.split(".")[1] for key in own} <= arguments
    assert all(
        one.allowed or one.key.split(".")[1] in ("score", "hard") for one in facts.settings if one.owner and one.default
    ), [one.key for one in facts.settings if not one.allowed]
    assert facts.command.startswith(f"zoo train model={name} data=")
    text = as_text(facts, 100)
    assert text


def test_comments_nested_keys_and_inherited_files(tmp_path, monkeypatch):
    conf = tmp_path / "conf"
    for name, text in {
        "model/base.yaml": "_target_: zoo.models.han.HAN\ndropout: 0.0 # a # share\nword_pooling: 'a # b'\n",
        "model/mine.yaml": """defaults:
  - base
  - part: small # the part
  - _self_
  - override /optimizer@_global_.optimizer: adam_memory
dropout: 0.5
options: # some
  one: [1, 2] # two numbers
  two:
    three: null
""",
        "model/part/small.yaml": "_target_: zoo.layers.images.small.SmallEncoder\nwidth: 3 # wide\n",
        "model/part/large.yaml": "_target_: zoo.layers.images.small.SmallEncoder\nwidth: 9\n",
    }.items():
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / name).write_text(text)
    monkeypatch.setattr(search_path, "_folders", [conf])
    file = read_settings(catalogue.model_file("mine"), "model")
    assert (file.target, file.chosen) == ("zoo.models.han.HAN", {"optimizer": "adam_memory"})
    found = {one.key: (one.default, one.comment) for one in file.settings.values()}
    assert found == {
        "model.dropout": ("0.5", ""),
        "model.word_pooling": ("'a # b'", ""),
        "model/part": ("small", "the part"),
        "model.part.width": ("3", "wide"),
        "model.options": ("", "some"),
        "model.options.one": ("[1, 2]", "two numbers"),
        "model.options.two": ("", ""),
        "model.options.two.three": ("null", ""),
    }
    allowed = {one.key: one.allowed for one in typed(file.settings.values())}
    assert allowed["model/part"] == "one of large, small" and allowed["model.part.width"] == "a whole number from 1 on"
    assert allowed["model.dropout"] == "a number from 0 to below 1"


def test_a_model_of_the_user_outside_the_package(capsys, monkeypatch):
    monkeypatch.setattr(search_path, "_folders", [])
    monkeypatch.setattr(sys, "path", sys.path[:])
    folder = ROOT / "tests/outside/conf"
    name = sorted(path.stem for path in (folder / "model").glob("*.yaml"))[0]
    facts = shown(capsys, name, "--config-dir", folder)
    assert facts["name"] == name and facts["results"] == [] and f"--config-dir {folder}" in facts["command"]


def test_an_unknown_model_is_one_line(refusal):
    assert refusal("show", "lunog").err == (
        "error: lunog: unknown model; did you mean luong?; zoo list models prints all\n"
    )


def test_the_terminal_shows_every_part(capsys):
    main(["show", "show_attend_tell"])
    text = capsys.readouterr().out
    headings = ("Kelvin Xu", "https://", "Equations", "What differs from the paper", "Results")
    for word in (*headings, "model/encoder", "model.hard.reward", "zoo train model=show_attend_tell"):
        assert word in text, word
