"""Convolutional Sequence to Sequence Learning.

Jonas Gehring, Michael Auli, David Grangier, Denis Yarats, Yann N. Dauphin. ICML 2017. https://arxiv.org/abs/1705.03122

Equations: position embeddings section 3.1, blocks of gated convolutions and residuals 3.2, attention in every decoder
layer 3.3 equations (1)-(2), scaling of sums, contexts and gradients 3.4, initialisation 3.5.

What differs from the paper (as in the authors' code, fairseq, unless stated otherwise):
- The sums in query and value are scaled too: d = (W h + b + g) sqrt(1/2), v = (z + e) sqrt(1/2). In each layer a
  linear map takes the context back to d channels.
- The paper divides the encoder's gradient by the number of attention layers, except that of the embeddings. Here the
  gradient into z is divided, by twice that number. The gradient that reaches e through a value is not divided.
- Dropout acts on an embedding once; queries and values use the same dropped embedding.
- A position beyond the end of its table uses the table's last row (fairseq stops).

Notation: B sentences, K hypotheses, S source words, T target words, N real words of one side, V vocabulary, f
embedding, d channels of a layer, k kernel size, L decoder layers; e, g embedded source and target words, h a layer's
output, z the encoder's output.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention import masked_softmax
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.convolution import ROOT_HALF, GatedConvolution, WeightNormLinear, window_index, windows
from zoo.layers.embedding import LearnedPositions, TokenEmbedding
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Attend = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Queries (..., f) -> contexts (..., f) and weights."""


class ConvS2S(WritingNetwork):
    """Gated convolutions on both sides; every decoder layer attends to the source with projections of its own.

    `encoder_layers` and `decoder_layers` are each a number of layers with `hidden_dim` channels and kernel size
    `kernel_size`, or a list with [channels, kernel] of each layer. `positions` is the length of the position tables.
    Raises ValueError for a side without layers and for an even encoder kernel.
    """

    tasks = ("translation",)
    attends = {"source": "memory_mask"}

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 512,
        encoder_layers: Count | list[list[Count]] = 20,
        decoder_layers: Count | list[list[Count]] = 20,
        hidden_dim: Count = 512,
        kernel_size: Count = 3,
        output_dim: Count = 512,
        positions: Count = 1024,
        dropout: Share = 0.1,
    ) -> None:
        super().__init__()
        encoder = self.encoder_sizes = _sizes("encoder_layers", encoder_layers, hidden_dim, kernel_size)
        decoder = self.decoder_sizes = _sizes("decoder_layers", decoder_layers, hidden_dim, kernel_size)
        if even := [kernel for _, _, kernel in encoder if kernel % 2 == 0]:
            raise ValueError(f"encoder kernels must be odd, so that each has a middle; got {even[0]}")
        keep = 1 - dropout
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.source_positions = LearnedPositions(positions, embedding_dim)
        self.encoder_in = WeightNormLinear(embedding_dim, encoder[0][0], gain=keep)
        self.encoder = nn.ModuleList(EncoderBlock(*sizes, keep) for sizes in encoder)
        self.encoder_out = WeightNormLinear(encoder[-1][1], embedding_dim)
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        self.target_positions = LearnedPositions(positions, embedding_dim)
        self.decoder_in = WeightNormLinear(embedding_dim, decoder[0][0], gain=keep)
        self.decoder = nn.ModuleList(DecoderBlock(*sizes, embedding_dim, keep) for sizes in decoder)
        self.decoder_out = WeightNormLinear(decoder[-1][1], output_dim)
        self.vocabulary = WeightNormLinear(output_dim, spec.target_size, gain=keep)
        self.dropout = nn.Dropout(dropout)
        for table in (self.source_embedding, self.source_positions, self.target_embedding, self.target_positions):
            nn.init.normal_(table.weight, 0.0, 0.1)
        with torch.no_grad():
            self.source_embedding.weight[spec.padding] = 0
            self.target_embedding.weight[spec.padding] = 0

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of every real target position; attention `source.<layer>` (B, T, S)."""
        read, real, packing = batch.forced
        keys, values = self._encode(batch)  # (B, S, f) both
        mask = real[:, :, None] & batch.source_mask[:, None]  # (B, T, S)

        def attend(queries: Tensor) -> tuple[Tensor, Tensor]:
            contexts, a = _attend(packing.unpack(queries), keys, values, mask)
            return packing.pack(contexts), a

        g = self.dropout(self.target_embedding(packing.pack(read)) + self.target_positions(packing.time))
        h = self.decoder_in(g)  # (N, d)
        index = {k: window_index(packing, k, causal=True) for k in {kernel for _, _, kernel in self.decoder_sizes}}
        attention = {}
        for layer, (block, (_, _, kernel)) in enumerate(zip(self.decoder, self.decoder_sizes, strict=True)):
            frames = windows(self.dropout(h), index[kernel])  # (N, k d)
            h, a = block(h, frames, g, attend)
            if need_weights:
                attention[f"source.{layer}"] = a
        return Output(self.vocabulary(self.dropout(self.decoder_out(h))), attention)

    def start(self, batch: PairBatch) -> State:
        """Encodes the sources and computes the decoder's weight norms, once; no frame has been read yet."""
        keys, values = self._encode(batch)
        memory = {"keys": keys, "values": values, "mask": batch.source_mask[:, None]}
        count = keys.shape[0]
        for name, layer in self.named_modules():
            if isinstance(layer, WeightNormLinear) and not name.startswith("encoder"):
                memory[f"scale.{name}"] = layer.scale().expand(count, 1, -1)  # (B, 1, outputs)
        hypotheses = {"position": batch.source.new_zeros(count, 1)}
        for number, (inputs, _, kernel) in enumerate(self.decoder_sizes):
            hypotheses[f"frames.{number}"] = keys.new_zeros(count, 1, kernel - 1, inputs)
        return State(memory, hypotheses)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities.

        The state of a layer is the last k - 1 frames that it read, (B, K, k - 1, d).
        """
        memory, before = state.memory, state.hypotheses

        def attend(queries: Tensor) -> tuple[Tensor, Tensor]:
            return _attend(queries, memory["keys"], memory["values"], memory["mask"])

        g = self.dropout(self.target_embedding(tokens) + self.target_positions(before["position"]))  # (B, K, f)
        h = self.decoder_in(g, memory["scale.decoder_in"])  # (B, K, d)
        after, attention = {"position": before["position"] + 1}, {}
        for layer, block in enumerate(self.decoder):
            frames = torch.cat([before[f"frames.{layer}"], self.dropout(h)[:, :, None]], 2)  # (B, K, k, d)
            after[f"frames.{layer}"] = frames[:, :, 1:]
            scales = {name: memory[f"scale.decoder.{layer}.{name}"] for name, _ in block.named_children()}
            h, attention[f"source.{layer}"] = block(h, frames.flatten(2), g, attend, scales)
        h = self.dropout(self.decoder_out(h, memory["scale.decoder_out"]))
        logits = self.vocabulary(h, memory["scale.vocabulary"])  # (B, K, V)
        return Step(log_probabilities(logits), State(memory, after), attention)

    def _encode(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Keys z and values (z + e) sqrt(1/2) sqrt(S), (B, S, f) both.

        The paper multiplies a context by S sqrt(1/S), where S is the length of the sentence; here the values include
        this factor.
        """
        packing = batch.source_packing
        e = self.dropout(self.source_embedding(packing.pack(batch.source)) + self.source_positions(packing.time))
        h = self.encoder_in(e)  # (N, d)
        index = {k: window_index(packing, k, causal=False) for k in {kernel for _, _, kernel in self.encoder_sizes}}
        for block, (_, _, kernel) in zip(self.encoder, self.encoder_sizes, strict=True):
            h = block(h, windows(self.dropout(h), index[kernel]))
        z = _ScaleGradient.apply(self.encoder_out(h), 0.5 / len(self.decoder))  # (N, f)
        length = batch.source_mask.sum(1).index_select(0, packing.row)[:, None]  # (N, 1)
        return packing.unpack(z), packing.unpack((z + e) * ROOT_HALF * length.to(z.dtype).sqrt())


