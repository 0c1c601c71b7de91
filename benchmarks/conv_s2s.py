"""ConvS2S's whole training step against the library kernels that it cannot do without.
Run: python -m benchmarks.conv_s2s

4 + 4 layers of 512 channels and kernel 3, no dropout. Floor: tables, convolutions, gated linear units, linear maps and
dot product attention on the padded grid, the vocabulary on the real tokens, no weight norm. A convolution has two
forms, nn.Conv1d and a linear map of the frames side by side: the faster one is the floor.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.pairs import HIDDEN, LONGEST, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.conv_s2s import ConvS2S

LAYERS, KERNEL = 4, 3


class _Convolution(nn.Module):
    """(B, T, d) -> (B, T, d): convolution and gated linear unit, `left` and `right` frames of zeros at the ends."""

    def __init__(self, form: str, left: int, right: int) -> None:
        super().__init__()
        self.form, self.ends = form, (left, right)
        self.conv1d = nn.Conv1d(HIDDEN, 2 * HIDDEN, KERNEL) if form == "conv1d" else None
        self.linear = nn.Linear(KERNEL * HIDDEN, 2 * HIDDEN) if form == "linear" else None

    def forward(self, x: Tensor) -> Tensor:
        if self.conv1d is not None:
            return F.glu(self.conv1d(F.pad(x.transpose(1, 2), self.ends)), 1).transpose(1, 2)
        framed = F.pad(x, (0, 0, *self.ends))
        return F.glu(self.linear(torch.cat([framed[:, j : j + x.shape[1]] for j in range(KERNEL)], 2)), 2)


def floor(batch: PairBatch, form: str) -> Callable[[], None]:
    """The library calls on the padded grid; `form` = conv1d | linear."""
    tables = nn.ModuleList(nn.Embedding(size, HIDDEN) for size in (VOCABULARY, LONGEST, VOCABULARY, LONGEST))
    maps = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
    encoder = nn.ModuleList(_Convolution(form, KERNEL // 2, KERNEL // 2) for _ in range(LAYERS))
    decoder = nn.ModuleList(_Convolution(form, KERNEL - 1, 0) for _ in range(LAYERS))
    projections = nn.ModuleList(nn.Linear(HIDDEN, HIDDEN) for _ in range(2 * LAYERS))
    vocabulary = nn.Linear(HIDDEN, VOCABULARY)
    time, padding = torch.arange(LONGEST), ~batch.source_mask[:, None]
    packing = batch.target_packing
    assert packing is not None

    def forward() -> Tensor:
        e = tables[0](batch.source) + tables[1](time)
        h = maps[0](e)
        for convolution in encoder:
            h = convolution(h) + h
        z = maps[1](h)
        v, g = z + e, tables[2](batch.target_input) + tables[3](time)
        h = maps[2](g)
        for layer, convolution in enumerate(decoder):
            y = convolution(h)
            scores = torch.bmm(projections[2 * layer](y) + g, z.transpose(1, 2)).masked_fill(padding, -torch.inf)
            h = projections[2 * layer + 1](torch.bmm(scores.softmax(2), v)) + y + h
        return vocabulary(packing.pack(maps[3](h)))

    return floor_step([tables, maps, encoder, decoder, projections, vocabulary], forward)


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The candidates by name."""
    torch.manual_seed(0)
    sizes = {"embedding_dim": HIDDEN, "hidden_dim": HIDDEN, "output_dim": HIDDEN, "kernel_size": KERNEL}
    model = ConvS2S(SPEC, encoder_layers=LAYERS, decoder_layers=LAYERS, dropout=0.0, **sizes)
    return {"step": whole_step(model, batch), "conv1d": floor(batch, "conv1d"), "linear": floor(batch, "linear")}


if __name__ == "__main__":
    run("conv_s2s", steps, {"step_by_conv1d_floor": ("step", "conv1d"), "step_by_linear_floor": ("step", "linear")})
