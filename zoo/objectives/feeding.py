"""The decoder run step by step along the targets, fed with other tokens than the true ones.

Notation: N real target positions, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from zoo.attention.softmax import draw
from zoo.decoding.protocol import Specials
from zoo.layers import walk as by_steps
from zoo.models.output import Output
from zoo.objectives.loss import Network, Supervised
from zoo.precision import precise_dtype


def walk(network: Network, batch: Supervised, feed: by_steps.Feed, *, need_weights: bool) -> Output:
    """Return log-probabilities (N, V), in the order of `batch.forced.packing`, and the attention of `network`, which
    reads `feed` after the first token."""
    read, _, packing = batch.forced
    start = network.start(batch)
    log_probs, attention = by_steps.walk(network.step, start, read, packing, feed=feed, need_weights=need_weights)
    return Output(log_probs, attention, memories=start.memories, possible=start.possible)


def sampled(log_probs: Tensor, specials: Specials) -> Tensor:
    """Draw a token from each distribution (..., V), never padding or begin: ids (...), without a gradient."""
    return draw(possible(log_probs, specials).exp())


def likeliest(log_probs: Tensor, specials: Specials) -> Tensor:
    """The likeliest token of each distribution (..., V), never padding or begin: ids (...)."""
    return possible(log_probs, specials).argmax(-1)


def possible(log_probs: Tensor, specials: Specials) -> Tensor:
    """A copy of (..., V), at least in float32, -inf at padding and begin, which a decoder never writes."""
    scores = log_probs.detach().to(precise_dtype(log_probs.dtype), copy=True)
    scores[..., specials.padding] = -torch.inf
    scores[..., specials.begin] = -torch.inf
    return scores
