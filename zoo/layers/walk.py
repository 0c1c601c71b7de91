"""Teacher forcing by the `step` of a decoder: slower than `forward`, for everything that `forward` cannot compute at
once.

Notation: B examples, R of them with a target, T target positions, N real ones, V vocabulary.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from zoo.layers.packing import Packing
from zoo.layers.state import State, Step

Feed = Callable[[Tensor, Tensor], Tensor]
"""(log-probabilities (R', 1, V) of the next token, the true token (R', 1)) -> the next input: ids (R', 1) or a
distribution (R', 1, V)."""


def walk(
    step: Callable[[Tensor, State], Step],
    state: State,
    read: Tensor,
    packing: Packing,
    *,
    feed: Feed | None = None,
    need_weights: bool = True,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Log-probabilities (N, V) at the real positions in the order of `packing`, and attention (B, T, S) by name, or
    with heads (B, H, T, S).

    `state` is the state of B examples before the first token, and `read` (B, T) are the true tokens to read. After the
    first token `feed` may replace them. Examples are sorted by length, and a step computes only the examples that have
    a real token there.
    """
    truth = read.index_select(0, packing.order)  # (R, T)
    state = state.examples(packing.order)
    scores: list[Tensor] = []
    attention: dict[str, list[Tensor]] = {}
    for t, rows in enumerate(packing.batch_sizes):
        tokens = truth[:rows, t, None]
        if feed is not None and t:
            tokens = feed(scores[-1][:rows, None], tokens)
        log_probs, state, weights = step(tokens, _first(state, rows))
        scores.append(log_probs[:, 0])
        for name, part in weights.items() if need_weights else ():
            attention.setdefault(name, []).append(part[:, 0])
    return torch.cat(scores), {name: _unpacked(torch.cat(steps), packing) for name, steps in attention.items()}


def _first(state: State, rows: int) -> State:
    """The state of the first `rows` examples; `state` itself if there are no others.

    Slicing all of them would cost a copy of the memory at every step of the backward pass.
    """

    def first(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: part if len(part) == rows else part[:rows] for name, part in parts.items()}

    return State(first(state.memory), first(state.hypotheses))


def _unpacked(weights: Tensor, packing: Packing) -> Tensor:
    """Packed weights (N, S) or (N, H, S) -> (B, T, S) or (B, H, T, S), as `forward` gives them."""
    grid = packing.unpack(weights)
    return grid.transpose(1, 2) if weights.dim() == 3 else grid
