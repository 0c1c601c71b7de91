"""The decoder run step by step along the targets, with something else than the true token fed to it.

Notation: B pairs, R of them with a target, T target positions, N real ones, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
from zoo.decoding.draw import draw
from zoo.layers.state import State
from zoo.models.output import Output
from zoo.objectives.loss import Network

Feed = Callable[[Tensor, Tensor], Tensor]
"""(log-probabilities (R', 1, V) of the token to come, the true one (R', 1)) -> what is fed: ids (R', 1) or a
distribution (R', 1, V)."""


def walk(network: Network, batch: PairBatch, feed: Feed, *, need_weights: bool) -> Output:
    """Scores (N, V), as log-probabilities, and the attention of `network` fed with `feed` after begin.

    Sentences are sorted by length, and a step computes only those that have a real token there: the steps one after the
    other are the scores in the order of `batch.target_packing`.
    """
    read, _, packing = batch.forced
    truth = read.index_select(0, packing.order)  # (R, T)
    state = network.start(batch).sentences(packing.order)
    tokens = truth[:, :1]
    scores: list[Tensor] = []
    attention: dict[str, list[Tensor]] = {}
    for t, rows in enumerate(packing.batch_sizes):
        if t:
            tokens = feed(scores[-1][:rows, None], truth[:rows, t, None])
        step = network.step(tokens, _first(state, rows))
        state = step.state
        scores.append(step.log_probs[:, 0])
        if need_weights:
            for name, weights in step.attention.items():
                attention.setdefault(name, []).append(weights[:, 0])
    return Output(torch.cat(scores), {name: _unpacked(batch, torch.cat(steps)) for name, steps in attention.items()})


def _first(state: State, rows: int) -> State:
    """The state of the first `rows` sentences, without a copy; as it is if there are no more.

    A slice of the whole would cost a copy of the memory on the way back, at every step.
    """

    def first(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: part if len(part) == rows else part[:rows] for name, part in parts.items()}

    return State(first(state.memory), first(state.hypotheses))


def _unpacked(batch: PairBatch, weights: Tensor) -> Tensor:
    """Packed weights (N, S) or (N, H, S) -> (B, T, S) or (B, H, T, S), as `forward` gives them."""
    grid = batch.forced.packing.unpack(weights)
    return grid.transpose(1, 2) if weights.dim() == 3 else grid


def sampled(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """A token from each distribution (..., V), never padding or begin: ids (...), without a gradient."""
    return draw(possible(log_probs, spec))


def likeliest(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """The likeliest token of each distribution (..., V), never padding or begin: ids (...)."""
    return possible(log_probs, spec).argmax(-1)


def possible(log_probs: Tensor, spec: PairSpec) -> Tensor:
    """A copy of (..., V), at least in float32, -inf at padding and begin: a decoder never puts these out."""
    scores = log_probs.detach().to(torch.promote_types(log_probs.dtype, torch.float32), copy=True)
    scores[..., spec.padding] = -torch.inf
    scores[..., spec.begin] = -torch.inf
    return scores
