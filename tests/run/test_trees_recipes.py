"""Each paper's run on trees, on small files of the official formats: all but paths and epochs is as in its recipe."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

import zoo
from tests.run.programs import launch, result, train
from tests.run.tree_files import MISSING, SIZES, WORTH, write_sick, write_sst, write_vectors
from zoo.cli import main
from zoo.optimizers.adagrad import Adagrad
from zoo.run.catalogue import experiments
from zoo.run.compose import compose

EPOCHS = 2
OF_TREES = {f"test/accuracy_{part}{kind}" for part in ("nodes", "roots") for kind in ("", "_binary")}
METRICS = {"sst": {"test/loss"} | OF_TREES, "sick": {f"test/{name}" for name in ("loss", "pearson", "spearman", "mse")}}
RNTN = {"lr": 0.01, "weight_decay": 1e-4, "plain": False, "row_decay": 0.0}
TREE_LSTM = RNTN | {"lr": 0.05}
PAIRS = TREE_LSTM | {"weight_decay": 5e-4}
COMPOSITION = RNTN | {"weight_decay": 1e-3}
WORDS = RNTN | {"weight_decay": 0.0, "row_decay": 1e-4}
TUNED, FIXED = ({"lr": rate, "weight_decay": 0.0, "plain": True, "row_decay": 0.0} for rate in (0.1, 0.0))


class Recipe(NamedTuple):
    """The settings of an experiment."""

    epochs: int
    batch: int
    groups: list[dict[str, Any]]
    """The settings of AdaGrad for the network, and for parts with their own."""
    forget: bool = False
    vectors: bool = False
    """Whether it begins with GloVe's."""


RECIPES = {
    "recursive_sst": Recipe(400, 27, [RNTN, WORDS], forget=True),
    "mv_rnn_sst": Recipe(400, 27, [RNTN, WORDS, WORDS, WORDS], forget=True),
    "rntn_sst": Recipe(400, 27, [RNTN, COMPOSITION, COMPOSITION, WORDS], forget=True),
    "phrase_mean_sst": Recipe(400, 27, [RNTN, WORDS], forget=True),
    "phrase_lstm_sst": Recipe(10, 25, [TREE_LSTM, TUNED], vectors=True),
    "phrase_lstm_sick": Recipe(10, 25, [PAIRS, FIXED], vectors=True),
    "tree_lstm_sst": Recipe(10, 25, [TREE_LSTM, TUNED], vectors=True),
    "tree_lstm_sick": Recipe(10, 25, [PAIRS, FIXED], vectors=True),
    "tree_lstm_sick_constituency": Recipe(10, 25, [PAIRS, FIXED], vectors=True),
}


class Files(NamedTuple):
    """The official files, small."""

    sst: Path
    sick: Path
    glove: Path
    vectors: dict[str, list[float]]
    """In that file."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    glove = folder / "glove.txt"
    return Files(write_sst(folder / "sst"), write_sick(folder / "sick"), glove, write_vectors(glove))


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Whether AdaGrad has sums of squares before and after the start of each epoch."""
    found: list[tuple[bool, bool]] = []
    start_epoch = Adagrad.start_epoch

    def watched(self: Adagrad) -> None:
        before = self._sums()
        start_epoch(self)
        found.append((before, self._sums()))

    monkeypatch.setattr(Adagrad, "start_epoch", watched)
    monkeypatch.setattr(
        Adagrad, "_sums", lambda self: any(state["sum"].any() for state in self.state.values()), raising=False
    )
    return found


def of_files(name: str, files: Files) -> list[str]:
    """The overrides of an experiment."""
    recipe, data = RECIPES[name], "sick" if "sick" in name else "sst"
    words = [f"experiment={name}", f"data.source={getattr(files, data)}", f"trainer.max_epochs={EPOCHS}"]
    quiet = ["trainer=cpu", "trainer.enable_progress_bar=false", "callbacks=checkpoint", "hydra.run.dir=run"]
    return [*words, *quiet, *([f"data.vectors={files.glove}"] if recipe.vectors else [])]


