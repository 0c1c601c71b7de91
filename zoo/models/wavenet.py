"""WaveNet: a generative model for raw audio.

Aaron van den Oord, Sander Dieleman, Heiga Zen, Karen Simonyan, Oriol Vinyals, Alex Graves, Nal Kalchbrenner, Andrew
Senior, Koray Kavukcuoglu. 2016. https://arxiv.org/abs/1609.03499

Equations: section 2.1, causal convolutions whose dilations double in each layer of a block; section 2.2, a softmax over
256 levels of the mu-law (`zoo.data.waves.mu_law`); section 2.3, the gate [a; b] = W * x, z = tanh(a) sigmoid(b);
section 2.4 and figure 4, x + W_r z leads to the next layer, and the sum of all W_s z through ReLU, 1 x 1, ReLU and
1 x 1 to the softmax; section 2.5, V g is added to [a; b] at all times, or V' y, where a transposed convolution brings y
to the rate of the samples. Generation from stored activations: Le Paine et al. 2016, https://arxiv.org/abs/1611.09482.

What differs from the paper:
- Before its first sample a sound has no levels: every layer reads zeros there. So the first sample has a probability
  too, and that of a whole sound is exact. An implementation that puts silence before a sound differs from this one in
  the first `field` samples.
- The W_s of all layers are one matrix with one bias, because a sum of biases is one bias.
- The last layer has no W_r, because nothing reads it.
- The paper leaves the numbers of layers and channels open. `first_kernel` samples lead to the first layer.

Notation: B sounds, N samples, L levels, R residual_dim, D gate_dim, S skip_dim, k kernel_size, d dilation, F mel bands.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count
from zoo.data.waves.batch import WaveBatch, WaveSpec
from zoo.models.network import SampleNetwork
from zoo.models.output import Output


@dataclass
class Rings:
    """The activations of one position after another. Ring l has (k - 1) d places for the inputs of layer l: position t
    is in place t modulo (k - 1) d, so that a step costs the same for every dilation."""

    past: Tensor
    """(P, B, R) the places of all rings."""
    words: Tensor
    """(B, first_kernel) the last levels plus 1, 0 before the first sample."""
    position: int
    """The number of positions that were read."""
    given: Tensor
    """(layers, B, 2 D) biases and V g."""
    local: Tensor | None
    """(B, F, T) the upsampled frames."""
    earlier: Tensor
    """(layers, (k - 1) R, 2 D) the weights of the past inputs of each layer, the oldest first."""
    latest: list[Tensor]
    """(R, 2 D) the weights of the newest input of each layer."""
    first: Tensor
    """(layers, 1) the first place of each ring."""
    delays: Tensor
    """(layers, k - 1) how many positions before the present one each layer reads, the longest delay first. It is the
    number of places of the ring."""

    def places(self, position: int) -> Tensor:
        """(layers, k - 1) the places of the past inputs that a position reads, the oldest first."""
        return self.first + (position - self.delays) % self.delays[:, :1]


def gated(x: Tensor, tanh: Callable[[Tensor], Tensor] = torch.tanh) -> Tensor:
    """(B, 2 D, ...) -> (B, D, ...), tanh(a) sigmoid(b)."""
    a, b = x.chunk(2, 1)
    return tanh(a) * b.sigmoid()


def tanh_of_many(x: Tensor) -> Tensor:
    """tanh(x). On a CPU torch's tanh takes ten times as long as its sigmoid, which pays for three more operations."""
    return 2 * (2 * x).sigmoid() - 1


def pointwise(inputs: int, outputs: int) -> nn.Conv1d:
    """A 1 x 1 convolution. A dilation does not change it, but with one torch uses the kernels of oneDNN also for few
    rows and a single thread, which are faster (benchmarks/README.md)."""
    return nn.Conv1d(inputs, outputs, 1, dilation=2)


def column(layer: nn.Module, x: Tensor) -> Tensor:
    """A 1 x 1 convolution of a single position, (B, I) -> (B, O)."""
    assert isinstance(layer, nn.Conv1d)
    return F.linear(x, layer.weight[..., 0], layer.bias)


