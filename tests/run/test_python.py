"""The functions of `zoo` for Python code: the same catalogue, checks and results as the command line."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hydra.core.global_hydra import GlobalHydra
from torch import nn

import zoo
from tests.catalogue import MODELS, ROOT
from tests.run.programs import TINY
from zoo.data.documents.batch import DocumentSpec
from zoo.data.trees.batch import LabelledTreeSpec
from zoo.errors import ConfigError, DataError
from zoo.models import HAN, TreeLSTM
from zoo.run.overrides import words

FACTS: dict[str, Any] = {"vocabulary_size": 20, "classes": ("bad", "good")}
SMALL = {key: int(value) for key, _, value in (word.partition("=") for word in TINY) if value.isdigit()}


def refused(function: Any, *arguments: Any, **options: Any) -> str:
    """The line of the error that a function raises."""
    with pytest.raises((ConfigError, DataError)) as caught:
        function(*arguments, **options)
    return str(caught.value)


# the catalogue


def test_every_name_of_the_package_is_listed_and_found() -> None:
    assert set(zoo.__all__) <= set(dir(zoo))
    assert all(getattr(zoo, name) for name in zoo.__all__)
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        getattr(zoo, "laod")  # noqa: B009


def test_every_network_is_listed_and_found_in_zoo_models() -> None:
    listed = dir(zoo.models)
    for name in MODELS:
        with torch.device("meta"):  # shapes without numbers
            network = type(created(name))
        assert network is MODELS[name].cls
        assert network.__name__ in listed and getattr(zoo.models, network.__name__) is network
    with pytest.raises(AttributeError, match="no attribute 'Hann'; did you mean 'HAN'"):
        getattr(zoo.models, "Hann")  # noqa: B009


def test_models_and_data_are_listed_by_name_pattern_and_task() -> None:
    assert zoo.list_models() == sorted(MODELS)
    assert zoo.list_models("lstm", task="algorithmic") == zoo.list_models("stacked_*") == ["stacked_lstm"]
    assert zoo.list_models("stacked") == ["stacked_lstm"] and zoo.list_models("no_such") == []
    assert "sick" in zoo.list_data(task="relatedness") and "yelp" not in zoo.list_data(task="relatedness")
    assert refused(zoo.list_data, task="clozee") == "task='clozee': unknown task; did you mean cloze?"


# networks


NEEDED: dict[str, dict[str, Any]] = {
    "adversarial": {"channels": 1, "height": 12, "width": 12, "classes": ("a", "b")},
    "algorithmic": {"in_width": 3, "out_width": 2},
    "answering": {"vocabulary_size": 20, "longest_sentence": 5},
    "captioning": {"channels": 3, "height": 64, "width": 64, "target_size": 20, "longest_target": 5},
    "classification": FACTS,
    "clip_captioning": {"channels": 3, "height": 64, "width": 64, "target_size": 20, "longest_target": 5},
    "cloze": {"vocabulary_size": 20, "blank": 2},
    "language_modeling": {"vocabulary_size": 20},
    "density": {"channels": 1, "height": 12, "width": 12},
    "dialogue": {"vocabulary_size": 20, "longest_source": 5, "longest_target": 5},
    "handwriting": {"vocabulary_size": 20, "lines": 10},
    "pointing": {"width": 2, "longest": 5, "longest_target": 6, "goal": "hull"},
    "transcription": {"features": 6, "target_size": 20, "longest_target": 5, "hop": 0.01},
    "translation": {"source_size": 20, "target_size": 20, "longest_source": 5, "longest_target": 5},
    "summarization": {"vocabulary_size": 20, "longest_source": 5, "longest_target": 5},
    "tree_classification": {**FACTS, "arity": 2, "binary": True, "words_inside": False},
    "wave_density": {"rate": 8000},
}
"""The facts that a network of each task cannot be built without."""


def created(name: str) -> nn.Module:
    task = next(task for task in NEEDED if name in zoo.list_models(task=task))
    return zoo.create_model(name, **NEEDED[task])


def test_a_network_has_the_values_of_the_configuration_and_those_given() -> None:
    network = zoo.create_model("han", **FACTS, word_hidden_dim=30)
    assert isinstance(network, HAN)
    assert network.embedding.weight.shape == (20, 200) and network.word_encoder.hidden_size == 30
    assert network.classifier.out_features == 2
    torch.manual_seed(0)
    mine = HAN(DocumentSpec(**FACTS), word_hidden_dim=30).state_dict()
    torch.manual_seed(0)
    other = zoo.create_model("han", spec=DocumentSpec(**FACTS), word_hidden_dim=30).state_dict()
    assert all(torch.equal(mine[name], other[name]) for name in mine) and mine.keys() == other.keys()


def test_the_facts_choose_the_kind_of_data_that_a_network_is_for() -> None:
    shape = {"vocabulary_size": 20, "arity": 2, "binary": True, "words_inside": False}
    classes = zoo.create_model("tree_lstm", **shape, classes=("bad", "good"))
    grades = zoo.create_model("tree_lstm", **shape, lowest=1, highest=4)
    assert isinstance(classes, TreeLSTM) and isinstance(grades, TreeLSTM)
    same = zoo.create_model("tree_lstm", spec=LabelledTreeSpec(**shape, classes=("bad", "good")))
    assert str(classes) == str(same) != str(grades)
    said = refused(zoo.create_model, "tree_lstm", **shape)
    assert "needs facts about the data: give classes=... or highest=..., lowest=...; or spec=" in said


def test_choices_and_groups_of_keys_are_given_by_name_dict_or_dotted_key() -> None:
    facts = NEEDED["captioning"]
    small = zoo.create_model("show_and_tell", **facts, encoder={"dim": 24})
    dotted = zoo.create_model("show_and_tell", **facts, **{"encoder.dim": 24})
    assert str(small) == str(dotted) != str(zoo.create_model("show_and_tell", **facts))
    large = zoo.create_model(
        "show_and_tell", **facts | {"height": 224, "width": 224}, encoder="vgg19", **{"encoder.weights": "none"}
    )
    assert sum(one.numel() for one in large.parameters()) > 19e6


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("hann", {}, "'hann': unknown model; did you mean han?"),
        ("han", {}, "create_model: han needs facts about the data: give classes=..., vocabulary_size=...; or spec="),
        ("han", {**FACTS, "vocabulary_size": 0}, "vocabulary_size=0: expected a whole number from 1 on, found 0"),
        ("han", {**FACTS, "classes": 2}, "classes=2: expected a list (each text), found 2"),
        (
            "han",
            {**FACTS, "word_hiden_dim": 3},
            "model.word_hiden_dim: unknown key; did you mean model.word_hidden_dim",
        ),
        ("han", {**FACTS, "dropout": 1.0}, "model.dropout=1.0: expected a number from 0 to below 1, found 1.0"),
        ("han", {**FACTS, "word_pooling": "meen"}, "found 'meen'; did you mean 'mean'?"),
        ("han", {**FACTS, "dropout": nn.Dropout()}, "model.dropout: expected a plain value, found a Dropout"),
        ("show_and_tell", {**NEEDED["captioning"], "encoder": "vgg91"}, "did you mean model/encoder=vgg19?"),
    ],
)
def test_a_network_that_cannot_be_built_is_refused_in_one_line(name: str, values: dict[str, Any], said: str) -> None:
    assert said in refused(zoo.create_model, name, **values)


def test_constructors_refuse_what_a_configuration_may_not_hold() -> None:
    spec = DocumentSpec(**FACTS)
    assert refused(HAN, spec, embedding_dim=0).startswith("embedding_dim=0: expected a whole number from 1 on")
    assert refused(HAN, 10) == (
        "HAN: spec: expected a DocumentSpec, DocumentSpec(vocabulary_size=..., classes=...), found 10"
    )
    assert "vocabulary_size=20: expected a whole number" in refused(DocumentSpec, "20", ("bad", "good"))


def test_hydra_and_lightning_are_imported_no_earlier_than_they_are_needed() -> None:
    code = (
        "import sys, zoo; assert 'torch' not in sys.modules; zoo.list_models(); assert 'torch' not in sys.modules\n"
        "from zoo.models import HAN\n"
        "heavy = {'torch._dynamo', 'lightning', 'hydra', 'torchmetrics', 'torchvision', 'datasets', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "zoo.create_model('han', vocabulary_size=5, classes=('a', 'b'))\n"
        "assert heavy & set(sys.modules) == {'hydra'}, heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# data and trainings


def test_data_are_ready_to_be_read() -> None:
    sizes = {"train": 30, "val": 5, "test": 7}
    data = zoo.load_data("yelp", sample=sizes, **{"loader.batch_size": 16})
    assert len(data.spec.classes) == 5 and data.sizes == sizes
    assert [len(batch) for batch in data.test_dataloader()] == [7]
    assert sum(len(batch) for batch in data.train_dataloader()) == 30
    assert refused(zoo.load_data, "yepl") == "'yepl': unknown data; did you mean yelp?"
    assert refused(zoo.load_data, "yelp", sorce="hub") == "data.sorce: unknown key; did you mean data.source?"
    assert refused(zoo.load_data, "yelp", path_="x").startswith("data.path_: unknown key")
    assert refused(zoo.load_data, "documents", path="/none.csv").startswith("/none.csv: No such file")


def test_overrides_are_written_as_hydra_reads_them() -> None:
    given = {
        "optimizer": "adamw",
        "optimizer.lr": 1e-5,
        "compile": True,
        "threads": None,
        "tags": ["a, b", "it's", 3],
        "trainer": {"max_epochs": 2, "profiler": "simple"},
        "ckpt_path": Path("a b/c=d.ckpt"),
    }
    cfg = zoo.run.compose.compose(list(words(given)))
    assert cfg.optimizer._target_ == "torch.optim.AdamW" and cfg.optimizer.lr == 1e-5
    assert cfg.compile is True and cfg.threads is None and cfg.tags == ["a, b", "it's", 3]
    assert (cfg.trainer.max_epochs, cfg.trainer.profiler, cfg.ckpt_path) == (2, "simple", "a b/c=d.ckpt")
    chosen = zoo.run.compose.compose(list(words({"model": "luong", "data": "multi30k", "regularizer": ["coverage"]})))
    assert list(chosen.regularizer) == ["coverage"]


def test_a_training_returns_metrics_folder_and_predictor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    before, argv = root.handlers[:], sys.argv[:]
    result = zoo.train("han", "yelp", seed=2, trainer={"max_epochs": 1, "accelerator": "cpu"}, **SMALL)
    assert result.folder.parent == tmp_path / "logs" / "han_yelp"
    assert result.metrics["test/accuracy"] == result.about["metrics"]["test/accuracy"]
    assert result.about["seed"] == 2 and "data.sample.train=61" in result.about["overrides"]
    predictor = result.predictor
    assert predictor(["Good food."])[0].label in predictor.task.spec.classes
    assert repr(predictor) == "<Predictor: HAN for classification; takes a list; an input is a document as text>"
    with pytest.raises(TypeError, match="expected a list of inputs, found one text; an input is a document as text"):
        predictor("Good food.")
    assert root.handlers == before and sys.argv == argv and not GlobalHydra.instance().is_initialized()


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"model": "hann"}, "model=hann: unknown model; did you mean model=han?"),
        ({"model": "han", "data": "multi30k"}, "HAN and Multi30k do not fit"),
        ({"optimizr": {"lr": 1}}, "optimizr.lr: unknown key; did you mean optimizer?"),
        ({"optimizer.lr": "high"}, "optimizer.lr=high: expected a number from 0 on, found 'high'"),
        ({"trainer.devices": 2}, "trainer.devices=2: zoo.train runs in this process alone; for several devices use"),
        ({"data.source": "/none"}, "/none: No such file or directory (data.source)"),
    ],
)
def test_a_training_that_cannot_start_is_refused_in_one_line_and_leaves_nothing(
    overrides: dict[str, Any],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(zoo.train, **overrides).startswith(said)
    assert not (tmp_path / "logs").exists() and capfd.readouterr().err == ""


def test_the_plain_loop_of_the_readme_trains_han(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines from the README, on fewer examples, as a script beside no clone."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (loop,) = [block for block in blocks if "loss.backward()" in block]
    few = 'sample={"train": 1500, "val": 1, "test": 200}, loader={"batch_size": 16}'
    small = loop.replace('load_data("yelp")', f'load_data("yelp", {few})')
    assert small != loop and len(loop.splitlines()) <= 20 and "lightning" not in loop and "hydra" not in loop
    names: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    exec(small, names)
    assert torch.cat(names["right"]).float().mean() > 0.5  # of five classes
