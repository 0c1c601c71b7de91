"""How many examples a second the training takes, loading included, validation and pictures excluded."""

from __future__ import annotations

import time
from typing import Any

from lightning import Callback, LightningModule, Trainer


class Throughput(Callback):
    """Counts this rank's training examples and the seconds spent on them; ranks share every step, so rates add up."""

    def __init__(self) -> None:
        self.examples, self.seconds = 0, 0.0
        self._since: float | None = None

    @property
    def examples_per_second(self) -> float:
        """Of this rank; 0 before anything was trained."""
        return self.examples / self.seconds if self.seconds else 0.0

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        if self._since is None:  # here and not after the validation, when other callbacks still draw
            self._since = time.perf_counter()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.examples += len(batch)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._pause()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._pause()

    def _pause(self) -> None:
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None
