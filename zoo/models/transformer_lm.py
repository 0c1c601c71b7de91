"""Attention Is All You Need: the decoder alone, as a language model.

Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser, Illia
Polosukhin. NeurIPS 2017. https://arxiv.org/abs/1706.03762

Equations: those in the header of `transformer`, whose layers run here without attention to a source: masked
self-attention section 3.2.3, feed-forward nets (2), embeddings 3.4, positions 3.5.

What differs from the paper:
- The decoder reads only the text that it continues, as T-D of Liu et al. 2018 does (https://arxiv.org/abs/1801.10198).
  Each token predicts the next one.
- Biases, `norm`, `positions`, `inner_dropout` and the initial weights are those of `transformer`. `tied`: the
  vocabulary layer and the embedding are one matrix.
- A text may be longer than the context of w tokens (`window`). Token p < w sees all tokens before it. When the context
  is full, its oldest s = w // 2 tokens are dropped, and the rest is read anew as positions 0, 1, ... So every later
  token sees at least w - s and at most w tokens, itself included, and no position beyond the context is ever used:
  neither the sines nor the table of learned positions, which has w rows, are read where training did not reach. This
  needs `window` to be at most the length of the training windows (data.window.length).
- Training reads each window of the data as a text of its own. Validation, test and predictions carry the context.

Notation: B columns, K hypotheses, T tokens of a window, N tokens of all columns, V vocabulary, D hidden_dim, H heads, w
window, n tokens in the history, R rows of a grid.
"""

from collections.abc import Mapping
from math import prod, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention import MultiHeadAttention
from zoo.attention.softmax import needed
from zoo.data.language.batch import LanguageSpec
from zoo.layers.embedding import Positions, TokenEmbedding, positions_called
from zoo.layers.history import appended
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import Read, StreamNetwork, prompts
from zoo.models.transformer import Layer, Norm, attend_on, end_norm, initialise, real_rows


