"""Hybrid computing using a neural network with dynamic external memory.

Alex Graves, Greg Wayne, Malcolm Reynolds, and others. Nature 538, 2016. https://doi.org/10.1038/nature20101

Equations (in the Methods, without numbers): the controller, the interface, content, allocation, write weighting, links
and the three read modes.

What differs from the paper, mostly as in the authors' code (google-deepmind/dnc):
- The controller is an LSTM of one layer; theirs may be deep. The interface vector is clipped to [-20, 20].
- The usage of a row has a floor of 1e-6 in products, and the write weighting gets no gradient from it, as in their
  code. Lengths in the cosine have a floor.
- The output is one linear layer over the state and the reads, W_y h + W_r [r], with a bias.

Notation: B sequences, T steps of the longest, n steps of all, I input and O output channels, C controller units, R
read heads, N rows of the memory, W their width.
"""

from functools import partial
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.attention.addressing import CLIP, allocation, by_content, followed, linked, precise_linear, usage, written
from zoo.data.bits.batch import BitSpec
from zoo.layers.loops.dnc import DNCLoop, Interface, Weights
from zoo.layers.walk import steps_of_cell
from zoo.models.network import FORGET, MemoryNetwork
from zoo.precision import precise


class State(NamedTuple):
    """Recurrent state that one step passes to the next; everything starts at 0."""

    reads: Tensor  # (B, R W)
    hidden: Tensor  # (B, C)
    cell: Tensor  # (B, C)
    memory: Tensor  # (B, N, W)
    used: Tensor  # (B, N)
    link: Tensor  # (B, N, N)
    precedence: Tensor  # (B, N)
    read: Tensor  # (B, R, N), the last read weightings
    write: Tensor  # (B, 1, N)


class DNC(MemoryNetwork):
    """An LSTM with a memory that tracks which rows are free, and in which order rows were written.

    `forward` computes the same as `step` with all steps in one operation of autograd.
    """

    tasks = ("algorithmic",)
    unnormalised: ClassVar[tuple[str, ...]] = ("read", "write")
    not_exported = "orders its memory by usage, and where rows are used equally the rounding of a runtime decides"

    def __init__(
        self,
        spec: BitSpec,
        *,
        memory_size: Count = 32,
        memory_width: Count = 16,
        controller_dim: Count = 100,
        read_heads: Count = 1,
    ) -> None:
        super().__init__()
        self.memory_size, self.memory_width, self.controller_dim = memory_size, memory_width, controller_dim
        self.read_heads = read_heads
        reads = read_heads * memory_width
        self.input = nn.Linear(spec.in_width, 4 * controller_dim)
        self.feedback = nn.Linear(reads + controller_dim, 4 * controller_dim, bias=False)
        self.interface = nn.Linear(controller_dim, sum(self._parts()))
        self.output = nn.Linear(controller_dim + reads, spec.out_width)
        for name, parameter in self.named_parameters():
            if name.endswith("weight"):
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        self.input.bias.detach().chunk(4)[FORGET].fill_(1.0)

    def _parts(self) -> list[int]:
        """Sizes of the parts of the interface vector.

        Read keys, read strengths, the write key, the write strength, erase and write vector, free gates, the
        allocation gate, the write gate and the read modes.
        """
        heads, width = self.read_heads, self.memory_width
        return [heads * width, heads, width, 1, width, width, heads, 1, 1, 3 * heads]

    def run(self, x: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        if self._compiled is not None:
            cell, start = partial(self._compiled, self), self.start(sizes[0] if sizes else 0)
            states = steps_of_cell(cell, x, sizes, start, compiled=True)
            found = torch.cat([self.found(state) for state in states])
            return found, torch.cat([state.read for state in states]), torch.cat([state.write for state in states])
        parts = Interface(self.read_heads, self.memory_width)
        reads, hidden = precise(self.feedback.weight).split([parts.heads * parts.width, self.controller_dim], 1)
        order = parts.order().to(x.device)
        weights = Weights(
            feedback=torch.cat([hidden, reads], 1),
            interface=precise(self.interface.weight).index_select(0, order),
            interface_bias=precise(self.interface.bias).index_select(0, order),
        )
        found, read, write = DNCLoop(parts, sizes, self.memory_size)(x, weights)
        return found, read, write[:, None]

    def start(self, rows: int) -> State:
        weight, heads, size = precise(self.feedback.weight), self.read_heads, self.memory_size
        return State(
            reads=weight.new_zeros(rows, heads * self.memory_width),
            hidden=weight.new_zeros(rows, self.controller_dim),
            cell=weight.new_zeros(rows, self.controller_dim),
            memory=weight.new_zeros(rows, size, self.memory_width),
            used=weight.new_zeros(rows, size),
            link=weight.new_zeros(rows, size, size),
            precedence=weight.new_zeros(rows, size),
            read=weight.new_zeros(rows, heads, size),
            write=weight.new_zeros(rows, 1, size),
        )

    def found(self, state: State) -> Tensor:
        return torch.cat([state.hidden, state.reads], 1)

    def record(self, state: State) -> dict[str, Tensor]:
        return {"read": state.read, "write": state.write}

    def cell(self, x: Tensor, state: State) -> State:
        """The state after a step, from inputs (B, 4 C) already multiplied by their matrix."""
        o, i, f, g = (x + precise_linear(self.feedback, torch.cat([state.reads, state.hidden], 1))).chunk(4, 1)
        cell = f.sigmoid() * state.cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()  # (B, C)

        told = precise_linear(self.interface, hidden).clamp(-CLIP, CLIP)
        keys, strengths, key, strength, erase, add, free, allocated, gate, modes = told.split(self._parts(), 1)
        used = usage(state.used, state.write[:, 0], state.read, free.sigmoid()[..., None])  # (B, N)
        content = by_content(key[:, None], _oneplus(strength)[..., None], state.memory)[:, 0]
        allocated = allocated.sigmoid()
        write = gate.sigmoid() * (allocated * allocation(used) + (1 - allocated) * content)  # (B, N)
        memory = written(state.memory, write[:, None], erase.sigmoid()[:, None], add[:, None])  # (B, N, W)
        link, precedence = linked(state.link, state.precedence, write)

        back, forward = followed(link, state.read)  # (B, R, N)
        content = by_content(self._of_heads(keys), _oneplus(strengths)[..., None], memory)
        back_share, content_share, forward_share = self._of_heads(modes).softmax(-1).split(1, -1)  # (B, R, 1)
        read = back_share * back + content_share * content + forward_share * forward
        reads = (read @ memory).flatten(1)  # (B, R W)
        return State(reads, hidden, cell, memory, used, link, precedence, read, write[:, None])

    def _of_heads(self, values: Tensor) -> Tensor:
        """(B, R K) -> (B, R, K)."""
        return values.unflatten(1, (self.read_heads, -1))


def _oneplus(x: Tensor) -> Tensor:
    """1 + softplus(x), at least 1."""
    return 1 + F.softplus(x)
