"""Features of a frozen encoder: computed once, kept as float16 on the disk, read from there in place of pixels.

A folder of features is known by the images, by what is seen of them, by the encoder and by its weights. A run that is
stopped while they are computed leaves what it has, and the next one goes on there. Notation: I images; D numbers for
each of rows by columns cells.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import datasets
import numpy as np
import torch
from filelock import FileLock
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from zoo.data.cache import fingerprint
from zoo.data.images.pictures import Pictures
from zoo.data.images.spec import ImageSpec
from zoo.dotted import class_at
from zoo.errors import ConfigError, DataError
from zoo.values import below_key

log = logging.getLogger(__name__)

KEY = "data.features"
FORMAT = 1
"""Raise it with every change of what is stored: older features are then left alone."""
VALUES, ABOUT, DONE = "features.f16", "about.json", "done.json"
MOST = float(torch.finfo(torch.float16).max)
BATCH = 32
SAVED = 16
"""Batches after which it is noted how far the features are."""
TRAINING = ("finetune_from", "learning_rate")
"""Keys of an encoder that say how it is trained."""
SEED = 0
"""Of the weights of an encoder without learned ones."""


class FrozenEncoder:
    """An encoder that is not trained, as plain data; its network is built when it is first used."""

    def __init__(
        self, encoder: Mapping[str, Any], sides: tuple[int, int], grid: tuple[int, int], weights: str | None = None
    ) -> None:
        """`encoder` is the network's configuration, its class as `_target_`; `sides` are height and width of what it
        sees. `weights` is their fingerprint, where features were made by them already."""
        if encoder.get("finetune_from") is not None:
            raise ConfigError(
                f"{KEY}: finetune_from={encoder['finetune_from']} trains the encoder, and its features would stay what "
                f"they are before that: leave it null, or take {KEY}=null, which runs the encoder anew for every batch"
            )
        self.encoder = {str(key): value for key, value in encoder.items()}
        self.sides, self.grid, self._weights = sides, grid, weights
        self._network: nn.Module | None = None

    @property
    def network(self) -> nn.Module:
        """The network, its weights as the configuration says. Raises ConfigError for one that learns, or whose weights
        are not those that are known by their fingerprint."""
        if self._network is None:
            network = self._built()
            found = fingerprint_of(network)
            if self._weights not in (None, found):
                raise ConfigError(
                    f"{KEY}: the weights of {self.name} here are others than those that made the features to train on "
                    f"(fingerprint {found}, expected {self._weights}): put back the file that its key weights names"
                )
            self._network, self._weights = network, found
        return self._network

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return str(self.encoder.get("name") or str(self.encoder["_target_"]).rpartition(".")[2])

    @property
    def weights(self) -> str:
        """Their fingerprint."""
        return self._weights or fingerprint_of(self.network)

    @property
    def shape(self) -> tuple[int, int, int]:
        """D, rows and columns."""
        return (int(self.network.dim), *self.grid)  # type: ignore[arg-type]

    def _built(self) -> nn.Module:
        spec = ImageSpec(3, *self.sides, target_size=1, longest_target=1, grid=self.grid)
        options = {key: value for key, value in self.encoder.items() if key != "_target_"}
        try:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(SEED)  # and not those of CUDA, which stay as they are
                network = class_at(self.encoder["_target_"], nn.Module)(spec, **options)
        except ConfigError as error:
            raise ConfigError(below_key(KEY, str(error))) from error
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"{KEY}: found {self.encoder}, expected an encoder's keys, such as ${{model.encoder}} ({error})"
            ) from error
        if any(parameter.requires_grad for parameter in network.parameters()):
            raise ConfigError(
                f"{KEY}: {self.name} learns, and its features would stay what they are before that; take an encoder "
                f"that is frozen, such as model/encoder=vgg19, or {KEY}=null, which runs it anew for every batch"
            )
        return network.eval()

    def __call__(self, pixels: Tensor) -> Tensor:
        """float16 (I, D, rows, columns) of pixels, uint8 (I, 3, H, W), on the CPU. Raises DataError where one is no
        number, or more than float16 holds."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = self.network.to(device)
        with torch.no_grad():
            cells = network(pixels.to(device)).float()
        found = cells.transpose(1, 2).unflatten(2, self.grid)
        most = float(found.abs().max())
        if not most <= MOST:  # NaN is not, either
            raise DataError(
                f"{KEY}: {self.name} gives numbers up to {most:g}, and float16, in which features are stored, ends at "
                f"{MOST:,.0f}: choose another layer of it, or {KEY}=null, which runs it anew for every batch"
            )
        return found.half().cpu()

    # In a checkpoint

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint: what it is, and of which weights it was."""
        return {"encoder": self.encoder, "sides": list(self.sides), "grid": list(self.grid), "weights": self.weights}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from; its network is not built yet."""
        (high, wide), (rows, columns) = state["sides"], state["grid"]
        return cls(state["encoder"], (high, wide), (rows, columns), state["weights"])


def fingerprint_of(network: nn.Module) -> str:
    """A short name of the weights: the same for the same ones, wherever they were read from."""
    told = blake2b(digest_size=8)
    for name, tensor in network.state_dict().items():
        told.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        told.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return told.hexdigest()


# Reading


