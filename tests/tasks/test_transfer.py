"""Starting from a network of other data: what is copied, by word and by class, frozen parts and rates of parts."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import torch

from tests.run.programs import launch
from zoo.data.documents.batch import DocumentSpec
from zoo.data.documents.encoding import DocumentEncoder
from zoo.data.pairs.batch import PairSpec
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import CheckpointError, ConfigError
from zoo.models import HAN, Transformer
from zoo.run.checkpoint import read_checkpoint
from zoo.tasks.parts import check_parts
from zoo.tasks.transfer import Data, data_axes, transfer

SMALL = {
    "embedding_dim": 6,
    "word_hidden_dim": 4,
    "word_attention_dim": 3,
    "sentence_hidden_dim": 4,
    "sentence_attention_dim": 3,
}
MODEL = {"_target_": "zoo.models.han.HAN", **SMALL}


def documents(words: str, *classes: str) -> Data:
    encoder = DocumentEncoder(DocumentEncoder.options.of(None), [Vocabulary(words.split())])
    return Data(DocumentSpec(len(words.split()) + 2, classes), encoder)


def moved(old: Data, new: Data) -> tuple[HAN, HAN, dict[str, str]]:
    """A network for the old data, one for the new data that starts from it, and what became of each tensor."""
    torch.manual_seed(0)
    before, after = HAN(old.spec, **SMALL), HAN(new.spec, **SMALL)
    outcomes = transfer(after, before.state_dict(), MODEL, old, new)
    return before, after, {one.name: f"{one.how} {one.detail}".strip() for one in outcomes}


def test_rows_go_over_by_word_and_new_words_and_classes_start_fresh() -> None:
    old, new = documents("good bad film plot", "no", "yes"), documents("plot new good", "a", "b", "c")
    torch.manual_seed(1)
    fresh = HAN(new.spec, **SMALL)
    before, after, how = moved(old, new)
    rows = {"<pad>": (0, 0), "<unk>": (1, 1), "plot": (5, 2), "good": (2, 4)}  # word: row there, row here
    for there, here in rows.values():
        assert torch.equal(after.embedding.weight[here], before.embedding.weight[there])
    assert not torch.equal(after.embedding.weight[3], before.embedding.weight[3]), "`new` is not `bad`"
    assert how["embedding.weight"] == "adapted 4 of 5 words"
    assert how["classifier.weight"] == how["classifier.bias"] == "new other classes"
    assert torch.equal(after.word_encoder.weight_hh_l0, before.word_encoder.weight_hh_l0)
    assert how["word_encoder.weight_hh_l0"] == "taken" and fresh.classifier.weight.shape == (3, 8)


def test_equal_data_take_every_tensor() -> None:
    data = documents("good bad", "no", "yes")
    before, after, how = moved(data, documents("good bad", "no", "yes"))
    assert set(how.values()) == {"taken"}
    assert all(torch.equal(one, after.state_dict()[name]) for name, one in before.state_dict().items())


def test_as_many_classes_of_other_names_are_not_taken_for_the_same() -> None:
    before, after, how = moved(documents("good bad", "no", "yes"), documents("good bad", "yes", "no"))
    assert how["classifier.weight"] == "new other classes"
    assert not torch.equal(before.classifier.weight, after.classifier.weight)


def test_as_many_other_words_are_moved_to_their_rows() -> None:
    before, after, how = moved(documents("good bad", "no", "yes"), documents("bad good", "no", "yes"))
    assert how["embedding.weight"] == "adapted 4 of 4 words"
    assert torch.equal(after.embedding.weight[2], before.embedding.weight[3])


def test_other_sizes_are_refused_with_the_name_of_the_tensor() -> None:
    data = documents("good bad", "no", "yes")
    weights = HAN(data.spec, **SMALL | {"word_hidden_dim": 5}).state_dict()
    with pytest.raises(CheckpointError, match=r"weight_ih_l0 is \(15, 6\) there, \(12, 6\) here; use the same"):
        transfer(HAN(data.spec, **SMALL), weights, MODEL, data, data)


def test_the_axes_of_words_classes_and_positions_are_found() -> None:
    assert data_axes(MODEL, DocumentSpec(7, ("a", "b"))) == {
        "embedding.weight": {0: "vocabulary_size"},
        "classifier.weight": {0: "classes"},
        "classifier.bias": {0: "classes"},
    }
    sizes = {"hidden_dim": 8, "layers": 1, "heads": 2, "feedforward_dim": 8, "positions": "learned"}
    axes = data_axes({"_target_": "zoo.models.transformer.Transformer", **sizes}, PairSpec(9, 11, 5, 6))
    assert axes == {
        "source_embedding.weight": {0: "source_size"},
        "target_embedding.weight": {0: "target_size"},
        "vocabulary.weight": {0: "target_size"},
        "vocabulary.bias": {0: "target_size"},
        **{
            name: {0: f"longest_{name.split('_')[0]}"}
            for name, one in Transformer(PairSpec(9, 11, 5, 6), **sizes).named_parameters()
            if "positions" in name
        },
    }


# parts


@pytest.mark.parametrize(
    ("freeze", "rates", "said"),
    [
        (["embeding"], {}, "task.freeze: HAN has no part 'embeding'; did you mean embedding?"),
        (["word_encoder.weight_ih"], {}, "did you mean word_encoder.weight_ih_l0?"),
        (
            ["embedding"],
            {"embedding": 1.0},
            "embedding shares weights with task.freeze: embedding",
        ),
        ([name for name, _ in HAN(DocumentSpec(7, ("a", "b")), **SMALL).named_children()], {}, "no weight is left"),
    ],
)
def test_parts_that_cannot_be_chosen_are_refused(freeze: list[str], rates: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_parts(HAN(DocumentSpec(7, ("a", "b")), **SMALL), freeze, rates)
    assert said in str(caught.value)


@pytest.mark.parametrize("rate", ["0", "high", "true"])
def test_a_rate_that_is_not_one_is_refused_before_data_are_prepared(
    rate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launch([f"task.learning_rates={{classifier: {rate}}}"], tmp_path) == 2
    assert "expected a group of keys (each a number above 0) or null" in capsys.readouterr().err


# whole runs


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """A table of 40 documents with two classes and words that the sample does not have."""
    with open(tmp_path / "mine.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        for number in range(40):
            words = ("glorious", "cherished") if number % 2 else ("ghastly", "detested")
            table.writerow([f"The screenplay was {words[0]}. I {words[1]} the food.", "good" if number % 2 else "bad"])
    return tmp_path / "mine.csv"


RUN = ["model=han", "data=documents", "start_from=han", "callbacks=checkpoint", "trainer.accelerator=cpu"]


def test_a_network_is_brought_to_documents_of_your_own(
    reviews: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the included network: its words and rules, the new words after them, frozen parts that stay, own rates."""
    parts = ["task.freeze=[embedding,word_encoder]", "task.learning_rates={classifier:0.01}", "trainer.max_epochs=2"]
    assert launch([*RUN, f"data.path={reviews}", *parts, "hydra.run.dir=run"], tmp_path) == 0
    log = capsys.readouterr().out
    assert "data.text.minimum_frequency=5 as in the checkpoint" in log
    assert "adapted embedding.weight (2169 x 200): 2,164 of 2,169 words" in log
    assert "new     classifier.weight (2 x 100): other classes" in log
    old, new = read_checkpoint(Path("weights/han").resolve()), read_checkpoint(tmp_path / "run/checkpoints/last.ckpt")
    words = [content["zoo"]["encoder"]["vocabularies"][0] for content in (old, new)]
    new_words = {"screenplay", "glorious", "ghastly", "cherished", "detested"}
    assert words[1][:2162] == words[0] and set(words[1][2162:]) == new_words
    embedding, encoder = "network.embedding.weight", "network.word_encoder.weight_hh_l0"
    assert torch.equal(new["state_dict"][embedding][:2164], old["state_dict"][embedding])
    assert torch.equal(new["state_dict"][encoder], old["state_dict"][encoder])
    later = "network.sentence_encoder.weight_hh_l0"
    assert not torch.equal(new["state_dict"][later], old["state_dict"][later])
    groups = new["optimizer_states"][0]["param_groups"]
    assert [group["initial_lr"] for group in groups] == [0.003, 0.01] and len(groups[1]["params"]) == 2


def test_other_text_options_learn_a_vocabulary_of_their_own(
    reviews: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*RUN, f"data.path={reviews}", "data.text.minimum_frequency=1", "trainer.max_epochs=1"]
    assert launch([*words, "hydra.run.dir=run"], tmp_path) == 0
    log = capsys.readouterr().out
    assert "vocabulary 12 words" in log and "adapted embedding.weight (12 x 200): 7 of 12 words" in log
    assert "data.text.minimum_frequency" not in log
