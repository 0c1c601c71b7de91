"""Attention pictures during training and testing: of the right documents, and without a trace in the training."""

from types import SimpleNamespace

import pytest
import torch
from lightning import Callback
from torch import nn

from tests.callbacks import runs
from zoo.callbacks import pictures
from zoo.callbacks.pictures import AttentionMaps, FirstExamples, WholeTestPictures
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.errors import ZooError
from zoo.visualize.classification import ClassificationView

ALWAYS = 1e-9  # Minutes between pictures: after every validation


def names(folder):
    return sorted(path.name for path in (folder / "attention").glob("*"))


@pytest.fixture
def drawn(monkeypatch):
    """(prediction, true label, evidence) of each picture that would be drawn."""
    calls = []

    def draw(view, prediction, examined):
        calls.append((prediction, examined.truth, examined.evidence))
        return "a figure"

    monkeypatch.setattr(ClassificationView, "picture", draw)
    monkeypatch.setattr(pictures, "keep_picture", lambda trainer, key, figure, name: None)
    return calls


def test_files_tell_stage_epoch_and_number(tmp_path):
    task, trainer = runs.task(), runs.trainer(tmp_path, [AttentionMaps(2)], max_epochs=2)
    trainer.fit(task, runs.loader(), runs.loader())
    expected = ["val_epoch01_1.png", "val_epoch01_2.png"]
    assert names(tmp_path) == expected
    trainer.test(task, runs.loader(), verbose=False)
    assert names(tmp_path) == ["test_1.png", "test_2.png", *expected]


@pytest.mark.parametrize("epochs", [1, 12])
def test_a_fit_of_short_epochs_draws_once_and_not_in_the_sanity_check(tmp_path, drawn, epochs):
    class Look(Callback):
        def on_train_start(self, trainer, pl_module):
            assert not drawn

    options = {"max_epochs": epochs, "val_check_interval": 2}
    runs.trainer(tmp_path, [AttentionMaps(3), Look()], **options).fit(runs.task(), runs.loader(), runs.loader())
    assert len(drawn) == 3


