"""Bases of the networks: what each declares about itself, and the interfaces of those that write token by token, of
those that read a stream, and of those that address a memory at every time step."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from zoo.attention.addressing import precise_linear
from zoo.layers.packing import Packing, Padded, without_end
from zoo.layers.state import State, Step, log_probabilities
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
    joins: int = 1
    """The number of positions of the input that each position of its own memory joins. An export is traced at sizes at
    which this memory has several positions."""
    threads: ClassVar[int]
    """The best number of CPU threads, where it is small: the matrices may be too small to gain from more."""


class WritingNetwork(Network):
    """A network that writes a sequence, with two faces on the same weights (see `zoo.layers.state`)."""

    surprises: ClassVar[bool] = False
    """Whether `forward` can be asked, by `need_scores=False`, for the surprisals of the true tokens in place of all
    scores, because they cost much less."""
    copies: bool = False
    """Whether it can write words of a source that the vocabulary lacks, see `zoo.data.copying.batch`."""

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


class Read(NamedTuple):
    """The result of reading N tokens of B columns of a stream."""

    states: Tensor
    """(N, D) a vector after each token, from which the next one is predicted."""
    carried: dict[str, Tensor]
    """(B, ...) each: what the tokens that follow need of those before. A column that read nothing keeps its own."""
    attention: dict[str, Tensor] = {}
    """(B, T, S) or, with H heads, (B, H, T, S) weights on the tokens that were read, by name, if they are needed. The
    last T columns are the tokens of the window, and those before are carried ones."""
    losses: dict[str, Tensor] = {}
    """Further losses, as in `Output`."""


class StreamNetwork(WritingNetwork):
    """A language model: it reads the tokens of a stream and predicts after each of them the next one.

    A subclass defines `read`, and the module `vocabulary` from a state to the scores of all tokens. From these follow
    the pass over a window, the continuation of a prompt, and the step of one token: all three are the same function.
    """

    carries = True
    context: int | None = None
    """The most tokens from which the next one is predicted; None: all tokens before it."""
    vocabulary: nn.Module

    @abstractmethod
    def read(
        self, tokens: Tensor, packing: Packing, carried: Mapping[str, Tensor] | None, *, need_weights: bool
    ) -> Read:
        """Read the window of each column, from the state that the window before left, or from the beginning.

        Args:
            tokens: (N,) ids in the order of `packing`, or (N, V) probabilities. There may be none at all.
            packing: of the window (B, T).
            carried: what `read` returned for the window before, (B, ...) each.
            need_weights: whether to return attention.
        """

    @staticmethod
    def kept(packing: Packing, before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The state (B, ...) `after` of the columns that read something, and the state `before` of the others."""
        if not isinstance(packing, Padded) and len(packing.order) == packing.shape[0]:
            return dict(after)
        reads = packing.sum(packing.cell.new_ones(packing.cell.shape)) > 0
        return {name: part.where(reads.view(-1, *[1] * (part.dim() - 1)), before[name]) for name, part in after.items()}

    def scores(self, states: Tensor) -> Tensor:
        """(N, D) -> (N, V) the scores of the next token."""
        return self.vocabulary(states)

    def surprisal(self, states: Tensor, tokens: Tensor) -> Tensor | None:
        """(N, D) states and the tokens (N,) that follow them -> (N,) their surprisals -log p, if the network has a
        cheaper way to them than by all `scores`; otherwise None."""
        return None

    def forward(
        self,
        batch: Any,
        carried: Mapping[str, Tensor] | None = None,
        *,
        need_weights: bool = True,
        need_scores: bool = True,
    ) -> Output:
        """Scores (N, V) of the token after each token of a window, and the state for the next window. Without
        `need_scores` there may be the surprisals of the true tokens instead, see `Output.surprisal`."""
        inputs, _, packing = batch.forced
        states, after, attention, losses = self.read(packing.pack(inputs), packing, carried, need_weights=need_weights)
        surprisal = None if need_scores else self.surprisal(states, batch.true_tokens)
        scores = self.scores(states) if surprisal is None else states.new_empty(states.shape[0], 0)
        return Output(scores, attention, losses, carried=after, surprisal=surprisal)

    def start(self, batch: Any) -> State:
        """Read all tokens of the prompts but the last, which is the first token of decoding."""
        tokens, packing, first = prompts(batch)
        read = self.read(tokens, packing, None, need_weights=False)
        return State({}, {name: part[:, None] for name, part in read.carried.items()}, first=first)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read one token of each hypothesis: `tokens` are (B, K) ids or (B, K, V) probabilities."""
        rows, count = tokens.shape[:2]
        carried = {name: part.flatten(0, 1) for name, part in state.hypotheses.items()}
        flat = tokens.flatten(0, 1)
        packing = Packing.of_one_step(flat.shape[0], tokens.device)
        read = self.read(flat, packing, carried, need_weights=False)
        after = {name: part.view(rows, count, *part.shape[1:]) for name, part in read.carried.items()}
        log_probs = log_probabilities(self.scores(read.states))
        return Step(log_probs.view(rows, count, -1), State(state.memory, after), {})


def prompts(batch: Any) -> tuple[Tensor, Packing, Tensor | None]:
    """The tokens (N,) of prompts that are read before decoding, their packing (B, P), and the last token of each prompt
    (B,), which decoding reads first. A batch without prompts has None in its place."""
    if batch.prompt is None:
        mask = torch.zeros(len(batch), 0, dtype=torch.bool, device=batch.index.device)
        return mask.flatten().long(), Packing.of(mask), None
    mask = without_end(batch.prompt_mask)
    packing = Packing.of(mask)
    return packing.pack(batch.prompt), packing, batch.prompt.gather(1, mask.sum(1, keepdim=True)).squeeze(1)


class DensityNetwork(Network):
    """A network that gives the probability of a picture: each value in turn, after all values before it.

    Pixels are read row by row from the left, and the colours of a pixel in their order. `forward` scores all values of
    a picture at once. `start` and `step` score the values of one pixel from stored activations: the same function, at
    the cost of one pixel.
    """

    conditions: str | None = None
    """The field of the batch that every value depends on, `label` or `factors`, if there is one."""

    @abstractmethod
    def forward(self, batch: Any) -> Output:
        """Scores (B, L, C, H, W) of the L levels of each value, from the values before it."""

    @abstractmethod
    def start(self, batch: Any) -> Any:
        """The activations of pictures of the batch's size and conditions, before the first pixel is known."""

    @abstractmethod
    def step(self, values: Tensor, row: int, column: int, state: Any) -> Tensor:
        """Scores (B, L, C) of the colours of a pixel; those of colour c depend on the colours of the pixel before c.

        Args:
            values: (B, C, H, W) pictures in which every pixel before this one is known. Later values are not read.
            row: the row of the pixel. Each pixel is asked for after the pixel before it, once or several times.
            column: its column.
            state: the result of `start`. The activations of this pixel are written into it.
        """


class SampleNetwork(Network):
    """A network that gives the probability of a sound: each sample in turn, after all samples before it.

    `forward` scores all samples at once. `start` and `step` score one sample after another from stored activations: the
    same function, at the cost of one sample.
    """

    conditions: tuple[str, ...] = ()
    """The fields of the batch that every sample depends on: `label`, `frames`, both or none."""
    field: int | None = None
    """The number of samples before each one that its scores depend on; None: all."""

    @abstractmethod
    def forward(self, batch: Any) -> Output:
        """Scores (B, N, L) of the L levels of each sample, from the samples before it."""

    @abstractmethod
    def start(self, batch: Any) -> tuple[Tensor, Any]:
        """Read the samples of a batch without padding; there may be none. Frames may describe later samples too.

        Returns:
            The scores (B, L) of the sample that follows, and the state for `step`.
        """

    @abstractmethod
    def step(self, levels: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read one more sample of each sound, `levels` (B,). Returns the scores (B, L) of the sample after it, and the
        next state. The given state may be changed."""


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
