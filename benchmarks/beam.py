"""Beam search against greedy decoding and against a loop without state. Run: python -m benchmarks.beam

Luong (1 layer, input feeding) and ConvS2S (4 + 4 layers), hidden 512, vocabulary 10,000, 32 sentences of 20 to 40
tokens, 30 tokens written for each. The loop without state encodes the sources once, as ours does; then, at each step,
it copies the encoder's output for each of the 5 hypotheses and runs `forward` over all that they have written so far.
`loop` takes `forward` as it is, with the vocabulary scored at every position; `thrifty_loop` scores the last one only.
All must find the same before anything is timed.
"""

import argparse
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, PAIRS, SPEC, pair_batch
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.pairs.batch import PairBatch
from zoo.decoding import BeamSearch, Greedy, Hypothesis
from zoo.models import ConvS2S, Luong

BEAM, STEPS, LAYERS = 5, 30, 4
LENGTHS: dict[str, Any] = {"min_length": (0, STEPS), "max_length": (0, STEPS)}


class LastPosition(nn.Module):
    """The vocabulary layer on the `rows` last of packed tokens, which are the last of rows of one length."""

    def __init__(self, layer: nn.Module, rows: int) -> None:
        super().__init__()
        self.layer, self.rows = layer, rows

    def forward(self, x: Tensor) -> Tensor:
        """(N, n) -> (rows, V)."""
        return self.layer(x[-self.rows :])


class WithoutState:
    """Beam search by `forward` alone: no state is carried from step to step but what the encoder gave."""

    def __init__(self, network: Luong | ConvS2S, *, thrifty: bool) -> None:
        self.network, self.thrifty = network, thrifty

    @torch.no_grad()
    def __call__(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Ids (B, STEPS) of the best hypotheses and their log-probabilities (B,)."""
        network: Any = self.network  # two of its parts are replaced for a while
        count = len(batch)
        encode, vocabulary = network._encode, network.vocabulary
        encoded = encode(batch)
        flat = torch.arange(count).repeat_interleave(BEAM)
        source, mask = batch.source[flat], batch.source_mask[flat]
        ids = torch.zeros(count, BEAM, 0, dtype=torch.long)
        live = torch.full((count, BEAM), -torch.inf)
        live[:, 0] = 0.0
        if self.thrifty:
            network.vocabulary = LastPosition(vocabulary, count * BEAM)
        try:
            for position in range(1, STEPS + 1):
                written = torch.cat([ids, ids.new_full((count, BEAM, 1), SPEC.end)], 2).flatten(0, 1)
                copies = PairBatch(source, mask, target=written, target_mask=torch.ones_like(written).bool())
                network._encode = lambda _, copies=copies: copied(encoded, batch, copies, flat)
                scores = (
                    network(copies, need_weights=False).logits[-count * BEAM :].log_softmax(-1).view(count, BEAM, -1)
                )
                scores = scores + live[:, :, None]
                forbidden = torch.ones(SPEC.target_size, dtype=torch.bool)
                forbidden[SPEC.end] = False
                if position < STEPS:
                    forbidden = ~forbidden
                    forbidden[[SPEC.padding, SPEC.begin]] = True
                live, cells = scores.masked_fill(forbidden, -torch.inf).flatten(1).topk(BEAM)
                parents, tokens = cells // SPEC.target_size, cells % SPEC.target_size
                ids = torch.cat([ids.gather(1, parents[:, :, None].expand_as(ids)), tokens[:, :, None]], 2)
        finally:
            network._encode, network.vocabulary = encode, vocabulary
        return ids[:, 0], live[:, 0]


def copied(encoded: Any, batch: PairBatch, copies: PairBatch, flat: Tensor) -> Any:
    """The encoder's output for `batch`, copied for each hypothesis."""
    if torch.is_tensor(encoded[1]):  # ConvS2S: keys and values (B, S, f)
        return tuple(part[flat] for part in encoded)
    packed, states = encoded  # Luong: (M, n) and (L, B, n) twice
    memory = batch.source_packing.unpack(packed)[flat]
    return copies.source_packing.pack(memory), tuple(part[:, flat] for part in states)


def networks() -> dict[str, Luong | ConvS2S]:
    """By name, in evaluation mode."""
    torch.manual_seed(0)
    layers = {"encoder_layers": LAYERS, "decoder_layers": LAYERS}
    sizes = {"embedding_dim": HIDDEN, "hidden_dim": HIDDEN}
    found = {
        "luong": Luong(SPEC, num_layers=1, **sizes),
        "conv_s2s": ConvS2S(SPEC, output_dim=HIDDEN, **layers, **sizes),
    }
    return {name: network.eval() for name, network in found.items()}


def ways(network: Luong | ConvS2S, batch: PairBatch) -> dict[str, Callable[[], Any]]:
    """The four ways to decode `batch`. Raises AssertionError where beam search and the loops differ."""
    beam, greedy = BeamSearch(beam_size=BEAM, **LENGTHS), Greedy(**LENGTHS)
    loop, thrifty_loop = (WithoutState(network, thrifty=thrifty) for thrifty in (False, True))
    found: list[list[Hypothesis]] = beam(network, batch, SPEC)
    for slow in (loop, thrifty_loop):
        ids, log_probs = slow(batch)
        assert [best.ids for best, *_ in found] == [tuple(row) for row in ids.tolist()]
        torch.testing.assert_close(torch.tensor([best.log_prob for best, *_ in found]), log_probs, rtol=1e-4, atol=1e-3)
    return {
        "beam": lambda: beam(network, batch, SPEC),
        "greedy": lambda: greedy(network, batch, SPEC),
        "loop": lambda: loop(batch),
        "thrifty_loop": lambda: thrifty_loop(batch),
    }


def main() -> None:
    """Measure both networks, print and write sentences per second and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="timed rounds per network")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"environment": prepare(arguments.threads), "rounds": arguments.rounds}
    for name, network in networks().items():
        seconds = paired(ways(network, pair_batch(0)), rounds=arguments.rounds, warmup=1)
        rates = {way: round(PAIRS / sorted(times)[len(times) // 2], 1) for way, times in seconds.items()}
        result[name] = {
            "loop_by_beam": ratio(seconds, "loop", "beam"),
            "thrifty_loop_by_beam": ratio(seconds, "thrifty_loop", "beam"),
            "beam_by_greedy": ratio(seconds, "beam", "greedy"),
            "sentences_per_second": rates,
        }
        print(name, result[name], flush=True)
    write("beam", result)


if __name__ == "__main__":
    main()
