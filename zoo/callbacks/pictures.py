"""Where pictures go: a file in the run folder, and every logger that shows images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from lightning import Trainer
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from matplotlib.figure import Figure
from PIL import Image

from zoo.errors import ZooError
from zoo.visualize.renderers.canvas import save_picture


def keep_picture(trainer: Trainer, key: str, figure: Figure, name: str) -> Path:
    """Writes `figure` to `name` in the run folder and shows it as `key` in wandb and TensorBoard. For rank 0."""
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
    """Has `by` write `path` in a folder that exists; raises ZooError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        by(path)
    except OSError as error:
        raise ZooError(
            f"{path}: {error.strerror or error}; make room or choose another folder by hydra.run.dir=, "
            "or run without pictures by callbacks=none"
        ) from error
    return path
