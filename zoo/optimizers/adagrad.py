"""AdaGrad (Duchi et al. 2011) as in the code of the recursive networks.

Parameter groups are chosen by name, a group can use plain gradient descent, and the sums can be reset every epoch.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim.optimizer import StateDict

from zoo.arguments import NonNegative, Positive
from zoo.errors import ConfigError, or_nearest

RATE = "a number of at least 0"
KEYS = {"lr": RATE, "weight_decay": RATE, "plain": "true or false", "row_decay": RATE}
"""Keys of a group, and the kind of value that each accepts."""


class Adagrad(torch.optim.Adagrad):
    """torch.optim.Adagrad: s = s + g^2, p = p - lr g / (sqrt(s) + eps) elementwise; g includes `weight_decay` times p.

    `groups` maps names of network parts, such as `embedding`, to their own options: `lr`, `weight_decay`, `plain=true`
    for p = p - lr g, or `row_decay`. `row_decay` decays only rows with a gradient, such as the words of a batch;
    `weight_decay` would make AdaGrad move a rare word by nearly `lr` towards 0 at every step. With `forget`, the sums s
    restart at 0 in each epoch. `fused` is one kernel on the CPU, in a fourth of the time; elsewhere some versions of
    torch lack it.
    """

    by_name: ClassVar[bool] = True  # Whether the constructor takes (name, parameter) pairs

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[tuple[str, Tensor]],
        lr: Positive = 0.01,
        eps: Positive = 1e-10,
        weight_decay: NonNegative = 0.0,
        forget: bool = False,
        fused: bool = True,
        groups: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Raises ConfigError for a group without parameters and for an unknown key of a group."""
        self.forget = forget
        pairs: list[Any] = list(params)
        on_cpu = all((pair[1] if isinstance(pair, tuple) else pair).device.type == "cpu" for pair in pairs)
        given = _grouped(pairs, groups or {})
        super().__init__(given, lr=lr, eps=eps, weight_decay=weight_decay, fused=True if fused and on_cpu else None)
        for group in self.param_groups:
            group.setdefault("plain", False)
            group.setdefault("row_decay", 0.0)
            if group["plain"]:
                for parameter in group["params"]:
                    del self.state[parameter]  # the sums of squares, which plain descent does not need
            if group["plain"] or group["row_decay"]:
                # a gradient scaler leaves unscaling to a fused step, but our decay reads the gradients before it
                self._step_supports_amp_scaling = False

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Performs one step; with a `closure`, uses the gradients that it computes and returns its loss."""
        loss = None
        if closure is not None:  # with all groups in place, since Lightning's closure sets their gradients to zero
            with torch.enable_grad():
                loss = closure()
        every = self.param_groups
        for group in every:
            if group["row_decay"]:
                _decay_rows(group)
        self.param_groups = [group for group in every if not group["plain"]]
        try:
            super().step()
        finally:
            self.param_groups = every
        for group in every:
            if group["plain"]:
                _descend(group)
        return loss

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Loads the state as torch does, but keeps `fused` as this machine supports it."""
        own = [group["fused"] for group in self.param_groups]
        super().load_state_dict(state_dict)
        for group, fused in zip(self.param_groups, own, strict=True):
            group["fused"] = fused

    def start_epoch(self) -> None:
        """Resets the sums at the start of an epoch if `forget` is set."""
        for state in self.state.values() if self.forget else ():
            state["sum"].zero_()


def _decay_rows(group: Mapping[str, Any]) -> None:
    for parameter in group["params"]:
        if parameter.grad is not None:
            # equals `any` over each row, in a fifth of the time
            rows = parameter.grad.view(len(parameter), -1).abs().sum(1) != 0
            rows = rows.view(-1, *[1] * (parameter.dim() - 1))
            parameter.grad.addcmul_(parameter, rows.to(parameter.dtype), value=group["row_decay"])


def _descend(group: Mapping[str, Any]) -> None:
    parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
    gradients = [parameter.grad for parameter in parameters]
    if group["weight_decay"] and parameters:
        gradients = list(torch._foreach_add(gradients, parameters, alpha=group["weight_decay"]))
    if parameters:
        torch._foreach_add_(parameters, gradients, alpha=-float(group["lr"]))


def _grouped(params: list[Any], groups: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """The parameters outside all groups, followed by the groups."""
    for name, group in groups.items():
        for key, value in group.items():
            if key not in KEYS:
                raise ConfigError(
                    f"optimizer.groups.{name}.{key}: a group has {', '.join(KEYS)}{or_nearest(key, KEYS)}"
                )
            number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
            if not (number if KEYS[key] == RATE else isinstance(value, bool)):
                raise ConfigError(f"optimizer.groups.{name}.{key}={value}: expected {KEYS[key]}, found {value!r}")
    if not params or not isinstance(params[0], tuple):
        return params
    members: dict[str, list[Tensor]] = {name: [] for name in groups}
    rest: list[Tensor] = []
    for path, parameter in params:
        own = next((name for name in groups if name in path.split(".")), None)
        (rest if own is None else members[own]).append(parameter)
    if empty := [name for name, found in members.items() if not found]:
        known = sorted({path.removeprefix("network.").split(".")[0] for path, _ in params})
        raise ConfigError(
            f"optimizer.groups.{empty[0]}: no weight of the network has this name; available: {', '.join(known)}"
            f"{or_nearest(empty[0], known)}"
        )
    return [{"params": rest}, *({"params": members[name], **groups[name]} for name in groups)]
