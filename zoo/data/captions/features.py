"""Features of a frozen encoder: computed once, stored as float16, and read in place of pixels.

The folder of features is found by the images, the way they are prepared, the encoder and its weights. After a kill the
next run continues where the unfinished file ends. Notation: I images; D numbers for each of rows x columns cells.
"""

import json
import logging
import os
import shutil
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from filelock import FileLock
from torch import Tensor, nn
from torch.utils.data import DataLoader

from zoo.data.cache import fingerprint
from zoo.data.captions.batch import CaptionSpec
from zoo.data.captions.pictures import Pictures, StoredPictures
from zoo.dotted import built
from zoo.errors import ConfigError, DataError
from zoo.values import below_key

log = logging.getLogger(__name__)

KEY = "data.features"
FORMAT = 1
"""Raise it with every change of what is stored. Older features are then not used."""
VALUES, ABOUT = "features.f16", "about.json"
MOST = float(torch.finfo(torch.float16).max)
BATCH = 32
TRAINING = ("finetune_from", "learning_rate")  # Keys of an encoder that define its training
SEED = 0  # The seed of weights that are not pretrained
ANEW = f"{KEY}=null, which runs the encoder for every batch"
ELSEWHERE = "choose another place by data.loader.cache_dir or the environment's ZOO_CACHE"


class FrozenEncoder:
    """An encoder that is not trained, as plain data; its network is built when it is first used."""

    def __init__(
        self, encoder: Mapping[str, Any], sides: tuple[int, int], grid: tuple[int, int], weights: str | None = None
    ) -> None:
        """`encoder` is the network's configuration, with `_target_`; `sides` are height and width of its images.
        `weights` is their fingerprint, if features were made by them already."""
        if encoder.get("finetune_from") is not None:
            raise ConfigError(
                f"{KEY}: finetune_from={encoder['finetune_from']} trains the encoder, and its features would not "
                f"change with it: set it to null, or use {ANEW}"
            )
        self.encoder = {str(key): value for key, value in encoder.items()}
        self.name = str(encoder.get("name") or str(encoder.get("_target_")).rpartition(".")[2])
        self.sides, self.grid, self._weights = sides, grid, weights

    @cached_property
    def network(self) -> nn.Module:
        """The network. Raises ConfigError if it is trained, or if its weights have another fingerprint."""
        network = self._built()
        found = fingerprint_of(network)
        if self._weights not in (None, found):
            raise ConfigError(
                f"{KEY}: the weights of {self.name} here are not those that made the features for training "
                f"(fingerprint {found}, expected {self._weights}): restore the file that its key weights names"
            )
        self._weights = found
        return network

    @property
    def weights(self) -> str:
        """The fingerprint of the weights."""
        return self._weights or fingerprint_of(self.network)

    @property
    def shape(self) -> tuple[int, int, int]:
        """D, rows and columns."""
        return (int(self.network.dim), *self.grid)  # type: ignore[arg-type]

    def _built(self) -> nn.Module:
        spec = CaptionSpec(3, *self.sides, target_size=1, longest_target=1, grid=self.grid)
        try:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(SEED)  # unlike torch.manual_seed, it leaves CUDA's generator alone
                network: Any = built(self.encoder, nn.Module, spec)
        except ConfigError as error:
            raise ConfigError(below_key(KEY, str(error))) from error
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"{KEY}: found {self.encoder}, expected an encoder's keys, such as ${{model.encoder}} ({error})"
            ) from error
        if any(parameter.requires_grad for parameter in network.parameters()):
            raise ConfigError(
                f"{KEY}: {self.name} is trained, and its features would not change with it; use a frozen encoder, such "
                f"as model/encoder=vgg19, or {ANEW}"
            )
        return network.eval()

    def __call__(self, pixels: Tensor) -> Tensor:
        """float16 (I, D, rows, columns) of uint8 pixels (I, 3, H, W), on the CPU. Raises DataError for numbers that
        float16 does not have."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = self.network.to(device)
        with torch.no_grad():
            cells = network(pixels.to(device)).float()
        most = float(cells.abs().max())
        if not most <= MOST:  # also for NaN
            raise DataError(
                f"{KEY}: {self.name} gives numbers up to {most:g}, and float16, in which features are stored, ends at "
                f"{MOST:,.0f}: choose another layer of it, or {ANEW}"
            )
        return cells.transpose(1, 2).unflatten(2, self.grid).half().cpu()

    # In a checkpoint

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"encoder": self.encoder, "sides": list(self.sides), "grid": list(self.grid), "weights": self.weights}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from; its network is not built yet."""
        (high, wide), (rows, columns) = state["sides"], state["grid"]
        return cls(state["encoder"], (high, wide), (rows, columns), state["weights"])


