"""Attention Is All You Need.

Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser, Illia
Polosukhin. NeurIPS 2017. https://arxiv.org/abs/1706.03762

Equations: stacks of layers section 3.1, attention (1) and multi-head attention 3.2, feed-forward nets (2), embeddings
3.4, positions 3.5, dropout on the output of each sublayer and on embeddings + positions 5.4. `neighbourhood` = r
restricts self-attention to |i - j| <= r / 2, section 4. The learning rate (3) is `scheduler=noam`.

What differs from the paper:
- Query, key, value and output projections and the vocabulary layer have biases; the paper's equations show none.
- LayerNorm adds torch's 1e-5 to the variance. The authors' tensor2tensor adds 1e-6; the paper names no number.
- `inner_dropout` acts on the attention weights and on the units of the feed-forward nets; it is 0 in the paper.
- Matrices start Xavier-uniform, embeddings normal with deviation D^-1/2; the paper does not say. With learned
  positions all tables start Xavier-uniform. Otherwise words, which are multiplied by sqrt(D), would start sqrt(D)
  times as large.
- `tied=all` ties the three matrices that the paper ties. It needs one vocabulary for both sides, so the default ties
  none.
- `norm=pre` normalises the input of a sublayer instead of its sum, and the end of each stack; the paper does not.
  `conf/model` sets it for short runs, in which it learns far more (results/translation.md). The paper's experiment
  sets `post`.
- Learned positions beyond the end of their table use its last row.

Notation: B sentences, K hypotheses, S source tokens, T target tokens, N real tokens of one side, V vocabulary, D
hidden_dim, H heads, E = D / H, t tokens read so far. Whatever treats each token separately runs on the real tokens
(N, D); only attention itself needs the padded grid.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention import MultiHeadAttention, neighbourhood_mask
from zoo.attention.softmax import needed
from zoo.data.batch import WritingBatch
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import LearnedPositions, Positions, TokenEmbedding, positions_called
from zoo.layers.history import appended
from zoo.layers.packing import Packing
from zoo.layers.state import Annotations, State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Norm = Literal["post", "pre"]
Tied = Literal["none", "target", "all"]

Attend = Callable[[MultiHeadAttention, Tensor], tuple[Tensor, Tensor | None]]
"""Applies a layer's attention: the module and tokens (..., D) -> contexts (..., D) and the weights."""


class Residual(nn.Module):
    """Residual connection around a sublayer f, section 3.1.

    post: LayerNorm(x + Dropout(f(x))); pre: x + Dropout(f(LayerNorm(x))).
    """

    def __init__(self, dim: int, dropout: float, norm: Norm) -> None:
        super().__init__()
        self.norm, self.dropout, self.pre = nn.LayerNorm(dim), nn.Dropout(dropout), norm == "pre"

    def before(self, x: Tensor) -> Tensor:
        """Input of the sublayer."""
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """Sum of x and the sublayer's output y."""
        x = x + (self.dropout(y) if self.training else y)  # a step of decoding comes here often
        return x if self.pre else self.norm(x)


class Layer(nn.Module):
    """Self-attention, attention to the source (`cross`, in the decoder) and the feed-forward net."""

    def __init__(
        self, dim: int, heads: int, feedforward_dim: int, dropout: tuple[float, float], norm: Norm, *, cross: bool
    ) -> None:
        """`dropout` holds two rates: for the outputs of the sublayers and for their inner units."""
        super().__init__()
        outer, inner = dropout
        self.self_attention = MultiHeadAttention(dim, heads, dropout=inner)
        self.self_attention_residual = Residual(dim, outer, norm)
        if cross:
            self.cross_attention = MultiHeadAttention(dim, heads, cross=True, dropout=inner)
            self.cross_attention_residual = Residual(dim, outer, norm)
        self.feedforward = nn.Sequential(
            Linear(dim, feedforward_dim), nn.ReLU(inplace=True), nn.Dropout(inner), Linear(feedforward_dim, dim)
        )
        self.feedforward_residual = Residual(dim, outer, norm)
        for linear in self.feedforward:
            if isinstance(linear, nn.Linear):
                nn.init.xavier_uniform_(linear.weight)
                nn.init.zeros_(linear.bias)

    def forward(
        self, x: Tensor, attend_self: Attend, attend_source: Attend | None = None
    ) -> tuple[Tensor, list[Tensor | None]]:
        """(..., D) -> (..., D), and the weights of self-attention and of attention to the source."""
        y, weights = attend_self(self.self_attention, self.self_attention_residual.before(x))
        x, attention = self.self_attention_residual.after(x, y), [weights]
        if attend_source is not None:
            y, weights = attend_source(self.cross_attention, self.cross_attention_residual.before(x))
            x = self.cross_attention_residual.after(x, y)
            attention.append(weights)
        y = self.feedforward(self.feedforward_residual.before(x))  # (2)
        return self.feedforward_residual.after(x, y), attention


