"""Re-ranking in the life of a run: fitted as a test begins, kept in the run's folder, used in predictions."""

import logging
import re
from argparse import Namespace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from lightning import LightningDataModule

from tests.models.cloze_batches import SPEC, batch_of
from tests.tasks.running import trainer
from zoo.data.cloze.batch import Shown
from zoo.data.cloze.cbt import ChildrensBookTest
from zoo.errors import CheckpointError, ConfigError
from zoo.predicting.cloze import asked_of, beside
from zoo.reranking.reranker import FILE
from zoo.tasks.cloze import Cloze
from zoo.visualize.view import view_of

MODEL = {"_target_": "zoo.models.aoa_reader.AoAReader", "embedding_dim": 6, "hidden_dim": 4, "dropout": 0.0}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An untrained network tested with re-ranking: its task, data, folder and metrics."""
    folder = tmp_path_factory.mktemp("run")
    torch.manual_seed(0)
    data = ChildrensBookTest(sample={"train": 60, "val": 30, "test": 25, "seed": 1}, loader={"batch_size": 8})
    task = Cloze(model=MODEL, rerank=True, rerank_best=4, ngram_order=3, monitor="val/accuracy", mode="max")
    log = logging.getLogger("zoo.tasks.cloze")
    said, log.level = [], logging.INFO
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    log.addHandler(handler)
    (metrics,) = trainer(folder, use_distributed_sampler=False).test(task, datamodule=data, verbose=False)
    log.removeHandler(handler)
    return SimpleNamespace(task=task.eval(), data=data, folder=folder, metrics=metrics, said=said)


@torch.no_grad()
def asked(run, split):
    """All questions of a split with their answers."""
    batches = list(run.data.every_batch(split))
    questions = [asked_of(one, run.task(one).logits, one.text, run.task.spec.blank) for one in batches]
    return [*chain(*questions)], [answer for one in batches for answer in one.answer.tolist()]


def test_the_accuracy_is_that_of_the_candidates_ranked_again(run):
    questions, answers = asked(run, "test")
    assert len(answers) == 25
    for name, chosen in (
        ("accuracy_reranked", [int(run.task.reranker.scores(one).argmax()) for one in questions]),
        ("accuracy", [int(one.log_p.argmax()) for one in questions]),
    ):
        assert run.metrics[f"test/{name}"] == pytest.approx(np.mean(np.equal(chosen, answers)), abs=1e-6)


def test_it_is_fitted_to_the_whole_validation_set(run):
    questions, answers = asked(run, "val")
    assert len(questions) == 30
    again = run.task.reranker.fitted(questions, answers)
    assert again.weights.tolist() == pytest.approx(run.task.reranker.weights.tolist(), rel=1e-3)
    assert re.search(r"reader -?\d.*, global .*, local .*, classes .*; val/accuracy 0\.\d+ -> 0\.\d+", run.said[-1])


def test_the_run_keeps_it(run):
    assert [path.name for path in run.folder.iterdir() if path.name.startswith("rerank")] == [FILE]
    task = Cloze(model=MODEL, monitor="val/accuracy", mode="max")
    task.build(run.data.spec, run.data.encoder)
    task.load_reranker(run.folder / FILE)
    assert task.reranker.weights.tolist() == run.task.reranker.weights.tolist()
    other = SimpleNamespace(state=lambda: {"words": ["other"]})
    task.build(run.data.spec, other)
    with pytest.raises(CheckpointError, match="another vocabulary"):
        task.load_reranker(run.folder / FILE)


def test_predictions_tell_both(run):
    batch = next(iter(run.data.every_batch("test")))
    with torch.no_grad():
        found = run.task.examine(batch)
        logits = run.task(batch).logits
    for one, row, mask in zip(found, logits, batch.candidate_mask, strict=True):
        prediction = one.prediction
        assert sum(prediction.probabilities.values()) == pytest.approx(1.0, abs=1e-5)
        assert sum(share > 0 for share in prediction.probabilities.values()) <= 4
        assert prediction.answer == max(prediction.probabilities, key=prediction.probabilities.get)
        expected = row[mask].softmax(0).tolist()
        assert list(prediction.reader_probabilities.values()) == pytest.approx(expected, rel=1e-4)


def test_the_view_reads_it_from_beside_the_checkpoint(run, tmp_path):
    view = view_of(Cloze)
    task = Cloze(model=MODEL, monitor="val/accuracy", mode="max")
    task.build(run.data.spec, run.data.encoder)
    predictor = SimpleNamespace(task=task, checkpoint=run.folder / "checkpoints" / "best.ckpt")
    assert beside(predictor.checkpoint) == run.folder / FILE
    view.prepare(predictor, Namespace(rerank=False, rerank_file=None))
    assert task.reranker is None
    view.prepare(predictor, Namespace(rerank=True, rerank_file=None))
    assert task.reranker is not None
    task.reranker = None
    view.prepare(predictor, Namespace(rerank=False, rerank_file=run.folder / FILE))
    assert task.reranker is not None
    with pytest.raises(ConfigError, match="no such file"):
        view.prepare(predictor, Namespace(rerank=True, rerank_file=tmp_path / "none.npz"))
    predictor.checkpoint = tmp_path / "checkpoints" / "best.ckpt"
    with pytest.raises(CheckpointError, match="there is no re-ranking"):
        view.prepare(predictor, Namespace(rerank=True, rerank_file=None))


def test_the_page_and_the_terminal_tell_what_the_network_alone_says(run):
    batch = next(iter(run.data.every_batch("test")))
    with torch.no_grad():
        prediction = run.task.examine(batch)[0].prediction
    assert f"the network alone: {prediction.reader_answer}" in view_of(Cloze).page([prediction])


def test_a_question_says_where_its_blank_is_and_holds_no_padding():
    batch = batch_of([([3, 4, 3], [5, 2, 6], [3, 4]), ([7], [2], [7])])  # 2 is the blank
    first, second = asked_of(batch, torch.tensor([[-0.5, -1.0], [0.0, -9.0]]), [Shown([], [], [], [1])] * 2, 2)
    assert (first.blank, second.blank) == (1, 0)
    assert [part.tolist() for part in (first.document, first.query, first.log_p)] == [[3, 4, 3], [5, 2, 6], [-0.5, -1]]
    assert [part.tolist() for part in (second.document, second.query, second.log_p)] == [[7], [2], [0.0]]


def test_data_that_have_no_sentences_are_refused():
    class Other(LightningDataModule):
        encoder = SimpleNamespace(state=dict)

    task = Cloze(model=MODEL, rerank=True, monitor="val/accuracy", mode="max")
    task.build(SPEC, encoder=None)
    task._trainer = SimpleNamespace(datamodule=Other(), default_root_dir=Path())
    with pytest.raises(ConfigError, match="Other has no sentences"):
        task.on_test_start()
