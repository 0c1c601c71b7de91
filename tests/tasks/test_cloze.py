"""The cloze task: loss and metrics worked by hand, predictions, and questions whose answer does not occur."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tests.models.cloze_batches import SPEC, batch_of
from tests.tasks.running import figures, logged
from zoo.data.cloze.batch import ClozeBatch, Shown
from zoo.models.output import Output
from zoo.predicting.cloze import best, candidate_shares
from zoo.tasks.cloze import Cloze, answer_losses

MODEL = {"_target_": "zoo.models.aoa_reader.AoAReader", "embedding_dim": 4, "hidden_dim": 3}
LOWEST = torch.finfo(torch.float32).min

ANNA = ([3, 4, 5, 6, 3], [7, 2], [3, 5])
BEN = ([8, 9, 8, 8], [2, 7], [9, 8])


class Says(nn.Module):
    """A network of one parameter that says what it was given."""

    def __init__(self, logits, **attention):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(()))
        self.output = Output(logits, attention)

    def forward(self, batch):
        return Output(self.output.logits + self.shift, self.output.attention)


def task(network=None):
    made = Cloze(model=MODEL, optimizer=None, monitor="val/accuracy", mode="max")
    made.build(SPEC, encoder=SimpleNamespace(state=dict))
    if network is not None:
        made.network = network
    return made


def with_evidence(batch, evidence):
    parts = (batch.document, batch.document_mask, batch.query, batch.query_mask, batch.candidate_mask, batch.occurrence)
    return ClozeBatch(*parts, batch.answer, evidence=torch.tensor(evidence))


def test_metrics_worked_by_hand(monkeypatch):
    weights = torch.tensor([[0.5, 0.1, 0.2, 0.1, 0.1], [0.2, 0.7, 0.05, 0.05, 0.0]])
    logits = torch.tensor([[0.6, 0.2], [0.7, 0.3]]).log()
    batch = with_evidence(
        batch_of([ANNA, BEN], [0, 1]), [[True, True, False, False, False], [False, False, True, True, False]]
    )
    assert figures(task(Says(logits, document=weights)), monkeypatch, batch) == {
        "loss": pytest.approx(-(math.log(0.6) + math.log(0.3)) / 2),
        "accuracy": 0.5,
        "attention_recall": pytest.approx((0.6 + 0.3) / 2),
        "attention_chance": pytest.approx((2 / 5 + 3 / 4) / 2),
        "sentence_recall": pytest.approx((0.6 + 0.1) / 2),
        "sentence_chance": pytest.approx((2 / 5 + 2 / 4) / 2),
    }


def test_without_attention_or_evidence_nothing_is_made_up(monkeypatch):
    one = batch_of([ANNA], [0])
    assert sorted(figures(task(Says(torch.zeros(1, 2))), monkeypatch, one)) == ["accuracy", "loss"]
    attends = Says(torch.zeros(1, 2), document=torch.full((1, 5), 0.2))
    assert sorted(figures(task(attends), monkeypatch, one))[1:3] == ["attention_chance", "attention_recall"]


def test_the_training_loss_is_minus_the_logarithm_of_the_answer(monkeypatch):
    logits = torch.tensor([[0.6, 0.2], [0.7, 0.3]]).log()
    made = task(Says(logits))
    logged(made, monkeypatch)
    loss = made.training_step(batch_of([ANNA, BEN], [1, 1]), 0)
    assert loss.item() == pytest.approx(-(math.log(0.2) + math.log(0.3)) / 2)  # and not of a share of the candidates
    loss.backward()
    assert made.network.shift.grad.item() == pytest.approx(-1.0)


def test_an_answer_that_stands_nowhere_counts_as_wrong_and_not_in_the_loss(monkeypatch):
    logits = torch.tensor([[0.5, 0.0], [0.7, 0.3]]).log().clamp(min=LOWEST)
    made, batch = task(Says(logits)), batch_of([([3, 4], [2], [3, 5]), BEN], [1, 0])
    losses, counted = answer_losses(logits, batch)
    assert losses.tolist() == pytest.approx([0.0, -math.log(0.7)]) and counted.tolist() == [0.0, 1.0]
    assert figures(made, monkeypatch, batch) == {"loss": pytest.approx(-math.log(0.7)), "accuracy": 0.5}
    loss = made.training_step(batch, 0)
    assert loss.item() == pytest.approx(-math.log(0.7))
    alone = task(Says(logits[:1]))
    logged(alone, monkeypatch)
    assert alone.training_step(batch_of([([3, 4], [2], [3, 5])], [1]), 0) == 0  # with nothing to learn


def test_the_best_candidate_is_a_real_one():
    batch = batch_of([ANNA, ([8, 9], [2], [9])])
    logits = torch.tensor([[LOWEST, LOWEST], [LOWEST, 0.0]])
    assert best(logits, batch).tolist() == [0, 0]
    assert candidate_shares(logits, batch).tolist() == [[0.5, 0.5], [1.0, 0.0]]


SHOWN = [
    Shown(["Anna", "slept", "Ben", "foo", "Anna"], ["then", "XXXXX"], ["Anna", "Ben"], [2, 5]),
    Shown(["no", "yes", "no", "no"], ["XXXXX", "then"], ["yes", "no"], [4]),
]


def test_predictions_show_the_words_as_written():
    document = torch.tensor([[0.5, 0.1, 0.2, 0.1, 0.1], [0.2, 0.7, 0.05, 0.05, 0.0]])
    made = task(Says(torch.tensor([[0.6, 0.2], [0.1, 0.3]]).log(), document=document))
    first, second = made.predictions(batch_of([([3, 4, 5, 1, 3], [7, 2], [3, 5]), BEN]), SHOWN)
    assert (first.answer, second.answer) == ("Anna", "no")
    assert first.probabilities == {"Anna": pytest.approx(0.75), "Ben": pytest.approx(0.25)}
    assert first.document.words == tuple(SHOWN[0].document) and first.document.unknown == (3,)
    assert second.document.weights == pytest.approx((0.2, 0.7, 0.05, 0.05))
    assert first.query.weights is None and first.query.words == ("then", "XXXXX")
    assert first.sentence_ends == (2, 5)
    assert first.reader_probabilities is None and first.reader_answer is None  # nothing was re-ranked
    assert first.to_dict()["document"]["words"] == tuple(SHOWN[0].document)


def test_a_candidate_that_is_named_twice_counts_once():
    twice = [shown._replace(candidates=["Anna", "Anna"]) for shown in SHOWN]
    made = task(Says(torch.tensor([[0.6, 0.0], [0.1, 0.0]]).log()))
    prediction = made.predictions(batch_of([([3, 4, 5, 1, 3], [7, 2], [3, 5]), BEN]), twice)[0]
    assert (prediction.answer, prediction.probabilities) == ("Anna", {"Anna": 1.0})


def test_examined_questions_know_what_is_true():
    made = task().eval()
    parts = batch_of([ANNA, BEN], [1, 0])
    tensors = (parts.document, parts.document_mask, parts.query, parts.query_mask)
    evidence = torch.tensor([[True] * 2 + [False] * 3, [False] * 5])
    batch = ClozeBatch(
        *tensors, parts.candidate_mask, parts.occurrence, parts.answer, evidence=evidence, text=tuple(SHOWN)
    )
    first, second = made.examine(batch)
    assert (first.truth, second.truth) == ("Ben", "yes")
    assert first.evidence == (True, True, False, False, False) and second.evidence == (False,) * 4
    assert sum(first.prediction.query.weights) == pytest.approx(1.0, rel=1e-5)
