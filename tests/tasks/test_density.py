"""The likelihood of pictures: exact sums, names, baselines, and what is drawn."""

import json
from math import log

import numpy as np
import pytest
import torch
from torch import nn

from tests.run.families import GRADIENT
from tests.run.programs import killed_and_resumed, launch, same_on_two_ranks
from tests.tasks.running import figures
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.data.pictures.encoding import PixelRows
from zoo.decoding.pixels import chosen, draw_pictures
from zoo.errors import ConfigError
from zoo.models.network import DensityNetwork
from zoo.models.output import Output
from zoo.predicting.density import DensityPredictions
from zoo.tasks import picture_baselines
from zoo.tasks.density import Density
from zoo.tasks.picture_baselines import logistic_regression

TINY = [
    "model=gated_pixelcnn",
    "data=glyphs",
    "model.hidden_dim=4",
    "model.num_layers=2",
    "model.kernel_size=3",
    "model.first_kernel=3",
    "model.head_dim=4",
    "data.characters=017",
    "data.sample.train=61",
    "data.sample.val=21",
    "data.sample.test=18",
    "data.loader.batch_size=12",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "task.samples=0",
    "task.classifier_steps=20",
]
SPEC = PictureSpec(channels=1, height=4, width=3, levels=2, classes=("a", "b"))


class Above(DensityNetwork):
    """A pixel is white with probability `p` in the first row; below it is the one above it, but for a share `q`."""

    tasks = ("density",)

    def __init__(self, spec, p=0.3, q=1e-9, conditions=None):
        super().__init__()
        self.p, self.q, self.conditions = p, q, conditions
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, batch):
        white = torch.full(batch.image.shape, self.p, dtype=torch.float64)
        above = batch.image[:, :, :-1].double()
        white[:, :, 1:] = above * (1 - self.q) + (1 - above) * self.q
        return Output(torch.stack([1 - white, white], 1).log())

    def start(self, batch):
        return {}

    def step(self, values, row, column, state):
        return self(PictureBatch(values)).logits[..., row, column]


def predictions(network, spec=SPEC):
    task = DensityPredictions()
    task.network, task.spec = network, spec
    return task


def pictures(count, seed=1):
    """Pictures of the distribution with p = 0.3 and q = 0."""
    first = np.random.default_rng(seed).random((count, 1, 1, 3)) < 0.3
    return torch.from_numpy(np.repeat(first, 4, 2).astype(np.uint8))


# figures


@pytest.mark.parametrize(("binarised", "name"), [("", "nats"), ("fixed", "nats_fixed"), ("redrawn", "nats_redrawn")])
def test_figures_are_sums_over_all_pictures_divided_once(monkeypatch, binarised, name):
    """Batches of 3 and of 1 pictures: the mean of two means would be another number."""
    spec = PictureSpec(channels=1, height=4, width=3, levels=2, binarised=binarised)
    task = Density(model={"_target_": "tests.tasks.test_density.Above"}, monitor="val/bits_per_dim", mode="min")
    task.build(spec, None)
    images = pictures(4)
    found = figures(task, monkeypatch, PictureBatch(images[:3]), PictureBatch(images[3:]))
    white = images[:, 0, 0].sum(1).double()
    nats = -(white * log(0.3) + (3 - white) * log(0.7))
    assert len(set(nats.tolist())) > 1
    assert found[name] == pytest.approx(nats.mean().item(), rel=1e-6)
    assert found["bits_per_dim"] == pytest.approx(nats.mean().item() / 12 / log(2), rel=1e-6)
    assert set(found) == {name, "bits_per_dim"}


def test_a_run_stands_beside_the_entropy_and_a_logistic_regression(tmp_path):
    words = [*TINY, "model.condition=label", "trainer.max_epochs=1", "hydra.run.dir=run", "callbacks=none"]
    assert launch(words, tmp_path) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert 0 <= result["metrics"]["test/class_accuracy"] <= 1
    assert result["classifier"].startswith("convolutions for classes, accuracy 0.")
    facts = result["baselines"]
    whole, known, learned = facts.values()
    assert list(facts) == [
        "entropy of the distribution",
        "entropy of the distribution given its label",
        "logistic regression on earlier pixels",
    ]
    assert whole["nats"] - known["nats"] == pytest.approx(log(3)) and learned["nats"] > whole["nats"]
    assert all(one["bits_per_dim"] == pytest.approx(one["nats"] / 144 / log(2)) for one in facts.values())


