"""Runs on trees, on small files of the official formats: each paper's recipe, a table of texts, and pairs."""

import json
import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image

import zoo
from tests.run.families import PAIRS, QUIET
from tests.run.programs import launch, result, train
from zoo.cli import main
from zoo.data.trees.sick import SICK
from zoo.data.trees.sst import SST
from zoo.optimizers.adagrad import Adagrad
from zoo.run.catalogue import experiments
from zoo.run.compose import compose

SIZES = {"train": 60, "val": 11, "test": 13}  # Examples of each split; no batch divides them
MISSING = {"the", "a"}  # Words without a vector
EPOCHS = 2
OF_TREES = {f"test/accuracy_{part}{kind}" for part in ("nodes", "roots") for kind in ("", "_binary")}
METRICS = {"sst": {"test/loss"} | OF_TREES, "sick": {f"test/{name}" for name in ("loss", "pearson", "spearman", "mse")}}
RNTN = {"lr": 0.01, "weight_decay": 1e-4, "plain": False, "row_decay": 0.0}
TREE_LSTM = RNTN | {"lr": 0.05}
SIMILARITY = TREE_LSTM | {"weight_decay": 5e-4}
COMPOSITION = RNTN | {"weight_decay": 1e-3}
WORDS = RNTN | {"weight_decay": 0.0, "row_decay": 1e-4}
TUNED, FIXED = ({"lr": rate, "weight_decay": 0.0, "plain": True, "row_decay": 0.0} for rate in (0.1, 0.0))


RECIPES = {
    "recursive_sst": [RNTN, WORDS],
    "mv_rnn_sst": [RNTN, WORDS, WORDS, WORDS],
    "rntn_sst": [RNTN, COMPOSITION, COMPOSITION, WORDS],
    "phrase_mean_sst": [RNTN, WORDS],
    "phrase_lstm_sst": [TREE_LSTM, TUNED],
    "phrase_lstm_sick": [TREE_LSTM, FIXED],
    "tree_lstm_sst": [TREE_LSTM, TUNED],
    "tree_lstm_sick": [SIMILARITY, FIXED],
    "tree_lstm_sick_constituency": [SIMILARITY, FIXED],
}
"""The settings of AdaGrad for the network, and for parts with their own, in each experiment. The networks with an LSTM
begin with GloVe's vectors; the others forget the sums of squares at the start of an epoch."""


