"""The decoder run step by step along the targets, with something else than the true token fed to it.

Notation: N real target positions, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.attention.draw import draw
from zoo.decoding.protocol import Specials
from zoo.layers import walk as by_steps
from zoo.models.output import Output
from zoo.objectives.loss import Network, Supervised
from zoo.precision import precise_dtype


def walk(network: Network, batch: Supervised, feed: by_steps.Feed, *, need_weights: bool) -> Output:
    """Scores (N, V), as log-probabilities, and the attention of `network` fed with `feed` after begin.

    The scores are in the order of `batch.forced.packing`.
    """
    read, _, packing = batch.forced
    state = network.start(batch)
    return Output(*by_steps.walk(network.step, state, read, packing, feed=feed, need_weights=need_weights))


def sampled(log_probs: Tensor, specials: Specials) -> Tensor:
    """A token from each distribution (..., V), never padding or begin: ids (...), without a gradient."""
    return draw(possible(log_probs, specials).exp())


def likeliest(log_probs: Tensor, specials: Specials) -> Tensor:
    """The likeliest token of each distribution (..., V), never padding or begin: ids (...)."""
    return possible(log_probs, specials).argmax(-1)


def possible(log_probs: Tensor, specials: Specials) -> Tensor:
    """A copy of (..., V), at least in float32, -inf at padding and begin: a decoder never puts these out."""
    scores = log_probs.detach().to(precise_dtype(log_probs.dtype), copy=True)
    scores[..., specials.padding] = -torch.inf
    scores[..., specials.begin] = -torch.inf
    return scores
