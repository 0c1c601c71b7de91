"""An average of the weights over the steps of a run. It is validated, tested and stored in place of the weights."""

from typing import Any

import torch
from lightning import Trainer
from lightning.pytorch.callbacks import WeightAveraging
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor

from zoo.arguments import Share
from zoo.values import Checked


class ExponentialAverage(WeightAveraging, Checked):
    """average <- d * average + (1 - d) * weights after every optimiser step but the first, which it begins with;
    d = min(decay, (1 + n) / (10 + n)) after n steps before, so that the average of a short run is not its start.

    Polyak and Juditsky (1992) average all steps with equal weights, Vaswani et al. (2017, section 6.1) the last five
    checkpoints. An average over the last 1 / (1 - decay) steps has the effect of a lower learning rate without its
    slowness. In a checkpoint, `state_dict` is the average and `current_model_state` the weights that training continues
    with. It costs a copy of the weights, and a pass over them in each step. The average of weights in bfloat16 is in
    float32, and rounded for validations.
    """

    def __init__(self, decay: Share = 0.998) -> None:
        self.decay = decay
        super().__init__(use_buffers=False, multi_avg_fn=self._update)

    def setup(self, trainer: Trainer, pl_module: Any, stage: str) -> None:
        super().setup(trainer, pl_module, stage)
        average: Any = self._average_model
        if average is not None and trainer.precision == "64-true":
            average.double()  # it is copied before the network is converted
        if average is not None and trainer.precision == "bf16-true":  # torch 2.11 refuses to group two types
            average.multi_avg_fn, average.avg_fn = None, self._updated

    def on_fit_start(self, trainer: Trainer, pl_module: Any) -> None:
        assert self._average_model is not None
        self._average_model.to(pl_module.device)  # Lightning's own place for it is the CPU, a copy of all every step

    @torch.no_grad()
    def _update(self, average: Any, weights: Any, count: Tensor | int) -> None:
        torch._foreach_lerp_(average, weights, 1 - self._decay(count))

    def _updated(self, mean: Tensor, weight: Tensor, count: Tensor | int) -> Tensor:
        return mean.lerp(weight.to(mean.dtype), 1 - self._decay(count))

    def _decay(self, count: Tensor | int) -> float:
        return min(self.decay, (1 + int(count)) / (10 + int(count)))

    def on_load_checkpoint(self, trainer: Trainer, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        # Lightning's would put the weights of training in place of their average also for the test after a fit
        if trainer.state.fn == TrainerFn.FITTING:
            super().on_load_checkpoint(trainer, pl_module, checkpoint)