def fingerprint_of(network: nn.Module) -> str:
    """A short name that equal weights share."""
    found = blake2b(digest_size=8)
    for name, tensor in network.state_dict().items():
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return found.hexdigest()


# Storing


def store_features(root: Path, encoder: FrozenEncoder, pictures: Pictures, workers: int = 0) -> Path:
    """The folder, below `root`, with the features of all pictures, which are computed if they do not exist.

    One of several processes works and the others wait. After a kill the features computed so far are kept. Raises
    DataError if the disk is full, and the errors of `FrozenEncoder`.
    """
    facts = _facts(encoder, pictures)
    folder = root / f"features-{fingerprint({**facts, 'weights': encoder.weights})}"
    begun, link = folder.with_name(folder.name + ".begun"), _link(root, facts)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if not folder.exists():
                begun.mkdir(exist_ok=True)
                _fill(begun / VALUES, pictures, encoder, workers)
                about = {
                    "shape": encoder.shape,
                    "images": len(pictures),
                    "encoder": encoder.encoder,
                    "weights": encoder.weights,
                }
                (begun / ABOUT).write_text(json.dumps(about, indent=1), "utf-8")
                os.replace(begun, folder)
            new = link.with_name(f"{link.name}.new-{os.getpid()}")
            new.write_text(folder.name, "utf-8")
            os.replace(new, link)
    except OSError as error:
        raise DataError(f"{folder}: features cannot be written here: {error}; {ELSEWHERE}") from error
    return folder


def stored_features(root: Path, encoder: FrozenEncoder, pictures: Pictures) -> tuple[StoredPictures, FrozenEncoder]:
    """The features that `store_features` stored, and the encoder with the fingerprint of its weights, which are not
    read. Raises DataError if nothing is stored, or if it is damaged."""
    link = _link(root, _facts(encoder, pictures))
    if not link.exists():
        raise DataError(f"{link}: the features are not computed yet: call prepare_data() first, as Trainer does")
    folder = root / link.read_text("utf-8")
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        stored = StoredPictures(folder / VALUES, tuple(about["shape"]), np.float16, about["images"])
        return stored, FrozenEncoder(encoder.encoder, encoder.sides, encoder.grid, str(about["weights"]))
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"{folder}: the stored features are damaged ({error}); delete this folder and run again"
        ) from error


def _facts(encoder: FrozenEncoder, pictures: Pictures) -> dict[str, Any]:
    """All that features depend on except the weights, as plain data."""
    options = {key: value for key, value in encoder.encoder.items() if key not in TRAINING}
    of = {"encoder": options, "sides": encoder.sides, "grid": encoder.grid}
    return {"format": FORMAT, "images": pictures.identity(), **of}


def _link(root: Path, facts: Mapping[str, Any]) -> Path:
    """The file with the name of the folder for the latest weights."""
    return root / f"features-of-{fingerprint(facts)}"


def _fill(file: Path, pictures: Pictures, encoder: FrozenEncoder, workers: int) -> None:
    """Append the missing features."""
    import datasets

    count = len(pictures)
    size = 2 * int(np.prod(encoder.shape))  # bytes of one picture
    done = min(count, file.stat().st_size // size) if file.exists() else 0
    needed, free = (count - done) * size, shutil.disk_usage(file.parent).free
    if needed > free:
        raise DataError(
            f"{file.parent}: features of {count:,} {pictures.noun} need {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are "
            f"free: {ELSEWHERE}, a smaller data.grid, or {KEY}=null"
        )
    what = f"{encoder.name}, {count:,} {pictures.noun}, {count * size / 1e9:.1f} GB"
    begin = f"continued after {done:,}" if done else "computed"
    log.info("features of %s: %s in %s", what, begin, file.parent)
    loader: DataLoader[Tensor] = DataLoader(
        pictures,  # type: ignore[arg-type]
        batch_size=None,
        sampler=[range(first, min(first + BATCH, count)) for first in range(done, count, BATCH)],
        num_workers=workers,
        generator=torch.Generator(),  # the global generator must not depend on whether features exist
    )
    bar = datasets.utils.tqdm(desc="computing features", unit=f" {pictures.noun}", total=count, initial=done, delay=2)
    with file.open("ab") as sink, bar:
        sink.truncate(done * size)
        for pixels in loader:
            sink.write(encoder(pixels).numpy().tobytes())
            bar.update(len(pixels))
        sink.flush()
        os.fsync(sink.fileno())
