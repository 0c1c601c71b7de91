"""Cross-entropy over a vocabulary, with a backward that writes the gradient where the log-probabilities were.

torch's keeps the log-probabilities and makes two more tensors of their size on the way back. Memory that is fresh on
every step costs more here than arithmetic: 960 x 10,000 scores take about half torch's time on the CPU.

The scores are the caller's and stay as they are.

Notation: N target tokens, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.objectives.loss import Supervised, Term


class _VocabularyCrossEntropy(torch.autograd.Function):
    """sum_n sum_c -q_nc log p_nc, whose gradient is p - q: q is 1 - s at the target plus s / (V - 1) at each class but
    padding."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, target: Tensor, smoothing: float, padding: int) -> tuple[Tensor, Tensor]:
        precise = torch.float32 if scores.dtype in (torch.float16, torch.bfloat16) else scores.dtype
        log_probs = scores.log_softmax(-1, dtype=precise)
        nll = -log_probs.gather(1, target[:, None]).sum()
        if smoothing:
            others = log_probs.sum() - log_probs[:, padding].sum()
            total = (1 - smoothing) * nll - smoothing / (scores.shape[1] - 1) * others
        else:
            total = nll.clone()
        ctx.save_for_backward(log_probs, target)  # a second backward finds them changed, and raises
        ctx.smoothing, ctx.padding, ctx.dtype = smoothing, padding, scores.dtype
        ctx.mark_non_differentiable(nll)
        return total, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, None, None, None]:
        log_probs, target = ctx.saved_tensors
        difference = log_probs.exp_()
        if ctx.smoothing:
            share = ctx.smoothing / (difference.shape[1] - 1)
            difference.sub_(share)
            difference[:, ctx.padding] += share
        certain = difference.new_full((len(target), 1), ctx.smoothing - 1)
        difference.scatter_add_(1, target[:, None], certain)
        return difference.mul_(gradient).to(ctx.dtype), None, None, None


def vocabulary_cross_entropy(
    scores: Tensor, target: Tensor, *, label_smoothing: float = 0.0, padding: int = 0
) -> tuple[Tensor, Tensor]:
    """The sums over N tokens of the smoothed cross-entropy and of the plain -log p, the second without a gradient.

    `scores` (N, V) are logits or log-probabilities, `target` (N,) holds no padding. Label smoothing moves the share
    `label_smoothing` of a target's mass evenly to all classes but padding, the right one and begin among them (the
    uniform mixture of Szegedy et al. 2016 without the one class that is no token); where scores are -inf, as of places
    that cannot be pointed at, smoothing makes it infinite. Half precision is summed in float32.
    Backward works once per forward.
    """
    total, nll = _VocabularyCrossEntropy.apply(scores, target, label_smoothing, padding)
    return total, nll


def token_terms(
    scores: Tensor, batch: Supervised, *, label_smoothing: float, padding: int, weight: float = 1.0
) -> tuple[Term, Term]:
    """`cross_entropy` over the real target tokens, ends counted, and `nll`, the plain one for perplexity, unweighted.

    `scores` (N, V) in the order of `batch.forced.packing`.
    """
    target = batch.true_tokens
    total, nll = vocabulary_cross_entropy(scores, target, label_smoothing=label_smoothing, padding=padding)
    return Term("cross_entropy", total, len(target), weight), Term("nll", nll, len(target), 0.0)
