"""Pictures of examples, the same ones each time, and of whole splits: files in the run folder, shown in loggers."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning import Callback, Trainer
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from matplotlib.figure import Figure
from PIL import Image
from torch.utils._pytree import tree_map_only

from zoo.arguments import Natural, Positive
from zoo.errors import ZooError
from zoo.layers.modes import evaluating
from zoo.tasks import Task
from zoo.values import Checked
from zoo.visualize.renderers.canvas import save_picture
from zoo.visualize.view import view_of


def keep_picture(trainer: Trainer, key: str, figure: Figure, name: str) -> Path:
    """Write `figure` to `name` in the run folder and show it as `key` in wandb and TensorBoard. For rank 0."""
    path = write(run_folder(trainer) / name, lambda path: save_picture(figure, path))
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger.log_image(key, [str(path)])  # no step: the logger's own axis is trainer/global_step
        elif isinstance(logger, TensorBoardLogger):
            with Image.open(path) as image:
                pixels = np.asarray(image.convert("RGB"))
            logger.experiment.add_image(key, pixels, trainer.global_step, dataformats="HWC")
    return path


def run_folder(trainer: Trainer) -> Path:
    """The folder of this run."""
    return Path(trainer.default_root_dir)


def write(path: Path, by: Callable[[Path], object]) -> Path:
    """Create the folder of `path` and let `by` write the file; raises ZooError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        by(path)
    except OSError as error:
        raise ZooError(
            f"{path}: {error.strerror or error}; make room or choose another folder with hydra.run.dir=, "
            "or run without pictures with callbacks=none"
        ) from error
    return path


class FirstExamples:
    """Keeps the first `count` examples of the batches that it is given, on the CPU, in the order of the split."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self._batches: list[Any] = []

    def add(self, batch: Any, began_with: Any = None) -> None:
        """Keep as many examples of `batch` as are still missing, and the carried state that it was read from."""
        taken = min(self.missing, batch.shown)
        if taken:
            first = batch.first(taken)
            state = tree_map_only(torch.Tensor, lambda part: part[: len(first)].clone(), began_with)
            self._batches.append((first, state))
            self.missing -= taken

    def close(self) -> None:
        """Keep no more: the split has ended, and starts again in the next epoch."""
        self.missing = 0

    def examine(self, task: Task) -> list[Any]:
        """The predictions of the task's network for each example now, each from the carried state it was read from.
        Without gradients, dropout and collectives, and without drawing from the random numbers of the training."""
        found = []
        with evaluating(task.network), _own_random_numbers(task.device):
            for batch, began_with in self._batches:
                with task.continuing(began_with):
                    found += task.examine(batch.to(task.device))
        return found


def _own_random_numbers(device: torch.device) -> Any:
    """Within this context torch draws from copies of its generators, on the CPU and on `device`."""
    if device.type == "cpu":
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)


class AttentionMaps(Callback, Checked):
    """Draws the first `count` examples of the validation set and of the test set. It draws after a validation if
    `every_n_minutes` minutes have passed since the last time, at the end of the training, and after the test.

    The pictures are `attention/val_epoch03_1.png`, `attention/test_1.png`, ... in the run folder, and
    `val/attention_1`, `test/attention_1`, ... in wandb and TensorBoard; a view may have another name for what it
    shows (`View.shows`). Later pictures of an epoch replace the files of earlier ones.
    """

    def __init__(self, count: Natural = 4, every_n_minutes: Positive = 5.0) -> None:
        self.count, self.every_n_minutes = count, every_n_minutes
        self._examples: dict[str, FirstExamples] = {}
        self._epoch, self._drawn_at, self._drawn_step = 0, 0.0, -1

    def setup(self, trainer: Trainer, pl_module: Any, stage: str) -> None:
        self._examples = {"val": FirstExamples(self.count), "test": FirstExamples(self.count)}
        self._drawn_at, self._drawn_step = time.monotonic(), -1

    def on_train_batch_start(self, trainer: Trainer, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Store the epoch: at the end of the training, `current_epoch` is the next one. A run that is resumed inside an
        epoch does not start it."""
        self._epoch = trainer.current_epoch

    def on_validation_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        if trainer.is_global_zero and not trainer.sanity_checking:
            self._examples["val"].add(batch, pl_module.began_with)

    def on_test_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        if trainer.is_global_zero:
            self._examples["test"].add(batch, pl_module.began_with)

    def on_validation_end(self, trainer: Trainer, pl_module: Any) -> None:
        if trainer.sanity_checking:
            return
        self._examples["val"].close()
        if trainer.state.fn != "fit":
            self._draw(trainer, pl_module, "val", "val")
        elif time.monotonic() - self._drawn_at >= 60 * self.every_n_minutes:
            self._draw_epoch(trainer, pl_module)

    def on_fit_end(self, trainer: Trainer, pl_module: Any) -> None:
        if self._drawn_step != trainer.global_step:
            self._draw_epoch(trainer, pl_module)

    def on_test_end(self, trainer: Trainer, pl_module: Any) -> None:
        self._draw(trainer, pl_module, "test", "test")

    def _draw_epoch(self, trainer: Trainer, task: Any) -> None:
        self._drawn_at, self._drawn_step = time.monotonic(), trainer.global_step
        self._draw(trainer, task, "val", f"val_epoch{self._epoch:02d}")

    def _draw(self, trainer: Trainer, task: Any, stage: str, name: str) -> None:
        if not trainer.is_global_zero:
            return
        view = view_of(task)
        for number, examined in enumerate(self._examples[stage].examine(task), 1):
            if (figure := view.picture(examined.prediction, examined)) is not None:
                keep_picture(trainer, f"{stage}/{view.shows}_{number}", figure, f"{view.shows}/{name}_{number}.png")


class WholeTestPictures(Callback):
    """Draws the view's pictures of a whole split after a validation or a test.

    A picture of the test is e.g. `confusion.png` in the run folder and `test/confusion` in wandb and TensorBoard. A
    picture of the validation is e.g. `val_samples.png` and `val/samples`; the next validation replaces it.
    """

    def on_validation_end(self, trainer: Trainer, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            _keep_all(trainer, view_of(pl_module).validation_pictures(pl_module), "val/", "val_")

    def on_test_end(self, trainer: Trainer, pl_module: Any) -> None:
        _keep_all(trainer, view_of(pl_module).test_pictures(pl_module), "test/", "")


def _keep_all(trainer: Trainer, pictures: Any, key: str, file: str) -> None:
    """Draw the pictures on rank 0. All ranks prepare them, because metrics are summed over ranks."""
    for name, draw in pictures.items() if trainer.is_global_zero else ():
        keep_picture(trainer, f"{key}{name}", draw(), f"{file}{name}.png")