def attend_among(packing: Packing, mask: Tensor | None, *, causal: bool, need_weights: bool) -> Attend:
    """Self-attention among the tokens of each row; `mask` is broadcast to (B, H, T, T), True at keys to attend to."""

    def attend(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
        q, k, v = module.split_heads(packing.unpack(module.project(y)))  # (B, H, T, E) each
        context, a = module.attend(q, k, v, mask, causal=causal, need_weights=need_weights)
        return module.output(packing.pack(context)), a

    return attend


def attend_on(
    module: MultiHeadAttention, y: Tensor, history: Tensor, visible: Tensor | None, gone: int = 0
) -> tuple[Tensor, Tensor]:
    """Self-attention of one token of each hypothesis, y (B, K, D), to all that were read before and to those.

    Args:
        module: the self-attention of a layer.
        y: (B, K, D) input of the sublayer.
        history: (B, n, 2D) keys and values of the tokens read before.
        visible: (B, 1, K, n + K - gone) the mask of the tokens that each hypothesis can see; None if all.
        gone: how many of the first tokens are dropped.

    Returns:
        The output (B, K, D) of the sublayer, and the history (B, n + K - gone, 2D) with the new tokens.
    """
    q, new = module.project(y).split([module.dim, 2 * module.dim], -1)  # (B, K, D), (B, K, 2D)
    seen = appended(history, new)  # (B, n + K, 2D)
    seen = seen[:, gone:] if gone else seen  # a slice has no room for the next token
    (q,), (k, v) = (module.split_heads(part) for part in (q, seen))  # (B, H, K or n + K, E)
    context, _ = module.attend(q, k, v, visible, need_weights=False)  # (B, K, D)
    return module.output(context), seen


def end_norm(norm: Norm, dim: int) -> nn.Module:
    """Normalisation at the end of a stack of layers; the identity for `post`."""
    return nn.LayerNorm(dim) if norm == "pre" else nn.Identity()


def initialise(vocabulary: nn.Linear, tables: Sequence[nn.Module]) -> None:
    """Start the vocabulary layer and the `tables` of words and of positions; see the header."""
    nn.init.xavier_uniform_(vocabulary.weight)
    nn.init.zeros_(vocabulary.bias)
    learned = any(isinstance(table, LearnedPositions) for table in tables)
    for table in tables:
        if isinstance(table, nn.Embedding) and learned:
            nn.init.xavier_uniform_(table.weight)
        elif isinstance(table, nn.Embedding):
            nn.init.normal_(table.weight, 0.0, vocabulary.in_features**-0.5)


def word_tables(spec: PairSpec | CopySpec, dim: int, tied: Tied) -> tuple[TokenEmbedding, TokenEmbedding]:
    """The embeddings of target and source words, the same one with `tied=all`. Raises ValueError for `tied=all` without
    a shared vocabulary."""
    if tied == "all" and not spec.shared:
        raise ValueError("tied=all uses one matrix for both embeddings: it needs one vocabulary for both sides")
    target = TokenEmbedding(spec.target_size, dim)
    return target, target if tied == "all" else TokenEmbedding(spec.source_size, dim)


class TransformerDecoder(WritingNetwork):
    """The decoder, which attends to the `Annotations` of any source.

    A subclass builds the modules declared here, in its own order, and encodes the source.
    """

    dim: int
    neighbourhood: int | None
    target_embedding: TokenEmbedding
    target_positions: nn.Module
    decoder: nn.ModuleList
    decoder_norm: nn.Module
    vocabulary: nn.Linear
    dropout: nn.Dropout

    @abstractmethod
    def encode(self, batch: Any, need_weights: bool) -> tuple[Annotations, dict[str, Tensor]]:
        """The encoder's output at the positions of the source, and its attention."""

    def forward(self, batch: WritingBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of every real target position, and attention `decoder.<layer>` (B, H, T, T) and
        `source.<layer>` (B, H, T, S), with that of the encoder."""
        read, rows, target = batch.forced
        source, attention = self.encode(batch, need_weights)
        mask = source.mask[:, None, None]  # (B, 1, 1, S)
        attend_self = attend_among(target, self._near(rows), causal=True, need_weights=need_weights)

        def attend_source(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
            (q,) = module.split_heads(target.unpack(module.queries(y)))  # (B, H, T, E)
            k, v = _keys_values(module, source)  # (B, H, S, E) each
            context, a = module.attend(q, k, v, mask, need_weights=need_weights)
            return module.output(target.pack(context)), a

        x = self._embed_all(self.target_embedding, self.target_positions, read, target)  # (N, D)
        for number, layer in enumerate(self.decoder):
            x, (self_weights, source_weights) = layer(x, attend_self, attend_source)
            if need_weights:
                attention[f"decoder.{number}"] = real_rows(self_weights, rows)
                attention[f"source.{number}"] = real_rows(source_weights, rows)
        return Output(self.vocabulary(self.decoder_norm(x)), attention)

    def start(self, batch: WritingBatch) -> State:
        """Encodes the sources, and projects keys and values for every layer, once."""
        source, _ = self.encode(batch, False)
        memory = {"mask": source.mask}
        hypotheses = {"position": source.mask.new_zeros(source.mask.shape[0], 1, dtype=torch.long)}
        hypotheses["own"] = hypotheses["position"].new_zeros(source.mask.shape[0], 1, 0)  # (B, 1, 0)
        history = {}
        for number, layer in enumerate(self.decoder):
            assert isinstance(layer, Layer)
            keys, values = (part.contiguous() for part in _keys_values(layer.cross_attention, source))  # (B, H, S, E)
            memory |= {f"keys.{number}": keys, f"values.{number}": values}
            history[f"read.{number}"] = keys.new_zeros(keys.shape[0], 0, 2 * self.dim)  # (B, 0, 2D)
        return State(memory, hypotheses, history=history)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities.

        The history of a layer is the keys and values (B, n, 2D) of all tokens that the hypotheses of an example read;
        `own` (B, K, t) has the numbers of those that a hypothesis can see.
        """
        before, position = state.hypotheses, state.hypotheses["position"]
        mask = needed(state.memory["mask"][:, None, None])  # (B, 1, 1, S); without padding there is nothing to mask
        own, visible, gone = self._own(before["own"], tokens, state.history["read.0"].shape[1])
        after, history, attention = {"position": position + 1, "own": own}, {}, {}
        x = self._embed(self.target_embedding, tokens, self.target_positions(position))  # (B, K, D)
        for number, layer in enumerate(self.decoder):

            def attend_self(module: MultiHeadAttention, y: Tensor, name: str = f"read.{number}") -> tuple[Tensor, None]:
                output, history[name] = attend_on(module, y, state.history[name], visible, gone)
                return output, None

            def attend_source(module: MultiHeadAttention, y: Tensor, number: int = number) -> tuple[Tensor, Tensor]:
                (q,) = module.split_heads(module.queries(y))  # (B, H, K, E): the hypotheses are the queries
                keys, values = (state.memory[f"{name}.{number}"] for name in ("keys", "values"))  # (B, H, S, E)
                context, a = module.attend(q, keys, values, mask)
                assert a is not None
                return module.output(context), a.transpose(1, 2)

            x, (_, attention[f"source.{number}"]) = layer(x, attend_self, attend_source)
        logits = self.vocabulary(self.decoder_norm(x))  # (B, K, V)
        return Step(log_probabilities(logits), State(state.memory, after, history=history), attention)

    def _own(self, own: Tensor, tokens: Tensor, count: int) -> tuple[Tensor, Tensor | None, int]:
        """The numbers (B, K, t + 1) of the tokens that each hypothesis can see, with the one that it reads now; a mask
        (B, 1, K, n + K) of these among all, None where they are all; and how many of the first nobody sees any more.
        `own` is (B, K, t), and `count` is n."""
        rows, hypotheses, gone = tokens.shape[0], tokens.shape[1], 0
        new = torch.arange(count, count + hypotheses, device=own.device)
        own = torch.cat([own, new[:, None].expand(rows, -1, 1)], 2)
        if self.neighbourhood is not None:  # neither this token nor a later one sees tokens before this slice
            own = own[:, :, -(self.neighbourhood // 2 + 1) :]
            gone = int(own.min())
            own = own - gone
        width = count + hypotheses - gone
        if not torch.compiler.is_compiling() and own.shape[2] == width:
            return own, None, gone
        return own, own.new_zeros(rows, hypotheses, width, dtype=torch.bool).scatter(2, own, True)[:, None], gone

    def _embed_all(self, embedding: nn.Module, positions: nn.Module, tokens: Tensor, packing: Packing) -> Tensor:
        """Tokens (B, T) -> (N, D) at the real ones."""
        table = positions(torch.arange(packing.shape[-1], device=tokens.device))  # (T, D)
        return self._embed(embedding, packing.pack(tokens), table.index_select(0, packing.time))

    def _embed(self, embedding: nn.Module, tokens: Tensor, positions: Tensor) -> Tensor:
        """Tokens (...) and their positions (..., D) -> (..., D)."""
        return self.dropout(embedding(tokens) * sqrt(self.dim) + positions)

    def _near(self, mask: Tensor) -> Tensor | None:
        """The mask (T, T) of restricted self-attention among the positions of `mask` (B, T)."""
        if self.neighbourhood is None:
            return None
        length = mask.shape[-1]
        return neighbourhood_mask(length, length, self.neighbourhood, device=mask.device)

    def _initialise(self, tables: Sequence[nn.Module], *, tied: bool) -> None:
        """Start the vocabulary layer and the `tables` of words and of positions."""
        initialise(self.vocabulary, tables)
        if tied:
            self.vocabulary.weight = self.target_embedding.weight


class Transformer(TransformerDecoder):
    """Self-attention instead of recurrence, on both sides; every decoder layer attends to the encoder's output.

    `norm` = post (the paper's) | pre. `positions` = sinusoidal | learned; learned tables are as long as the longest
    source and target. `tied` = none | target (vocabulary layer and target embedding are one matrix) | all (the source
    embedding too). `neighbourhood` = r: self-attention sees r // 2 positions to each side; None: all positions.

    Raises ValueError for `tied=all` without a shared vocabulary, and for a width that the number of heads does not
    divide, or that is odd with sinusoidal positions.
    """

    tasks = ("translation", "summarization")
    attends = {"source": "memory_mask", "encoder": "memory_mask", "decoder": "target_mask"}

    def __init__(
        self,
        spec: PairSpec | CopySpec,
        *,
        hidden_dim: Count = 512,
        layers: Count = 6,
        heads: Count = 8,
        feedforward_dim: Count = 2048,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        positions: Positions = "sinusoidal",
        tied: Tied = "none",
        neighbourhood: Count | None = None,
    ) -> None:
        super().__init__()
        self.dim, self.neighbourhood = hidden_dim, neighbourhood
        if neighbourhood is not None:
            self.not_exported = f"keeps the last {neighbourhood // 2 + 1} tokens, fewer at the first steps"
        self.target_embedding, self.source_embedding = word_tables(spec, hidden_dim, tied)
        self.source_positions, self.target_positions = (
            positions_called(positions, longest, hidden_dim) for longest in (spec.longest_source, spec.longest_target)
        )
        self.encoder, self.decoder = (
            nn.ModuleList(
                Layer(hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm, cross=cross)
                for _ in range(layers)
            )
            for cross in (False, True)
        )
        self.encoder_norm, self.decoder_norm = (end_norm(norm, hidden_dim) for _ in range(2))
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)
        tables = [self.source_embedding, self.target_embedding, self.source_positions, self.target_positions]
        self._initialise(tables, tied=tied != "none")

    def encode(self, batch: PairBatch | CopyBatch, need_weights: bool) -> tuple[Annotations, dict[str, Tensor]]:
        """The encoder's output at the real tokens of the source, and its attention `encoder.<layer>` (B, H, S, S)."""
        packing, attention = batch.source_packing, {}
        mask, near = batch.source_mask[:, None, None], self._near(batch.source_mask)
        mask = mask if near is None else mask & near
        attend_self = attend_among(packing, mask, causal=False, need_weights=need_weights)
        x = self._embed_all(self.source_embedding, self.source_positions, batch.source, packing)
        for number, layer in enumerate(self.encoder):
            x, (weights,) = layer(x, attend_self)
            if need_weights:
                attention[f"encoder.{number}"] = real_rows(weights, batch.source_mask)
        return Annotations.of_tokens(self.encoder_norm(x), packing, batch.source_mask), attention


def _keys_values(module: MultiHeadAttention, source: Annotations) -> tuple[Tensor, ...]:
    """Keys and values (B, H, S, E) of the source in one layer."""
    return module.split_heads(source.laid_out(module.keys_values(source.vectors)))


def real_rows(weights: Tensor, mask: Tensor) -> Tensor:
    """Weights (B, H, T, S) with zeros where the query (B, T) is padding."""
    return weights.masked_fill(~mask[:, None, :, None], 0.0)
