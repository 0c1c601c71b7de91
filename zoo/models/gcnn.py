"""Language Modeling with Gated Convolutional Networks.

Yann N. Dauphin, Angela Fan, Michael Auli, David Grangier. ICML 2017. https://arxiv.org/abs/1612.08083

Equations: (1) h(X) = (X * W + b) ∘ sigmoid(X * V + c), a convolution that sees k - 1 frames before each position and
none after it. Residual blocks and bottlenecks are those of section 2, weight normalisation that of section 3.3. The
adaptive softmax is that of Grave et al. 2017 (https://arxiv.org/abs/1609.04309).

What differs from the paper (as in the authors' code, fairseq, unless stated otherwise):
- W and V are one convolution to 2n channels, whose first half is the value.
- A residual sum is multiplied by sqrt(1/2). A linear map with weight normalisation joins unequal widths, and another
  one takes the embedding to the width of the first convolution.
- Weight normalisation has one gain per output channel, over all frames of the window and all their channels.
- Dropout acts on embeddings and on the input of each convolution.
- The plain softmax (`cutoffs: null`) reads a map back to E channels, with dropout after it. The adaptive softmax reads
  the last block. It has no dropout and no biases, and tail i is 4^i times narrower than the block.
- A column carries the last k - 1 inputs of each convolution from window to window. That code begins each window with
  zeros, so that its first words lack context.
- fairseq's tables have a row of zeros for padding. Texts here have none.

Notation: B columns, N tokens of a window, V vocabulary, E embedding_dim, m inputs, n channels and k kernel size of a
convolution, R = 1 + sum(k - 1) tokens of context.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural, Share
from zoo.data.language.batch import LanguageSpec
from zoo.layers.convolution import ROOT_HALF, GatedConvolution, WeightNormLinear, continued_index
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.network import Read, StreamNetwork
from zoo.precision import without_autocast


class Block(nn.Module):
    """A gated convolution, and the residual connection from the input of the `back`-th convolution before, itself
    included; `back` = 0: none."""

    def __init__(self, inputs: int, channels: int, kernel: int, back: int, source: int, keep: float) -> None:
        """`source` is the width of the input from which the residual comes."""
        super().__init__()
        self.back = back
        self.convolution = GatedConvolution(inputs, channels, kernel, gain=4 * keep)
        self.residual = WeightNormLinear(source, channels) if back and source != channels else None

    def forward(self, frames: Tensor, through: Tensor, scales: Mapping[str, Tensor]) -> Tensor:
        """Windows (..., k m) and the source of the residual (..., m) -> (..., n)."""
        h = self.convolution(frames, scales.get("convolution"))  # (1)
        if not self.back:
            return h
        through = through if self.residual is None else self.residual(through, scales.get("residual"))
        return (h + through) * ROOT_HALF


class GCNN(StreamNetwork):
    """Causal gated convolutions. It sees the last R tokens, and a token costs the same at every position.

    `layers` is a number of convolutions with `hidden_dim` channels and kernel size `kernel_size`, or a list with
    [channels, kernel] or [channels, kernel, back] of each. The residual comes from the input of the `back`-th
    convolution before, itself included: 1 by default; a bottleneck is [n, 1, 0], [n, k, 0], [N, 1, 3]. `cutoffs`: the
    adaptive softmax, whose clusters of words begin at these ids, so that ids must be sorted by frequency.

    Raises ValueError for a convolution without channels, a `back` beyond the first one, cutoffs that do not rise or are
    not below the vocabulary, and more clusters than the width of the last convolution allows.
    """

    tasks = ("language_modeling",)

    def __init__(
        self,
        spec: LanguageSpec,
        *,
        embedding_dim: Count = 280,
        layers: Count | list[list[Natural]] = 8,
        hidden_dim: Count = 900,
        kernel_size: Count = 4,
        cutoffs: list[Count] | None = None,
        dropout: Share = 0.2,
    ) -> None:
        super().__init__()
        keep, size = 1 - dropout, spec.vocabulary_size
        sizes = self.sizes = _sizes(layers, hidden_dim, kernel_size)
        self.context = 1 + sum(kernel - 1 for _, kernel, _ in sizes)  # R
        self.dropout = nn.Dropout(dropout)
        self.embedding = TokenEmbedding(size, embedding_dim)
        self.inward = WeightNormLinear(embedding_dim, sizes[0][0], gain=keep)
        self.blocks, widths = nn.ModuleList(), [sizes[0][0]]
        for channels, kernel, back in sizes:
            self.blocks.append(Block(widths[-1], channels, kernel, back, widths[-back], keep))
            widths.append(channels)
        nn.init.normal_(self.embedding.weight, 0.0, 0.1)
        self.outward: WeightNormLinear | None = None
        if cutoffs is None:
            self.outward = WeightNormLinear(widths[-1], embedding_dim)
            self.vocabulary = WeightNormLinear(embedding_dim, size, gain=keep)
            return
        if not cutoffs or [*cutoffs, size] != sorted({*cutoffs, size}):
            raise ValueError(f"cutoffs={cutoffs}: expected rising numbers below the vocabulary of {size} tokens")
        if widths[-1] < 4 ** len(cutoffs):
            raise ValueError(
                f"cutoffs={cutoffs}: each cluster is 4 times narrower than the one before, so that {len(cutoffs)} of "
                f"them need {4 ** len(cutoffs)} channels in the last convolution, which has {widths[-1]}"
            )
        self.vocabulary = nn.AdaptiveLogSoftmaxWithLoss(widths[-1], size, cutoffs)
        for weight in self.vocabulary.parameters():
            nn.init.xavier_uniform_(weight)

    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """The output of the last block (N, n), or (N, E) with a plain softmax, and the last inputs `frames.<layer>`
        (B, k - 1, m) of each convolution."""
        rows, after = packing.shape[0], {}
        kernels = {kernel for _, kernel, _ in self.sizes} - {1}
        index = {kernel: continued_index(packing, kernel - 1) for kernel in kernels}

        def windowed(number: int, x: Tensor) -> Tensor:
            name, before = f"frames.{number}", self.sizes[number][1] - 1
            if not before:
                return x
            old = x.new_zeros(rows, before, x.shape[1]) if carried is None else carried[name]
            frames, (window, last) = torch.cat([old.flatten(0, 1), x]), index[before + 1]
            after[name] = frames.index_select(0, last.flatten()).view_as(old)
            return frames.index_select(0, window.flatten()).view(x.shape[0], window.shape[1] * x.shape[1])  # (N, k m)

        return Read(self._states(tokens, windowed, {}), after)

    def scores(self, states: Tensor) -> Tensor:
        """(N, D) -> (N, V); with the adaptive softmax they are log-probabilities."""
        if not isinstance(self.vocabulary, nn.AdaptiveLogSoftmaxWithLoss):
            return self.vocabulary(states)
        with without_autocast(states.device):  # torch's module cannot mix precisions
            return self.vocabulary.log_prob(states.to(self.embedding.weight.dtype))

    def surprisal(self, states: Tensor, tokens: Tensor) -> Tensor | None:
        """(N,) of the tokens, from their own clusters alone, if the softmax is adaptive."""
        if not isinstance(self.vocabulary, nn.AdaptiveLogSoftmaxWithLoss):
            return None
        with without_autocast(states.device):
            return -self.vocabulary(states.to(self.embedding.weight.dtype), tokens).output

    def start(self, batch: Any) -> State:
        """Reads the prompts, and computes the weight norms once."""
        state, rows = super().start(batch), batch.index.shape[0]
        norms = {name: part for name, part in self.named_modules() if isinstance(part, WeightNormLinear)}
        scales = {f"scale.{name}": part.scale().expand(rows, 1, -1) for name, part in norms.items()}
        return replace(state, memory=scales)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities."""
        after = {}

        def windowed(number: int, x: Tensor) -> Tensor:
            if self.sizes[number][1] == 1:
                return x
            frames = torch.cat([state.hypotheses[f"frames.{number}"], x[:, :, None]], 2)  # (B, K, k, m)
            after[f"frames.{number}"] = frames[:, :, 1:]
            return frames.flatten(2)

        scales = {name.removeprefix("scale."): scale for name, scale in state.memory.items()}
        states = self._states(tokens, windowed, scales)  # (B, K, D)
        if self.outward is None:
            scores = self.scores(states.flatten(0, 1)).unflatten(0, states.shape[:2])
        else:
            scores = self.vocabulary(states, scales["vocabulary"])
        return Step(log_probabilities(scores), State(state.memory, after), {})

    def _states(
        self, tokens: Tensor, windowed: Callable[[int, Tensor], Tensor], scales: Mapping[str, Tensor]
    ) -> Tensor:
        """Tokens (...) -> (..., D). `windowed` gives the window of each position, (..., m) -> (..., k m), from the
        number of a convolution and its input; `scales` are the factors of weight norms, if they are known."""
        h = self.inward(self.dropout(self.embedding(tokens)), scales.get("inward"))
        inputs = [h]
        for number, (block, (_, _, back)) in enumerate(zip(self.blocks, self.sizes, strict=True)):
            own = {name: scales.get(f"blocks.{number}.{name}") for name in ("convolution", "residual")}
            h = block(windowed(number, self.dropout(h)), inputs[-back], own)
            inputs.append(h)
        return h if self.outward is None else self.dropout(self.outward(h, scales.get("outward")))


def _sizes(layers: int | list[list[int]], channels: int, kernel: int) -> list[tuple[int, int, int]]:
    """(channels, kernel, back) of each convolution."""
    listed = [[channels, kernel]] * layers if isinstance(layers, int) else layers
    for number, size in enumerate(listed):
        if not 2 <= len(size) <= 3 or min(size[:2]) < 1 or (len(size) == 3 and size[2] > number + 1):
            raise ValueError(
                f"layers: {size} is number {number + 1}; expected [channels, kernel, back], the first two from 1 on "
                f"and the third up to {number + 1}, or without it"
            )
    if not listed:
        raise ValueError("layers: the list is empty; expected [channels, kernel] of each convolution")
    return [(size[0], size[1], size[2] if len(size) == 3 else 1) for size in listed]