class WaveNet(SampleNetwork):
    """Dilated causal convolutions with gates and skip connections.

    Raises ValueError for a condition that the sounds do not have.
    """

    tasks = ("wave_density",)

    def __init__(
        self,
        spec: WaveSpec,
        *,
        residual_dim: Count = 32,
        gate_dim: Count = 32,
        skip_dim: Count = 128,
        head_dim: Count = 128,
        num_blocks: Count = 2,
        layers_per_block: Count = 9,
        kernel_size: Count = 2,
        first_kernel: Count = 2,
        condition: Literal["none", "label"] = "none",
    ) -> None:
        super().__init__()
        self.levels, self.kernel_size = spec.levels, kernel_size
        self.dilations = [2**number for number in range(layers_per_block)] * num_blocks
        self.first = nn.ModuleList(
            nn.Embedding(1 + spec.levels, residual_dim, padding_idx=0) for _ in range(first_kernel)
        )
        self.layers: Sequence[nn.Conv1d] = nn.ModuleList(  # type: ignore[assignment]
            nn.Conv1d(residual_dim, 2 * gate_dim, kernel_size, dilation=d, padding=(kernel_size - 1) * d)
            for d in self.dilations
        )
        self.residual: Sequence[nn.Conv1d] = nn.ModuleList(  # type: ignore[assignment]
            pointwise(gate_dim, residual_dim) for _ in self.dilations[1:]
        )
        self.skip = pointwise(gate_dim * len(self.dilations), skip_dim)
        self.head = nn.Sequential(nn.ReLU(), pointwise(skip_dim, head_dim), nn.ReLU(), pointwise(head_dim, spec.levels))
        width = 2 * gate_dim * len(self.dilations)
        self.condition = self.upsample = self.local = None
        if condition == "label":
            if not spec.classes:
                raise ValueError("condition=label: these sounds have no classes; set condition=none")
            self.condition = nn.Embedding(len(spec.classes), width)
        if spec.features:
            self.hop = spec.hop
            self.upsample = nn.ConvTranspose1d(spec.features, spec.features, 2 * spec.hop, stride=spec.hop)
            self.local = nn.Conv1d(spec.features, width, 1, bias=False)
        self.conditions = (*["label"] * (condition == "label"), *["frames"] * bool(spec.features))
        self.field = first_kernel + (kernel_size - 1) * sum(self.dilations)

    def forward(self, batch: WaveBatch) -> Output:
        length = batch.samples.shape[1]
        x = self._first(self._words(batch), length)
        *_, scores = self._positions(x, self._given(batch), self._upsampled(batch))
        return Output(scores.transpose(1, 2))

    def _positions(self, x: Tensor, given: Tensor | None, local: Tensor | None) -> Iterator[Tensor]:
        """Read all positions of `x` (B, R, N). Yields the input of each layer (B, R, N), then the scores (B, L, N)."""
        length, opened = x.shape[2], []
        locals_ = self._local(local, length)
        for number, layer in enumerate(self.layers):
            yield x
            summed = layer(x)  # (B, 2 D, N + (k - 1) d), since zeros on both sides cost no copy
            if given is not None:
                summed = summed + given[number, ..., None]
            if locals_ is not None:
                summed[:, :, :length] += locals_[number]
            z = gated(summed[:, :, :length], tanh_of_many)  # (B, D, N)
            opened.append(z)
            if number < len(self.residual):
                x = self.residual[number](z) + x
        yield self.head(self.skip(torch.cat(opened, 1)))

    # The conditions

    def _given(self, batch: WaveBatch) -> Tensor | None:
        """(layers, B, 2 D) V g of each layer."""
        if self.condition is None:
            return None
        if batch.label is None:
            raise ValueError("the network was built with condition=label, and the batch has no classes")
        return torch.stack(self.condition(batch.label).chunk(len(self.layers), 1))

    def _upsampled(self, batch: WaveBatch) -> Tensor | None:
        """(B, F, S hop) the frames at the rate of the samples; frame i is centred at i * hop."""
        if self.upsample is None:
            return None
        if batch.frames is None or batch.frame_mask is None:
            raise ValueError("the network reads frames, and the batch has none")
        frames = (batch.frames * batch.frame_mask[..., None]).transpose(1, 2)
        return self.upsample(frames.to(self.upsample.weight.dtype))[:, :, self.hop :]

    def _local(self, local: Tensor | None, length: int, first: int = 0) -> Sequence[Tensor] | None:
        """V' y of each layer, (B, 2 D, length) each, from the position `first` on; 0 after the last frame."""
        if self.local is None or local is None:
            return None
        inside = local[:, :, first : first + length]
        return self.local(F.pad(inside, (0, length - inside.shape[2]))).chunk(len(self.layers), 1)

    # The first layer

    def _words(self, batch: WaveBatch) -> Tensor:
        """(B, first_kernel + N) levels plus 1, with 0 before the first sample."""
        return F.pad(batch.samples.long() + 1, (len(self.first), 0))

    def _first(self, words: Tensor, length: int) -> Tensor:
        """(B, first_kernel + N) -> (B, R, length): position t reads the samples t - first_kernel to t - 1."""
        parts = [table(words[:, place : place + length]) for place, table in enumerate(self.first)]
        return torch.stack(parts).sum(0).transpose(1, 2).contiguous()

    # Sample by sample

    def start(self, batch: WaveBatch) -> tuple[Tensor, Rings]:
        count, known = batch.samples.shape
        words, given, local = self._words(batch), self._given(batch), self._upsampled(batch)
        *inputs, scores = self._positions(self._first(words, known + 1), given, local)
        like = self.skip.weight
        taps = torch.arange(self.kernel_size - 1, 0, -1, device=like.device)
        delays = torch.tensor(self.dilations, device=like.device)[:, None] * taps
        sizes = (self.kernel_size - 1) * delays.new_tensor(self.dilations)
        ends = sizes.cumsum(0)
        biases = torch.stack([layer.bias for layer in self.layers if layer.bias is not None])[:, None]
        state = Rings(
            past=like.new_zeros(int(ends[-1]), count, inputs[0].shape[1]),
            words=words[:, known:],
            position=known + 1,
            given=biases.expand(-1, count, -1) if given is None else biases + given,
            local=local,
            earlier=torch.stack([one.weight[:, :, :-1].permute(2, 1, 0).flatten(0, 1) for one in self.layers]),
            latest=[layer.weight[:, :, -1].t().contiguous() for layer in self.layers],
            first=(ends - sizes)[:, None],
            delays=delays,
        )
        for first, size, x in zip((ends - sizes).tolist(), sizes.tolist(), inputs, strict=True):
            kept = torch.arange(max(0, known + 1 - size), known + 1, device=like.device)
            state.past[first + kept % max(1, size)] = x[:, :, kept].permute(2, 0, 1)
        return scores[:, :, -1], state

    def step(self, levels: Tensor, state: Rings) -> tuple[Tensor, Rings]:
        state.words = torch.cat([state.words[:, 1:], levels.long()[:, None] + 1], 1)
        x = self._first(state.words, 1)[..., 0]  # (B, R)
        inputs, opened = [], []
        for number, (known, weight) in enumerate(zip(self._summed(state), state.latest, strict=True)):
            inputs.append(x)
            z = gated(torch.addmm(known, x, weight))
            opened.append(z)
            if number < len(self.residual):
                x = x + column(self.residual[number], z)
        if self.kernel_size > 1:
            state.past[state.places(state.position)[:, 0]] = torch.stack(inputs)  # each oldest input is read
        state.position += 1
        _, inner, _, outer = self.head
        return column(outer, column(inner, column(self.skip, torch.cat(opened, 1)).relu()).relu()), state

    def _summed(self, state: Rings) -> Tensor:
        """(layers, B, 2 D) the part of [a; b] that does not depend on the newest inputs, of all layers at once."""
        local = self._local(state.local, 1, state.position)
        summed = state.given if local is None else state.given + torch.stack([one[..., 0] for one in local])
        if self.kernel_size == 1:
            return summed
        kept = state.past[state.places(state.position)]  # (layers, k - 1, B, R)
        return torch.baddbmm(summed, kept.transpose(1, 2).flatten(2), state.earlier)
