"""The state of a decoder from token to token, and the result of a step: the interface of decoding and of training by
steps.

A generating model has two interfaces with the same weights. `forward(batch)` scores all target positions at once.
`start(batch)` gives the `State` before the first token, and `step(tokens, state)` reads one token of each hypothesis
and gives a `Step`.

Notation: B examples, K hypotheses of each (1 for greedy decoding and for training), S positions of a memory, M real
ones of all, I images, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.errors import ConfigError
from zoo.layers.packing import Packing
from zoo.precision import precise_dtype


class Annotations(NamedTuple):
    """The vectors that a decoder attends to, one per position of a source (Bahdanau et al. 2015, Xu et al. 2015).

    Each is stored once, so that its projections are computed once: for real tokens and not for padding, for an image
    and not for each of its captions.
    """

    vectors: Tensor  # (M, D) of tokens, packed, or (I, S, D) of the cells of images
    mask: Tensor  # (B, S) True at real positions
    laid_out: Callable[[Tensor], Tensor]
    """Lays out values computed from the vectors, (M, ...) or (I, S, ...) -> (B, S, ...), zero at padding."""

    @classmethod
    def of_tokens(cls, vectors: Tensor, packing: Packing, mask: Tensor) -> Annotations:
        """The annotations of B sources: vectors (M, D) in the order of `packing`, which packs the `mask` (B, S)."""
        return cls(vectors, mask, packing.unpack)

    @classmethod
    def of_cells(cls, vectors: Tensor, picture: Tensor) -> Annotations:
        """The annotations of I images: vectors (I, S, D) of the cells, and for each of the B examples the row of its
        image, `picture` (B,)."""
        mask = vectors.new_ones(picture.shape[0], vectors.shape[1]).bool()
        return cls(vectors, mask, lambda made: made.index_select(0, picture))


@dataclass(frozen=True)
class MemoryPositions:
    """The positions of a memory that an attention can look at."""

    mask: Tensor  # (B, S) True at the positions that exist
    content: Tensor
    """(B, S) True at the positions that coverage expects attention on: positions with content, not an end mark."""
    length: Tensor  # (B,) L in the limits a L + b on the length of the written sequence
    own: bool = True
    """Whether the network chose them. False: they are the positions of the batch's memory, such as source tokens."""
    joins: int | None = None
    """The number r of positions of the batch's memory that each of these joins: position s joins r s to r s + r - 1. It
    is 1 for those of the batch, and None where the network's own do not join neighbours."""

    @classmethod
    def of(
        cls, mask: Tensor, *, content: Tensor | None = None, length: Tensor | None = None, joins: int | None = None
    ) -> Self:
        """By default every position of `mask` (B, S) has content, and the length is their number."""
        length = mask.sum(1) if length is None else length
        return cls(mask, mask if content is None else content, length, joins=joins)

    def grouped(self, alignment: Tensor) -> Tensor | None:
        """An `alignment` (B, T, S) with the batch's memory as one with these positions: True at a position if it is
        True at any that it joins. None where it is not known which it joins."""
        if self.joins is None:
            return None
        missing = self.joins * self.mask.shape[1] - alignment.shape[2]
        return F.pad(alignment, (0, missing)).unflatten(2, (-1, self.joins)).any(3)


Memories = Mapping[str, MemoryPositions]
"""The positions of each attention by its name without the layer number: `source` for `source.0` and `source.1`."""


def positions_of(name: str, memories: Memories, batch: Any, weights: Tensor | None = None) -> MemoryPositions:
    """The positions that the attention `name` looks at: the network's own in `memories`, or else those of the batch.

    Raises ConfigError where `weights` (..., S) have another width than the mask of these positions.
    """
    kind = name.split(".")[0]
    own = memories.get(kind)
    found = own or MemoryPositions(batch.memory_mask, batch.content_mask, batch.memory_length, own=False, joins=1)
    if weights is not None and weights.shape[-1] != found.mask.shape[-1]:
        mask = f"the mask of memories[{kind!r}]" if own else "batch.memory_mask"
        raise ConfigError(
            f"attention {name}: its weights have {weights.shape[-1]} columns, {mask} has {found.mask.shape[-1]}; if "
            f"the network chooses the positions, return memories={{{kind!r}: MemoryPositions.of(mask)}} in the State "
            "of `start` and in the Output of `forward`"
        )
    return found