def test_a_fit_of_long_epochs_draws_every_few_minutes(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pictures, "time", SimpleNamespace(monotonic=lambda: now[0]))

    class Clock(Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            now[0] += 120

    trainer = runs.trainer(tmp_path, [Clock(), AttentionMaps(1, every_n_minutes=5)], max_epochs=7)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert names(tmp_path) == ["val_epoch02_1.png", "val_epoch05_1.png", "val_epoch06_1.png"]


def test_what_was_just_drawn_is_not_drawn_again_at_the_end(tmp_path, drawn):
    trainer = runs.trainer(tmp_path, [AttentionMaps(1, every_n_minutes=ALWAYS)], max_epochs=3)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert len(drawn) == 3


def test_validation_alone_has_no_epoch(tmp_path):
    runs.trainer(tmp_path, [AttentionMaps(1)]).validate(runs.task(), runs.loader(), verbose=False)
    assert names(tmp_path) == ["val_1.png"]


@pytest.mark.parametrize("count", [0, 3, 8, 100])
def test_the_first_documents_each_time(tmp_path, drawn, count):
    trainer = runs.trainer(tmp_path, [AttentionMaps(count, ALWAYS)], max_epochs=3)
    trainer.fit(runs.task(), runs.loader(shuffle=True), runs.loader())
    texts = [" ".join(w for s in prediction.sentences for w in s.words) for prediction, _, _ in drawn]
    assert texts == [runs.text(i) for i in range(min(count, 24))] * 3


def test_each_is_what_the_network_says_of_the_document_alone(tmp_path, drawn):
    task = runs.task().double()
    runs.trainer(tmp_path, [AttentionMaps(10)]).validate(task, runs.loader(), verbose=False)
    for number, (prediction, true_label, evidence) in enumerate(drawn):
        batch, row = runs.BATCHES[number // 6], number % 6
        sentences = int(batch.word_mask[row].any(-1).sum())
        alone = type(batch)(batch.words[row : row + 1, :sentences], batch.word_mask[row : row + 1, :sentences])
        with torch.no_grad():
            output = task.network.eval()(alone)
        assert len(prediction.sentences) == sentences
        assert [s.weight for s in prediction.sentences] == pytest.approx(output.attention["sentence"][0].tolist())
        for s, sentence in enumerate(prediction.sentences):
            mask = batch.word_mask[row, s]
            assert sentence.word_weights == pytest.approx(output.attention["word"][0, s][mask].tolist())
            assert sum(sentence.word_weights) == pytest.approx(1)
            assert evidence[s] == [word == "good" for word in sentence.words]
        assert true_label == ("good" if any(map(any, evidence)) else "bad")
        assert list(prediction.probabilities.values()) == pytest.approx(output.logits.softmax(-1)[0].tolist())


def trained(folder, callbacks):
    task = runs.task(dropout=0.5)
    torch.manual_seed(5)
    trainer = runs.trainer(folder, callbacks, max_epochs=2)
    trainer.fit(task, runs.loader(shuffle=True), runs.loader())
    trainer.test(task, runs.loader(), verbose=False)
    return task.state_dict(), runs.random_states()


def test_training_and_random_streams_are_the_same_with_and_without(tmp_path):
    weights, states = trained(tmp_path, [])
    watched, watched_states = trained(tmp_path, [AttentionMaps(8), WholeTestPictures(), PredictionsTable(8)])
    assert states == watched_states
    assert all(torch.equal(watched[name], value) for name, value in weights.items())


def test_predicting_leaves_every_part_in_its_mode_and_uses_no_dropout():
    task = runs.task(dropout=0.5)
    task.network.word_encoder.eval()
    task.network.extra = nn.Dropout()
    modes = {name: module.training for name, module in task.named_modules()}
    gradients = []
    task.network.register_forward_hook(lambda *_: gradients.append((torch.is_grad_enabled(), torch.rand(1))))
    examples = FirstExamples(4)
    examples.add(runs.BATCHES[0])
    states = runs.random_states()
    first, second = examples.examine(task), examples.examine(task)
    assert first == second
    assert runs.random_states() == states, "a picture may draw words, as with decoding=sampling"
    assert {name: module.training for name, module in task.named_modules()} == modes
    assert [enabled for enabled, _ in gradients] == [False, False]


@pytest.mark.parametrize("pooling", ["attention", "mean", "max"])
def test_a_document_without_words_and_every_pooling_can_be_drawn(tmp_path, pooling):
    batch = runs.documents(0, 3)
    mask = batch.word_mask.clone()
    mask[1] = False
    empty = runs.batch_of(batch.words, mask, batch.label)
    task = runs.task(word_pooling=pooling, sentence_pooling=pooling)
    watching = [AttentionMaps(3), PredictionsTable(3)]
    runs.trainer(tmp_path, watching).test(task, runs.loader([empty]), verbose=False)
    assert names(tmp_path) == ["test_1.png", "test_2.png", "test_3.png"]


def test_other_ranks_keep_nothing_and_draw_nothing(drawn):
    callback, rank_1 = AttentionMaps(2), SimpleNamespace(is_global_zero=False, sanity_checking=False, state=None)
    callback.setup(rank_1, None, "test")
    callback.on_test_batch_end(rank_1, None, None, runs.BATCHES[0], 0)
    assert callback._examples["test"].missing == 2
    callback.on_test_end(rank_1, None)
    assert drawn == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "attention").write_text("a file where the folder should be")
    with pytest.raises(ZooError, match=r"attention/test_1\.png.*make room or choose another folder"):
        runs.trainer(tmp_path, [AttentionMaps(1)]).test(runs.task(), runs.loader(), verbose=False)
