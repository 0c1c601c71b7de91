"""The time of a run by phases, and the rate of its training."""

import time
from typing import Any

from lightning import Callback, Trainer
from torch import Tensor

from zoo.data.batch import Batch

PHASES = DATA, TRAINING, EVALUATION, PICTURES, OTHER = "data", "training", "validation and test", "pictures", "other"
"""The phases that the time of a run is divided into, without its imports."""


def _entering(phase: str) -> Any:
    """A hook at which a phase begins."""

    def hook(callback: "Throughput", *arguments: Any, **options: Any) -> None:
        callback.enter(phase)

    return hook


class Throughput(Callback):
    """Counts the seconds of each phase of a run, and the training examples of this rank. Ranks share every step: the
    sum of their rates is the rate of the run.

    The phase `data` lasts until a network is built: preparing and reading, and the start of several ranks. Training
    includes loading its batches. Pictures are the work of other callbacks after a validation or a test, so that this
    callback has to come before them.
    """

    def __init__(self) -> None:
        self.examples = 0
        self.units: int | Tensor = 0
        self.unit = Batch.unit  # The name of the units, as the batches of the data give it
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._phase, self._since = OTHER, time.perf_counter()

    @property
    def examples_per_second(self) -> float:
        """Training examples per second on this rank; 0 before anything was trained."""
        return self._rate(self.examples)

    @property
    def units_per_second(self) -> float:
        """Units of `unit` per second on this rank; 0 before anything was trained."""
        return self._rate(float(self.units))

    def _rate(self, count: float) -> float:
        return count / self.seconds[TRAINING] if self.seconds[TRAINING] else 0.0

    def enter(self, phase: str) -> None:
        """Count the time from now on as `phase`."""
        now = time.perf_counter()
        self.seconds[self._phase] += now - self._since
        self._phase, self._since = phase, now

    def on_train_batch_start(self, trainer: Trainer, pl_module: Any, batch: Any, batch_idx: int) -> None:
        if self._phase != TRAINING:  # here and not after the validation, when other callbacks still draw
            self.enter(TRAINING)

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        self.examples += len(batch)
        self.unit, self.units = batch.unit, self.units + batch.units

    setup = teardown = on_train_epoch_end = _entering(OTHER)
    on_validation_start = on_test_start = _entering(EVALUATION)
    on_validation_end = on_test_end = on_train_end = _entering(PICTURES)
