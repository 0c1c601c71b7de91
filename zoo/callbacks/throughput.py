"""Where a run's time goes, and how many examples a second the training takes."""

from __future__ import annotations

import time
from typing import Any

from lightning import Callback, LightningModule, Trainer

PHASES = DATA, TRAINING, EVALUATION, PICTURES, OTHER = "data", "training", "validation and test", "pictures", "other"
"""What a run's time goes into, its imports aside."""


class Throughput(Callback):
    """Counts the seconds of each phase of a run, and this rank's training examples; ranks share every step, so rates
    add up.

    Data is what comes before a network is built: preparing and reading, and where there are several ranks their start.
    Training includes the loading of its batches. Pictures are what other callbacks do when a validation or a test has
    ended, so it has to stand before them.
    """

    def __init__(self) -> None:
        self.examples = 0
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._phase, self._since = OTHER, time.perf_counter()

    @property
    def examples_per_second(self) -> float:
        """Of this rank; 0 before anything was trained."""
        return self.examples / self.seconds[TRAINING] if self.seconds[TRAINING] else 0.0

    def enter(self, phase: str) -> None:
        """What comes now counts as `phase`."""
        now = time.perf_counter()
        self.seconds[self._phase] += now - self._since
        self._phase, self._since = phase, now

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self.enter(OTHER)

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        if self._phase != TRAINING:  # here and not after the validation, when other callbacks still draw
            self.enter(TRAINING)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.examples += len(batch)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(OTHER)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(EVALUATION)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(PICTURES)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(EVALUATION)

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(PICTURES)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.enter(PICTURES)

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self.enter(OTHER)
