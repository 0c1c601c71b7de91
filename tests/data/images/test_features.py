"""Features of a frozen encoder: their values and identity, continuing after a kill, and a user's new picture."""

import json
from collections import namedtuple

import numpy as np
import pytest
import torch
from torch.nn.functional import adaptive_avg_pool2d

from tests.data.images.frozen import TARGET, Frozen
from tests.data.images.pictures_made import noise
from tests.data.images.toy import SMALL
from tests.data.serving import prepared
from zoo.data.captions import features
from zoo.data.captions.features import FrozenEncoder, fingerprint_of, store_features, stored_features
from zoo.data.captions.pictures import Pictures
from zoo.data.images.batch import ImageSpec
from zoo.data.images.encoding import ImageCaptionEncoder
from zoo.data.images.own import OwnCaptions
from zoo.errors import ConfigError, DataError

SIDES, GRID = (16, 24), (2, 3)


class Noise(Pictures):
    """Pictures that follow from their numbers. After `kill` batches the reading ends as by a kill."""

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
    store_features(root, encoder, pictures, **options)
    return stored_features(root, encoder, pictures)[0]


# Stored values


def test_values_are_those_of_the_encoder_to_one_in_a_thousand(tmp_path):
    encoder, pictures = frozen(), Noise(7)
    found = store(tmp_path, pictures, encoder)
    assert found.shape == (6, *GRID) and len(found) == 7 and found.encoded
    given = found[range(7)]
    assert given.dtype == torch.float16
    assert torch.equal(found[[5, 0]], given[[5, 0]])
    # by hand: the convolution of normalised pixels, pooled to the grid, cell (row, column) in its place
    network = encoder.network.cpu()  # where there is a GPU, it was used
    pixels = (pictures[range(7)].float() - network.mean) / network.deviation
    by_hand = adaptive_avg_pool2d(network.convolution(pixels), GRID)
    torch.testing.assert_close(given.float(), by_hand.detach(), rtol=1e-3, atol=1e-5)


def test_the_folder_depends_on_images_encoder_and_weights(tmp_path):
    def folder(pictures=None, **options):
        return store_features(tmp_path, frozen(**options), pictures or Noise(2))

    first = folder()
    assert folder() == first
    assert folder(Noise(3)) != first and folder(scale=2.0) != first
    rates = [features._facts(frozen(learning_rate=rate), Noise(1)) for rate in (1, 2)]
    assert rates[0] == rates[1]
    assert store_features(tmp_path, FrozenEncoder({"_target_": TARGET}, SIDES, (4, 6)), Noise(2)) != first
    weights = tmp_path / "weights.pt"
    found = set()
    for seed in (0, 1):
        torch.manual_seed(seed)
        network = Frozen(ImageSpec(3, *SIDES, target_size=1, longest_target=1, grid=GRID))
        torch.save(network.state_dict(), weights)
        found.add(folder(weights=str(weights)))
    assert len(found) == 2  # one name, other weights
    stored, encoder = stored_features(tmp_path, frozen(weights=str(weights)), Noise(2))
    assert stored.file.parent in found and encoder.weights == fingerprint_of(network)  # the latest weights


@pytest.mark.parametrize("workers", [0, 1])
def test_random_numbers_do_not_depend_on_stored_features(tmp_path, monkeypatch, workers):
    """A network is drawn after its data is prepared, with the same numbers whether features existed or not."""
    monkeypatch.setattr(features, "BATCH", 2)
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    found = store(tmp_path, Noise(5), workers=workers)
    assert frozen().weights == frozen().weights
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(found[range(5)], frozen()(Noise(5)[range(5)]))


# Continuing


@pytest.mark.parametrize("kill", [0, 1, 3, 5])
def test_a_run_after_a_kill_continues(tmp_path, monkeypatch, kill):
    """The file may end in the middle of a picture."""
    monkeypatch.setattr(features, "BATCH", 2)
    whole = store(tmp_path / "whole", Noise(11))
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path / "killed", Noise(11, kill))
    with pytest.raises(DataError, match=r"the features are not computed yet: call prepare_data"):
        stored_features(tmp_path / "killed", frozen(), Noise(11))
    done = 2 * kill
    (begun,) = (tmp_path / "killed").glob("*.begun/features.f16")
    assert begun.stat().st_size == 72 * done
    if kill == 3:
        with begun.open("r+b") as values:
            values.truncate(72 * 5 + 36)
        done = 5
    again = Noise(11)
    found = store(tmp_path / "killed", again)
    assert again.read == list(range(done, 11))
    assert torch.equal(found[range(11)], whole[range(11)])
    assert sorted(file.name for file in found.file.parent.iterdir()) == ["about.json", "features.f16"]


# Errors


