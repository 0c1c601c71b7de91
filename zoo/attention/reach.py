"""How far a layer of a decoder sees: all earlier tokens, those of its block, or a compressed memory (Liu et al. 2018,
section 4.2.3, https://arxiv.org/abs/1801.10198).

Query i of a text sees, beside itself,
- `Full`: the tokens 0 ... i;
- `Local`: of these the tokens of its own block, where the blocks of w tokens begin at 0, w, 2w, ...;
- `Compressed`: an empty slot with score 0 and value 0, and the blocks j of f tokens that end at i or before,
  f j + f - 1 <= i. The keys and values of the tokens f j ... f j + f - 1 become one key and one value by a convolution
  of width and stride f. Tokens that do not fill a block are not seen.

Memory is linear in N. Time grows with the pairs of queries and keys that can meet: N^2 / 2, N w / 2 and N^2 / 2f, with
torch's causal kernels. For `Compressed`, the queries i with the same remainder of (i + 1) / f are a text of their own:
number g of it sees the slots 0 ... g, as in causal self-attention.

Each class serves two passes. Training lays out whole texts. Decoding reads a prefix once, and then one token of each
hypothesis. Its keys and values are joined to those of the prefix inside the softmax, so that the prefix is not copied.

Notation: B texts, N tokens, K hypotheses, H heads, D width, E = D / H, S tokens of the prefix, M slots of the memory.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.attention.multihead import MultiHeadAttention
from zoo.attention.softmax import masked_softmax
from zoo.linear import Linear, linear


class Prefix(NamedTuple):
    """The memory of a text's first tokens, which all continuations share."""

    keys: Tensor  # (B, H, M, E)
    values: Tensor  # (B, H, M, E)
    mask: Tensor  # (B, M) True at slots that exist


