"""The score that ranks finished hypotheses, and an upper bound of the score that an unfinished one can reach.

score(Y) = log P(Y) / lp(|Y|) + cp(Y) + r |Y|. |Y| counts the end token, here and everywhere.

- lp, form `gnmt` (Wu et al. 2016, equation 14): (5 + |Y|)^alpha / 6^alpha. Form `average`: |Y|^alpha, with alpha = 1
  the mean log-probability of a token (Gehring et al. 2017). With alpha = 0 both are 1.
- cp (Wu et al. 2016): beta * sum over positions i of the memory with content of log min(sum over target positions j of
  p_ij, 1). p_ij is the mean of the attention over layers and heads; the end token of the target has one, too. In the
  paper the content is the words of a source. A position without any attention counts as LEAST.
- r: a reward for each token.

Notation: B examples, K hypotheses of each, S positions of the memory.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from zoo.arguments import NonNegative

LEAST = 1e-10
LengthForm = Literal["gnmt", "average"]


@dataclass(frozen=True)
class Ranking:
    """Penalties and reward of the score."""

    length_penalty: NonNegative = 0.0
    """The exponent alpha of lp."""
    length_form: LengthForm = "gnmt"
    coverage_penalty: NonNegative = 0.0
    """The weight beta of cp."""
    length_reward: float = 0.0
    """The reward r for each token."""

    def length_penalties(self, longest: int, like: Tensor) -> Tensor:
        """(longest + 1,) lp of each length, in the type of `like`. No hypothesis has length 0; its lp equals that of
        1."""
        lengths = torch.arange(longest + 1, device=like.device, dtype=like.dtype).clamp(min=1)
        return ((5 + lengths) / 6 if self.length_form == "gnmt" else lengths) ** self.length_penalty

    def coverage(self, attended: Tensor, content: Tensor) -> Tensor:
        """cp (B, K) of `attended` (B, K, S), the attention summed over target positions. `content` (B, S) is True at
        the positions with content."""
        logs = attended.clamp(LEAST, 1.0).log().masked_fill(~content[:, None], 0.0)
        return self.coverage_penalty * logs.sum(2)

    def score(self, log_prob: Tensor, penalty: Tensor, coverage: Tensor | float, length: int) -> Tensor:
        """The score of hypotheses of `length` tokens; `penalty` is lp of that length."""
        return log_prob / penalty + coverage + self.length_reward * length

    def reachable(self, log_prob: Tensor, highest_penalty: Tensor, length: int, longest: Tensor) -> Tensor:
        """(B,) an upper bound of the score of all continuations of live hypotheses with `length` tokens and this log P.

        log P can only fall, lp can only grow up to `highest_penalty`, the lp of `longest` (B,), and cp is at most 0.
        """
        reward = (self.length_reward * longest.to(log_prob.dtype)).clamp(min=self.length_reward * (length + 1))
        return log_prob / highest_penalty + reward
