"""The training of hard attention: REINFORCE on the sampled places, as in the authors' code of Xu et al. 2015.

Section 4.1 has the rule; the authors' code (github.com/kelvinxu/arctic-captions) has the numbers and other details.
The reward of a caption is the mean over its words of log p(word), the same for every place drawn for it. Neither
this term nor the entropy's is divided by the batch. Half of the batches use the expected context and draw nothing.

Notation: B captions, N real words of all, S places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

import torch
from annotated_types import Predicate
from torch import Tensor, nn

from zoo.arguments import NonNegative, Probability
from zoo.errors import ConfigError, did_you_mean
from zoo.precision import precise_dtype
from zoo.values import hold

Reading = Literal["likeliest", "sample", "expected"]
DivideBy = Literal["nothing", "captions", "words"]


@dataclass(frozen=True)
class Hard:
    """The options of hard attention. Raises ConfigError for a value outside its range."""

    reward: NonNegative = 0.1
    """The weight of the REINFORCE term, lambda_r; 0 leaves it out."""
    entropy: NonNegative = 0.002
    """The weight lambda_e of the entropy term, which makes the attention weights more even."""
    baseline_decay: Probability = 0.9
    """The share of the baseline that is kept at each batch; with 1 it stays 0, so that there is no baseline."""
    soft_half: Probability = 0.5
    """The probability that a batch uses the expected context instead of one drawn place per word."""
    divide_by: DivideBy = "nothing"
    """The divisor of both terms: `nothing`, as in the authors' code; `captions`, the divisor of their likelihood; or
    `words`, the divisor of the likelihood here."""
    reading: Reading = "likeliest"
    """The context in evaluation: the value at the likeliest place, the value at a drawn place, or the expected
    value."""

    def __post_init__(self) -> None:
        for key, hint in get_type_hints(type(self), include_extras=True).items():
            hold(key, getattr(self, key), hint)

    @classmethod
    def of(cls, options: Mapping[str, Any] | None) -> Hard:
        """The options that a mapping of some of them sets. Raises ConfigError for an unknown key."""
        known = [field.name for field in fields(cls)]
        for key in options or {}:
            if key not in known:
                raise ConfigError(f"{key}: unknown key; {did_you_mean(key, known)}")
        return cls(**{str(key): value for key, value in (options or {}).items()})


def is_hard(options: Mapping[str, Any] | None) -> bool:
    """Return True, or raise the error of `Hard.of` as a ValueError with `hard` before the key."""
    try:
        Hard.of(options)
    except ConfigError as error:
        raise ValueError(f"hard: {error}") from error
    return True


HardOptions = Annotated[Mapping[str, Any] | None, Predicate(is_hard)]
"""Some of the keys of `Hard`, as a configuration file has them; None for its defaults."""


def hard_loss(
    weights: Tensor, places: Tensor | None, cost: Tensor, baseline: Tensor, row: Tensor, hard: Hard
) -> Tensor:
    """lambda_r sum_n (cost - b) log a_n(s_n) + lambda_e sum_n sum_s a_n(s) log a_n(s), (), divided as `hard` says.

    Its gradient by `weights` a (N, S) is that of section 4.1. `places` (N,) are the s that were drawn; None for the
    expected context, where the first term has no part in the gradient of the scores. `cost` (B,) is each caption's
    -log p, a mean over its words, `baseline` () is b, and `row` (N,) is the caption of each word.
    """
    log_weights = weights.clamp(min=torch.finfo(weights.dtype).tiny).log()  # avoids log 0
    total = hard.entropy * (weights * log_weights).sum()
    if places is not None:
        advantage = (cost.detach() - baseline).to(weights.dtype).index_select(0, row)
        total = total + hard.reward * (advantage * log_weights.gather(1, places[:, None])[:, 0]).sum()
    return total / {"nothing": 1, "captions": max(1, len(cost)), "words": max(1, len(weights))}[hard.divide_by]


class Baseline(nn.Module):
    """b, what a caption costs on average: a moving average over batches, one number, which begins at 0.

    It is at least float32, whatever the weights are: in bfloat16 it would stop moving. With several ranks, DDP copies
    the first rank's value to the others.
    """

    value: Tensor

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("value", torch.zeros((), dtype=precise_dtype(torch.get_default_dtype())))

    @torch.no_grad()
    def update(self, cost: Tensor) -> None:
        """Counts a batch whose captions cost `cost` (B,)."""
        if len(cost):
            self.value.mul_(self.decay).add_((1 - self.decay) * cost.mean().to(self.value.dtype))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Baseline:
        before = self.value
        super()._apply(fn, recurse)
        if self.value.dtype in (torch.float16, torch.bfloat16):
            self.value = before.to(self.value.device)
        return self
