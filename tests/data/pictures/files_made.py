"""Small files of pictures in the official formats."""

import gzip
import pickle
from pathlib import Path

import numpy as np


def idx(array):
    """The bytes of an IDX file."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return b"\0\0\x08" + bytes([array.ndim]) + sizes + array.astype(np.uint8).tobytes()


def digits(count, seed):
    """Grey pictures (N, 28, 28) and classes (N,), each class among the first ten."""
    draw = np.random.default_rng(seed)
    return draw.integers(0, 256, (count, 28, 28)).astype(np.uint8), np.arange(count) % 10


def mnist(folder: Path, train=30, test=12, packed=True):
    """The four files of MNIST."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", train, 1), ("t10k", test, 2)):
        for kind, array in zip(("images-idx3", "labels-idx1"), digits(count, seed), strict=True):
            raw = idx(array)
            file = folder / f"{name}-{kind}-ubyte{'.gz' * packed}"
            file.write_bytes(gzip.compress(raw) if packed else raw)
    return folder


def amat(folder: Path, train=12, val=4, test=5):
    """The binarised digits of Larochelle and Murray."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("valid", val), ("test", test)):
        pixels = np.random.default_rng(count).integers(0, 2, (count, 784))
        lines = "".join(" ".join(map(str, row)) + " \n" for row in pixels.tolist())
        (folder / f"binarized_mnist_{name}.amat").write_text(lines)
    return folder


def photographs(count, seed):
    """Coloured pictures (N, 32, 32, 3) and classes (N,)."""
    draw = np.random.default_rng(seed)
    return draw.integers(0, 256, (count, 32, 32, 3)).astype(np.uint8), np.arange(count) % 10


def cifar(folder: Path, *, binary: bool, each=8):
    """The six batches of CIFAR-10."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        pixels, labels = photographs(each, seed)
        flat = pixels.transpose(0, 3, 1, 2).reshape(each, -1)
        if binary:
            records = np.concatenate([labels[:, None].astype(np.uint8), flat], 1)
            (folder / f"{name}.bin").write_bytes(records.tobytes())
        else:
            content = {"batch_label": name, "labels": labels.tolist(), "data": flat, "filenames": [""] * each}
            (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    return folder
