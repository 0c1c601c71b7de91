"""Bases of the networks: what each declares about itself, and the interfaces of those that write token by token and of
those that address a memory at every time step."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from zoo.attention.addressing import precise_linear
from zoo.layers.packing import Packing, Padded
from zoo.layers.state import State, Step
from zoo.layers.walk import scanned
from zoo.models.output import Output
from zoo.precision import without_autocast
from zoo.values import Checked

FORGET = 2
"""Index of the forget gate of a controller's LSTM; the order is output, input, forget, candidate."""


class Network(Checked, nn.Module, ABC):
    """A network of the zoo. `forward(batch)` returns an `Output`.

    A constructor takes the data's spec, and then the paper's hyperparameters by keyword. It raises ConfigError for a
    value that its annotation does not allow.
    """

    tasks: ClassVar[tuple[str, ...]]
    """The tasks that it serves."""
    attends: ClassVar[Mapping[str, str | None]] = {}
    """Each kind of its attention, and the mask of the batch that this attention sees: see `Output.attention`."""
    ponders: tuple[str, ...] = ()
    """The names in `Output.steps`, if each position decides how many steps it takes."""
    adapts: ClassVar[bool] = False
    """Whether its weights decide what it computes, so that several networks cannot run as one (`task.restarts`)."""
    not_exported: str | None = None
    """The reason why `zoo export` cannot write it, if it cannot: the rest of a sentence that begins with its name."""
    threads: ClassVar[int]
    """The best number of CPU threads, where it is small: the matrices may be too small to gain from more."""


class WritingNetwork(Network):
    """A network that writes a sequence, with two faces on the same weights (see `zoo.layers.state`)."""

    @abstractmethod
    def forward(self, batch: Any, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens, in the order of `batch.target_packing`, and unless `need_weights` is
        false the attention `source` (B, T, S), if there is any."""

    @abstractmethod
    def start(self, batch: Any) -> State:
        """Return the state before the first target token."""

    @abstractmethod
    def step(self, tokens: Tensor, state: State) -> Step:
        """Read one token of each hypothesis: `tokens` are (B, K) ids or (B, K, V) probabilities."""


class MemoryNetwork(Network):
    """A controller with a memory of N rows that are W wide. Its state is a NamedTuple, and `step` its definition.

    Subclasses build `input`, from I channels to the controller, and `output`, from C units and R W reads to O channels.
    """

    attends = {"read": "step_mask", "write": "step_mask"}
    threads = 1
    input: nn.Linear
    output: nn.Linear
    _compiled: Callable[[Any, Tensor, Any], Any] | None = None

    @abstractmethod
    def start(self, rows: int) -> Any:
        """The state of `rows` sequences before the first step, in float32 at least."""

    @abstractmethod
    def cell(self, x: Tensor, state: Any) -> Any:
        """The state after a step, from inputs already multiplied by their matrix."""

    @abstractmethod
    def run(self, x: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """[h; reads] (n, C + R W) and the weightings of read and of write heads (n, heads, N) of all steps, from packed
        inputs that are already multiplied by their matrix, `sizes` of them per step."""

    @abstractmethod
    def found(self, state: Any) -> Tensor:
        """[h; reads] (B, C + R W), which the output layer reads."""

    @abstractmethod
    def record(self, state: Any) -> dict[str, Tensor]:
        """Actions of the heads in the step that led to `state`: (B, heads, ...) by name, with `read` and `write`."""

    def forward(self, batch: Any) -> Output:
        """Logits (B, T, O) of the bits; attention `read` and `write` (B, heads, T, N) to the memory."""
        packing = Packing.of(batch.step_mask)
        with without_autocast(batch.inputs.device):
            x = precise_linear(self.input, packing.pack(batch.inputs))
            found, read, write = (
                self._scanned(x, packing) if isinstance(packing, Padded) else self.run(x, packing.batch_sizes)
            )
            logits = precise_linear(self.output, found).to(self.output.weight.dtype)  # (n, O)
        attention = {"read": packing.unpack(read).transpose(1, 2), "write": packing.unpack(write).transpose(1, 2)}
        return Output(packing.unpack(logits), attention)

    def _scanned(self, x: Tensor, packing: Padded) -> tuple[Tensor, Tensor, Tensor]:
        """As `run`, by `cell`."""

        def seen(state: Any) -> tuple[Tensor, Tensor, Tensor]:
            record = self.record(state)
            return self.found(state), record["read"], record["write"]

        (found, read, write), _ = scanned(self.cell, seen, x, packing, self.start(packing.shape[0]))
        return found, read, write

    def step(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Inputs (B, I) of one time step -> logits (B, O) and the state after it."""
        state = self.cell(precise_linear(self.input, x), state)
        return precise_linear(self.output, self.found(state)), state

    @torch.no_grad()
    def memory_trace(self, batch: Any) -> dict[str, Tensor]:
        """The `record` of all steps (B, heads, T, ...), 0 at padding, and the `memory` (B, N, W) after the last step of
        each sequence."""
        with torch.autocast(batch.inputs.device.type, enabled=False):
            state = self.start(len(batch))
            memory, steps = state.memory, []
            for t, real in enumerate(batch.step_mask.unbind(1)):
                _, state = self.step(batch.inputs[:, t], state)
                memory = torch.where(real[:, None, None], state.memory, memory)
                steps.append(self.record(state))
        real = batch.step_mask[:, None, :, None]
        parts = {name: torch.stack([step[name] for step in steps], 2) * real for name in steps[0]}
        return {**parts, "memory": memory}

    def compile(self, *args: Any, **options: Any) -> None:
        """Compiles one time step, once for all batch sizes and lengths; `options` are those of torch.compile."""
        self._compiled = torch.compile(type(self).cell, *args, **options)
