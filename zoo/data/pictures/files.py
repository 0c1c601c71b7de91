"""Readers of the official files of pictures: IDX, the batches of CIFAR, and the binarised digits of Larochelle."""

import io
import pickle
import re
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.rows import open_binary, reading, visible
from zoo.errors import DataError

IDX = re.compile(r"(?P<split>train|t10k)-(?P<kind>images|labels)[.-]idx[13]-ubyte(\.gz)?")
AMAT = re.compile(r"binarized_mnist_(?P<split>train|valid|test)\.amat(\.gz)?")
SPLITS_OF_IDX = {"train": "train", "test": "t10k"}
CIFAR_SIDE, CIFAR_RECORD = 32, 3073  # Bytes of a record: the class, and 32 x 32 values of each colour
CIFAR_FILES = {"train": [f"data_batch_{number}" for number in range(1, 6)], "test": ["test_batch"]}
PLAIN = {("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"), ("numpy", "ndarray")}
PLAIN |= {("numpy", "dtype"), ("_codecs", "encode")}
"""The names that a pickle of arrays needs. Anything else in a pickle could be code."""


class Arrays(NamedTuple):
    """The pictures of a file."""

    pixels: NDArray[np.uint8]  # (N, H, W, C)
    labels: NDArray[np.int64] | None  # (N,) the number of each class
    place: str  # The file, for messages


def named(folder: Path, pattern: re.Pattern[str], *groups: str) -> dict[tuple[str, ...], Path]:
    """The files of a folder whose names match, by the values of these groups."""
    found = ((pattern.fullmatch(path.name), path) for path in visible(folder))
    return {tuple(name[group] for group in groups): path for name, path in found if name}


def read_idx(images: Path, labels: Path) -> Arrays:
    """The pictures of an IDX file and the classes of another one. Raises DataError for damaged files."""
    pixels, classes = idx(images), idx(labels)
    if pixels.ndim != 3 or classes.ndim != 1 or len(pixels) != len(classes):
        found = f"{' x '.join(map(str, pixels.shape))} there, {' x '.join(map(str, classes.shape))} in {labels.name}"
        raise DataError(f"{images}: expected N pictures of rows and columns, and N labels; found {found}")
    return Arrays(pixels[..., None], classes.astype(np.int64), str(images))


def idx(path: Path) -> NDArray[np.uint8]:
    """The array of bytes in an IDX file, packed by gzip or not."""
    with open_binary(path) as file, reading(path):
        raw = file.read()
    if raw[:3] != b"\0\0\x08" or len(raw) < 4 + 4 * raw[3]:
        raise DataError(f"{path}: not an IDX file of bytes: it begins with {raw[:4].hex(' ')}, expected 00 00 08 and "
                        "the number of axes")  # fmt: skip
    begin = 4 + 4 * raw[3]
    shape = [int.from_bytes(raw[at : at + 4], "big") for at in range(4, begin, 4)]
    if len(raw) - begin != prod(shape):
        sizes = " x ".join(map(str, shape))
        raise DataError(f"{path}: found {len(raw) - begin:,} values, its header says {sizes}; copy the file again")
    return np.frombuffer(raw, np.uint8, offset=begin).reshape(shape)


def read_amat(path: Path) -> Arrays:
    """Black and white pictures of 28 x 28, a line of 784 numbers 0 or 1 for each one. Raises DataError for another
    line."""
    with open_binary(path) as file, reading(path):
        rows = file.read().split(b"\n")
    found = np.zeros((len(rows), 784), np.uint8)
    kept = 0
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        values = np.frombuffer(row.replace(b" ", b"").strip(), np.uint8) - ord("0")
        if len(values) != 784 or values.max(initial=0) > 1:
            raise DataError(f"{path}, line {number}: found {row[:40]!r}..., expected 784 numbers that are 0 or 1")
        found[kept] = 255 * values
        kept += 1
    return Arrays(found[:kept].reshape(-1, 28, 28, 1), None, str(path))


def cifar_files(folder: Path) -> dict[str, list[Path]] | None:
    """The batches of each split, in Python's form or the binary one; None if some are missing."""
    for ending in ("", ".bin"):
        found = {split: [folder / f"{name}{ending}" for name in names] for split, names in CIFAR_FILES.items()}
        if all(path.is_file() for paths in found.values() for path in paths):
            return found
    return None


def read_cifar(paths: Sequence[Path]) -> Arrays:
    """The pictures of several batches of CIFAR-10. Raises DataError for a damaged one."""
    parts = [_binary(path) if path.suffix == ".bin" else _pickled(path) for path in paths]
    pixels = np.concatenate([part.reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE) for part, _ in parts])
    return Arrays(pixels.transpose(0, 2, 3, 1), np.concatenate([labels for _, labels in parts]), str(paths[0].parent))


def _binary(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    with open_binary(path) as file, reading(path):
        raw = np.frombuffer(file.read(), np.uint8)
    if len(raw) % CIFAR_RECORD:
        raise DataError(f"{path}: found {len(raw):,} bytes, expected records of {CIFAR_RECORD:,}; copy the file again")
    records = raw.reshape(-1, CIFAR_RECORD)
    return records[:, 1:], records[:, 0].astype(np.int64)


class _Arrays(pickle.Unpickler):
    """Reads arrays, lists and texts, and refuses everything else that a pickle could hold."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in PLAIN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not part of an array")
        return super().find_class(module, name)


def _pickled(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    with open_binary(path) as file, reading(path):
        raw = file.read()
    try:
        found: Mapping[str, Any] = _Arrays(io.BytesIO(raw), encoding="latin1").load()
        pixels, labels = np.asarray(found["data"], np.uint8), np.asarray(found["labels"], np.int64)
        if pixels.shape != (len(labels), CIFAR_RECORD - 1):
            raise ValueError(f"found pixels of {pixels.shape} and {len(labels)} labels")
    except Exception as error:  # a damaged pickle may raise almost anything
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path}: not a batch of CIFAR-10 ({reason}); copy the file again") from error
    return pixels, labels
