"""Multi-head attention: several scaled dot-product attentions side by side (Vaswani et al. 2017, section 3.2).

Attention(Q, K, V) = softmax(Q K^T / sqrt(E)) V (equation 1), once for each head on projections of its own:
MultiHead(x, m) = concat(head_1, ..., head_H) W_O, head_h = Attention(x W_Q^h, m W_K^h, m W_V^h).

Masks are boolean, True = attend. A query without an allowed position gets zeros and zero gradient, on both paths:
torch's fused kernels if no weights are needed, else the equation written out.

The masks of self-attention align queries and keys at their ends: of S keys, the last L are those of the queries, and
query i is position i + S - L. So a mask also fits a cache, where one new query (L = 1) sees all the keys before it.

Notation: B sentences, H heads, L queries, S positions of the memory, D width of the result, E = D / H width of a head.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.softmax import masked_softmax
from zoo.linear import Linear, linear


class MultiHeadAttention(nn.Module):
    """H attentions of width D / H, of tokens to each other, or with `cross` to another memory.

    `dropout` acts on the weights in training; the returned weights are those before it. `forward` is self-attention on
    a padded grid. Its parts can be called alone: `project`, `queries`, `keys_values` and `output` take tensors (..., D)
    of any shape, also packed ones, and only `attend` needs the grid.

    Raises ValueError if D is not a multiple of H.
    """

    def __init__(self, dim: Count, heads: Count, *, cross: bool = False, dropout: Share = 0.0) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"the heads share the width: {dim} is not a multiple of {heads} heads")
        self.dim, self.heads, self.dropout = dim, heads, dropout
        # matrices that read the same input are one matrix
        self.weights = nn.ParameterList(torch.empty(parts * dim, dim) for parts in ((1, 2) if cross else (3,)))
        self.bias = nn.Parameter(torch.zeros(3 * dim))
        self.output = Linear(dim, dim)
        for weight in [*self.weights, self.output.weight]:
            for matrix in weight.split(dim):
                nn.init.xavier_uniform_(matrix)
        nn.init.zeros_(self.output.bias)

    def forward(
        self, x: Tensor, *, mask: Tensor | None = None, causal: bool = False, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        """Tokens (B, L, D) that attend to each other -> contexts (B, L, D), weights (B, H, L, L) or None.

        `mask` (B or 1, L or 1, L) is True where a token may attend to a token; `causal` allows none after itself.
        """
        q, k, v = self.split_heads(self.project(x))
        heads_mask = None if mask is None else mask[:, None]
        context, weights = self.attend(q, k, v, heads_mask, causal=causal, need_weights=need_weights)
        return self.output(context), weights

    def project(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., 3D): query, key and value of each token, for self-attention."""
        if len(self.weights) > 1:
            raise ValueError("cross attention projects its queries and its memory separately: queries, keys_values")
        return linear(x, self._matrix(0), self.bias)

    def queries(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        weight = self._matrix(0)
        rows = None if len(weight) == self.dim else slice(0, self.dim)
        return linear(x, weight, self.bias[: self.dim], rows=rows)

    def _matrix(self, number: int) -> nn.Parameter:
        """`weights[number]`, without the list's own look-up, which takes as long as a small product."""
        return getattr(self.weights, str(number))

    def keys_values(self, memory: Tensor) -> Tensor:
        """(..., D) -> (..., 2D), key and value."""
        return F.linear(memory, self.weights[-1][-2 * self.dim :], self.bias[self.dim :])

    def split_heads(self, grid: Tensor) -> tuple[Tensor, ...]:
        """(B, L, parts * D) -> as many views (B, H, L, E)."""
        parts = grid.unflatten(-1, (-1, self.heads, self.dim // self.heads))  # (B, L, parts, H, E)
        return parts.permute(2, 0, 3, 1, 4).unbind(0)

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """q (B, H, L, E), k and v (B, H, S, E) -> contexts (B, L, D), weights (B, H, L, S), or None if not needed.

        `mask` is broadcast to (B, H, L, S).
        """
        need_weights = need_weights or torch.compiler.is_exporting()  # elsewhere a fused row without a key is NaN
        length, size = q.shape[2], k.shape[2]
        ahead = causal and length > 1  # a single query is the last position and may attend to all
        fused_causal = ahead and mask is None and length == size and not need_weights
        if ahead and not fused_causal:
            before = causal_mask(length, size, device=q.device)
            mask = before if mask is None else mask & before
        p = self.dropout if self.training else 0.0
        if need_weights:
            weights = masked_softmax((q * q.shape[-1] ** -0.5) @ k.transpose(2, 3), mask)
            context = (F.dropout(weights, p) if p else weights) @ v
        else:
            weights = None
            context = F.scaled_dot_product_attention(q, k, v, mask, dropout_p=p, is_causal=fused_causal)
        return context.transpose(1, 2).flatten(2), weights


def causal_mask(queries: int, keys: int, *, device: torch.device | None = None) -> Tensor:
    """(L, S): query i sees the keys up to its own position, j <= i + S - L."""
    return _distance(queries, keys, device) <= 0


def neighbourhood_mask(queries: int, keys: int, size: int, *, device: torch.device | None = None) -> Tensor:
    """(L, S): restricted self-attention sees the keys at most size // 2 positions away. Combine with others by &.

    Vaswani et al. 2017, section 4: "a neighborhood of size r in the input sequence centered around the respective
    output position". Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a neighbourhood holds at least the position itself; got size={size}")
    return _distance(queries, keys, device).abs() <= size // 2


def _distance(queries: int, keys: int, device: torch.device | None) -> Tensor:
    """(L, S) position of the key minus position of the query."""
    own = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device) - own[:, None]
