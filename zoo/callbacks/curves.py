"""The picture of a run's curves."""

import logging
import os
from typing import Any

from lightning import Callback, Trainer
from lightning.pytorch.trainer.states import TrainerFn

from zoo.callbacks.pictures import run_folder
from zoo.visualize.curves import METRICS_FILE, PICTURE, Curves, has_curves, picture, read_series
from zoo.visualize.renderers.canvas import save_picture

log = logging.getLogger(__name__)


class CurvesPicture(Callback):
    """Draws `curves.png` in the run folder from metrics.csv when the training ends: after the last step, after Ctrl-C
    and SIGTERM, and after a failure. A picture that cannot be drawn is one line in the log and does not end the run."""

    def on_fit_end(self, trainer: Trainer, pl_module: Any) -> None:
        self._draw(trainer, pl_module)

    def on_exception(self, trainer: Trainer, pl_module: Any, exception: BaseException) -> None:
        if trainer.state.fn == TrainerFn.FITTING:
            self._draw(trainer, pl_module)

    def _draw(self, trainer: Trainer, task: Any) -> None:
        folder = run_folder(trainer)
        if not trainer.is_global_zero or not (folder / METRICS_FILE).is_file():
            return
        try:
            series = read_series(folder / METRICS_FILE)
            if has_curves(series):
                curves = Curves(series, headline=task.headline, modes=task.monitors)
                title = f"{type(task.network).__name__} on {type(trainer.datamodule).__name__}"  # type: ignore[attr-defined]
                save_picture(picture([curves], title, os.path.relpath(folder)), folder / PICTURE)
        except Exception as error:
            log.warning("%s is not drawn: %s: %s", PICTURE, type(error).__name__, error)