class StoredFeatures(Pictures):
    """Features in one file, mapped into memory."""

    encoded = True

    def __init__(self, folder: Path) -> None:
        """`folder` is one that `store_features` has filled. Raises DataError where it no longer holds what it says."""
        self.folder = folder
        try:
            about = json.loads((folder / ABOUT).read_text("utf-8"))
            channels, rows, columns = about["shape"]
            self.shape, self.weights = (channels, rows, columns), str(about["weights"])
            self._values: NDArray[np.float16] = np.memmap(
                folder / VALUES, np.float16, "r", shape=(about["images"], *self.shape)
            )
        except (OSError, ValueError, KeyError) as error:
            raise DataError(
                f"{folder}: the stored features are damaged ({error}); delete this folder and run again"
            ) from error

    def __len__(self) -> int:
        return len(self._values)

    def identity(self) -> dict[str, Any]:
        return {"features": str(self.folder.absolute())}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        return torch.from_numpy(self._values[np.asarray(numbers, np.int64)])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder,)  # a map into memory would travel as all it holds


# Computing


class _Batches(Dataset[Tensor]):
    """Pixels of some pictures in batches."""

    def __init__(self, pictures: Pictures, batches: Sequence[range]) -> None:
        self.pictures, self.batches = pictures, batches

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> Tensor:
        return self.pictures[self.batches[index]]


def store_features(
    root: Path, encoder: FrozenEncoder, identity: Mapping[str, Any], pictures: Pictures, workers: int = 0
) -> Path:
    """The folder, below `root`, of the features of some pictures, which `identity` tells from others; it is filled
    where it is not there. Of several processes one works and the others wait; what was computed before a kill is kept.
    Raises DataError where there is no room for them, and as `FrozenEncoder`."""
    asked, count = _asked(identity, encoder), len(pictures)
    folder = root / f"features-{fingerprint({**asked, 'weights': encoder.weights})}"
    begun = folder.with_name(folder.name + ".begun")
    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if not folder.exists():
                begun.mkdir(exist_ok=True)
                _fill(begun, pictures, encoder, workers)
                about = {
                    "shape": encoder.shape,
                    "images": count,
                    "encoder": encoder.encoder,
                    "weights": encoder.weights,
                }
                (begun / ABOUT).write_text(json.dumps(about, indent=1), "utf-8")
                (begun / DONE).unlink()
                os.replace(begun, folder)
            _written_at_once(_link(root, asked), folder.name)
    except OSError as error:
        raise DataError(
            f"{folder}: features cannot be written here: {error}; choose another place by data.loader.cache_dir or the "
            "environment's ZOO_CACHE"
        ) from error
    return folder


def stored_features(
    root: Path, encoder: FrozenEncoder, identity: Mapping[str, Any]
) -> tuple[StoredFeatures, FrozenEncoder]:
    """What `store_features` has stored, and the encoder, which knows its weights without having read them. Raises
    DataError where nothing is stored."""
    link = _link(root, _asked(identity, encoder))
    if not link.exists():
        raise DataError(f"{link}: the features are not computed yet: call prepare_data() first, as Trainer does")
    folder = root / link.read_text("utf-8")
    stored = StoredFeatures(folder)
    return stored, FrozenEncoder(encoder.encoder, encoder.sides, encoder.grid, stored.weights)


def _asked(identity: Mapping[str, Any], encoder: FrozenEncoder) -> dict[str, Any]:
    """All that features follow from but the weights, as plain data."""
    told = {key: value for key, value in encoder.encoder.items() if key not in TRAINING}
    of = {"encoder": told, "sides": encoder.sides, "grid": encoder.grid}
    return {"format": FORMAT, "images": dict(identity), **of}


def _link(root: Path, asked: Mapping[str, Any]) -> Path:
    """The file that names the folder of the weights that were read last."""
    return root / f"features-of-{fingerprint(asked)}"


def _written_at_once(file: Path, text: str) -> None:
    """A kill leaves the file as it was, or with all of the text."""
    new = file.with_name(f"{file.name}.new-{os.getpid()}")
    new.write_text(text, "utf-8")
    os.replace(new, file)


def _fill(folder: Path, pictures: Pictures, encoder: FrozenEncoder, workers: int) -> None:
    """Write the features that are not there yet."""
    count = len(pictures)
    each = 2 * int(np.prod(encoder.shape))  # bytes of one picture
    done = _done(folder, each)
    needed, free = (count - done) * each, shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder}: features of {count:,} images need {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free: choose "
            f"another place by data.loader.cache_dir or the environment's ZOO_CACHE, a smaller data.grid, or {KEY}=null"
        )
    what = f"{encoder.name}, {count:,} images, {count * each / 1e9:.1f} GB"
    log.info("features of %s: %s %s", what, f"going on behind image {done:,} in" if done else "computed in", folder)
    batches = [range(first, min(first + BATCH, count)) for first in range(done, count, BATCH)]
    loader = DataLoader(
        _Batches(pictures, batches),
        batch_size=None,
        num_workers=workers,
        generator=torch.Generator(),  # else the first run draws other weights for its network than those that find them
    )
    bar = datasets.utils.tqdm(desc="computing features", unit=" images", total=count, initial=done, delay=2)
    with (folder / VALUES).open("r+b" if done else "wb") as sink, bar:
        sink.truncate(done * each)
        sink.seek(done * each)
        for number, pixels in enumerate(loader, 1):
            sink.write(encoder(pixels).numpy().tobytes())
            done += len(pixels)
            bar.update(len(pixels))
            if number % SAVED == 0 or done == count:
                sink.flush()
                os.fsync(sink.fileno())
                _written_at_once(folder / DONE, json.dumps({"images": done}))


def _done(folder: Path, each: int) -> int:
    """The images of which an earlier run has left the features."""
    if not (folder / DONE).exists() or not (folder / VALUES).exists():
        return 0
    noted = int(json.loads((folder / DONE).read_text("utf-8"))["images"])
    return min(noted, (folder / VALUES).stat().st_size // each)