@pytest.mark.parametrize(("name", "size"), [("features.f16", 479), ("features.f16", 432), ("about.json", 20)])
def test_later_damage_is_reported_with_its_folder(folder, cache_dir, name, size):
    held = own(folder).part("train").pictures.file.parent
    (held / name).write_bytes((held / name).read_bytes()[:size])
    message = rf"^{held}: the stored features are damaged \(.*\); delete this folder and run"
    with pytest.raises(DataError, match=message):
        own(folder)
    (held / name).unlink()
    with pytest.raises(DataError, match=message):
        own(folder)


@pytest.mark.parametrize("scale", [1e6, float("nan"), float("inf")])
def test_numbers_beyond_float16(tmp_path, scale):
    with pytest.raises(DataError, match=r"data.features: Frozen gives numbers up to .* ends at 65,504: choose another"):
        store(tmp_path, Noise(2), frozen(scale=scale))
    assert not list(tmp_path.glob("*/about.json"))


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"_target_": TARGET, "learns": True}, r"Frozen is trained, .* such as model/encoder=vgg19, or data.features="),
        ({"_target_": TARGET, "finetune_from": 0}, r"finetune_from=0 trains the encoder, .* or use data.features=null"),
        ({}, r"found \{\}, expected an encoder's keys, such as \$\{model."),
        ({"_target_": TARGET, "width": 3}, r"found \{.*\}, expected an encoder's keys, such as \$\{model."),
    ],
)
def test_encoders_that_cannot_be_used(tmp_path, encoder, message):
    with pytest.raises(ConfigError, match=f"data.features: {message}"):
        store(tmp_path, Noise(2), FrozenEncoder(encoder, SIDES, GRID))


def test_too_little_room_is_reported_before_anything_is_computed(tmp_path, monkeypatch):
    usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(features.shutil, "disk_usage", lambda folder: usage(0, 0, 100))
    Frozen.seen.clear()
    with pytest.raises(DataError, match=r"features of 5 images need 0.0 GB, 0.0 GB are free: choose another place by"):
        store(tmp_path, Noise(5))
    assert Frozen.seen == []


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    message = r"features cannot be written here: .* choose another place by data.loader.cache"
    with pytest.raises(DataError, match=message):
        store(tmp_path / "file", Noise(2))


# In a data set


@pytest.fixture
def folder(tmp_path):
    """Ten images of one's own."""
    (tmp_path / "own").mkdir()
    for n in range(10):
        noise(tmp_path / "own" / f"{n}.png", n, 20 + n)
    (tmp_path / "own" / "captions.csv").write_text("file,caption\n" + "".join(f"{n}.png,of {n}\n" for n in range(10)))
    return tmp_path / "own"


def own(folder, **more):
    return prepared(OwnCaptions(path=str(folder), **{**SMALL, "features": {"_target_": TARGET}, **more}))


def test_batches_hold_features_in_place_of_pixels(folder, cache_dir):
    data = own(folder)
    spec = data.spec
    assert spec.encoded and (spec.channels, spec.height, spec.width) == (6, 2, 2) == (6, *spec.grid)
    assert "features of 6 x 2 x 2, cells of 2 x 2" in data.describe()["contents"]
    batch = next(iter(data.test_dataloader()))
    assert batch.image.dtype == torch.float16 and batch.image.shape[1:] == (6, 2, 2)
    name, file = batch.about[0].name, batch.about[0].file
    assert file == str(folder / name)
    again = data.encoder([folder / name])  # a picture that a user gives
    torch.testing.assert_close(again.image[0], batch.image[0], rtol=2e-3, atol=1e-4)
    assert data.encoder.pixels(folder / name).shape == (3, 16, 16)  # for overlays


def test_other_pictures_are_computed_and_another_vocabulary_is_not(folder, cache_dir):
    own(folder)
    Frozen.seen.clear()
    own(folder, text={"minimum_frequency": 2})
    assert Frozen.seen == []
    own(folder, picture={"size": 8})
    assert sum(Frozen.seen) == 10
    noise(folder / "3.png", 99, 40, 40)
    Frozen.seen.clear()
    own(folder)
    assert sum(Frozen.seen) == 10


def test_setup_does_not_build_the_network_and_a_checkpoint_has_its_fingerprint(folder, cache_dir, monkeypatch):
    data = own(folder)
    state = json.loads(json.dumps(data.encoder.state()))
    with monkeypatch.context() as patch:
        patch.setattr(FrozenEncoder, "_built", None)
        lazy = OwnCaptions(path=str(folder), **SMALL, features={"_target_": TARGET})
        lazy.setup()
        assert lazy.encoder.state() == state
        restored = ImageCaptionEncoder.from_state(state)
    picture = folder / "0.png"
    assert torch.equal(restored([picture]).image, data.encoder([picture]).image)
    state["features"]["weights"] = "0123456789abcdef"
    with pytest.raises(ConfigError, match=r"data.features: the weights of Frozen here are not those .* expected 01234"):
        ImageCaptionEncoder.from_state(state)([picture])
