"""MNIST, its binarised form, Fashion-MNIST and CIFAR-10 in their official files, and every error with its file."""

import gzip
import pickle
from functools import partial
from hashlib import md5
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import datasets
import numpy as np
import pytest
import torch
from PIL import Image

from tests.data.pictures.files_made import amat, cifar, digits, idx, mnist, photographs
from tests.data.serving import batches, prepared
from zoo.data.pictures.corpora import BinarizedMnist, Cifar10, FashionMnist, Mnist
from zoo.errors import ConfigError, DataError

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "mnist"


class SilentHandler(SimpleHTTPRequestHandler):
    """Serves a folder, and prints nothing."""

    def log_message(self, *_):
        pass


def images(data, split):
    """The pictures of a split in the order of their numbers, and their classes."""
    found = batches(data, split)
    order = torch.cat([batch.index for batch in found]).argsort()
    labels = None if found[0].label is None else torch.cat([batch.label for batch in found])[order]
    return torch.cat([batch.image for batch in found])[order], labels


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("inside", ["", "MNIST/raw", "raw"])
def test_idx_files_are_read(tmp_path, packed, inside):
    """The last training pictures validate."""
    mnist(tmp_path / inside, packed=packed)
    data = prepared(Mnist(source=str(tmp_path), validation=10))
    assert data.sizes == {"train": 20, "val": 10, "test": 12}
    pixels, labels = digits(30, 1)
    for split, part in (("train", slice(20)), ("val", slice(20, 30))):
        found, classes = images(data, split)
        assert np.array_equal(found[:, 0].numpy(), pixels[part]) and classes.tolist() == labels[part].tolist()
    assert data.spec.classes == tuple("0123456789") and data.spec.levels == 256


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder shared/data/mnist is absent")
def test_the_real_digits():
    """Their mean is 0.1307 of white (of all 60,000 training pictures)."""
    data = prepared(Mnist(source=str(REAL)))
    assert data.sizes == {"train": 50_000, "val": 10_000, "test": 10_000}
    total = sum(int(batch.image.sum(dtype=torch.int64)) for split in ("train", "val") for batch in batches(data, split))
    assert total / 60_000 / 784 / 255 == pytest.approx(0.1307, abs=5e-5)


@pytest.mark.parametrize("binary", [True, False])
def test_the_batches_of_cifar_are_read(tmp_path, binary):
    cifar(tmp_path / f"cifar-10-batches-{'bin' if binary else 'py'}", binary=binary)
    data = prepared(Cifar10(source=str(tmp_path), validation=6))
    assert data.sizes == {"train": 34, "val": 6, "test": 8}
    found, labels = images(data, "train")
    first, classes = photographs(8, 0)
    assert np.array_equal(found[:8].permute(0, 2, 3, 1).numpy(), first)
    assert [data.spec.classes[one] for one in labels[:3].tolist()] == ["airplane", "automobile", "bird"]
    assert labels[:8].tolist() == classes.tolist() and data.spec.channels == 3


def test_fixed_digits_are_read_from_their_own_files(tmp_path):
    amat(tmp_path)
    data = prepared(BinarizedMnist(source=str(tmp_path)))
    assert data.sizes == {"train": 12, "val": 4, "test": 5} and data.spec.classes == () and data.spec.levels == 2
    expected = np.random.default_rng(12).integers(0, 2, (12, 784))
    found, labels = images(data, "train")
    assert labels is None and np.array_equal(found.flatten(1).numpy(), expected)
    assert data.spec.binarised == "fixed"


def test_redrawn_digits_change_in_each_epoch_and_only_in_training(tmp_path):
    """Grey is the probability of white: over many epochs the mean of a pixel is its grey."""
    mnist(tmp_path)
    data = prepared(BinarizedMnist(source=str(tmp_path), binarisation="redrawn", validation=10, loader={"seed": 2}))
    part = data.part("train")
    epochs = np.stack([part.__getitems__([20 * epoch]).pixels[0, 0] for epoch in range(600)]) / 255
    assert {0.0, 1.0} == set(np.unique(epochs)) and not np.array_equal(epochs[0], epochs[1])
    grey = digits(30, 1)[0][0] / 255
    assert np.abs(epochs.mean(0) - grey).max() < 5 * 0.5 / 600**0.5
    assert np.array_equal(part.__getitems__([20]).pixels, part.__getitems__([20]).pixels)
    assert torch.equal(images(data, "val")[0], images(data, "val")[0])
    assert data.spec.binarised == "redrawn" and data.spec.levels == 2


def test_a_processes_share_and_a_later_start_draw_the_same(tmp_path):
    """Black and white depend on the seed, the epoch and the picture alone."""
    mnist(tmp_path)
    data = prepared(BinarizedMnist(source=str(tmp_path), binarisation="redrawn", validation=10))
    part = data.part("train")
    together = part.__getitems__([23, 25, 38]).pixels
    for number, one in zip([23, 25, 38], together, strict=True):
        assert np.array_equal(part.__getitems__([number]).pixels[0], one)


