"""A loss that is not finite stops the run before the damaged weights are saved."""

from typing import Any

import torch
from lightning import Callback, Trainer
from torch import Tensor

from zoo.callbacks.checkpoint import checkpoint_folder
from zoo.errors import ZooError


class NonFiniteLoss(ZooError):
    """The loss became infinite or not a number."""


class StopOnNonFiniteLoss(Callback):
    """Checks the loss of every step: at once on the CPU, and every `log_every_n_steps` steps on a GPU, where each check
    would have to wait for the device."""

    def __init__(self) -> None:
        self._unseen: list[tuple[int, int, Any, Tensor]] = []

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is None:  # a step may return None
            return
        self._unseen.append((trainer.global_step, trainer.current_epoch, getattr(batch, "index", None), loss.detach()))
        if loss.device.type == "cpu" or len(self._unseen) >= max(trainer.log_every_n_steps, 1):  # type: ignore[attr-defined]
            self._look(trainer)

    def on_validation_start(self, trainer: Trainer, pl_module: Any) -> None:
        self._look(trainer)

    def on_save_checkpoint(self, trainer: Trainer, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        self._look(trainer)

    def _look(self, trainer: Trainer) -> None:
        if not self._unseen:
            return
        unseen, self._unseen = self._unseen, []
        finite = torch.stack([loss.float() for *_, loss in unseen]).isfinite().tolist()
        bad = None if all(finite) else unseen[finite.index(False)]
        somewhere = bad is not None
        if trainer.world_size > 1:
            somewhere = trainer.strategy.reduce_boolean_decision(somewhere, all=False)
        if not somewhere:
            return
        folder = checkpoint_folder(trainer)
        good = next(
            (str(folder / name) for name in ("last.ckpt", "best.ckpt") if (folder / name).is_file()), "none yet"
        )
        if bad is None:
            raise NonFiniteLoss(f"the loss on another rank is not finite; last good checkpoint: {good}")
        step, epoch, index, loss = bad
        examples = "" if index is None else f", training examples {index.tolist()}"
        raise NonFiniteLoss(
            f"the loss is {loss.item()} at step {step} (epoch {epoch}{examples}); last good checkpoint: {good}. "
            "Try a lower optimizer.lr, trainer.gradient_clip_val=1, or debug=detect_anomaly"
        )
