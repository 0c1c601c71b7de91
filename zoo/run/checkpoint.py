"""Checkpoints: read with clear errors, and `zoo.load`. Nothing here imports Lightning, unless a checkpoint names a task
of its own class."""

import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import nn

from zoo.data.batch import Encoder, spec_from_state
from zoo.dotted import class_at, named_by_a_checkpoint
from zoo.errors import CheckpointError, UnusableInput, alternatives
from zoo.layers.pretrained import not_pretrained
from zoo.predicting import Predicting
from zoo.run import search_path
from zoo.run.old_checkpoints import modernised
from zoo.run.prediction_progress import prediction_progress
from zoo.run.weights import locate, read_folder

MALFORMED = AttributeError, IndexError, KeyError, TypeError, ValueError  # A part is missing or of another type

_sound: set[tuple[str, int, int]] = set()  # Files whose checksums were correct: path, time and size


def read_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a checkpoint, or a folder of `zoo.run.weights`, with tensors on the CPU. Raises CheckpointError for a
    missing, damaged or foreign file."""
    path = Path(path)
    content = read_folder(path) if path.is_dir() else _read_file(path)
    if not isinstance(content, dict) or not isinstance(content.get("zoo"), dict):
        raise CheckpointError(
            f"{path}: not written by attention-zoo; it holds no spec and no vocabulary to rebuild from"
        )
    if (found := content["zoo"].get("format")) != 1:
        newer = "; a later version wrote it: pip install --upgrade attention-zoo" if isinstance(found, int) else ""
        raise CheckpointError(f"{path}: checkpoint format {found}; this version reads format 1{newer}")
    try:
        with named_by_a_checkpoint(_own_folders()):
            return modernised(content)
    except MALFORMED as error:
        raise _damaged(path, error) from error


def _read_file(path: Path) -> Any:
    if not path.is_file():
        raise CheckpointError(
            f"{path}: no such checkpoint; a run keeps its own under logs/<model>_<data>/<time>/checkpoints/"
        )
    try:
        _check_sums(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise CheckpointError(  # torch's own message advises to turn its safety off
            f"{path}: not a readable checkpoint: damaged, cut short, or not plain data"
        ) from error


def _damaged(path: Path, error: Exception) -> CheckpointError:
    if isinstance(error, KeyError):
        return CheckpointError(f"{path}: it has no {error}, which every checkpoint of a run has: damaged?")
    return CheckpointError(f"{path}: its parts differ from those that a run writes ({error}): damaged?")


def _own_folders() -> list[Path]:
    return [folder.parent for folder in search_path.folders()]


def check_resumable(content: dict[str, Any], path: Path) -> None:
    """Raise CheckpointError unless training can continue from a checkpoint."""
    needed = ("optimizer_states", "lr_schedulers", "loops", "epoch", "global_step")
    missing = [name for name in needed if name not in content]
    if missing:
        raise CheckpointError(
            f"ckpt_path: {path} has no {alternatives(missing)}, so its training cannot be continued; start_from={path} "
            "begins a new training with its weights"
        )


def _check_sums(path: Path) -> None:
    """Raise BadZipFile where a part of the file has a wrong checksum, which torch does not read."""
    about = path.stat()
    version = str(path.resolve()), about.st_mtime_ns, about.st_size
    if version not in _sound:
        with zipfile.ZipFile(path) as parts:
            if (bad := parts.testzip()) is not None:
                raise zipfile.BadZipFile(f"{bad} has a wrong checksum")
        _sound.add(version)


class Predictor:
    """A trained network with the encoder of its inputs: `zoo.load(path)(["some text"])`."""

    def __init__(
        self, task: Predicting, encoder: Encoder, batch_size: int = 64, checkpoint: Path | None = None
    ) -> None:
        self.task, self.encoder, self.batch_size = task.eval(), encoder, batch_size
        self.checkpoint = checkpoint  # The file that it was read from

    def __repr__(self) -> str:
        network = type(self.task.network).__name__
        return f"<Predictor: {network} for {self.task.name}; takes a list; an input is {self.encoder.takes}>"

    @torch.inference_mode()
    def __call__(
        self, inputs: Sequence[Any], *, progress: bool = False, unusable: Callable[[UnusableInput], None] | None = None
    ) -> list[Any]:
        """Return one prediction per input, in order. With `progress` bars are shown after a few seconds.
        An input is what `encoder.takes` says. One that cannot be used raises UnusableInput, or is given to `unusable`
        and its prediction is None."""
        if isinstance(inputs, str):
            raise TypeError(f"expected a list of inputs, found one text; an input is {self.encoder.takes}")
        shown = prediction_progress(len(inputs), Console(stderr=True)) if progress else nullcontext(lambda done: None)
        predictions: dict[int, Any] = {}
        with shown as predicted:
            for start in range(0, len(inputs), self.batch_size):
                chunk: dict[int, tuple[Any, Any]] = {}
                for number, one in enumerate(inputs[start : start + self.batch_size], start):
                    try:
                        chunk[number] = one, self.encoder.display(one)
                    except UnusableInput as error:
                        if unusable is None:
                            raise
                        unusable(error)
                if chunk:
                    given, words = map(list, zip(*chunk.values(), strict=True))
                    device = next(self.task.parameters(), torch.empty(0)).device
                    found = self.task.predictions(self.encoder(given).to(device), words)
                    predictions.update(zip(chunk, found, strict=True))
                predicted(min(start + self.batch_size, len(inputs)))
        return [predictions.get(number) for number in range(len(inputs))]


def load(
    path: str | os.PathLike[str],
    device: str | torch.device = "cpu",
    *,
    decoding: Mapping[str, Any] | None = None,
) -> Predictor:
    """Load the network of a checkpoint with its vocabulary and classes. Raises CheckpointError.

    Args:
        path: the name of an included network such as `han`, a checkpoint file, the folder of a run, `last` for the
            newest run under logs, or `hub:user/repo`.
        device: where the network computes.
        decoding: keys of `decoding` that replace those of the run, such as {"beam_size": 10, "language_model": None}.
    """
    path = locate(path)
    content = read_checkpoint(path)
    if decoding:
        options = content["hyper_parameters"]
        content["hyper_parameters"] = {**options, "decoding": {**(options.get("decoding") or {}), **decoding}}
    try:
        with named_by_a_checkpoint(_own_folders()):
            predictor = _rebuilt(content, device)
        predictor.checkpoint = path
        return predictor
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    except MALFORMED as error:
        raise _damaged(path, error) from error


def read_language_model(task: Any, decoding: Mapping[str, Any] | None) -> None:
    """Give a task the language model that its `decoding` names, if it names one. Raises CheckpointError."""
    if (path := (decoding or {}).get("language_model")) is None:
        return
    try:
        task.language_model = load(path)
    except CheckpointError as error:
        raise CheckpointError(f"decoding.language_model: {error}") from error


def _rebuilt(content: dict[str, Any], device: str | torch.device) -> Predictor:
    about, options = content["zoo"], content["hyper_parameters"]
    model = class_at(options["model"]["_target_"], nn.Module)
    kind = class_at(about["predicting"], Predicting)
    encoder_class = class_at(about["encoder_class"], Encoder)
    try:
        spec, encoder = spec_from_state(about["spec"]), encoder_class.from_state(about["encoder"])
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"its spec or encoder differs from those that a run writes ({error}): damaged?"
        ) from error
    try:
        task = kind(**options)
        try:
            read_language_model(task, options.get("decoding"))
        except CheckpointError as error:
            advice = "zoo.load(..., decoding={'language_model': None}) decodes without it"
            raise CheckpointError(f"{error}; {advice}") from error
        with not_pretrained():
            task.build(spec, encoder)
    except CheckpointError:
        raise
    except Exception as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        raise CheckpointError(f"its hyperparameters do not fit {model.__name__}: {reason}") from error
    task.keep_to_the_network(content["state_dict"])
    try:
        task.load_state_dict(content["state_dict"])
    except RuntimeError as error:
        raise CheckpointError(
            f"its weights do not fit the network it describes: {' '.join(str(error).split())}"
        ) from error
    task.follow(about.get("rule", {}))
    return Predictor(task.to(device), encoder)