def test_every_experiment_on_trees_is_here() -> None:
    assert {name for name in experiments() if "_sst" in name or "_sick" in name} == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs_to_its_end(
    name: str, files: Files, forgotten: list[tuple[bool, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, data = RECIPES[name], "sick" if "sick" in name else "sst"
    cfg = compose([f"experiment={name}"])
    assert cfg.trainer.max_epochs == recipe.epochs and cfg.data.loader.batch_size == recipe.batch
    assert cfg.data.source is None and cfg.trainer.gradient_clip_val is None and not cfg.scheduler
    assert launch(of_files(name, files), tmp_path) == 0

    facts, pairs = result(tmp_path / "run"), "pairs" if data == "sick" else "trees"
    assert (facts["data"], facts["task"]) == (data, {"sst": "tree_classification", "sick": "relatedness"}[data])
    kind = {"tree_lstm_sick_constituency": "constituency parses, "}.get(name, "dependency parses, " * (data == "sick"))
    assert facts["source"] == f"path: {getattr(files, data)}, {kind}{sum(SIZES.values())} {pairs}"
    assert facts["sizes"] == {"train": SIZES["train"], "val": SIZES["dev"], "test": SIZES["test"]}
    assert (facts["epochs"], facts["steps"]) == (EPOCHS, EPOCHS * math.ceil(SIZES["train"] / recipe.batch))
    assert facts["metrics"].keys() == METRICS[data]
    assert all(math.isfinite(value) for value in facts["metrics"].values())
    if data == "sst":
        right = facts["metrics"]["test/accuracy_roots"] * SIZES["test"]
        assert right == pytest.approx(round(right), abs=1e-4)

    kept = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)
    assert kept["hyper_parameters"]["optimizer"]["_target_"] == "zoo.optimizers.adagrad.Adagrad"
    groups = kept["optimizer_states"][0]["param_groups"]
    assert [{key: group[key] for key in RNTN} for group in groups] == recipe.groups
    assert forgotten == [(False, False), (True, not recipe.forget)]
    if recipe.vectors:  # they are tuned on SST, and stay on SICK
        predictor = zoo.load(tmp_path / "run/checkpoints/last.ckpt")
        words = {word: number for number, word in enumerate(predictor.encoder.vocabulary.words)}
        embedding, found = predictor.task.network.embedding.weight, words.keys() & files.vectors.keys()
        same = [torch.equal(embedding[words[word]], torch.tensor(files.vectors[word])) for word in found]
        assert MISSING & words.keys() and len(same) >= 9 and (not any(same) if data == "sst" else all(same))


def test_binary_sentiment_leaves_neutral_sentences_out(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the header of the recipe says it is asked for. Five typed labels are three classes."""
    binary = ["data.classes=binary", "task.monitor=val/accuracy_roots_binary"]
    assert launch([*of_files("tree_lstm_sst", files), *binary], tmp_path) == 0
    facts = result(tmp_path / "run")
    neutral = {"train": 12, "val": 2, "test": 2}
    assert facts["sizes"] == {name: size - neutral[name] for name, size in zip(neutral, SIZES.values(), strict=True)}
    assert facts["monitor"] == "val/accuracy_roots_binary" and facts["metrics"].keys() == METRICS["sst"]
    network = zoo.load(tmp_path / "run").task.network
    assert network.head.classifier.out_features == 3, "neutral phrases are a class"
    capsys.readouterr()
    main(["predict", str(tmp_path / "run"), f"(1 (4 {WORTH[4]}) (0 (2 .) (3 it)))", "--json"])
    given = json.loads(capsys.readouterr().out)["given"]
    assert given == ["negative", "positive", "negative", "neutral", "positive"]


def test_a_recipe_as_a_user_starts_it(files: Files, tmp_path: Path, program_env: dict[str, str]) -> None:
    """With everything on."""
    words = [word for word in of_files("tree_lstm_sick", files) if not word.startswith("callbacks")]
    run = train(words, tmp_path, program_env)
    assert "pairs: 60 in train, 11 in val, 13 in test" in run.stdout
    typed = "'A dog runs . ||| A cat sleeps .' --trees spacy:en_core_web_sm"  # its parses cannot be typed
    assert f"Try it: zoo predict run/checkpoints/best.ckpt {typed}\n" in run.stdout
    header, *rows = (tmp_path / "run/predictions.csv").read_text(encoding="utf-8").splitlines()
    assert header == "index,first,second,true,score" and len(rows) == SIZES["test"]
    assert {row.split(",")[3] for row in rows} <= {"4.5", "1.25", "3", "5"}


def test_a_recipe_without_its_files_says_which_it_wants(
    files: Files, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for words, expected in (
        (
            ["experiment=rntn_sst"],
            "data.source is not set; expected: sample, hub, or the path of a folder with train.txt",
        ),
        (["experiment=tree_lstm_sick", f"data.source={files.sst}"], f"{files.sst}"),
        (
            ["experiment=rntn_sst", f"data.source={files.sick}"],
            f"{files.sick}: found dev/, test/, train/; expected a folder",
        ),
    ):
        assert launch([*words, "trainer=cpu", "hydra.run.dir=run"], tmp_path) == 2
        assert expected in capfd.readouterr().err