class Stored:
    """Data of pictures in memory."""

    def __init__(self, images):
        self.images, self.encoder = images, self
        self.sizes = {split: len(one) for split, one in images.items()}

    def part(self, split):
        return type("Part", (list,), {"__getitems__": lambda part, numbers: (split, numbers)})(self.images[split])

    def collate(self, rows: PixelRows):
        split, numbers = rows
        return PictureBatch(self.images[split][numbers])


def test_a_logistic_regression_learns_what_is_linear_in_earlier_pixels():
    """Each row is the one above it: the entropy is that of the first row, 3 H(0.3) nats."""
    data = Stored({"train": pictures(4000), "val": pictures(400, 2), "test": pictures(2000, 3)})
    images = data.images["test"]
    white = images[:, 0, 0].double().mean().item()
    least = -3 * (white * log(0.3) + (1 - white) * log(0.7))
    assert least < logistic_regression(data, SPEC) < least + 0.15
    assert logistic_regression(data, PictureSpec(channels=3, height=64, width=64, levels=256)) is None


class OfClass(Above):
    """A picture of class a is white and one of class b black, but each third one of b, by its number, is white."""

    def start(self, batch):
        return (batch.label == 0) | (batch.index % 3 == 0)

    def step(self, values, row, column, white):
        return torch.stack([~white, white], 1).double().log()[..., None]


class White:
    """Takes pictures for a if their first pixel is white, and for b if not."""

    def __call__(self, image):
        return torch.nn.functional.one_hot(1 - image[:, 0, 0, 0].long(), 2)


def test_pictures_of_a_class_are_counted_by_the_classifier(monkeypatch):
    """Six pictures of the classes a b a b b b. Number 3 is one of b that becomes white."""
    model = {"_target_": "tests.tasks.test_density.OfClass", "conditions": "label"}
    task = Density(model=model, monitor="val/bits_per_dim", mode="min", classified=6)
    task.build(SPEC, None)
    task.judge = White()
    label, index = torch.tensor([0, 1, 0, 1, 1, 1, 1, 1]), torch.arange(8)
    batches = [PictureBatch(pictures(4), label[part], index=index[part]) for part in (slice(4), slice(4, 8))]
    assert figures(task, monkeypatch, *batches)["class_accuracy"] == pytest.approx(5 / 6)


def test_a_logistic_regression_of_few_pictures_ends(monkeypatch):
    """Six pictures are one step per epoch. The validation is the training set, so that every epoch improves it."""
    counted, nats = [], picture_baselines.nats
    monkeypatch.setattr(picture_baselines, "STEPS", 30)
    monkeypatch.setattr(picture_baselines, "nats", lambda *given: counted.append(len(given[1])) or nats(*given))
    logistic_regression(Stored({"train": pictures(6), "val": pictures(6), "test": pictures(5)}), SPEC)
    assert counted == [6] * 31 + [5]


# drawing


def test_a_level_is_the_first_whose_cumulated_probability_exceeds_the_number():
    scores = torch.tensor([[0.2, 0.5, 0.3]]).log().expand(6, 3)
    numbers = torch.tensor([0.0, 0.19, 0.21, 0.69, 0.71, 0.999999])
    assert chosen(scores, 1.0, numbers).tolist() == [0, 0, 1, 1, 2, 2]
    assert chosen(scores, 0, numbers).tolist() == [1] * 6
    # at 1/2 the squares: 4, 25 and 9 of 38
    assert chosen(scores, 0.5, torch.tensor([0.1, 0.11, 0.76, 0.77, 0.5, 0.2])).tolist() == [0, 1, 1, 2, 1, 1]


