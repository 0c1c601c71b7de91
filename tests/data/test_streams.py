"""Streams: the example of a number is the same everywhere, none comes twice, and a resumed run sees what is left."""

import pytest
import torch
from lightning.pytorch import LightningModule

from tests.data.test_training_order import SaveAndStop, trainer
from zoo.data.order import Nouns
from zoo.data.streams import Endless, StreamData
from zoo.errors import ConfigError

TRAIN, VAL, TEST = 20, 3, 5


def make(seed, number):
    """A point and, on a line, its height."""
    x = torch.rand(2, generator=torch.Generator().manual_seed(1000 * seed + number))
    return x, 3 * x.sum() - 1


class Points(StreamData):
    task, name, nouns = "regression", "points", Nouns("points", "numbers")

    def generator(self):
        return make

    @property
    def _collate(self):
        return collate


def collate(made):
    x, y = (torch.stack(part) for part in zip(*made.examples, strict=True))
    return x, y, torch.tensor(made.numbers)


def points(**loader):
    sizes = {"train": TRAIN, "val": VAL, "test": TEST, "seed": 4}
    return Points(sample=sizes, loader={"batch_size": 6, "seed": 1, **loader})


def test_two_processes_with_two_workers_see_each_example_once_and_none_again(monkeypatch):
    seen = []
    for epoch in range(3):
        for rank in range(2):
            monkeypatch.setattr(Points, "ranks", {"rank": rank, "world_size": 2})
            loader = points(num_workers=2).train_dataloader()
            loader.batch_sampler.set_epoch(epoch)
            for x, y, numbers in loader:
                seen += numbers.tolist()
                for row, height, number in zip(x, y, numbers.tolist(), strict=True):
                    made = make(4, VAL + TEST + number)
                    assert torch.equal(row, made[0])
                    assert torch.equal(height, made[1])
        assert sorted(seen) == list(range((epoch + 1) * TRAIN))


def test_validation_and_test_lie_before_training():
    data = points()
    val = torch.cat([x for x, *_ in data.val_dataloader()])
    test = torch.cat([x for x, *_ in data.test_dataloader()])
    train = torch.cat([x for x, *_ in data.train_dataloader()])
    firsts = torch.stack([make(4, number)[0] for number in range(VAL + TEST + TRAIN)])
    for part, expected in ((val, firsts[:VAL]), (test, firsts[VAL : VAL + TEST]), (train, firsts[VAL + TEST :])):
        assert sorted(part.tolist()) == sorted(expected.tolist())


class Line(LightningModule):
    """Learns the line, and notes which points it sees."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.line = torch.nn.Linear(2, 1)
        self.seen = []

    def training_step(self, batch, number):
        x, y, numbers = batch
        self.seen.append(numbers.tolist())
        return ((self.line(x)[:, 0] - y) ** 2).mean()

    def validation_step(self, batch, number):
        pass

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.1)


@pytest.mark.parametrize(("step", "workers"), [(2, 0), (6, 2), (8, 0)])
def test_a_resumed_run_sees_the_same_examples_and_reaches_the_same_weights(tmp_path, step, workers):
    whole = Line()
    trainer(tmp_path).fit(whole, datamodule=points())
    assert [number for batch in whole.seen for number in batch] == list(range(3 * TRAIN))
    path = tmp_path / "last.ckpt"
    with pytest.raises(SystemExit):
        trainer(tmp_path, callbacks=[SaveAndStop(step, path)]).fit(Line(), datamodule=points())
    resumed = Line()
    trainer(tmp_path).fit(resumed, datamodule=points(num_workers=workers), ckpt_path=path)
    assert resumed.seen == whole.seen[step:]
    assert torch.equal(resumed.line.weight, whole.line.weight)
    assert torch.equal(resumed.line.bias, whole.line.bias)


def test_overfitting_sees_the_same_examples_every_epoch(tmp_path):
    module = Line()
    trainer(tmp_path, overfit_batches=2).fit(module, datamodule=points())
    assert module.seen == [list(range(5)), list(range(5, 10))] * 3


def test_a_stream_resumes_far_into_it_without_making_what_lies_behind():
    order = Endless(1000, batch_size=10)
    order.set_epoch(7)
    order.start = 99
    assert list(order) == [list(range(7990, 8000))]


def test_description_and_what_cannot_be():
    data = points()
    assert data.source_description == "stream: points made without end, 20 an epoch, seed 4"
    assert data.sizes == {"train": 20, "val": 3, "test": 5}
    with pytest.raises(ConfigError, match=r"data\.loader\.max_tokens=50: the examples of a stream have no length"):
        points(max_tokens=50)
    with pytest.raises(ConfigError, match=r"2 training examples of an epoch cannot give each of 3 processes one"):
        Endless(2, batch_size=64, world_size=3)
