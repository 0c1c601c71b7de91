"""Features of a frozen encoder: the values, what they are known by, going on after a kill, a user's new picture."""

import json
import pickle
from collections import namedtuple

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import adaptive_avg_pool2d

from tests.data.images.frozen import TARGET, Frozen
from zoo.data.images import features
from zoo.data.images.encoding import ImageCaptionEncoder
from zoo.data.images.features import FrozenEncoder, StoredFeatures, fingerprint_of, store_features, stored_features
from zoo.data.images.flickr8k import Flickr8k
from zoo.data.images.own import OwnCaptions
from zoo.data.images.pictures import Pictures
from zoo.errors import ConfigError, DataError

SIDES, GRID = (16, 24), (2, 3)


class Noise(Pictures):
    """Pictures that follow from their numbers; after `kill` batches the reading of them ends as by a kill."""

    shape = (3, *SIDES)

    def __init__(self, count, kill=None):
        self.count, self.left, self.read = count, kill, []

    def __len__(self):
        return self.count

    def identity(self):
        return {"noise": self.count}

    def __getitem__(self, numbers):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        self.read += list(numbers)
        made = [np.random.default_rng(number).integers(0, 256, self.shape, np.uint8) for number in numbers]
        return torch.from_numpy(np.stack(made))


def frozen(**options):
    return FrozenEncoder({"_target_": TARGET, **options}, SIDES, GRID)


def store(root, pictures, encoder=None, **options):
    encoder = encoder or frozen()
    return StoredFeatures(store_features(root, encoder, pictures.identity(), pictures, **options))


@pytest.fixture
def small_steps(monkeypatch):
    monkeypatch.setattr(features, "BATCH", 2)
    monkeypatch.setattr(features, "SAVED", 2)


# what is stored


def test_values_are_the_encoders_to_one_in_a_thousand(tmp_path):
    encoder, pictures = frozen(), Noise(7)
    found = store(tmp_path, pictures, encoder)
    with torch.no_grad():
        cells = encoder.network(pictures[range(7)])
    expected = cells.transpose(1, 2).unflatten(2, GRID)
    assert found.shape == (6, *GRID) and len(found) == 7 and found.encoded
    given = found[[0, 1, 2, 3, 4, 5, 6]]
    assert given.dtype == torch.float16
    torch.testing.assert_close(given.float(), expected, rtol=1e-3, atol=1e-6)
    assert torch.equal(found[[5, 0]], given[[5, 0]])
    # by hand: the convolution of normalised pixels, pooled to the grid, cell (row, column) in its place
    network = encoder.network
    pixels = (pictures[[4]].float() - network.mean) / network.deviation
    by_hand = adaptive_avg_pool2d(network.convolution(pixels), GRID)
    torch.testing.assert_close(given[4].float(), by_hand[0].detach(), rtol=1e-3, atol=1e-5)


def test_one_image_and_none_twice(tmp_path):
    Frozen.seen.clear()
    assert store(tmp_path, Noise(1))[[0]].shape == (1, 6, *GRID)
    assert Frozen.seen == [1]
    store(tmp_path, Noise(1))
    assert Frozen.seen == [1]  # it is there


def test_workers_read_the_pictures(tmp_path, small_steps):
    one, two = store(tmp_path / "a", Noise(5)), store(tmp_path / "b", Noise(5), workers=1)
    assert torch.equal(one[range(5)], two[range(5)])


def test_they_travel_as_a_path(tmp_path):
    found = store(tmp_path, Noise(50))
    there = pickle.dumps(found)
    assert len(there) < 1000 and torch.equal(pickle.loads(there)[[3]], found[[3]])


def test_features_are_known_by_images_encoder_and_weights(tmp_path):
    def folder(pictures=None, **options):
        pictures = pictures or Noise(2)
        return store_features(tmp_path, frozen(**options), pictures.identity(), pictures)

    first = folder()
    assert folder() == first
    assert folder(Noise(3)) != first and folder(scale=2.0) != first
    weights = tmp_path / "weights.pt"
    found = set()
    for seed in (0, 1):
        torch.manual_seed(seed)
        network = Frozen(features.ImageSpec(3, *SIDES, target_size=1, longest_target=1, grid=GRID))
        torch.save(network.state_dict(), weights)
        found.add(folder(weights=str(weights)))
    assert len(found) == 2  # one name, other weights
    held, encoder = stored_features(tmp_path, frozen(weights=str(weights)), Noise(2).identity())
    assert held.folder in found and encoder.weights == fingerprint_of(network)  # those of the last
    other = FrozenEncoder({"_target_": TARGET}, SIDES, (4, 6))
    assert store_features(tmp_path, other, Noise(2).identity(), Noise(2)) != first


