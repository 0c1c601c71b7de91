"""A neural Turing machine as it is usually written: one module per head, called for each head at each time step.

`benchmarks/ntm.py` compares with it. It follows the layout of public implementations: an LSTM cell, a linear layer with
its own functions for each input of a head, and cosine by torch. A weighting is a power divided by its sum, read heads
come before write heads, and autograd runs through all of it. It is not slowed down: rolls shift a whole batch at once,
and the output layer is outside the loop; public code has it inside.

Notation: B sequences, T steps, N rows of the memory, W their width, C units of the controller, S shifts.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.data.bits.batch import BitBatch, BitSpec


class Head(nn.Module):
    """One head: five linear layers from the controller to a weighting (B, N)."""

    def __init__(self, controller_dim: int, memory_width: int, shift_range: int) -> None:
        super().__init__()
        self.key = nn.Linear(controller_dim, memory_width)
        self.strength = nn.Linear(controller_dim, 1)
        self.gate = nn.Linear(controller_dim, 1)
        self.shift = nn.Linear(controller_dim, 2 * shift_range + 1)
        self.sharpness = nn.Linear(controller_dim, 1)

    def address(self, hidden: Tensor, memory: Tensor, previous: Tensor) -> Tensor:
        """(B, C), (B, N, W), (B, N) -> (B, N)."""
        key, strength = self.key(hidden), F.softplus(self.strength(hidden))
        gate, shift = torch.sigmoid(self.gate(hidden)), F.softmax(self.shift(hidden), 1)
        sharpness = 1 + F.softplus(self.sharpness(hidden))
        content = F.softmax(strength * F.cosine_similarity(memory + 1e-16, key[:, None] + 1e-16, dim=-1), 1)
        gated = gate * content + (1 - gate) * previous
        reach = shift.shape[1] // 2
        shifted = sum(shift[:, at, None] * gated.roll(at - reach, 1) for at in range(shift.shape[1]))
        assert isinstance(shifted, Tensor)
        powered = shifted**sharpness
        return powered / (powered.sum(1, keepdim=True) + 1e-16)


class ReadHead(Head):
    """A head that reads."""

    def forward(self, hidden: Tensor, memory: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """The read vector (B, W) and the weighting (B, N)."""
        weighting = self.address(hidden, memory, previous)
        return torch.bmm(weighting[:, None], memory)[:, 0], weighting


class WriteHead(Head):
    """A head that writes."""

    def __init__(self, controller_dim: int, memory_width: int, shift_range: int) -> None:
        super().__init__(controller_dim, memory_width, shift_range)
        self.erase = nn.Linear(controller_dim, memory_width)
        self.add = nn.Linear(controller_dim, memory_width)

    def forward(self, hidden: Tensor, memory: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """The memory as it is left (B, N, W), and where it was written (B, N)."""
        weighting = self.address(hidden, memory, previous)
        erase, add = torch.sigmoid(self.erase(hidden)), self.add(hidden)
        erased = torch.bmm(weighting[..., None], erase[:, None])
        return memory * (1 - erased) + torch.bmm(weighting[..., None], add[:, None]), weighting


class StraightforwardNTM(nn.Module):
    """An LSTM with a memory, step after step."""

    def __init__(
        self,
        spec: BitSpec,
        *,
        memory_size: int = 128,
        memory_width: int = 20,
        controller_dim: int = 100,
        read_heads: int = 1,
        write_heads: int = 1,
        shift_range: int = 1,
    ) -> None:
        super().__init__()
        sizes = controller_dim, memory_width, shift_range
        self.readers = nn.ModuleList(ReadHead(*sizes) for _ in range(read_heads))
        self.writers = nn.ModuleList(WriteHead(*sizes) for _ in range(write_heads))
        self.controller = nn.LSTMCell(spec.in_width + read_heads * memory_width, controller_dim)
        self.output = nn.Linear(controller_dim + read_heads * memory_width, spec.out_width)
        self.memory_size, self.memory_width = memory_size, memory_width
        self.hidden = nn.Parameter(torch.randn(controller_dim) * 0.05)
        self.cell = nn.Parameter(torch.randn(controller_dim) * 0.05)

    def forward(self, batch: BitBatch) -> Tensor:
        """Logits (B, T, O)."""
        rows = len(batch.inputs)
        first = batch.inputs.new_zeros(rows, self.memory_size)
        first[:, 0] = 1
        weightings = [first] * (len(self.readers) + len(self.writers))
        reads = [batch.inputs.new_zeros(rows, self.memory_width) for _ in self.readers]
        memory = batch.inputs.new_full((rows, self.memory_size, self.memory_width), 1e-6)
        state = self.hidden.expand(rows, -1), self.cell.expand(rows, -1)
        found = []
        for x in batch.inputs.unbind(1):
            state = self.controller(torch.cat([x, *reads], 1), state)
            hidden = state[0]
            for number, reader in enumerate(self.readers):
                reads[number], weightings[number] = reader(hidden, memory, weightings[number])
            for number, writer in enumerate(self.writers, len(self.readers)):
                memory, weightings[number] = writer(hidden, memory, weightings[number])
            found.append(torch.cat([hidden, *reads], 1))
        logits: Tensor = self.output(torch.stack(found, 1))
        return logits
