"""Learning rates that torch.optim.lr_scheduler lacks."""

from __future__ import annotations

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from zoo.arguments import Count, Positive


class Noam(LRScheduler):
    """lr = scale * dim^-0.5 * min(step^-0.5, step * warmup^-1.5), the steps counted from 1.

    Vaswani et al. 2017, equation (3). `dim` is the width of the model, `warmup` the step of the highest rate. The
    optimizer's own rate is not used. Step it after every step of the optimizer. The rate follows from the number of
    the step alone, so that a resumed run goes on exactly. Raises ValueError unless dim and warmup are positive; None,
    the width of a network that names none, says where to give it.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        *,
        dim: Count | None,
        warmup: Count = 4000,
        scale: Positive = 1.0,
        last_epoch: int = -1,
    ) -> None:
        if dim is None:
            raise ValueError(
                "the rate follows from the network's width, and there is no model.hidden_dim to read it from: give "
                "scheduler.scheduler.dim=512, or what it is"
            )
        if dim < 1 or warmup < 1:
            raise ValueError(f"dim and warmup are positive; got dim={dim}, warmup={warmup}")
        self.dim, self.warmup, self.scale = dim, warmup, scale
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        """The rate of the next step, the same for every group of parameters."""
        step = self.last_epoch + 1
        rate = self.scale * self.dim**-0.5 * min(step**-0.5, step * self.warmup**-1.5)
        return [rate for _ in self.optimizer.param_groups]

    def advice(self, steps: int) -> str:
        """What to say of a run of fewer `steps` than the warm-up has; a shorter one is higher unless scaled."""
        warmup = max(1, steps // 4)
        scale = self.scale * (warmup / self.warmup) ** 0.5
        return (
            f"the learning rate rises for {self.warmup:,} steps, and the run has {steps:,}: it stays far below the "
            f"rate that is meant; give scheduler.scheduler.warmup={warmup} scheduler.scheduler.scale={scale:.2g}, "
            "which has the same highest rate, or train for longer"
        )