def test_random_weights_are_the_same_each_time_and_leave_random_numbers_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    assert frozen().weights == frozen().weights
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("workers", [0, 1])
def test_computing_them_leaves_random_numbers_alone(tmp_path, workers):
    """A network is drawn after its data is prepared: by the same numbers, whether features were there or not."""
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    store(tmp_path, Noise(3), workers=workers)
    assert torch.equal(torch.random.get_rng_state(), before)


# going on


@pytest.mark.parametrize("kill", [0, 1, 2, 3, 5])
def test_a_run_that_is_killed_is_gone_on_with(tmp_path, small_steps, kill):
    whole = store(tmp_path / "whole", Noise(11))
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path / "killed", Noise(11, kill))
    with pytest.raises(DataError, match=r"the features are not computed yet: call prepare_data"):
        stored_features(tmp_path / "killed", frozen(), Noise(11).identity())
    again = Noise(11)
    found = store(tmp_path / "killed", again)
    noted = 2 * 2 * (kill // 2)  # after every second batch of two
    assert again.read == list(range(noted, 11))
    assert torch.equal(found[range(11)], whole[range(11)])
    assert sorted(file.name for file in found.folder.iterdir()) == ["about.json", "features.f16"]


def test_what_a_kill_left_half_written_is_written_anew(tmp_path, small_steps):
    whole = store(tmp_path / "whole", Noise(9))
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path / "killed", Noise(9, 4))
    (begun,) = (tmp_path / "killed").glob("*.begun")
    with (begun / "features.f16").open("ab") as values:
        values.write(b"half a pict")
    assert torch.equal(store(tmp_path / "killed", Noise(9))[range(9)], whole[range(9)])
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path / "cut", Noise(9, 4))
    (begun,) = (tmp_path / "cut").glob("*.begun")
    with (begun / "features.f16").open("r+b") as values:
        values.truncate(108)  # the disk lost what the note says: one picture of 72 bytes and a half are left
    again = Noise(9)
    assert torch.equal(store(tmp_path / "cut", again)[range(9)], whole[range(9)]) and again.read[0] == 1


@pytest.mark.parametrize(
    ("name", "kept"), [("features.f16", 479), ("features.f16", 0), ("about.json", 20), ("about.json", None)]
)
def test_what_is_damaged_later_is_said_with_its_folder(folder, cache_dir, name, kept):
    data = own(folder)
    held = data.part("train").pictures.folder
    if kept is None:
        (held / name).unlink()
    else:
        (held / name).write_bytes((held / name).read_bytes()[:kept])
    said = rf"^{held}: the stored features are damaged \(.*\); delete this folder and run"
    with pytest.raises(DataError, match=said):
        own(folder)


# what cannot be


@pytest.mark.parametrize("scale", [1e6, float("nan"), float("inf")])
def test_numbers_beyond_float16_are_an_error(tmp_path, scale):
    with pytest.raises(DataError, match=r"data.features: Frozen gives numbers up to .* ends at 65,504: choose another"):
        store(tmp_path, Noise(2), frozen(scale=scale))
    assert not list(tmp_path.glob("*/about.json"))


def test_an_encoder_that_learns_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match=r"data.features: Frozen learns, .* such as model/encoder=vgg19, or data.feat"
    ):
        store(tmp_path, Noise(2), frozen(learns=True))


def test_an_encoder_that_is_to_learn_is_refused_and_its_rate_is_no_matter(tmp_path):
    with pytest.raises(
        ConfigError, match=r"data.features: finetune_from=3 trains the encoder, .* or take data.features"
    ):
        frozen(finetune_from=3)
    with pytest.raises(ConfigError, match=r"data.features: finetune_from=0 trains"):
        frozen(finetune_from=0)
    told = [
        features._asked({}, FrozenEncoder({"_target_": "a", "learning_rate": rate}, SIDES, GRID)) for rate in (1, 2)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("encoder", [{}, {"_target_": TARGET, "width": 3}])
def test_what_is_no_encoder(tmp_path, encoder):
    with pytest.raises(
        ConfigError, match=r"data.features: found \{.*\}, expected an encoder's keys, such as \$\{model."
    ):
        store(tmp_path, Noise(2), FrozenEncoder(encoder, SIDES, GRID))


def test_no_room_is_said_before_anything_is_computed(tmp_path, monkeypatch):
    usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(features.shutil, "disk_usage", lambda folder: usage(0, 0, 100))
    Frozen.seen.clear()
    with pytest.raises(DataError, match=r"features of 5 images need 0.0 GB, 0.0 GB are free: choose another place by"):
        store(tmp_path, Noise(5))
    assert Frozen.seen == []


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        DataError, match=r"features cannot be written here: .* choose another place by data.loader.cache"
    ):
        store(tmp_path / "file", Noise(2))