class EncoderBlock(nn.Module):
    """A gated convolution and a residual connection, from `inputs` to `channels` channels."""

    def __init__(self, inputs: int, channels: int, kernel: int, keep: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(inputs, channels, kernel, gain=4 * keep)
        self.residual = WeightNormLinear(inputs, channels) if inputs != channels else None

    def forward(self, h: Tensor, frames: Tensor) -> Tensor:
        """(..., inputs) and the windows (..., k * inputs) -> (..., channels)."""
        through = h if self.residual is None else self.residual(h)
        return (self.convolution(frames) + through) * ROOT_HALF


class DecoderBlock(nn.Module):
    """A gated convolution, attention to the source and a residual connection around both."""

    def __init__(self, inputs: int, channels: int, kernel: int, embedding_dim: int, keep: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(inputs, channels, kernel, gain=4 * keep)
        self.query = WeightNormLinear(channels, embedding_dim)
        self.context = WeightNormLinear(embedding_dim, channels)
        self.residual = WeightNormLinear(inputs, channels) if inputs != channels else None

    def forward(
        self, h: Tensor, frames: Tensor, g: Tensor, attend: Attend, scales: Mapping[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """(..., inputs), the windows (..., k * inputs) and embedded words (..., f) -> (..., channels) and the weights.

        `scales` maps the name of a linear map to its weight norm's factor, if it has been computed already.
        """
        scales = scales or {}
        through = h if self.residual is None else self.residual(h, scales.get("residual"))
        h = self.convolution(frames, scales.get("convolution"))
        d = (self.query(h, scales.get("query")) + g) * ROOT_HALF  # (..., f)    (1)
        c, a = attend(d)  # (..., f)    (2)
        h = (self.context(c, scales.get("context")) + h) * ROOT_HALF
        return (h + through) * ROOT_HALF, a


class _ScaleGradient(torch.autograd.Function):
    """The identity, whose gradient is multiplied by `factor`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient * ctx.factor, None


def _attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Contexts (B, Q, f) and weights (B, Q, S) of Q queries; scores are dot products, unscaled.    (2)"""
    a = masked_softmax(torch.bmm(queries, keys.transpose(1, 2)), mask)  # (B, Q, S)
    return torch.bmm(a, values), a


def _sizes(key: str, layers: int | list[list[int]], channels: int, kernel: int) -> list[tuple[int, int, int]]:
    """(inputs, channels, kernel) of each layer; the inputs are the previous layer's channels, at first its own."""
    sizes = [[channels, kernel]] * layers if isinstance(layers, int) else layers
    if not sizes or any(len(size) != 2 or min(size) < 1 for size in sizes):
        raise ValueError(f"{key} is a number of layers or a list of [channels, kernel], all positive; got {layers}")
    before = [sizes[0], *sizes[:-1]]
    return [(inputs, size[0], size[1]) for (inputs, _), size in zip(before, sizes, strict=True)]