@dataclass(frozen=True)
class State:
    """The state of a decoder before the next token: facts about examples, computed once, and about each hypothesis.

    Decoding reads `memories`, `first`, `possible` and `truth` from the state that `start` gives. A step need not return
    them.
    """

    memory: Mapping[str, Tensor]
    """(B, ...) each: the encoder's output, its projections, masks. The hypotheses of an example share it."""
    hypotheses: Mapping[str, Tensor]
    """(B, K, ...) each: what differs between hypotheses. Never changed in place."""
    memories: Memories = field(default_factory=dict)
    """The positions that each attention of a step looks at, if they are not the batch's own: an encoder may shorten its
    source, and a dialogue has words and turns. Coverage, unknown words, alignments, pictures and limits on length use
    the attention named `source`."""
    first: Tensor | None = None
    """(B,) the token of each example that the first step reads in place of begin, to continue a text. `start` itself
    reads the part of a prompt that precedes its last token."""
    possible: Tensor | None = None
    """(B, V) True at the vocabulary columns that exist for an example; None if all exist for every example. The other
    columns have the log-probability -inf."""
    truth: Tensor | None = None
    """(N,) the true tokens as columns of this network, where it has more columns than the vocabulary; see `Output`."""
    history: Mapping[str, Tensor] = field(default_factory=dict)
    """(B, n, ...) each: a part for every token that any hypothesis read, also one that was dropped. A step makes it
    longer, and reordering leaves it as it is: `hypotheses` says which tokens are those of a hypothesis."""

    @property
    def device(self) -> torch.device:
        return next(iter([*self.hypotheses.values(), *self.memory.values()])).device

    def reorder(self, parents: Tensor) -> State:
        """The state of the hypotheses that continue `parents` (B, K'), numbers from 0 to K - 1."""
        count = next(iter(self.hypotheses.values())).shape[1] if self.hypotheses else 1
        before = torch.arange(len(parents), device=parents.device) * count  # hypotheses of the examples before
        chosen = (parents + before[:, None]).flatten()

        def of_parents(part: Tensor) -> Tensor:
            return part.flatten(0, 1).index_select(0, chosen).view(*parents.shape, *part.shape[2:])

        return State(
            self.memory, {name: of_parents(part) for name, part in self.hypotheses.items()}, history=self.history
        )

    def examples(self, rows: Tensor) -> State:
        """The state of some of the examples, given by their numbers `rows` (B',)."""

        def chosen(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: part.index_select(0, rows) for name, part in parts.items()}

        return State(chosen(self.memory), chosen(self.hypotheses), history=chosen(self.history))


def log_probabilities(scores: Tensor) -> Tensor:
    """(..., V) scores -> log-probabilities, in float32 at least: sums in half precision add up rounding errors."""
    return scores.log_softmax(-1, dtype=precise_dtype(scores.dtype))


class Step(NamedTuple):
    """The result of reading one token."""

    log_probs: Tensor  # (B, K, V) log-probabilities of the next token, in float32 at least
    state: State
    attention: dict[str, Tensor]
    """(B, K, S) or, with several heads, (B, K, H, S) weights on a memory, by the names that `forward` gives them. Each
    name may have a width of its own."""


def source_attention(attention: Mapping[str, Tensor]) -> Tensor | None:
    """The mean over layers and heads of the attention on the source, (B, T, S); None where there is none.

    Takes the entries `source` and `source.<layer>`, (B, T, S) or, with several heads, (B, H, T, S). A layer counts once
    however many heads it has.
    """
    layers = [weights for name, weights in attention.items() if name.split(".")[0] == "source"]
    if not layers:
        return None
    means = [weights.mean(1) if weights.dim() == 4 else weights for weights in layers]
    return means[0] if len(means) == 1 else torch.stack(means).mean(0)
