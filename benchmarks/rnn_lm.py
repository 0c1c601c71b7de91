"""The language model's whole training step against its floor and a tutorial's. Run: python -m benchmarks.rnn_lm

Zaremba's medium size: 2 layers of 650 units, 20 columns, windows of 35 tokens, 10,000 words. Step: forward, loss,
backward, clipping of the gradient's norm, fused SGD; the state goes on from step to step. Floor: torch's LSTM, the
product of the vocabulary and its loss, forward and backward, and the clipping; it has no embedding, no dropout and no
optimiser. Times are those of the processor, so that other programs disturb less.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.rnn_lm_straightforward import StraightforwardLanguageModel, train_step
from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.layers.dropout import dropout
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM
from zoo.models.rnn_lm import RNNLanguageModel
from zoo.objectives.cross_entropy import vocabulary_cross_entropy
from zoo.tasks.clipping import clip_norm

COLUMNS, WINDOW, VOCABULARY, WIDTH, LAYERS, DROPOUT = 20, 35, 10_000, 650, 2, 0.5
RATE, CLIP = 35.0, 5.0 / 35
SHAPES = [(20, 35, 650), (20, 35, 200), (50, 50, 128), (32, 25, 64)]  # rows, steps and units of single layers
RATIOS = {
    "step_by_floor": ("step", "floor"),
    "step_by_straightforward": ("step", "straightforward"),
    "straightforward_by_floor": ("straightforward", "floor"),
}


def whole_step(tokens: Tensor) -> Callable[[], None]:
    """The zoo's step on tokens (B, T + 1)."""
    model = RNNLanguageModel(
        LanguageSpec(VOCABULARY), embedding_dim=WIDTH, hidden_dim=WIDTH, num_layers=LAYERS, dropout=DROPOUT
    )
    batch = StreamBatch(
        index=torch.arange(COLUMNS),
        target_input=tokens[:, :-1],
        target=tokens[:, 1:],
        target_mask=torch.ones(COLUMNS, WINDOW, dtype=torch.bool),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, fused=True)
    carried: dict[str, Tensor] | None = None

    def step() -> None:
        nonlocal carried
        optimizer.zero_grad(set_to_none=True)
        output = model(batch, carried, need_weights=False)
        total, _ = vocabulary_cross_entropy(output.logits, batch.true_tokens)
        (total / len(batch.true_tokens)).backward()
        clip_norm(model.parameters(), CLIP)
        optimizer.step()
        carried = {name: part.detach() for name, part in output.carried.items()}

    return step


def floor_step(tokens: Tensor) -> Callable[[], None]:
    """The library calls, time first."""
    lstm, vocabulary = nn.LSTM(WIDTH, WIDTH, LAYERS), nn.Linear(WIDTH, VOCABULARY)
    parameters = [*lstm.parameters(), *vocabulary.parameters()]
    x = torch.randn(WINDOW, COLUMNS, WIDTH)
    target = tokens[:, 1:].T.flatten()

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        F.cross_entropy(vocabulary(lstm(x)[0].flatten(0, 1)), target).backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)

    return step


def straightforward_step(tokens: Tensor) -> Callable[[], None]:
    """The step of `rnn_lm_straightforward`."""
    model = StraightforwardLanguageModel(VOCABULARY, WIDTH, LAYERS, DROPOUT)
    state = model.start(COLUMNS)
    inputs, target = tokens[:, :-1].T.contiguous(), tokens[:, 1:].T.contiguous()

    def step() -> None:
        nonlocal state
        state = train_step(model, inputs, target, state, CLIP)

    return step


def layer_step(rows: int, steps: int, width: int, kernel: str) -> Callable[[], None]:
    """Forward and backward of one LSTM over rows of equal length."""
    packing, layer = Packing.of(torch.ones(rows, steps, dtype=torch.bool)), LSTM(width, width, kernel=kernel)
    x, gradient = torch.randn(rows * steps, width, requires_grad=True), torch.randn(rows * steps, width)

    def step() -> None:
        for parameter in (x, *layer.parameters()):
            parameter.grad = None
        layer(x, packing)[0].backward(gradient)

    return step


def parts(rounds: int) -> dict[str, list[float]]:
    """Ratios of what makes the step faster than the layers that it replaces: an LSTM by oneDNN to the zoo's loop, and
    dropout from 16 bits to torch's."""
    found = {}
    for rows, steps, width in SHAPES:
        ways: dict[str, Callable[[], object]] = {
            kernel: layer_step(rows, steps, width, kernel) for kernel in ("auto", "loop")
        }
        seconds = paired(ways, rounds=rounds, clock=time.process_time)
        found[f"lstm {rows} x {steps}, {width}"] = ratio(seconds, "auto", "loop")
    x = torch.randn(COLUMNS * WINDOW, WIDTH)
    seconds = paired(
        {"ours": lambda: dropout(x, DROPOUT, True), "torch": lambda: F.dropout(x, DROPOUT)},
        rounds=rounds,
        clock=time.process_time,
    )
    return found | {"dropout": ratio(seconds, "ours", "torch")}


def main() -> None:
    """Measure on several batches, print and write the medians."""
    arguments = options("The training step of rnn_lm by its floor", rounds=15, threads=1, examples="tokens")
    environment = prepare(arguments.threads)
    how: dict[str, Any] = {"rounds": arguments.rounds, "warmup": 2, "clock": time.process_time}
    batches: list[dict[str, Any]] = []
    for seed in range(arguments.batches):
        torch.manual_seed(seed)
        tokens = torch.randint(VOCABULARY, (COLUMNS, WINDOW + 1))
        makers = {"step": whole_step, "floor": floor_step, "straightforward": straightforward_step}
        seconds = paired({name: make(tokens) for name, make in makers.items()}, **how)
        found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
        found["milliseconds"] = {key: round(1000 * statistics.median(times), 1) for key, times in seconds.items()}
        batches.append(found)
        print(found, flush=True)
    middle = {key: statistics.median([batch[key][1] for batch in batches]) for key in RATIOS}
    found = parts(arguments.rounds)
    print(middle, found)
    result = {"environment": environment, "rounds": arguments.rounds, **middle, "batches": batches, "parts": found}
    write("rnn_lm", result)


if __name__ == "__main__":
    main()