class Files(NamedTuple):
    """The official files, small, and the vectors in that of GloVe."""

    sst: Path
    sick: Path
    sick_constituency: Path
    glove: Path
    vectors: dict[str, list[float]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Generated examples, and a file as GloVe's, without a header, with vectors of their words but MISSING ones."""
    folder, words = tmp_path_factory.mktemp("files"), set[str]()
    data = {"sst": SST(sample=SIZES), "sick": SICK(sample=SIZES)}
    data["sick_constituency"] = SICK(sample=SIZES, parse="constituency")
    for name, module in data.items():
        for path in module.write(folder / name):
            words |= set(re.findall(r"[^\s()]+", path.read_text(encoding="utf-8")))
    rows = np.random.default_rng(1).normal(0, 0.3, (len(words), 300)).round(4).tolist()
    found = {word: row for word, row in zip(sorted(words), rows, strict=True) if word not in MISSING}
    lines = (" ".join([word, *map(str, row)]) for word, row in found.items())
    (folder / "glove.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Files(*(folder / name for name in data), folder / "glove.txt", found)


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


def source_of(name: str, files: Files) -> Path:
    """The folder with the files of an experiment."""
    return files.sst if "sst" in name else files.sick_constituency if "constituency" in name else files.sick


def of_files(name: str, files: Files) -> list[str]:
    """The overrides of an experiment."""
    words = [f"experiment={name}", f"data.source={source_of(name, files)}", f"trainer.max_epochs={EPOCHS}"]
    quiet = ["trainer=cpu", "trainer.enable_progress_bar=false", "callbacks=checkpoint", "hydra.run.dir=run"]
    return [*words, *quiet, *([f"data.vectors={files.glove}"] if "lstm" in name else [])]


def test_every_experiment_on_trees_is_here() -> None:
    assert {name for name in experiments() if "_sst" in name or "_sick" in name} == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs_to_its_end(
    name: str, files: Files, forgotten: list[tuple[bool, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, vectors = "sick" if "sick" in name else "sst", "lstm" in name
    epochs, batch_size = (10, 25) if vectors else (400, 27)
    cfg = compose([f"experiment={name}"])
    assert cfg.trainer.max_epochs == epochs and cfg.data.loader.batch_size == batch_size
    assert cfg.data.source is None and cfg.trainer.gradient_clip_val is None and not cfg.scheduler
    assert launch(of_files(name, files), tmp_path) == 0

    facts = result(tmp_path / "run")
    assert (facts["data"], facts["task"]) == (data, {"sst": "tree_classification", "sick": "relatedness"}[data])
    parses = "constituency" if name == "tree_lstm_sick_constituency" else "dependency"
    kind = f"pairs of {parses} parses" if data == "sick" else "trees"
    assert facts["source"] == f"path: {source_of(name, files)}, {sum(SIZES.values())} {kind}"
    assert facts["sizes"] == SIZES
    assert (facts["epochs"], facts["steps"]) == (EPOCHS, EPOCHS * math.ceil(SIZES["train"] / batch_size))
    assert facts["metrics"].keys() == METRICS[data]
    assert all(math.isfinite(value) for value in facts["metrics"].values())
    if data == "sst":
        right = facts["metrics"]["test/accuracy_roots"] * SIZES["test"]
        assert right == pytest.approx(round(right), abs=1e-4)

    kept = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)
    assert kept["hyper_parameters"]["optimizer"]["_target_"] == "zoo.optimizers.adagrad.Adagrad"
    groups = kept["optimizer_states"][0]["param_groups"]
    assert [{key: group[key] for key in RNTN} for group in groups] == RECIPES[name]
    assert forgotten == [(False, False), (True, vectors)]
    if vectors:  # they are tuned on SST, and stay on SICK
        predictor = zoo.load(tmp_path / "run/checkpoints/last.ckpt")
        words = {word: number for number, word in enumerate(predictor.encoder.vocabulary.words)}
        embedding, found = predictor.task.network.embedding.weight, words.keys() & files.vectors.keys()
        same = [torch.equal(embedding[words[word]], torch.tensor(files.vectors[word])) for word in found]
        assert MISSING & words.keys() and len(same) >= 9 and (sum(same) < 40 if data == "sst" else all(same))


def test_binary_sentiment_leaves_neutral_sentences_out(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the header of the recipe says it is asked for. Five typed labels are three classes."""
    binary = ["data.classes=binary", "task.monitor=val/accuracy_roots_binary"]
    assert launch([*of_files("tree_lstm_sst", files), *binary], tmp_path) == 0
    facts = result(tmp_path / "run")
    texts = [(files.sst / f"{name}.txt").read_text(encoding="utf-8") for name in ("train", "dev", "test")]
    neutral = [len(re.findall(r"^\(2 ", text, re.MULTILINE)) for text in texts]
    assert [*facts["sizes"].values()] == [size - left for size, left in zip(SIZES.values(), neutral, strict=True)]
    assert min(neutral) > 0
    assert facts["monitor"] == "val/accuracy_roots_binary" and facts["metrics"].keys() == METRICS["sst"]
    network = zoo.load(tmp_path / "run").task.network
    assert network.head.classifier.out_features == 3, "neutral phrases are a class"
    capsys.readouterr()
    main(["predict", str(tmp_path / "run"), "(1 (4 superb) (0 (2 .) (3 it)))", "--json"])
    given = json.loads(capsys.readouterr().out)["given"]
    assert given == ["negative", "positive", "negative", "neutral", "positive"]


def test_a_recipe_as_a_user_starts_it(files: Files, tmp_path: Path, program_env: dict[str, str]) -> None:
    """With everything on."""
    words = [word for word in of_files("tree_lstm_sick", files) if not word.startswith("callbacks")]
    run = train(words, tmp_path, program_env)
    assert "train 60, val 11, test 13 pairs" in run.stdout
    # the parses of the files cannot be typed
    typed = re.search(
        r"^Try it: zoo predict run/checkpoints/best.ckpt '(.+) \|\|\| .+' --trees spacy:en_core_web_sm$",
        run.stdout,
        re.MULTILINE,
    )
    assert typed and typed[1] in "".join(path.read_text(encoding="utf-8") for path in files.sick.rglob("a.toks"))
    header, *rows = (tmp_path / "run/predictions.csv").read_text(encoding="utf-8").splitlines()
    assert header == "index,first,second,true,score"
    scores = (files.sick / "test/sim.txt").read_text(encoding="utf-8").split()
    assert sorted(row.split(",")[3] for row in rows) == sorted(scores)


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


# texts without trees


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a table of texts whose class one word decides, at any position."""
    folder = tmp_path_factory.mktemp("reviews")
    words = {"good": ("superb", "lovely", "brilliant"), "bad": ("dreadful", "dull", "clumsy")}
    rows = []
    for n in range(80):
        for name, said in words.items():
            text = " ".join(["the film was long"] * (n % 3) + [said[n % 3], "and the plot was thin"])
            rows.append(f'"{text}, said {n}",{name}\n')
    (folder / "reviews.csv").write_text("review,verdict\n" + "".join(rows), encoding="utf-8")
    table = ["data=trees", "data.path=reviews.csv", "data.text_column=review", "data.label_column=verdict"]
    small = ["model=tree_lstm", "model.embedding_dim=16", "model.hidden_dim=16", "data.loader.batch_size=8"]
    run = ["data.trees=balanced", "optimizer.lr=0.01", "trainer.max_epochs=6", "callbacks=checkpoint", *QUIET]
    assert launch([*table, *small, *run, "hydra.run.dir=run"], folder) == 0
    return folder / "run"


def test_a_table_without_trees_is_learned(reviews: Path) -> None:
    facts = result(reviews)
    assert facts["source"].endswith("reviews.csv, 160 texts")
    assert facts["sizes"] == {"train": 128, "val": 16, "test": 16}
    assert facts["monitor"] == "val/accuracy_roots" and facts["score"] > 0.9
    assert {"test/loss", "test/accuracy_nodes", "test/accuracy_roots"} == facts["metrics"].keys()
    assert facts["metrics"]["test/accuracy_nodes"] == facts["metrics"]["test/accuracy_roots"] > 0.9


def test_texts_and_brackets_are_read(reviews: Path, tmp_path: Path, predicted) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("the plot was dull and long\n\n(good (_ (_ a) (_ lovely)) (_ film))\n(S (S it) (S shines))\n")
    (text, blank, typed, foreign), page, rows, _ = predicted(reviews, "--file", lines)
    assert blank is None and (text["label"], typed["label"]) == ("bad", "good")
    assert text["tree"]["built"] == "balanced" and typed["tree"]["built"] is None
    assert len(text["tree"]["parent"]) == 2 * 6 - 1 and typed["tree"]["parent"] == [-1, 0, 1, 1, 0]
    assert typed["given"] == ["good", None, None, None, None] and text["given"] is None
    assert foreign["given"] is None and foreign["unread"] == ["S"]
    for number in (1, 3, 4):
        assert Image.open(tmp_path / f"look-{number}.png").width > 400
    assert page.count("<svg") == 3 and page.count("true class good") == 2  # of the sentence and at its root
    assert "the labels in the brackets were not read: S is not a class" in page
    assert [row["predicted"] for row in rows] == ["bad", "", "good", foreign["label"]]


def test_a_text_that_is_longer_than_those_of_training_is_said_to_be_cut(
    reviews: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = " ".join(["the film was long"] * 50 + ["superb"])
    page = tmp_path / "page.html"
    main(["predict", str(reviews), long, "--html", str(page), "--json"])
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert len(found["tree"]["words"]) == 201 and max(found["tree"]["word"]) == 199
    assert "only the first 200 of 201 words were read" in page.read_text(encoding="utf-8")
    main(["predict", str(reviews), long])
    assert "only the first 200 of 201 words were read (data.text.max_words" in capsys.readouterr().err


# pairs


def test_pairs_are_scored_and_drawn(files: Files, tmp_path: Path, predicted) -> None:
    sick = [f"data.source={files.sick}", "trainer.max_epochs=10", "optimizer.lr=0.02"]
    run = [word for word in PAIRS if not word.startswith("data.sample")]
    assert launch([*run, *sick, "model.pooling=attention", "hydra.run.dir=run"], tmp_path) == 0
    first, second, scores = (
        (files.sick / "train" / name).read_text().splitlines() for name in ("a.toks", "b.toks", "sim.txt")
    )
    far, *_, near = sorted(zip(map(float, scores), first, second, strict=True))
    lines = [f"{near[1]} ||| {near[2]}", f"{far[1]}\t{far[2]}", "A dog runs ."]
    (near, far, nothing), page, _, err = predicted(tmp_path / "run", *lines, "--trees", "right", refused=True)
    assert near["score"] > far["score"] and nothing is None
    assert "left out: 'A dog runs .': found one sentence; expected two" in err
    for one in (near, far):
        assert sum(one["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert one["score"] == pytest.approx(sum(int(grade) * p for grade, p in one["probabilities"].items()), abs=1e-5)
        assert one["first"]["parent"] == [*range(-1, len(one["first"]["words"]) - 1)]
        assert sum(one["first"]["weights"]) == pytest.approx(1, abs=1e-5)
    for number in (1, 2):
        assert Image.open(tmp_path / f"look-{number}.png").width > 400
    assert page.count("<article") == 2 and page.count("<svg") == 4
    assert page.count("read along a right-branching tree: none was given") == 2


def test_a_correlation_of_one_pair_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON there is no NaN."""
    one = ["data.sample.val=1", "data.sample.test=1", "trainer.max_epochs=1", "hydra.run.dir=run"]
    assert launch([*PAIRS, *one], tmp_path) == 0
    text = (tmp_path / "run/result.json").read_text(encoding="utf-8")
    facts = json.loads(text, parse_constant=pytest.fail)
    assert facts["metrics"]["test/pearson"] is None and facts["score"] is None
    assert facts["metrics"]["test/mse"] > 0
    said = capsys.readouterr().out
    assert "nan" not in said and "inf" not in said and "–" in said
