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
from torch.nn import functional as F

from zoo.arguments import Count, Share
from zoo.attention import masked_softmax
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import LearnedPositions, TokenEmbedding
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

ROOT_HALF = 0.5**0.5  # keeps the variance of a sum of two

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


def window_index(packing: Packing, kernel: int, *, causal: bool) -> Tensor:
    """(N, k) the packed positions that each position's window holds, counted from 1, in the order of time.

    A causal window ends at its position; any other has its position in the middle. Outside the row a window holds the
    index 0, and `windows` reads zeros there. Raises ValueError for an even `kernel` that is not causal, since it has no
    middle.
    """
    if not causal and kernel % 2 == 0:
        raise ValueError(f"a centred window has an odd number of frames, got {kernel}")
    before = kernel - 1 if causal else kernel // 2
    framed = F.pad(packing.numbers(), (before, kernel - 1 - before))
    return framed.unfold(1, kernel, 1).flatten(0, 1).index_select(0, packing.cell)


def windows(frames: Tensor, index: Tensor) -> Tensor:
    """(N, d) frames and (N, k) `window_index` -> (N, k * d): the frames of each window side by side."""
    with_zeros = torch.cat([frames.new_zeros(1, frames.shape[1]), frames])
    return with_zeros.index_select(0, index.flatten()).view(index.shape[0], index.shape[1] * frames.shape[1])


class WeightNormLinear(nn.Module):
    """y = W x + b with the rows of W split into direction and length: W_o = g_o V_o / |V_o|.

    Salimans and Kingma 2016, equation 2; torch.nn.utils.parametrizations.weight_norm of torch.nn.Linear, without its
    hooks. At the start W = V ~ N(0, gain / I), g = |V| and b = 0.
    """

    def __init__(self, in_features: int, out_features: int, *, gain: float = 1.0) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(out_features, in_features) * (gain / in_features) ** 0.5)
        self.length = nn.Parameter(self.direction.detach().norm(dim=1))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def weight(self) -> Tensor:
        """(O, I) the matrix W."""
        return torch._weight_norm(self.direction, self.length[:, None], 0)

    def scale(self) -> Tensor:
        """(O,) the factors g / |V| that make W of V."""
        return self.length / self.direction.norm(dim=1)

    def forward(self, x: Tensor, scale: Tensor | None = None) -> Tensor:
        """(..., I) -> (..., O).

        With `scale` (..., O), which is `scale()` computed once for many calls with few rows each, W is not formed: the
        products with V are scaled instead. Training through such calls then keeps no copy of W for each of them.
        """
        if scale is None:
            return F.linear(x, self.weight(), self.bias)
        return linear(x, self.direction) * scale + self.bias


class GatedConvolution(WeightNormLinear):
    """A convolution of kernel size k and a gated linear unit: [A; B] = W [x_1; ...; x_k] + b, y = A * sigmoid(B).

    Dauphin et al. 2016, equation 1, with weight normalisation: an output unit's norm is taken over all frames of the
    window and all their channels. W is (2 * out_channels, k * in_channels); W.view(-1, k, in_channels) are the weights
    of torch.nn.Conv1d with the last two axes exchanged. At the start W ~ N(0, gain / (k * in_channels)).
    """

    def __init__(self, in_channels: int, out_channels: int, kernel: int, *, gain: float = 1.0) -> None:
        super().__init__(kernel * in_channels, 2 * out_channels, gain=gain)
        self.kernel = kernel

    def forward(self, x: Tensor, scale: Tensor | None = None) -> Tensor:
        """(..., k * in_channels) frames of each window side by side -> (..., out_channels)."""
        return F.glu(super().forward(x, scale), -1)
