"""Neural Turing Machines.

Alex Graves, Greg Wayne, Ivo Danihelka. 2014. https://arxiv.org/abs/1410.5401

Equations: reading (2), writing (3) and (4), addressing (5)-(9), all of them in `zoo/attention/addressing.py`.

What differs from the paper, or is not fixed there:
- All heads address the memory that the last step left; then the write heads change it. The paper gives no order.
- Weightings are sharpened as logarithms, and the lengths in the cosine have a floor. Computed as written, the powers
  underflow to a weighting of zeros in float32.
- The inputs of the heads are clipped to [-20, 20], as in Collier and Beel 2018 (https://arxiv.org/abs/1807.08518).
  Two defaults of the start are theirs too: every number of the memory is 1e-6, and the first reads are learned. In
  their code 1e-6 is the start of a trainable memory; here it is constant.
- The controller's first state is learned. The first weightings are all on row 0: with uniform weightings, the rows of
  a constant memory would stay equal for ever.
- Gradients from one step to the step before are clipped to [-1e6, 1e6], so that none overflows.
- The output is one linear layer over the controller's state and the reads; the hidden units of a feed-forward
  controller are tanh.

Notation: B sequences, T steps of the longest, n steps of all, I input and O output channels, C controller units, G
inner numbers of a controller layer, H heads, R of them read heads, N rows of the memory, W their width.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural
from zoo.attention.addressing import Demands, Heads, addressed, precise_linear, written
from zoo.data.bits.batch import BitSpec
from zoo.errors import ConfigError
from zoo.layers.walk import steps_of_cell
from zoo.models.network import FORGET, MemoryNetwork
from zoo.precision import precise

MEMORY_CONSTANT = 1e-6  # Value of every number of a constant memory
MEMORY_STD = 0.5  # Standard deviation of a random or learned memory at the start, before its tanh
GRADIENT_LIMIT = 1e6
"""The gradients that pass from a step to the step before are clamped to this range. Gradients that grow from step to
step would overflow float32 after some dozens of steps, and NaN cannot be clipped. In normal training they are far
smaller."""
STATE_STD = 0.1  # Standard deviation of learned reads and states at the start, before their tanh
TOLD_GAIN = 1.4
TOLD_BIAS_STD = 0.01


class State(NamedTuple):
    """Recurrent state that one step passes to the next."""

    reads: Tensor  # (B, R W)
    hidden: list[Tensor]  # (B, C) of each layer of the controller
    cells: list[Tensor]  # (B, C) of each layer of an LSTM; empty for a feed-forward controller
    memory: Tensor  # (B, N, W)
    weighting: Tensor  # (B, H, N)


class NTM(MemoryNetwork):
    """A controller that reads and writes a memory, which it addresses by content and by shifts.

    `controller` = lstm | feedforward, with `controller_layers` layers. `shift_range`: the most rows by which one step
    can move a head. `memory_start` = constant | random (drawn once, not trained) | learned. `first_weighting` =
    first_row | learned | uniform (not with a constant memory). `start` = learned | zero: the reads before the first
    step, and the state of an LSTM.

    `forward` calls `cell` once per time step; `compile` makes that call several times faster on a CPU. Raises
    ConfigError for a memory that is too small for the shifts, and for uniform weightings over equal rows.
    """

    tasks = ("algorithmic",)

    first_memory: Tensor
    first_scores: Tensor

    def __init__(
        self,
        spec: BitSpec,
        *,
        memory_size: Count = 128,
        memory_width: Count = 20,
        controller: Literal["lstm", "feedforward"] = "lstm",
        controller_dim: Count = 100,
        controller_layers: Count = 1,
        read_heads: Count = 1,
        write_heads: Count = 1,
        shift_range: Natural = 1,
        memory_start: Literal["constant", "random", "learned"] = "constant",
        first_weighting: Literal["first_row", "learned", "uniform"] = "first_row",
        start: Literal["learned", "zero"] = "learned",
    ) -> None:
        super().__init__()
        if (memory_start, first_weighting) == ("constant", "uniform"):
            raise ConfigError(
                "first_weighting=uniform with memory_start=constant: equal weights on equal rows stay equal for ever; "
                "use first_weighting=first_row or learned, or memory_start=random"
            )
        self.heads = Heads(read_heads, write_heads, memory_width, shift_range)
        self.heads.check(memory_size)
        self.recurrent = controller == "lstm"
        self.memory_size, self.controller_dim, self.layers = memory_size, controller_dim, controller_layers

        reads, inside = read_heads * memory_width, controller_dim * (4 if self.recurrent else 1)
        own = controller_dim if self.recurrent else 0
        self.input = nn.Linear(spec.in_width, inside)
        self.feedback = nn.Linear(reads + own, inside, bias=False)
        self.deeper = nn.ModuleList(nn.Linear(controller_dim + own, inside) for _ in range(controller_layers - 1))
        self.told = nn.Linear(controller_dim, sum(self.heads.sizes))
        self.output = nn.Linear(controller_dim + reads, spec.out_width)

        shape = memory_size, memory_width
        if memory_start == "learned":
            self.first_memory = nn.Parameter(torch.randn(shape) * MEMORY_STD)
        else:
            constant = memory_start == "constant"
            drawn = torch.full(shape, MEMORY_CONSTANT) if constant else (torch.randn(shape) * MEMORY_STD).tanh()
            self.register_buffer("first_memory", drawn, persistent=not constant)
        scores = torch.zeros(self.heads.number, memory_size)  # their softmax is the first weighting
        if first_weighting == "learned":
            self.first_scores = nn.Parameter(torch.randn_like(scores))
        else:
            if first_weighting == "first_row":
                scores[:, 1:] = -torch.inf
            self.register_buffer("first_scores", scores, persistent=False)
        learned = start == "learned"
        self.first_reads = nn.Parameter(torch.randn(reads) * STATE_STD) if learned else None
        state = torch.randn(2, controller_layers, controller_dim) * STATE_STD
        self.first_state = nn.Parameter(state) if learned and self.recurrent else None
        self._start_weights()

    def _start_weights(self) -> None:
        """Initialise by Glorot and Bengio (2010); the forget gates begin open."""
        for name, parameter in self.named_parameters():
            if name.endswith("weight"):
                nn.init.xavier_uniform_(parameter, TOLD_GAIN if name.startswith("told") else 1.0)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        nn.init.normal_(self.told.bias, std=TOLD_BIAS_STD)
        for linear in [self.input, *self.deeper] if self.recurrent else []:
            linear.bias.detach().chunk(4)[FORGET].fill_(1.0)

    def run(self, x: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        cell = NTM.cell if self._compiled is None else self._compiled

        def bounded(x_t: Tensor, before: State) -> State:
            after = cell(self, x_t, before)
            if after.reads.requires_grad:
                for part in (after.reads, *after.hidden, *after.cells, after.memory, after.weighting):
                    part.register_hook(_bounded)
            return after

        start = self.start(sizes[0] if sizes else 0)
        states = steps_of_cell(bounded, x, sizes, start, compiled=self._compiled is not None)
        weighting = torch.cat([state.weighting for state in states])
        read, write = weighting.split([self.heads.read, self.heads.write], 1)
        return torch.cat([self.found(state) for state in states]), read, write

    def start(self, rows: int) -> State:
        memory = precise(self.first_memory)
        if isinstance(self.first_memory, nn.Parameter):
            memory = memory.tanh()
        reads = memory.new_zeros(self.heads.read * self.heads.width)
        hidden, cells = memory.new_zeros(2, self.layers, self.controller_dim)
        if self.first_reads is not None:
            reads = precise(self.first_reads).tanh()
        if self.first_state is not None:
            hidden, cells = precise(self.first_state).tanh()

        def repeated(part: Tensor) -> Tensor:
            return part.expand(rows, *part.shape)

        return State(
            reads=repeated(reads),
            hidden=[repeated(h) for h in hidden],
            cells=[repeated(c) for c in cells] if self.recurrent else [],
            memory=repeated(memory),
            weighting=repeated(precise(self.first_scores).softmax(-1)),
        )

    def found(self, state: State) -> Tensor:
        return torch.cat([state.hidden[-1], state.reads], 1)

    def record(self, state: State) -> dict[str, Tensor]:
        """The weightings, and the vectors `erase` and `add` (B, heads, W)."""
        read, write = state.weighting.split([self.heads.read, self.heads.write], 1)
        demands = self.demands(state.hidden[-1])
        return {"read": read, "write": write, "erase": demands.erase, "add": demands.add}

    def cell(self, x: Tensor, state: State) -> State:
        """The state after a step, from inputs (B, G) already multiplied by their matrix."""
        below, hidden, cells = state.reads, [], []
        for number, layer in enumerate([self.feedback, *self.deeper]):
            given = torch.cat([below, state.hidden[number]], 1) if self.recurrent else below
            bias = x if number == 0 else precise(layer.bias)
            inside = torch.addmm(bias, given, precise(layer.weight).T)  # (B, G)
            if self.recurrent:
                gates, candidate = inside.split([3 * self.controller_dim, self.controller_dim], 1)
                o, i, f = gates.sigmoid().chunk(3, 1)
                cells.append(torch.addcmul(f * state.cells[number], i, candidate.tanh()))
                below = o * cells[number].tanh()
            else:
                below = inside.tanh()
            hidden.append(below)  # (B, C)

        demands = self.demands(below)
        weighting = addressed(demands, state.memory, state.weighting)  # (B, H, N)    (5)-(9)
        read, write = weighting.split([self.heads.read, self.heads.write], 1)
        reads = (read @ state.memory).flatten(1)  # (B, R W)    (2)
        memory = written(state.memory, write, demands.erase, demands.add)  # (B, N, W)    (3), (4)
        return State(reads, hidden, cells, memory, weighting)

    def demands(self, hidden: Tensor) -> Demands:
        """The parameters of the heads, from the state of the highest layer (B, C)."""
        return self.heads.demands(precise_linear(self.told, hidden))


def _bounded(gradient: Tensor | None) -> Tensor | None:
    """The gradient within its limits; a compiled cell gives None instead of zeros."""
    return None if gradient is None else gradient.clamp(-GRADIENT_LIMIT, GRADIENT_LIMIT)
