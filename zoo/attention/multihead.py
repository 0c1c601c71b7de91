"""Multi-head attention: several scaled dot-product attentions side by side (Vaswani et al. 2017, section 3.2).

Attention(Q, K, V) = softmax(Q K^T / sqrt(E)) V (equation 1), once for each head on projections of its own:
MultiHead(x, m) = concat(head_1, ..., head_H) W_O, head_h = Attention(x W_Q^h, m W_K^h, m W_V^h).

Masks are boolean, True = attend. A query that may see nothing gets zeros and zero gradient, on both paths: torch's
fused kernels where no weights are asked for, the equation written out where they are.

Notation: B sentences, H heads, L queries, S positions of the memory, D width of the result, E = D / H width of a head.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.attend import Memory
from zoo.attention.restricted import causal_mask
from zoo.attention.softmax import masked_softmax


class MultiHeadAttention(nn.Module):
    """H attentions of width D / H. Without `key_dim` it is made for self-attention: one product gives q, k and v.

    `query_dim`, `key_dim` and `value_dim` are the widths of what is projected: D, the query's and the key's unless
    given. `dropout` acts on the weights, in training; the weights that are returned are those before it.

    `forward` does all of it on padded grids. Its parts can be called alone: `project`, `queries`, `keys_values` and
    `output` take tensors (..., width) of any shape, packed ones too, and only `attend` needs the grid.

    Raises ValueError where D is not a multiple of H.
    """

    def __init__(
        self,
        dim: Count,
        heads: Count,
        *,
        query_dim: Count | None = None,
        key_dim: Count | None = None,
        value_dim: Count | None = None,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"the heads share the width: {dim} is not a multiple of {heads} heads")
        self.dim, self.heads, self.dropout = dim, heads, dropout
        query_dim = query_dim or dim
        key_dim, alone = key_dim or query_dim, key_dim is None
        value_dim = value_dim or key_dim
        shapes = [(dim, query_dim), (dim, key_dim), (dim, value_dim)]
        if value_dim == key_dim:  # matrices that read the same input are stored as one
            shapes = [(3 * dim, query_dim)] if alone else [(dim, query_dim), (2 * dim, key_dim)]
        self.weights = nn.ParameterList(torch.empty(shape) for shape in shapes)
        self.bias = nn.Parameter(torch.zeros(3 * dim))
        self.output = nn.Linear(dim, dim)
        for weight in [*self.weights, self.output.weight]:
            for matrix in weight.split(dim):
                nn.init.xavier_uniform_(matrix)
        nn.init.zeros_(self.output.bias)

    def forward(
        self,
        query: Tensor,
        memory: Memory | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Queries (B, L, query_dim) -> contexts (B, L, D), weights (B, H, L, S) or None where not needed.

        They look at `memory`, or without it at themselves. `mask` (B or 1, L or 1, S) is True where a query may see a
        position; `causal` lets query i see the positions up to its own, i + S - L.
        """
        if memory is None:
            q, k, v = self.split_heads(self.project(query))
        else:
            (q,) = self.split_heads(self.queries(query))
            k, v = memory.keys, memory.values
            mask = memory.mask[:, None] if mask is None else mask & memory.mask[:, None]
        heads_mask = None if mask is None else mask[:, None]
        context, weights = self.attend(q, k, v, heads_mask, causal=causal, need_weights=need_weights)
        return self.output(context), weights

    def prepare(self, keys: Tensor, mask: Tensor, values: Tensor | None = None) -> Memory:
        """Keys (B, S, key_dim) and mask (B, S) -> the memory with keys and values (B, H, S, E), to be reused.

        The values are the keys unless given, (B, S, value_dim).
        """
        k, v = self.split_heads(self.keys_values(keys, values))
        return Memory(k.contiguous(), v.contiguous(), mask)

    def project(self, x: Tensor) -> Tensor:
        """(..., query_dim) -> (..., 3D): query, key and value of each token, of a module made for self-attention."""
        if len(self.weights) > 1:
            raise ValueError("keys have a width of their own here: project the queries and the memory one by one")
        return F.linear(x, self.weights[0], self.bias)

    def queries(self, x: Tensor) -> Tensor:
        """(..., query_dim) -> (..., D)."""
        return F.linear(x, self.weights[0][: self.dim], self.bias[: self.dim])

    def keys_values(self, keys: Tensor, values: Tensor | None = None) -> Tensor:
        """(..., key_dim) -> (..., 2D), key and value, in one product unless there are `values` (..., value_dim)."""
        bias = self.bias[self.dim :]
        if values is None and len(self.weights) < 3:
            return F.linear(keys, self.weights[-1][-2 * self.dim :], bias)
        w_k, w_v = self.weights[1:] if len(self.weights) == 3 else self.weights[-1][-2 * self.dim :].chunk(2)
        k, v = F.linear(keys, w_k), F.linear(keys if values is None else values, w_v)
        return torch.cat([k, v], -1) + bias

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
        """q (B, H, L, E), k and v (B, H, S, E) -> contexts (B, L, D), weights (B, H, L, S) or None where not needed.

        `mask` is broadcast to (B, H, L, S).
        """
        length, size = q.shape[2], k.shape[2]
        ahead = causal and length > 1  # a single query is the last position: all of them are before it
        fused_causal = ahead and mask is None and length == size and not need_weights
        if ahead and not fused_causal:
            before = causal_mask(length, size, device=q.device)
            mask = before if mask is None else mask & before
        p = self.dropout if self.training else 0.0
        if need_weights:
            weights = masked_softmax((q * q.shape[-1] ** -0.5) @ k.transpose(2, 3), mask)
            context = F.dropout(weights, p) @ v
        else:
            weights = None
            context = F.scaled_dot_product_attention(q, k, v, mask, dropout_p=p, is_causal=fused_causal)
        return context.transpose(1, 2).flatten(2), weights
