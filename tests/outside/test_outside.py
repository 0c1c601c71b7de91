"""A family in a user's own folder gets everything that ours get, and nothing in zoo knows of it."""

import csv
import json
import shlex
import sys

import pytest
from hydra.utils import instantiate

from tests.commands import forgotten
from tests.run.programs import ROOT, launch, result
from zoo.cli import main
from zoo.dotted import class_at
from zoo.explore.answers import files
from zoo.explore.network import Network
from zoo.run import catalogue
from zoo.run.compose import compose
from zoo.tasks import Task
from zoo.visualize.view import view_of

CONF = ROOT / "tests" / "outside" / "conf"
HERE = ["--config-dir", str(CONF)]
TINY = [
    "model=looks_back",
    "data=repeats",
    "model.embedding_dim=4",
    "data.sample.train=61",
    "data.sample.val=23",
    "data.sample.test=37",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run with everything on, in a user's folder."""
    folder = tmp_path_factory.mktemp("outside")
    with forgotten():
        assert launch([*HERE, *TINY, "trainer.max_epochs=2", "hydra.run.dir=run"], folder) == 0
    return folder / "run"


def say(capsys, *words):
    """The output of `zoo <words>`."""
    main(list(map(str, words)))
    return capsys.readouterr().out


def test_nothing_in_zoo_knows_of_it():
    files = [*(ROOT / "zoo").rglob("*.py"), *(ROOT / "conf").rglob("*.yaml")]
    assert not [path for path in files if "tagging" in path.read_text(encoding="utf-8")]


def test_all_families_are_listed(capsys):
    listing = json.loads(say(capsys, "list", "--json", *HERE))
    found = {model["name"]: (model["tasks"], model["data"]) for model in listing["models"]}
    assert (
        found.items()
        >= {
            "looks_back": (["tagging"], ["repeats"]),
            "pair": (["sparring"], ["rings"]),
            "char_lstm": (["language_modelling"], ["tales"]),
            "listener": (["listening"], ["sounds"]),
            "two_levels": (["listening"], ["sounds"]),
        }.items()
    )
    tasks = {data["name"]: data["tasks"] for data in listing["data"]}
    assert (tasks["repeats"], tasks["tales"]) == (["tagging"], ["language_modelling"])
    assert {"han", "transformer"} <= found.keys()  # beside ours


@pytest.mark.parametrize(
    ("data", "source"),
    [
        ("sounds", "stream: sounds made without end"),
        ("rings", "stream: points made without end"),
        ("tales", "sample: generated tales"),
    ],
)
def test_data_without_a_table_are_described(data, source, capsys):
    assert f"{data}: {source}" in say(capsys, "data", data, *HERE)


@pytest.mark.parametrize(
    ("model", "data"), [("looks_back", "repeats"), ("pair", "rings"), ("char_lstm", "tales"), ("listener", "sounds")]
)
def test_the_line_to_try_a_network_has_an_input_that_it_reads(model, data, own_folder):
    cfg = compose([f"model={model}", f"data={data}"])
    made, task = instantiate(cfg.data), class_at(cfg.task._target_, Task)
    made.prepare_data()
    made.setup("fit")
    (typed,) = shlex.split(view_of(task).try_it(made))
    assert typed != "..." and made.encoder.display(typed) and len(made.encoder([typed])) == 1


def test_it_is_not_there_without_its_folder(tmp_path, capsys):
    assert launch(TINY, tmp_path) == 2
    assert "error: data=repeats: unknown data" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert "looks_back" not in catalogue.models()


def test_a_folder_that_is_not_there(tmp_path, capsys):
    assert launch(["--config-dir", "nowhere", *TINY], tmp_path) == 2
    assert "error: nowhere: folder not found (--config-dir)" in capsys.readouterr().err


def test_the_option_may_stand_before_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["zoo"])
    with pytest.raises(SystemExit):
        main([*HERE, "train", *TINY, "seed=-1"])
    assert capsys.readouterr().err == "error: seed=-1: expected a whole number from 0 to 4294967295, found -1\n"


def test_what_a_run_leaves(finished):
    facts = result(finished)
    assert facts["task"] == "tagging" and facts["sizes"] == {"train": 61, "val": 23, "test": 37}
    assert {"test/accuracy", "test/attention_recall"} <= facts["metrics"].keys()
    assert len(list((finished / "attention").glob("test_*.png"))) == 4
    rows = list(csv.reader((finished / "predictions.csv").open()))
    assert rows[0] == ["index", "symbols", "true", "tags"] and len(rows) == 1 + 37


