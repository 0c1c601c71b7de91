"""Cross-entropy over a vocabulary, and the objective of teacher forcing: every token is predicted from true tokens.

The backward pass writes the gradient where the log-probabilities were. torch's own stores the log-probabilities, and
its backward makes two more tensors of their size. Memory that is new in every step costs more here than arithmetic:
960 x 10,000 scores take about half of torch's time on the CPU. The scores of the caller are not changed.

Notation: N target tokens, V vocabulary.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.arguments import Share
from zoo.models.output import Output
from zoo.objectives.loss import Loss, Network, Supervised, TargetSpec, Term
from zoo.precision import precise_dtype
from zoo.values import Checked


class CrossEntropy(Checked):
    """sum -log p(y_t | y_<t, x) over the real target tokens, the end counted, divided by their number.

    `label_smoothing` is the share of probability that the true token gives to the others: see
    `vocabulary_cross_entropy`. The negative log-likelihood without smoothing is reported too, since perplexity is
    computed from it.
    """

    def __init__(self, *, label_smoothing: Share = 0.0) -> None:
        self.label_smoothing = label_smoothing

    def __call__(self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool) -> Loss:
        output = likelihood(network, batch, need_weights=need_weights, need_scores=self.label_smoothing > 0)
        terms = token_terms(output, batch, label_smoothing=self.label_smoothing, padding=spec.padding)
        return Loss(terms, output, {})


def likelihood(network: Any, batch: Supervised, *, need_weights: bool, need_scores: bool = False) -> Output:
    """The output of a network for a batch with targets. Without `need_scores` it may have the surprisals of the true
    tokens in place of scores, if the network says that it can (`WritingNetwork.surprises`)."""
    if need_scores or not getattr(network, "surprises", False):
        found: Output = network(batch, need_weights=need_weights)
        return found
    return network(batch, need_weights=need_weights, need_scores=False)


class _VocabularyCrossEntropy(torch.autograd.Function):
    """sum_n sum_c -q_nc log p_nc with the gradient p - q. q is 1 - s at the target plus s / (V - 1) at each column but
    padding."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, target: Tensor, smoothing: float, padding: int) -> tuple[Tensor, Tensor]:
        log_probs = scores.log_softmax(-1, dtype=precise_dtype(scores.dtype))
        nll = -log_probs.gather(1, target[:, None]).sum()
        if smoothing:
            others = log_probs.sum() - log_probs[:, padding].sum()
            total = (1 - smoothing) * nll - smoothing / (scores.shape[1] - 1) * others
        else:
            total = nll.clone()
        ctx.save_for_backward(log_probs, target)  # a second backward would find them changed, and raises
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
    scores: Tensor, target: Tensor, *, label_smoothing: float = 0.0, padding: int = 0, possible: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the sums over N tokens of the smoothed cross-entropy and of -log p, the second without a gradient.

    `scores` (N, V) are logits or log-probabilities, `target` (N,) contains no padding. `possible` (N, V) is True at the
    columns of the vocabulary that a token has; the scores of the others are ignored. Label smoothing spreads the share
    `label_smoothing` of the target's probability evenly over all these columns but padding, the right one and begin
    included. That is the uniform mixture of Szegedy et al. 2016 without padding, which is never written. Half precision
    is summed in float32. Backward works once per forward.
    """
    if possible is not None:
        scores = scores.masked_fill(~possible, -torch.inf)
    if possible is None or not label_smoothing:
        total, nll = _VocabularyCrossEntropy.apply(scores, target, label_smoothing, padding)
        return total, nll
    log_probs = scores.log_softmax(-1, dtype=precise_dtype(scores.dtype))
    nll = -log_probs.gather(1, target[:, None]).sum()
    spread = possible & (torch.arange(scores.shape[1], device=scores.device) != padding)
    others = (log_probs.masked_fill(~spread, 0.0).sum(1) / spread.sum(1)).sum()
    return (1 - label_smoothing) * nll - label_smoothing * others, nll.detach()


def output_cross_entropy(
    output: Output, batch: Supervised, *, label_smoothing: float = 0.0, padding: int = 0
) -> tuple[Tensor, Tensor]:
    """`vocabulary_cross_entropy` of the real target tokens of `batch`, each over the columns that its example has. An
    output with surprisals has no scores to smooth."""
    if output.surprisal is not None:
        total = output.surprisal.sum()
        return total, total.detach()
    possible = output.possible
    if possible is not None:
        possible = possible.index_select(0, batch.forced.packing.row)
    target = output.true_tokens(batch)
    return vocabulary_cross_entropy(
        output.logits, target, label_smoothing=label_smoothing, padding=padding, possible=possible
    )


def surprisals(output: Output, batch: Supervised) -> Tensor:
    """(N,) -log p of each real target token of `batch`, in float32 at least."""
    if output.surprisal is not None:
        return output.surprisal
    scores = output.logits.to(precise_dtype(output.logits.dtype))
    if output.possible is not None:
        possible = output.possible.index_select(0, batch.forced.packing.row)
        scores = scores.masked_fill(~possible, -torch.inf)
    true = scores.gather(1, output.true_tokens(batch)[:, None]).squeeze(1)
    return scores.logsumexp(1) - true


def token_terms(
    output: Output, batch: Supervised, *, label_smoothing: float, padding: int, weight: float = 1.0
) -> tuple[Term, Term]:
    """`cross_entropy` over the real target tokens, ends included, and without a weight `nll`, which has no smoothing
    and from which perplexity is computed."""
    total, nll = output_cross_entropy(output, batch, label_smoothing=label_smoothing, padding=padding)
    count = len(batch.true_tokens)
    return Term("cross_entropy", total, count, weight), Term("nll", nll, count, 0.0)