def test_torchvision_downloads_with_its_checksums(tmp_path, monkeypatch):
    """From a server on this machine."""
    from torchvision.datasets import MNIST

    served = mnist(tmp_path / "served")
    sums = [(file.name, md5(file.read_bytes()).hexdigest()) for file in sorted(served.iterdir())]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SilentHandler, directory=str(served)))
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(MNIST, "mirrors", [f"http://127.0.0.1:{server.server_port}/"])
    monkeypatch.setattr(MNIST, "resources", sums)
    loader = {"cache_dir": str(tmp_path / "cache")}
    data = prepared(Mnist(source="torchvision", validation=10, loader=loader))
    assert np.array_equal(images(data, "train")[0][:, 0].numpy(), digits(30, 1)[0][:20])
    monkeypatch.setattr(MNIST, "resources", [(name, "0" * 32) for name, _ in sums])
    again = Mnist(source="torchvision", validation=10, loader={"cache_dir": str(tmp_path / "other")})
    with pytest.raises(DataError, match=r"MNIST cannot be downloaded .*go online, or use data.source=sample"):
        again.prepare_data()
    server.shutdown()
    server.server_close()


def test_the_hub(tmp_path, monkeypatch):
    rows = [
        {"image": Image.fromarray(picture), "label": int(label)} for picture, label in zip(*digits(30, 1), strict=True)
    ]
    monkeypatch.setattr(datasets, "load_dataset", lambda repository, split: datasets.Dataset.from_list(rows))
    data = prepared(FashionMnist(source="hub", validation=10, loader={"cache_dir": str(tmp_path)}))
    assert np.array_equal(images(data, "val")[0][:, 0].numpy(), digits(30, 1)[0][20:])
    assert data.spec.classes[:2] == ("t-shirt", "trouser")


@pytest.mark.parametrize("cls", [Mnist, FashionMnist, BinarizedMnist, Cifar10])
def test_the_sample_has_the_size_of_the_data(cls):
    data = prepared(cls(sample={"train": 30, "val": 5, "test": 5}))
    (batch, *_) = batches(data, "val")
    assert batch.image.shape[1:] == (cls.channels, cls.side, cls.side) and len(data.spec.classes) == 10
    assert (data.entropy() is None) == (cls is BinarizedMnist)


def spoil(folder, name, change):
    """Change the content of a packed file."""
    file = folder / name
    file.write_bytes(gzip.compress(change(gzip.decompress(file.read_bytes()))))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "train-images-idx3-ubyte.gz",
            lambda raw: raw[:-5],
            "train-images.*found 23,515 values, its header says 30 x 28 x 28",
        ),
        (
            "train-images-idx3-ubyte.gz",
            lambda raw: b"GIF8" + raw[4:],
            "not an IDX file of bytes: it begins with 47 49 46 38",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            lambda raw: idx(np.arange(9)),
            "expected N pictures .*found 12 x 28 x 28 there, 9 in t10k",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            lambda raw: raw[:-1] + b"\x0b",
            "picture 30: its label is 11, expected 0 to 9",
        ),
    ],
)
def test_damaged_idx_files_are_refused(tmp_path, name, change, message):
    spoil(mnist(tmp_path), name, change)
    with pytest.raises(DataError, match=message):
        Mnist(source=str(tmp_path), validation=10).prepare_data()


def test_a_pickle_that_is_not_an_array_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return Path.touch, (tmp_path / "touched",)

    folder = cifar(tmp_path / "cifar-10-batches-py", binary=False)
    (folder / "data_batch_2").write_bytes(pickle.dumps({"data": Evil()}))
    with pytest.raises(
        DataError, match=r"data_batch_2: not a batch of CIFAR-10 .it asks for pathlib.*copy the file again"
    ):
        Cifar10(source=str(tmp_path), validation=5).prepare_data()
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda folder: Mnist(source=str(folder)), "found 30 training pictures, and data.validation=10000 takes all"),
        (lambda folder: BinarizedMnist(source=str(folder)), "these digits are grey; use data.binarisation=redrawn"),
        (lambda folder: Cifar10(source=str(folder)), "expected the folder cifar-10-batches-py"),
        (lambda folder: Mnist(source=str(folder / "none")), "No such file.*data.source.*expected: sample, torchvision"),
    ],
)
def test_other_files_are_refused(tmp_path, data, message):
    mnist(tmp_path)
    with pytest.raises(DataError, match=message):
        data(tmp_path).prepare_data()


def test_a_line_that_is_not_784_bits_is_refused(tmp_path):
    folder = amat(tmp_path)
    (folder / "binarized_mnist_valid.amat").write_text("0 1 1\n")
    with pytest.raises(DataError, match=r"binarized_mnist_valid.amat, line 1: found b'0 1 1'..., expected 784 numbers"):
        BinarizedMnist(source=str(folder)).prepare_data()


def test_options_that_do_not_fit_are_refused():
    for options, message in [
        ({"bits": 8}, "data.bits: these pictures are black and white"),
        ({"source": "hub"}, "data.source=hub: it has grey digits; use data.binarisation=redrawn"),
        ({"binarisation": "once"}, "data.binarisation=once"),
    ]:
        with pytest.raises(ConfigError, match=message):
            BinarizedMnist(**options)