class Reach(nn.Module, ABC):
    """The earlier tokens that the queries of one layer see."""

    @abstractmethod
    def forward(self, attention: MultiHeadAttention, grid: Tensor) -> Tensor:
        """Query, key and value of each token (B, N, 3D) -> contexts (B, N, D). Padding comes last in each row."""

    @abstractmethod
    def prefix(self, attention: MultiHeadAttention, grid: Tensor, lengths: Tensor) -> Prefix:
        """The memory of texts (B, S, 3D). The first `lengths` (B,) of each row are tokens."""

    def visible(self, prefix: Tensor, lengths: Tensor, position: Tensor) -> Tensor:
        """The slots (B, Q, M) of a prefix, with the mask `prefix` (B, M), that queries at `position` (B, Q) see; all of
        them come after the `lengths` (B,) of the prefix."""
        return prefix[:, None].expand(-1, position.shape[1], -1)

    def continued(self, position: Tensor, query: Tensor) -> Tensor:
        """True where a query at `query` (...) sees what `entry` made at `position` (...)."""
        return position <= query

    def opened(self, grid: Tensor, lengths: Tensor) -> Tensor:
        """The part (B, C) of a prefix (B, S, 3D) that is not in its memory and that `entry` needs."""
        return grid.new_zeros(grid.shape[0], 0)

    def entry(self, new: Tensor, opened: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        """The key and value that the token at `position` (B, K) adds, from its own `new` (B, K, 2D), and `opened`
        (B, K, C) after it."""
        return new, opened

    def on_tokens(self, weights: Tensor, count: int) -> Tensor | None:
        """Weights (..., M) on the slots of a prefix as weights (..., count) on its tokens; None where most tokens can
        never be seen."""
        return weights

    def weights(
        self, attention: MultiHeadAttention, grid: Tensor, queries: Tensor, position: Tensor, lengths: Tensor
    ) -> Tensor | None:
        """Weights (B, H, Q, N) of queries (B, Q, D) at `position` (B, Q) on the first `lengths` (B,) of the tokens
        (B, N, 3D), as `on_tokens`. Queries see later tokens too."""
        memory = self.prefix(attention, grid, lengths)
        slot = self.slots(memory.keys.shape[2], grid.device)
        (q,) = attention.split_heads(queries)
        found = masked_softmax(scores(q, memory.keys), self.continued(slot, position[..., None])[:, None])
        return self.on_tokens(found.masked_fill(~memory.mask[:, None, None], 0.0), grid.shape[1])

    def slots(self, count: int, device: torch.device) -> Tensor:
        """(M,) the position of the last token of each of `count` slots."""
        return torch.arange(count, device=device)


class Full(Reach):
    """Every token sees itself and all tokens before it."""

    def forward(self, attention: MultiHeadAttention, grid: Tensor) -> Tensor:
        q, k, v = attention.split_heads(grid)
        return attention.attend(q, k, v, causal=True, need_weights=False)[0]

    def prefix(self, attention: MultiHeadAttention, grid: Tensor, lengths: Tensor) -> Prefix:
        keys, values = attention.split_heads(grid[..., attention.dim :])
        return Prefix(keys, values, torch.arange(grid.shape[1], device=grid.device) < lengths[:, None])


class Local(Reach):
    """Every token sees itself and those before it in its block of `size` tokens."""

    def __init__(self, size: Count) -> None:
        super().__init__()
        self.size = size

    def forward(self, attention: MultiHeadAttention, grid: Tensor) -> Tensor:
        rows, count = grid.shape[:2]
        blocks = F.pad(grid, (0, 0, 0, -count % self.size)).unflatten(1, (-1, self.size)).flatten(0, 1)
        q, k, v = attention.split_heads(blocks)  # (blocks, H, w, E)
        context = attention.attend(q, k, v, causal=True, need_weights=False)[0]
        return context.view(rows, -1, attention.dim)[:, :count]

    def prefix(self, attention: MultiHeadAttention, grid: Tensor, lengths: Tensor) -> Prefix:
        first = lengths - lengths % self.size  # of the block that is not full
        held, mask = _from(grid[..., attention.dim :], first, min(self.size - 1, grid.shape[1]), lengths)
        keys, values = attention.split_heads(held)
        return Prefix(keys, values, mask)

    def visible(self, prefix: Tensor, lengths: Tensor, position: Tensor) -> Tensor:
        return prefix[:, None] & self.continued(lengths[:, None], position)[..., None]

    def continued(self, position: Tensor, query: Tensor) -> Tensor:
        return position // self.size == query // self.size

    def on_tokens(self, weights: Tensor, count: int) -> None:
        return None

    def weights(
        self, attention: MultiHeadAttention, grid: Tensor, queries: Tensor, position: Tensor, lengths: Tensor
    ) -> None:
        return None


class Compressed(Reach):
    """Every token sees an empty slot, and the blocks of `factor` tokens that end at it or before it.

    One convolution makes the key of a block, another its value.
    """

    def __init__(self, dim: Count, factor: Count) -> None:
        super().__init__()
        self.dim, self.factor = dim, factor
        self.keys, self.values = (Linear(factor * dim, dim) for _ in range(2))
        for part in (self.keys, self.values):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)

    def forward(self, attention: MultiHeadAttention, grid: Tensor) -> Tensor:
        rows, count, f = *grid.shape[:2], self.factor
        queries, memory = grid.split([self.dim, 2 * self.dim], -1)
        texts = F.pad(queries, (0, 0, 1, -(count + 1) % f)).unflatten(1, (-1, f)).transpose(1, 2)  # (B, f, G, D)
        (q,) = attention.split_heads(texts.flatten(0, 1))  # (B f, H, G, E)
        slots = self._slots(memory)[:, : q.shape[2]]  # (B, G, 2D)
        k, v = attention.split_heads(slots.repeat_interleave(f, 0))
        context = attention.attend(q, k, v, causal=True, need_weights=False)[0]
        return context.unflatten(0, (rows, f)).transpose(1, 2).flatten(1, 2)[:, 1 : count + 1]

    def prefix(self, attention: MultiHeadAttention, grid: Tensor, lengths: Tensor) -> Prefix:
        slots = self._slots(grid[..., self.dim :])
        keys, values = attention.split_heads(slots)
        return Prefix(keys, values, self.slots(slots.shape[1], grid.device) < lengths[:, None])

    def slots(self, count: int, device: torch.device) -> Tensor:
        return torch.arange(count, device=device) * self.factor - 1  # the empty slot is before all tokens

    def continued(self, position: Tensor, query: Tensor) -> Tensor:
        return (position <= query) & (position % self.factor == self.factor - 1)

    def opened(self, grid: Tensor, lengths: Tensor) -> Tensor:
        rest = lengths % self.factor
        held, mask = _from(grid[..., self.dim :], lengths - rest, self.factor, lengths)
        return self._products(held.masked_fill(~mask[..., None], 0.0))

    def entry(self, new: Tensor, opened: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        place = position % self.factor
        own = F.one_hot(place, self.factor).to(new.dtype)[..., None] * new[..., None, :]  # (B, K, f, 2D)
        total = self._products(own) + opened.masked_fill((place == 0)[..., None], 0.0)
        return total + self._bias(total), total

    def on_tokens(self, weights: Tensor, count: int) -> Tensor:
        """The weight of a block is spread evenly over its tokens."""
        each = weights[..., 1:].repeat_interleave(self.factor, -1) / self.factor
        return F.pad(each, (0, count - each.shape[-1]))

    def _slots(self, memory: Tensor) -> Tensor:
        """Keys and values of tokens (B, N, 2D) -> those of the empty slot and of the blocks (B, 1 + N // f, 2D)."""
        whole = memory.shape[1] - memory.shape[1] % self.factor
        k, v = memory[:, :whole].unflatten(1, (-1, self.factor)).split(self.dim, -1)  # (B, N // f, f, D) each
        found = self.keys(k.flatten(-2)), self.values(v.flatten(-2))
        return torch.cat([F.pad(part, (0, 0, 1, 0)) for part in found], -1)

    def _bias(self, like: Tensor) -> Tensor:
        return torch.cat([self.keys.bias, self.values.bias]).to(like.dtype)

    def _products(self, blocks: Tensor) -> Tensor:
        """The convolutions of blocks (..., f, 2D) without their biases: (..., 2D)."""
        k, v = (part.flatten(-2) for part in blocks.split(self.dim, -1))  # (..., f D) each
        return torch.cat([linear(k, self.keys.weight), linear(v, self.values.weight)], -1)


def scores(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, H, Q, E) and (B, H, M, E) -> (B, H, Q, M), scaled."""
    return (queries * queries.shape[-1] ** -0.5) @ keys.transpose(2, 3)


def attend_on_both(
    attention: MultiHeadAttention, queries: Tensor, prefix: Prefix, history: Tensor, visible: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """One softmax over the memory of a prefix and over the tokens of hypotheses, without a copy of the first.

    Args:
        attention: of the layer.
        queries: (B, K, D) one token of each hypothesis.
        prefix: the memory that the hypotheses share.
        history: (B, n, 2D) keys and values that the hypotheses have read since.
        visible: masks (B, K, M) and (B, K, n) of what each hypothesis sees.

    Returns:
        Contexts (B, K, D), and the weights (B, H, K, M) on the prefix.
    """
    (q,), (k, v) = attention.split_heads(queries), attention.split_heads(history)
    both = torch.cat([scores(q, prefix.keys), scores(q, k)], -1)
    weights = masked_softmax(both, torch.cat(visible, -1)[:, None])
    dropped = F.dropout(weights, attention.dropout, attention.training)
    sizes = [prefix.keys.shape[2], k.shape[2]]
    first, second = dropped.split(sizes, -1)
    context = first @ prefix.values + second @ v  # (B, H, K, E)
    return context.transpose(1, 2).flatten(2), weights.split(sizes, -1)[0]


def _from(grid: Tensor, first: Tensor, count: int, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of (B, S, C) from `first` (B,) on, (B, count, C), and a mask (B, count) of those before `lengths`."""
    place = first[:, None] + torch.arange(count, device=grid.device)
    mask = place < lengths[:, None]
    row = torch.arange(len(grid), device=grid.device)[:, None]
    return grid[row, place.where(mask, 0)], mask
