"""The decoder run step by step along the targets, with something else than the true token fed to it.

Notation: N real target positions, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.attention.draw import draw
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
from zoo.layers import walk as by_steps
from zoo.models.output import Output
from zoo.objectives.loss import Network


def walk(network: Network, batch: PairBatch, feed: by_steps.Feed, *, need_weights: bool) -> Output:
    """Scores (N, V), as log-probabilities, and the attention of `network` fed with `feed` after begin.

    The scores are in the order of `batch.target_packing`.
    """
    read, _, packing = batch.forced
    state = network.start(batch)
    return Output(*by_steps.walk(network.step, state, read, packing, feed=feed, need_weights=need_weights))


def sampled(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """A token from each distribution (..., V), never padding or begin: ids (...), without a gradient."""
    return draw(possible(log_probs, spec).exp())


def likeliest(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """The likeliest token of each distribution (..., V), never padding or begin: ids (...)."""
    return possible(log_probs, spec).argmax(-1)


def possible(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """A copy of (..., V), at least in float32, -inf at padding and begin: a decoder never puts these out."""
    scores = log_probs.detach().to(torch.promote_types(log_probs.dtype, torch.float32), copy=True)
    scores[..., spec.padding] = -torch.inf
    scores[..., spec.begin] = -torch.inf
    return scores
