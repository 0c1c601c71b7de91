"""Runs that learn from trees: a table without trees, the treebank, pairs, and what is asked of them."""

import json
from pathlib import Path

import pytest
from PIL import Image

from tests.run.families import PAIRS, QUIET
from tests.run.programs import launch, result
from tests.run.tree_files import write_sick
from zoo.cli import main

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