def test_data(capsys):
    said = say(capsys, "data", "repeats", "data.sample.train=61", *HERE)
    assert "repeats: sample: 261 generated sequences, seed 1" in said
    cells = [[cell.strip() for cell in line.replace("┃", "│").split("│")[1:-1]] for line in said.splitlines()]
    assert ["split", "sequences", "most symbols", "unknown rate"] in cells and ["train", "61", "9", "0.0%"] in cells
    shares = [float(row[1].rstrip("%")) for row in cells if row[:1] in (["new"], ["again"])]
    assert sum(shares) == pytest.approx(100) and min(shares) > 10
    assert "symbols in train: mean " in said and "\n  symbols  " in said and "\n  tags     new" in said
    assert said.splitlines()[-2] == "notes" and "of 100 sequences are in train too" in said.splitlines()[-1]


def test_predict(finished, tmp_path, capsys):
    checkpoint = finished / "checkpoints" / "best.ckpt"
    (line,) = [json.loads(line) for line in say(capsys, "predict", checkpoint, "abca", "--json", *HERE).splitlines()]
    assert line["symbols"] == ["a", "b", "c", "a"] and len(line["tags"]) == 4
    assert sum(line["attention"][3]) == pytest.approx(1, abs=1e-5) and line["attention"][0] == [0.0] * 4
    given = tmp_path / "given.txt"
    given.write_text("ab\n\ncc\n")
    words = [
        "--file",
        given,
        "--csv",
        tmp_path / "o.csv",
        "--html",
        tmp_path / "o.html",
        "--attention",
        tmp_path / "o.svg",
    ]
    said = say(capsys, "predict", checkpoint, *words, *HERE).splitlines()
    assert said[1] == "" and said[0].startswith("a b\t")
    assert [row[0] for row in csv.reader((tmp_path / "o.csv").open())] == ["line", "1", "2", "3"]
    assert "a b" in (tmp_path / "o.html").read_text()
    assert {path.name for path in tmp_path.glob("*.svg")} == {"o-1.svg", "o-3.svg"}


def test_a_checkpoint_without_its_folder_names_what_is_missing(finished, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("tiny_tagging")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit):
        main(["predict", str(finished / "checkpoints" / "best.ckpt"), "abca"])
    said = capsys.readouterr().err
    assert "a checkpoint may not import" in said and "--config-dir" in said


def test_a_sweep(tmp_path, capfd):
    words = ["-m", *HERE, *TINY, "callbacks=none", "trainer.max_epochs=1", "model.embedding_dim=4,8"]
    assert launch(words, tmp_path) == 0
    (sweep,) = (tmp_path / "logs/sweeps").iterdir()
    assert [result(sweep / job)["parameters"] > 0 for job in ("0", "1")] == [True, True]
    assert capfd.readouterr().out.splitlines()[-1].startswith("best: val/accuracy")


@pytest.mark.usefixtures("own_folder")
def test_a_group_that_only_its_task_has(tmp_path, capsys):
    assert (compose(TINY).curriculum.steps, compose([*TINY, "curriculum=whole"]).curriculum.steps) == (3, 0)
    for words, said in [
        (["curriculum=hole"], "curriculum=hole: unknown curriculum; did you mean curriculum=whole?"),
        (["curriculum.symbols=0"], "curriculum.symbols=0: expected a whole number from 1 on, found 0"),
        (["curriculum.step=1"], "curriculum.step: unknown key; did you mean curriculum.steps?"),
        (
            ["objective=cross_entropy"],
            "objective: tagging, the task of these data, does not use this group; remove objective=...",
        ),
    ]:
        assert launch([*HERE, *TINY, *words], tmp_path) == 2
        assert said in capsys.readouterr().err
    assert launch([*HERE, "+curriculum=easy"], tmp_path) == 2
    assert "curriculum: classification, the task of these data, does not use this group" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_its_network_is_exported(finished, tmp_path, capsys):
    out = say(capsys, "export", finished, "--out", tmp_path / "onnx", *HERE)
    assert "network: differs from the network by at most" in out
    about = json.loads((tmp_path / "onnx" / "manifest.json").read_text(encoding="utf-8"))
    assert about["graphs"]["network"]["outputs"]["attention_before"]["shape"] == ["batch", "symbols", "symbols"]
    assert json.loads((tmp_path / "onnx" / "words.json").read_text(encoding="utf-8"))["tokens"][:2] == [
        "<pad>",
        "<unk>",
    ]


@pytest.mark.usefixtures("own_folder")
def test_it_can_be_explored(finished):
    network = Network(str(finished))
    answer = network(["abca"])
    assert [field.label for field in network.form] == ["sequence"] and answer.prediction.symbols == ("a", "b", "c", "a")
    made = files([answer], ["abca"])
    assert made["png"].startswith(b"\x89PNG") and json.loads(made["json"])["input"] == {"sequence": "abca"}
    assert network.card.strip().startswith(f"# {finished}")
