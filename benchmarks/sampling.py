"""Sampling character by character against a loop that reads the whole prefix for each one. Run: python -m
benchmarks.sampling

Batch 1, 65 characters, a prompt of 16, 500 characters drawn. rnn_lm: 2 LSTMs of 200. gcnn: 4 convolutions of 256
channels, kernel 5. memn2n_lm: 150 numbers, 3 hops, 50 words. transformer_lm: 4 layers, 128 wide, 4 heads, a context
longer than the text. The loop scores the last position alone and draws in the same way; both have to draw the same
characters. Then the time of a step of gcnn at position 10 and at position 1,000. Processor time, one thread.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.attention.softmax import draw
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.decoding import Sampling
from zoo.layers.packing import Packing
from zoo.layers.state import State
from zoo.models import GCNN, MemN2NLanguageModel, RNNLanguageModel, TransformerLanguageModel
from zoo.models.network import StreamNetwork

SPEC = LanguageSpec(vocabulary_size=65, unit="characters")
PROMPT, LENGTH, AT_ONCE = 16, 500, 20
EARLY, LATE = 10, 1000


def networks() -> dict[str, StreamNetwork]:
    """The networks, with random weights, in evaluation."""
    torch.manual_seed(0)
    found = {
        "rnn_lm": RNNLanguageModel(SPEC, embedding_dim=200, hidden_dim=200),
        "gcnn": GCNN(SPEC, embedding_dim=128, layers=4, hidden_dim=256, kernel_size=5),
        "memn2n_lm": MemN2NLanguageModel(SPEC, hops=3, memory_size=50),
        "transformer_lm": TransformerLanguageModel(
            SPEC, hidden_dim=128, layers=4, heads=4, feedforward_dim=512, norm="pre", window=PROMPT + LENGTH
        ),
    }
    return {name: network.eval() for name, network in found.items()}


@torch.no_grad()
def by_prefix(network: StreamNetwork, prompt: Tensor) -> list[int]:
    """Draw LENGTH characters, and read all before it for each of them."""
    ids = prompt
    for _ in range(LENGTH):
        packing = Packing.of(torch.ones_like(ids, dtype=torch.bool))
        read = network.read(packing.pack(ids), packing, None, need_weights=False)
        log_probs = network.scores(read.states[-1:]).log_softmax(-1)
        log_probs[:, 0] = -torch.inf  # the unknown character is never written
        ids = torch.cat([ids, draw(log_probs.log_softmax(-1).exp())[:, None]], 1)
    return ids[0, len(prompt[0]) :].tolist()


def searches(network: StreamNetwork, seed: int) -> dict[str, Callable[[], list[int]]]:
    """Both ways, with the same random numbers."""
    prompt = torch.randint(1, 65, (1, PROMPT), generator=torch.Generator().manual_seed(seed))
    batch = StreamBatch.of_prompts(prompt.tolist())
    sampling = Sampling(max_length=(0.0, LENGTH))

    def seeded(write: Callable[[], list[int]]) -> Callable[[], list[int]]:
        def run() -> list[int]:
            torch.manual_seed(seed)
            return write()

        return run

    steps = seeded(lambda: list(sampling(network, batch, SPEC)[0][0].ids))
    return {"steps": steps, "prefix": seeded(lambda: by_prefix(network, prompt))}


@torch.no_grad()
def step_at(network: StreamNetwork, position: int) -> Callable[[], State]:
    """AT_ONCE steps from a position of a text."""
    tokens = torch.ones(1, 1, dtype=torch.long)
    begun = network.start(StreamBatch(index=torch.arange(1)))
    for _ in range(position):
        begun = network.step(tokens, begun).state

    @torch.no_grad()
    def run() -> State:
        state = begun
        for _ in range(AT_ONCE):
            state = network.step(tokens, state).state
        return state

    return run


def main() -> None:
    """Measure, print and write results/sampling.json."""
    arguments = options("Sampling by steps and by whole prefixes", rounds=3, threads=1, examples="prompts")
    environment = prepare(arguments.threads)
    found: dict[str, Any] = {}
    for name, network in networks().items():
        ratios, rates = [], []
        for seed in range(arguments.batches):
            ways = searches(network, seed)
            assert ways["steps"]() == ways["prefix"](), f"{name}: both must draw the same characters"
            seconds = paired(ways, rounds=arguments.rounds, warmup=1, clock=time.process_time)
            ratios.append(ratio(seconds, "prefix", "steps"))
            rates.append(LENGTH / median(seconds["steps"]))
        middle = median(one[1] for one in ratios)
        found[name] = {"prefix_by_steps": middle, "quartiles": ratios, "characters_per_second": round(median(rates))}
        print(name, found[name], flush=True)
    gcnn = networks()["gcnn"]
    seconds = paired(
        {"late": step_at(gcnn, LATE), "early": step_at(gcnn, EARLY)},
        rounds=20 * arguments.rounds,  # they take a thousandth of the time
        clock=time.process_time,
    )
    found["gcnn"]["step_1000_by_step_10"] = ratio(seconds, "late", "early")
    print(found["gcnn"])
    write("sampling", {"environment": environment, "rounds": arguments.rounds, "networks": found})


if __name__ == "__main__":
    main()
