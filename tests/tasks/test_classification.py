"""Classification: metrics against scikit-learn, loss weights, vectors, predictions, refusals."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from tests.tasks.running import figures
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.errors import CheckpointError, ConfigError
from zoo.tasks import Classification

SPEC = DocumentSpec(vocabulary_size=12, classes=("a", "b", "c"))
MODEL = {
    "_target_": "zoo.models.HAN",
    "embedding_dim": 4,
    "word_hidden_dim": 3,
    "word_attention_dim": 3,
    "sentence_hidden_dim": 3,
    "sentence_attention_dim": 3,
}


@dataclass
class Words:
    """The part of an encoder that checkpoints need."""

    words: tuple[str, ...] = ("x",)

    def state(self):
        return {"words": [*self.words]}

    @classmethod
    def from_state(cls, state):
        return cls(tuple(state["words"]))


def task(**changes):
    made = Classification(model=MODEL | changes, optimizer=None, monitor="val/accuracy", mode="max")
    made.build(SPEC, encoder=Words())
    return made


def batch(size, seed=0, evidence=True):
    draw = torch.Generator().manual_seed(seed)
    words = torch.randint(2, 12, (size, 3, 4), generator=draw)
    mask = torch.arange(4) < torch.randint(1, 5, (size, 3, 1), generator=draw)
    label = torch.randint(0, 3, (size,), generator=draw)
    marked = (torch.rand(size, 3, 4, generator=draw) < 0.3) & mask if evidence else None
    return DocumentBatch(words * mask, mask, label, evidence=marked)


def test_metrics_over_uneven_batches_equal_scikit_learn(monkeypatch):
    classification, batches = task().eval(), [batch(size, seed) for seed, size in enumerate((5, 1, 9))]
    value = figures(classification, monkeypatch, *batches)
    logits = torch.cat([classification(one).logits for one in batches]).detach()
    labels, guesses = torch.cat([one.label for one in batches]), logits.argmax(1)
    assert value["accuracy"] == pytest.approx(accuracy_score(labels, guesses))
    assert value["macro_f1"] == pytest.approx(f1_score(labels, guesses, average="macro", zero_division=0))
    assert value["loss"] == pytest.approx(F.cross_entropy(logits, labels).item(), rel=1e-5)
    assert (
        classification.test_confusion.compute().tolist() == confusion_matrix(labels, guesses, labels=[0, 1, 2]).tolist()
    )


def test_the_training_loss_of_uneven_batches_is_the_mean_over_documents(monkeypatch):
    classification = task()
    monkeypatch.setattr(classification, "log", lambda *_, **__: None)
    batches = [batch(size, seed) for seed, size in enumerate((5, 1, 9))]
    for number, one in enumerate(batches):
        classification.training_step(one, number)
    logits = torch.cat([classification(one).logits for one in batches])
    expected = F.cross_entropy(logits, torch.cat([one.label for one in batches]))
    assert classification.train_loss.compute().item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(("limit", "norm"), [(0.5, 0.5), (1e6, 3.0)])
def test_gradients_are_cut_to_their_greatest_norm(limit, norm):
    classification = task()
    classification._trainer = SimpleNamespace(precision_plugin=SimpleNamespace())
    parameters = list(classification.parameters())
    count = sum(parameter.numel() for parameter in parameters)
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 3.0 / count**0.5)
    classification.configure_gradient_clipping(None, limit, None)
    squares = sum(parameter.grad.square().sum() for parameter in parameters)
    assert squares.sqrt().item() == pytest.approx(norm, rel=1e-4)


def test_attention_recall_is_the_mass_on_evidence(monkeypatch):
    classification, one = task().eval(), batch(6)
    found, attention = figures(classification, monkeypatch, one), classification(one).attention
    joint = attention["sentence"][..., None] * attention["word"] * one.evidence
    known = one.evidence.flatten(1).any(1)
    expected = joint.sum((1, 2))[known].tolist()
    chance = (one.evidence.sum((1, 2)) / one.word_mask.sum((1, 2)))[known].tolist()
    assert found["attention_recall"] == pytest.approx(sum(expected) / len(expected), rel=1e-5)
    assert found["attention_chance"] == pytest.approx(sum(chance) / len(chance), rel=1e-5)


def test_without_evidence_or_attention_nothing_is_made_up(monkeypatch):
    for classification, one in (
        (task(), batch(3, evidence=False)),
        (task(word_pooling="max", sentence_pooling="max"), batch(3)),
    ):
        assert sorted(figures(classification, monkeypatch, one)) == ["accuracy", "loss", "macro_f1"]


def test_examined_documents_show_the_words_as_written_and_which_are_unknown():
    words, mask = torch.tensor([[[3, 1], [5, 0]]]), torch.tensor([[[True, True], [True, False]]])
    one = DocumentBatch(words, mask, torch.tensor([2]), text=([["Good", "foood"], ["Slow"]],))
    (examined,) = task().eval().examine(one)
    prediction = examined.prediction
    assert [len(sentence.word_weights) for sentence in prediction.sentences] == [2, 1]
    assert prediction.label == max(prediction.probabilities, key=prediction.probabilities.get)
    assert list(prediction.to_dict()["probabilities"]) == ["a", "b", "c"]
    assert [sentence.words for sentence in examined.prediction.sentences] == [("Good", "foood"), ("Slow",)]
    assert [sentence.unknown for sentence in examined.prediction.sentences] == [(1,), ()]
    assert (examined.index, examined.truth, examined.evidence) == (0, "c", None)


class Data:
    """Stands for a data module whose vectors cover two words."""

    def __init__(self, width):
        self.spec, self.encoder = SPEC, None
        self.found = torch.zeros(12, dtype=torch.bool)
        self.found[[3, 7]] = True
        self.rows = torch.full((12, width), 9.0)

    def vectors(self):
        return SimpleNamespace(rows=self.rows, found=self.found)


def configured(width):
    made = Classification(model=MODEL, optimizer=None, monitor="val/accuracy", mode="max")
    made._trainer = SimpleNamespace(datamodule=Data(width))
    made.configure_model()
    return made.network.embedding.weight


def test_pretrained_vectors_fill_the_rows_they_have():
    weight = configured(4)
    assert (weight[[3, 7]] == 9).all()
    others = [row for row in range(12) if row not in (3, 7)]
    assert (weight[others] != 9).all() and (weight[0] == 0).all()


def test_vectors_of_another_width_are_refused():
    with pytest.raises(ConfigError, match=r"vectors of 5 numbers, model.embedding_dim is 4: set model.embedding_dim=5"):
        configured(5)


def test_a_checkpoint_of_another_vocabulary_is_refused():
    classification = task()
    checkpoint = {"state_dict": classification.state_dict()}
    classification.on_save_checkpoint(checkpoint)
    classification.on_load_checkpoint(checkpoint)
    checkpoint["zoo"]["encoder"] = {"words": ["y"]}
    with pytest.raises(CheckpointError, match="other data"):
        classification.on_load_checkpoint(checkpoint)
    with pytest.raises(CheckpointError, match="not written by attention-zoo"):
        classification.on_load_checkpoint({})


def optimizers(steps, **schedule):
    """The optimiser and the schedule of a run of so many steps."""
    plan, sgd = {"scheduler": schedule, "interval": "step"}, {"_target_": "torch.optim.SGD", "lr": 0.5}
    made = Classification(model=MODEL, optimizer=sgd, scheduler=plan, monitor="val/accuracy", mode="max")
    made.build(SPEC, encoder=None)
    made._trainer = SimpleNamespace(estimated_stepping_batches=steps, precision="32-true", gradient_clip_val=None)
    return made.configure_optimizers()


def test_the_length_of_the_run_is_filled_into_the_scheduler():
    target = "torch.optim.lr_scheduler.PolynomialLR"
    configured, rates = optimizers(4, _target_=target, total_iters="total_steps", power=1.0), []
    for _ in range(4):
        rates.append(configured["optimizer"].param_groups[0]["lr"])
        configured["optimizer"].step()
        configured["lr_scheduler"]["scheduler"].step()
    assert rates == pytest.approx([0.5, 0.375, 0.25, 0.125])  # by hand: a straight line to 0 after 4 steps
    assert configured["lr_scheduler"]["interval"] == "step"


@pytest.mark.parametrize(("warmup", "said"), [(100, ""), (400, "rises for 400 steps, and the run has 100")])
def test_a_warm_up_that_outlasts_the_run_is_said(warmup, said, caplog):
    optimizers(100, _target_="zoo.tasks.schedules.Noam", dim=16, warmup=warmup, scale=2.0)
    assert said in caplog.text
    assert bool(caplog.text) == bool(said)
    assert ("scheduler.scheduler.warmup=25 scheduler.scheduler.scale=0.5," in caplog.text) == bool(said)
