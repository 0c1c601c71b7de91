"""Learning rates that torch.optim.lr_scheduler lacks."""

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from zoo.arguments import Count, Positive

OWN_RATE = "own_rate"
"""Key of a parameter group with a learning rate of its own: its `lr` does not depend on the other groups."""


class SlantedTriangle(LRScheduler):
    """The rate rises linearly over the share `warmup` of `total_steps`, then falls linearly to almost 0.

    Howard and Ruder 2018, section 3.2: from 1/25 of the optimizer's own rate up to it, then down to 1/250,000. Step
    it after every step of the optimizer. Every run, however short, has a step of nearly the full rate. With the default
    warm-up and up to 10 steps it is the first one. In longer runs the rates are those of torch's OneCycleLR with
    linear annealing, which divides by zero at 10 steps and trains a single one at its last rate. The rate follows from
    the number of the step alone, so that a resumed run goes on exactly. Raises ValueError for a run without an end.
    """

    START, END = 25.0, 1e4  # the rate is divided by the first at the start, and by both at the end

    def __init__(self, optimizer: Optimizer, *, total_steps: float, warmup: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(total_steps, int) or total_steps < 1:
            raise ValueError(
                f"the rate falls until the last step, but the run has {total_steps} steps: set "
                "trainer.max_epochs or trainer.max_steps, or scheduler=none"
            )
        if not 0 <= warmup <= 1:
            raise ValueError(f"warmup is a share of the steps, from 0 to 1; got {warmup}")
        self.total_steps, self.warmup = total_steps, warmup
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        """The rates of the next step, one for each group of parameters."""
        return [self._rate(float(base)) for base in self.base_lrs]

    def _rate(self, top: float) -> float:
        step, last, start = self.last_epoch, self.total_steps - 1, top / self.START
        peak = max(float(self.warmup * self.total_steps) - 1, 0.0)
        if step <= peak:
            return (top - start) * (step / peak) + start if peak else top
        share = min((step - peak) / (last - peak), 1.0) if last > peak else 1.0
        return (start / self.END - top) * share + top


class Noam(LRScheduler):
    """lr = scale * dim^-0.5 * min(step^-0.5, step * warmup^-1.5), the steps counted from 1.

    Vaswani et al. 2017, equation (3). `dim` is the width of the model, `warmup` the step of the highest rate. The
    optimizer's own rate is not used; that of a group with a rate of its own is its highest. Step it after every step of
    the optimizer. The rate follows from the number of the step alone, so that a resumed run goes on exactly. Raises
    ValueError unless dim and warmup are positive; if `dim` is None, the message names the key to set.
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
                "the learning rate depends on the network's width, but there is no model.hidden_dim: set "
                "scheduler.scheduler.dim to the width, e.g. 512"
            )
        if dim < 1 or warmup < 1:
            raise ValueError(f"dim and warmup are positive; got dim={dim}, warmup={warmup}")
        self.dim, self.warmup, self.scale = dim, warmup, scale
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        """The rate of the next step for each group of parameters; groups without a rate of their own share one."""
        step = self.last_epoch + 1
        shape = min(step**-0.5, step * self.warmup**-1.5)
        rate, share = self.scale * self.dim**-0.5 * shape, shape * self.warmup**0.5  # the share of the highest
        return [group["initial_lr"] * share if group.get(OWN_RATE) else rate for group in self.optimizer.param_groups]

    def advice(self, steps: int) -> str:
        """A warning for a run with fewer `steps` than the warm-up. A shorter warm-up rises higher unless it is
        scaled."""
        warmup = max(1, steps // 4)
        scale = self.scale * (warmup / self.warmup) ** 0.5
        return (
            f"the learning rate rises for {self.warmup:,} steps, and the run has {steps:,}: it stays far below the "
            f"intended rate; set scheduler.scheduler.warmup={warmup} scheduler.scheduler.scale={scale:.2g}, "
            "which has the same highest rate, or train for longer"
        )


class FlatThenFalling(LRScheduler):
    """The rate is constant for `flat` epochs, and is multiplied by `gamma` before each later one.

    Zaremba et al. 2014, section 4.1. Step it after every epoch.
    """

    def __init__(self, optimizer: Optimizer, *, flat: Count, gamma: Positive, last_epoch: int = -1) -> None:
        self.flat, self.gamma = flat, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        """The rates of the next epoch, one for each group of parameters."""
        factor = self.gamma ** max(0, self.last_epoch + 1 - self.flat)
        return [base * factor for base in self.base_lrs]