# in the data


@pytest.fixture
def folder(tmp_path):
    """Ten noisy images of one's own."""
    (tmp_path / "own").mkdir()
    for n in range(10):
        noise = np.random.default_rng(n).integers(0, 255, (20 + n, 30, 3), np.uint8)
        Image.fromarray(noise).save(tmp_path / "own" / f"{n}.png")
    (tmp_path / "own" / "captions.csv").write_text("file,caption\n" + "".join(f"{n}.png,of {n}\n" for n in range(10)))
    return tmp_path / "own"


def own(folder, **more):
    options = {"picture": {"size": 16}, "grid": [2, 2], "features": {"_target_": TARGET}}
    data = OwnCaptions(path=str(folder), **{**options, **more})
    data.prepare_data()
    data.setup()
    return data


def test_batches_hold_features_in_place_of_pixels(folder, cache_dir):
    data = own(folder)
    spec = data.spec
    assert spec.encoded and (spec.channels, spec.height, spec.width) == (6, 2, 2) == (6, *spec.grid)
    assert "features of 6 x 2 x 2, cells of 2 x 2" in data.describe()["contents"]
    for loader in (data.train_dataloader(), data.test_dataloader()):
        batch = next(iter(loader))
        assert batch.image.dtype == torch.float16 and batch.image.shape[1:] == (6, 2, 2)
    name = batch.about[0].name
    again = data.encoder([folder / name])  # a picture that a user gives
    torch.testing.assert_close(again.image[0], batch.image[0], rtol=2e-3, atol=1e-4)
    assert data.encoder.pixels(folder / name).shape == (3, 16, 16)  # for overlays


def test_another_vocabulary_computes_nothing_and_another_picture_does(folder, cache_dir):
    own(folder)
    Frozen.seen.clear()
    own(folder, text={"minimum_frequency": 2})
    assert Frozen.seen == []
    own(folder, picture={"size": 8})
    assert sum(Frozen.seen) == 10
    noise = Image.fromarray(np.random.default_rng(99).integers(0, 255, (40, 40, 3), np.uint8))
    noise.save(folder / "3.png")
    Frozen.seen.clear()
    own(folder)
    assert sum(Frozen.seen) == 10


def test_setup_does_not_build_the_network_and_a_checkpoint_knows_it(folder, cache_dir, monkeypatch):
    data = own(folder)
    state = json.loads(json.dumps(data.encoder.state()))
    with monkeypatch.context() as patch:
        patch.setattr(FrozenEncoder, "_built", None)
        lazy = OwnCaptions(path=str(folder), picture={"size": 16}, grid=[2, 2], features={"_target_": TARGET})
        lazy.setup()
        assert lazy.encoder.state() == state
        restored = ImageCaptionEncoder.from_state(state)
    picture = folder / "0.png"
    assert torch.equal(restored([picture]).image, data.encoder([picture]).image)
    state["features"]["weights"] = "0123456789abcdef"
    with pytest.raises(
        ConfigError, match=r"data.features: the weights of Frozen here are others than .* expected 01234"
    ):
        ImageCaptionEncoder.from_state(state)([picture])


def test_generated_pictures_too(cache_dir):
    data = Flickr8k(sample={"train": 4, "val": 2, "test": 2}, features={"_target_": TARGET})
    data.prepare_data()
    data.setup()
    batch = next(iter(data.test_dataloader()))
    assert batch.image.shape == (2, 6, 8, 8) and batch.alignment.shape[2] == 64


def test_pictures_that_change_have_no_features(folder):
    with pytest.raises(ConfigError, match=r"data.features: features are computed once, and data.picture.random_crop"):
        own(folder, picture={"size": 16, "flip": True})