def test_drawn_pictures_have_the_networks_distribution():
    task = predictions(Above(SPEC))
    batch = task.blank(None, None, 3000)
    batch = PictureBatch(batch.image, known=batch.known, index=torch.arange(3000))
    image = task.draw(batch, batch.known)
    assert torch.equal(image[:, :, :1].expand_as(image), image)  # every row is the first one
    share = image[:, 0, 0].double().mean().item()
    assert abs(share - 0.3) < 4 * (0.21 / 9000) ** 0.5
    assert torch.equal(task.draw(batch, batch.known), image)
    task.seed = 2
    assert not torch.equal(task.draw(batch, batch.known), image)


def test_a_picture_is_drawn_as_in_any_batch():
    task = predictions(Above(SPEC, p=0.5))
    batch = PictureBatch(torch.zeros(5, 1, 4, 3, dtype=torch.uint8), index=torch.tensor([7, 1, 4, 0, 2]))
    image = task.draw(batch, torch.zeros(5, dtype=torch.long))
    alone = PictureBatch(batch.image[:1], index=torch.tensor([4]))
    assert torch.equal(task.draw(alone, torch.zeros(1, dtype=torch.long))[0], image[2])


def test_the_kept_rows_stay_and_the_others_follow_them():
    task = predictions(Above(SPEC))
    task.complete = 0.5
    given = pictures(6)
    given[:, :, 2:] = 1 - given[:, :, 2:]
    found = task.predictions(PictureBatch(given, known=torch.full((6,), 4)), list("abcdef"))
    for one, image in zip(found, given, strict=True):
        assert one.kept == 2 and np.array_equal(one.pixels[:2, :, 0], 255 * image[0, :2].numpy())
        assert np.array_equal(one.pixels[2:], one.pixels[:2])
    task.complete = 0.0
    (scored,) = task.predictions(PictureBatch(given[:1], known=torch.tensor([4])), ["a"])
    assert scored.kept == 4 and np.array_equal(scored.pixels[..., 0], 255 * given[0, 0].numpy())
    rare = int((given[0, 0, 2] != given[0, 0, 1]).sum())
    first = given[0, 0, 0].sum().item()
    expected = 3 * log(1e9) - first * log(0.3) - (3 - first) * log(0.7)
    assert rare == 3 and scored.nats == pytest.approx(expected, rel=1e-6)


def test_a_row_is_reported_when_it_is_drawn():
    heard = []
    batch, random = PictureBatch(torch.zeros(1, 1, 4, 3, dtype=torch.uint8)), torch.rand(1, 1, 4, 3)
    draw_pictures(Above(SPEC), batch, torch.tensor([2]), random=random, hear=heard.append)
    assert heard == [0, 1, 2, 3]


def test_the_influence_of_pixels_is_that_of_the_network():
    """Only the pixel above, whose change turns log p from log(1 - q) to log q."""
    task = predictions(Above(SPEC, q=0.1))
    found = task.influence(PictureBatch(pictures(3)), 2, 1)
    expected = np.zeros((4, 3))
    expected[1, 1] = log(0.9) - log(0.1)
    assert found == pytest.approx(expected)


def test_what_the_network_depends_on_has_to_be_given():
    task = predictions(Above(SPEC, conditions="label"))
    with pytest.raises(ConfigError, match="reads the class of a picture, and none was given: use --class NAME"):
        task.predictions(PictureBatch(pictures(1)), ["a"])


# runs


def test_a_run_resumed_within_an_epoch_gives_the_weights_of_an_uninterrupted_one(tmp_path, monkeypatch):
    """Also where training draws black and white anew in each epoch."""
    data = ["data=binarized_mnist", "data.binarisation=redrawn"]
    words = [word for word in TINY if "characters" not in word]
    every = [*words, *data, "callbacks=none", "callbacks=checkpoint", "trainer.max_epochs=2"]
    killed_and_resumed(every, tmp_path, Density, monkeypatch, 3, 8)


@pytest.mark.slow
def test_two_ranks_make_the_steps_of_one(program_env, tmp_path):
    words = [*TINY, *GRADIENT, "callbacks=none", "model.condition=label"]
    found = same_on_two_ranks(words, tmp_path, program_env, rtol=1e-4)
    assert set(found) == {"test/bits_per_dim", "test/nats", "test/class_accuracy"}