class TransformerLanguageModel(StreamNetwork):
    """Masked self-attention over the last tokens of a text.

    `norm` = post (the paper's) | pre. `positions` = sinusoidal | learned. `window` is the length of the context.

    Raises ValueError for a width that the number of heads does not divide, or that is odd with sinusoidal positions.
    """

    tasks = ("language_modeling",)
    attends = {"self": "target_mask"}
    not_exported = "drops the oldest tokens of a context when it is full"

    def __init__(
        self,
        spec: LanguageSpec,
        *,
        hidden_dim: Count = 512,
        layers: Count = 6,
        heads: Count = 8,
        feedforward_dim: Count = 2048,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        positions: Positions = "sinusoidal",
        tied: bool = False,
        window: Count = 256,
    ) -> None:
        super().__init__()
        self.dim, self.window = hidden_dim, window
        self.context = window
        self.embedding = TokenEmbedding(spec.vocabulary_size, hidden_dim)
        self.positions = positions_called(positions, window, hidden_dim)
        self.layers = nn.ModuleList(
            Layer(hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm, cross=False)
            for _ in range(layers)
        )
        self.norm = end_norm(norm, hidden_dim)
        self.vocabulary = Linear(hidden_dim, spec.vocabulary_size)
        self.dropout = nn.Dropout(dropout)
        initialise(self.vocabulary, [self.embedding, self.positions])
        if tied:
            self.vocabulary.weight = self.embedding.weight

    @property
    def carries(self) -> bool:  # type: ignore[override]
        """Training windows do not continue each other: the context would be read anew for each of them."""
        return not self.training

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """The last layer's output (N, D), attention `self.<layer>` (B, H, T, S), and the `words` (B, w - 1) of the
        context of the next token, the newest last, -1 before them. The tokens are ids; a step reads probabilities too.
        """
        known = self.window - 1
        before = tokens.new_full((packing.shape[0], known), -1) if carried is None else carried["words"]
        words = torch.cat([before, packing.unpack(tokens + 1) - 1], 1)  # (B, w - 1 + T), -1 at padding
        begin, stop = (before < 0).sum(1), known + (words[:, known:] >= 0).sum(1)
        new = packing.shape[1]
        *places, (last, _) = contexts(begin, torch.full_like(begin, known), stop, self.window, new)
        column = stop[:, None] - torch.arange(known, 0, -1, device=words.device)
        after = {"words": words.gather(1, column).where(column >= last[:, None], -1)}
        if carried is None and new <= self.window:
            x, weights, _ = self._stack(self.embedding(tokens), packing, need_weights)
            return Read(x, after, weights)
        states, attention = self.embedding.weight.new_zeros(prod(packing.shape), self.dim), dict[str, Tensor]()
        for first, fresh in places:
            if not (fresh < stop).any():
                break
            column = first[:, None] + torch.arange(self.window, device=words.device)  # (B, w)
            mask = (column < stop[:, None]) & (fresh < stop)[:, None]
            column, inside = column.where(mask, 0), Packing.of(mask)
            x, weights, _ = self._stack(self.embedding(inside.pack(words.gather(1, column))), inside, need_weights)
            kept = inside.pack(column >= fresh[:, None])
            row = inside.row[kept]
            cell = row * new + inside.pack(column)[kept] - known  # in (B, T)
            states = states.to(x.dtype).index_copy(0, cell, x[kept])
            for name, part in weights.items():
                own = inside.pack(part.transpose(1, 2))[kept]  # (new tokens, H, w)
                seen = own.new_zeros(*own.shape[:2], words.shape[1])
                seen = seen.scatter_add(2, column.index_select(0, row)[:, None].expand_as(own), own)
                found = attention.get(name, own.new_zeros(len(states), *seen.shape[1:]))
                attention[name] = found.index_copy(0, cell, seen)
        none = known if carried is None else 0  # columns without a token
        laid_out = {name: part.view(*packing.shape, *part.shape[1:])[..., none:] for name, part in attention.items()}
        weights = {name: part.transpose(1, 2) for name, part in laid_out.items()}  # (B, H, T, S)
        return Read(packing.pack(states.view(*packing.shape, -1)), after, weights)

    def start(self, batch: Any) -> State:
        """Reads the prompts: keys and values of their contexts in every layer."""
        tokens, packing, first = prompts(batch)
        words, length = packing.unpack(tokens), packing.unpack(torch.ones_like(tokens)).sum(1)  # (B, P), (B,)
        begin, _ = contexts(length * 0, length * 0, length, self.window, words.shape[1])[-1]
        count = length - begin
        place = torch.arange(int(count.max()), device=words.device)
        mask = place < count[:, None]  # (B, n)
        context = Packing.of(mask)
        ids = words.gather(1, (begin[:, None] + place).where(mask, 0))
        embedded = self.embedding(context.pack(ids))
        _, _, history = self._stack(embedded, context)
        history["tokens"] = context.unpack(embedded)
        return State({}, {"position": count[:, None], "seen": mask[:, None]}, first=first, history=history)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities.

        The history is the embedded `tokens` (B, n, D) that the hypotheses of an example read, and of each layer their
        keys and values `read.<layer>` (B, n, 2D). `seen` (B, K, n) is True at those in the context of a hypothesis, and
        `position` (B, K) is their number.
        """
        if (state.hypotheses["position"] == self.window).any():
            state = self._moved(state)
        position, seen = state.hypotheses["position"], state.hypotheses["seen"]
        rows, count = position.shape
        own = torch.eye(count, dtype=torch.bool, device=seen.device).expand(rows, -1, -1)
        seen = torch.cat([seen, own], 2)  # (B, K, n + K)
        visible = needed(seen[:, None])
        embedded = self.embedding(tokens)  # (B, K, D)
        history = {"tokens": appended(state.history["tokens"], embedded)}
        x = self._embed(embedded, position)
        for number, layer in enumerate(self.layers):

            def attend(module: MultiHeadAttention, y: Tensor, name: str = f"read.{number}") -> tuple[Tensor, None]:
                output, history[name] = attend_on(module, y, state.history[name], visible)
                return output, None

            x, _ = layer(x, attend)
        after = {"position": position + 1, "seen": seen}
        return Step(log_probabilities(self.vocabulary(self.norm(x))), State({}, after, history=history), {})

    def _stack(
        self, embedded: Tensor, packing: Packing, need_weights: bool = False
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """All layers over texts from their beginnings, as long as the context at most: (N, D) -> (N, D), the attention,
        and keys and values `read.<layer>` (R, n, 2D)."""
        mask = packing.numbers() > 0
        attention, history = dict[str, Tensor](), dict[str, Tensor]()
        x = self._embed(embedded, packing.time)
        for number, layer in enumerate(self.layers):

            def attend(
                module: MultiHeadAttention, y: Tensor, name: str = f"read.{number}"
            ) -> tuple[Tensor, Tensor | None]:
                projected = packing.unpack(module.project(y))  # (R, n, 3D)
                history[name] = projected[..., self.dim :]
                heads = module.split_heads(projected)
                context, a = module.attend(*heads, causal=True, need_weights=need_weights)
                return module.output(packing.pack(context)), a

            x, (weights,) = layer(x, attend)
            if need_weights:
                attention[f"self.{number}"] = real_rows(weights, mask)
        return self.norm(x), attention, history

    def _embed(self, embedded: Tensor, positions: Tensor) -> Tensor:
        return self.dropout(embedded * sqrt(self.dim) + self.positions(positions))

    def _moved(self, state: State) -> State:
        """The state in which the full contexts have lost their oldest tokens, and all are read anew."""
        position, seen = state.hypotheses["position"], state.hypotheses["seen"]
        gone = (position == self.window) * dropped(self.window)
        left = position - gone  # (B, K)
        place = torch.arange(int(left.max()), device=seen.device)
        mask = place < left[..., None]  # (B, K, n')
        order = seen.int().argsort(dim=2, descending=True, stable=True)  # the tokens of a context come first
        chosen = order.gather(2, (gone[..., None] + place).where(mask, 0)).flatten(1)  # (B, K n')
        embedded = state.history["tokens"]
        embedded = embedded.gather(1, chosen[..., None].expand(-1, -1, self.dim)).unflatten(1, mask.shape[1:])
        packing = Packing.of(mask.flatten(0, 1))
        _, _, history = self._stack(packing.pack(embedded.flatten(0, 1)), packing)
        history["tokens"] = embedded.flatten(0, 1)
        history = {name: part.unflatten(0, mask.shape[:2]).flatten(1, 2) for name, part in history.items()}
        own = torch.eye(mask.shape[1], dtype=torch.bool, device=seen.device)[:, :, None]
        return State({}, {"position": left, "seen": (own & mask[:, None]).flatten(2)}, history=history)


def contexts(first: Tensor, known: Tensor, stop: Tensor, window: int, most: int) -> list[tuple[Tensor, Tensor]]:
    """Where the contexts lie that read the tokens `known` to `stop` (B,) of texts that begin at `first` (B,): the first
    token of each, and the first that no context before had. The last one is the context of the next token.

    There are as many as `most` tokens may need, so that no step of training waits for a device. Some may read nothing.
    """
    found = [(first, known)]
    for _ in range(1 + max(0, -(-(most - 1) // dropped(window)))):  # the first reads a token, each other one s
        until = torch.minimum(first + window, stop)
        first = first + dropped(window) * (until - first == window)
        found.append((first, until))
    return found


def dropped(window: int) -> int:
    """s, the number of tokens that a full context loses."""
    return max(1, window // 2)
