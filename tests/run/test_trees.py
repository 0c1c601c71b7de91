"""Runs on trees, on small files of the official formats: each paper's recipe, a table of texts, and pairs."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image

import zoo
from tests.run.families import PAIRS, QUIET
from tests.run.programs import launch, result, train
from zoo.cli import main
from zoo.optimizers.adagrad import Adagrad
from zoo.run.catalogue import experiments
from zoo.run.compose import compose

SIZES = {"train": 60, "dev": 11, "test": 13}
"""Examples of each split; no batch divides them."""
WORTH = ("dreadful", "dull", "long", "good", "superb")
"""The word that decides each class of sentiment."""
MISSING = {"story", "cat"}
"""Words without a vector."""


def write_sst(folder: Path) -> Path:
    """train.txt, dev.txt and test.txt in brackets, with a class at every node that its one word of worth decides."""
    folder.mkdir()
    for split, size in SIZES.items():
        lines = (_sentence(number + len(split)) for number in range(size))
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _sentence(number: int) -> str:
    worth, noun = number % 5, ("film", "plot", "cast")[number % 3]
    thing = f"(2 (2 The) (2 {noun}))" if number % 2 else f"(2 (2 The) (2 (2 {noun}) (2 (2 and\\/or) (2 story))))"
    return f"({worth} {thing} ({worth} ({worth} (2 was) ({worth} {WORTH[worth]})) (2 .)))"


SENTENCES = (
    # tokens and heads of two sentences, 0 the root, -1 a token that is not in the tree; the score
    ("A dog runs .", "2 3 0 -1", "A dog is running .", "2 4 4 0 -1", 4.5),
    ("A dog runs .", "2 3 0 -1", "A cat sleeps .", "2 3 0 -1", 1.25),
    ("A cat and a dog run", "2 6 5 5 2 0", "A dog sleeps .", "2 3 0 -1", 3.0),
    ("A cat sleeps .", "2 3 0 -1", "A cat sleeps", "2 3 0", 5.0),
)


def write_sick(folder: Path) -> Path:
    """Folders train, dev and test, each as the Tree-LSTM's authors prepare them, with parses of both kinds."""
    for split, size in SIZES.items():
        where = folder / split
        where.mkdir(parents=True)
        pairs = [SENTENCES[(number * 7 + len(split)) % len(SENTENCES)] for number in range(size)]
        a, a_heads, b, b_heads, score = zip(*pairs, strict=True)
        files = {"sim.txt": score, "id.txt": range(1, size + 1)}
        for side, sentences, heads in (("a", a, a_heads), ("b", b, b_heads)):
            files |= {f"{side}.txt": sentences, f"{side}.toks": sentences, f"{side}.parents": heads}
            files[f"{side}.cparents"] = [_branching(len(sentence.split())) for sentence in sentences]
        for name, lines in files.items():
            (where / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def _branching(words: int) -> str:
    """Parents, from 1, of the words and then of the inner nodes of (a (b (c d)))."""
    inner = [words + number for number in range(1, words)]
    return " ".join(map(str, [*inner, inner[-1], 0, *inner[:-1]]))


def write_vectors(path: Path, size: int = 300) -> dict[str, list[float]]:
    """A file as GloVe's, without a header, with vectors of all words of the files above but MISSING ones; these."""
    words = {word for pair in SENTENCES for text in (pair[0], pair[2]) for word in text.split()}
    words |= {"The", "film", "plot", "cast", "and/or", "story", "was", ".", *WORTH}
    rows = np.random.default_rng(1).normal(0, 0.3, (len(words), size)).round(4).tolist()
    found = {word: row for word, row in zip(sorted(words), rows, strict=True) if word not in MISSING}
    lines = (" ".join([word, *map(str, row)]) for word, row in found.items())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found


EPOCHS = 2
OF_TREES = {f"test/accuracy_{part}{kind}" for part in ("nodes", "roots") for kind in ("", "_binary")}
METRICS = {"sst": {"test/loss"} | OF_TREES, "sick": {f"test/{name}" for name in ("loss", "pearson", "spearman", "mse")}}
RNTN = {"lr": 0.01, "weight_decay": 1e-4, "plain": False, "row_decay": 0.0}
TREE_LSTM = RNTN | {"lr": 0.05}
SIMILARITY = TREE_LSTM | {"weight_decay": 5e-4}
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
    "phrase_lstm_sick": Recipe(10, 25, [SIMILARITY, FIXED], vectors=True),
    "tree_lstm_sst": Recipe(10, 25, [TREE_LSTM, TUNED], vectors=True),
    "tree_lstm_sick": Recipe(10, 25, [SIMILARITY, FIXED], vectors=True),
    "tree_lstm_sick_constituency": Recipe(10, 25, [SIMILARITY, FIXED], vectors=True),
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

    facts = result(tmp_path / "run")
    assert (facts["data"], facts["task"]) == (data, {"sst": "tree_classification", "sick": "relatedness"}[data])
    parses = "constituency" if name == "tree_lstm_sick_constituency" else "dependency"
    kind = f"pairs of {parses} parses" if data == "sick" else "trees"
    assert facts["source"] == f"path: {getattr(files, data)}, {sum(SIZES.values())} {kind}"
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
    assert "train 60, val 11, test 13 pairs" in run.stdout
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
    run = [
        *table,
        "data.trees=balanced",
        *small,
        "optimizer.lr=0.01",
        "trainer.max_epochs=6",
        *QUIET,
        "callbacks=checkpoint",
    ]
    assert launch([*run, "hydra.run.dir=run"], folder) == 0
    return folder / "run"


def test_a_table_without_trees_is_learned(reviews: Path) -> None:
    facts = result(reviews)
    assert facts["source"].endswith("reviews.csv, 160 texts") and facts["sizes"] == {
        "train": 128,
        "val": 16,
        "test": 16,
    }
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


def test_pairs_are_scored_and_drawn(tmp_path: Path, predicted) -> None:
    sick = [f"data.source={write_sick(tmp_path / 'sick')}", "trainer.max_epochs=4", "optimizer.lr=0.02"]
    run = [word for word in PAIRS if not word.startswith("data.sample")]
    assert launch([*run, *sick, "model.pooling=attention", "hydra.run.dir=run"], tmp_path) == 0
    assert result(tmp_path / "run")["metrics"]["test/pearson"] > 0.9  # of pairs that are in training, too
    lines = ["A dog runs . ||| A dog is running .", "A dog runs .\tA cat sleeps .", "A dog runs ."]
    (near, far, nothing), page, _, err = predicted(tmp_path / "run", *lines, "--trees", "right", refused=True)
    assert near["score"] > far["score"] and nothing is None
    assert "left out: 'A dog runs .': found one sentence; expected two" in err
    for one in (near, far):
        assert sum(one["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert one["score"] == pytest.approx(sum(int(grade) * p for grade, p in one["probabilities"].items()), abs=1e-5)
        assert one["first"]["words"] == ["A", "dog", "runs", "."] and one["first"]["parent"] == [-1, 0, 1, 2]
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
