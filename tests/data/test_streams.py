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
    x = torch.rand(2, generator=torch.Generator().manual_seed(2**20 * seed + number))
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


LOADER = {"batch_size": 6, "seed": 1}


def points(**loader):
    sizes = {"train": TRAIN, "val": VAL, "test": TEST, "seed": 4}
    return Points(sample=sizes, loader={**LOADER, **loader})


def test_two_processes_with_two_workers_see_each_example_once_and_none_again(monkeypatch):
    numbers_seen = []
    for epoch in range(3):
        for rank in range(2):
            monkeypatch.setattr(Points, "ranks", {"rank": rank, "world_size": 2})
            loader = points(num_workers=2).train_dataloader()
            loader.batch_sampler.set_epoch(epoch)
            for x, y, numbers in loader:
                numbers_seen += numbers.tolist()
                for row, height, number in zip(x, y, numbers.tolist(), strict=True):
                    made = make(points().part("train").seed, number)
                    assert torch.equal(row, made[0])
                    assert torch.equal(height, made[1])
        assert sorted(numbers_seen) == list(range((epoch + 1) * TRAIN))


def seen(data):
    loaders = data.train_dataloader(), data.val_dataloader(), data.test_dataloader()
    return [sorted(map(tuple, torch.cat([x for x, *_ in loader]).tolist())) for loader in loaders]


def test_the_splits_have_no_example_in_common():
    parts = seen(points())
    assert [len(part) for part in parts] == [TRAIN, VAL, TEST]
    assert len({row for part in parts for row in part}) == TRAIN + VAL + TEST


def test_the_size_of_a_split_moves_no_other():
    few, many = seen(points()), seen(Points(sample={"train": TRAIN, "val": 9, "test": 1, "seed": 4}, loader=LOADER))
    assert few[0] == many[0] and set(few[1]) < set(many[1]) and set(many[2]) < set(few[2])


def test_runs_with_other_seeds_see_other_examples_and_are_tested_on_the_same():
    one, two = seen(points()), seen(points(seed=2))
    assert not set(one[0]) & set(two[0]) and one[1:] == two[1:]


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
    with pytest.raises(ConfigError, match=r"2 examples of an epoch cannot give each of 3 processes one"):
        Endless(2, batch_size=64, world_size=3)
