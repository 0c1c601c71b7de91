"""A pointer network's whole training step against library kernels, and beam search against a loop without state.

Run: python -m benchmarks.pointer_net

128 sets of 50 points, embedding and hidden 256, targets of 51 tokens. Step: forward, cross-entropy, backward, clip of
the gradient's norm, fused Adam. Floor: forward and backward of the embedding, torch's LSTM as encoder and as decoder,
the projections W_1 and W_2, and the additive score's sum, tanh and product with v for all steps at once; without the
place of the end, loss, clip and optimiser.

Beam 3 points 51 times. The loop without state encodes the sets once, as ours does; then, at each step, it copies
the projected states for each hypothesis and runs `forward` over all that it has pointed at so far. The thrifty one
scores the last step alone. All must find the same before anything is timed.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

import zoo.models.pointer_net
from benchmarks.pairs import floor_step, whole_step
from benchmarks.timing import paired, prepare, ratio, write
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.decoding import BeamSearch, Greedy
from zoo.layers.packing import Packing
from zoo.layers.pointing import scores_of
from zoo.models.pointer_net import PointerNet

SETS, POINTS, HIDDEN, BEAM = 128, 50, 256, 3
STEPS = POINTS + 1
SPEC = PointSpec(width=2, longest=POINTS, longest_target=STEPS, goal="tour", groups=("n50",))
LENGTHS: dict[str, Any] = {"min_length": (1, 1), "max_length": (1, 1)}


def point_batch(seed: int) -> PointBatch:
    """Random points and, for each set, a random order of them."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.rand(SETS, POINTS, 2, generator=generator)
    order = torch.rand(SETS, POINTS, generator=generator).argsort(1) + SPEC.first
    target = torch.cat([order, torch.full((SETS, 1), SPEC.end)], 1)
    return PointBatch(points, torch.ones(SETS, POINTS, dtype=torch.bool), target=target, target_mask=target > 0)


def network() -> PointerNet:
    """A batch of the benchmark's size, equal at every call."""
    torch.manual_seed(0)
    return PointerNet(SPEC, embedding_dim=HIDDEN, hidden_dim=HIDDEN)


def floor(batch: PointBatch) -> Callable[[], None]:
    """The library calls, time first in the LSTMs."""
    assert batch.target is not None
    embedding, v = nn.Linear(2, HIDDEN), nn.Linear(HIDDEN, 1, bias=False)
    encoder, decoder = nn.LSTM(HIDDEN, HIDDEN), nn.LSTM(HIDDEN, HIDDEN)
    key, query = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(2))
    points = batch.points.transpose(0, 1).contiguous()  # (n, B, 2)
    pointed = points.gather(0, (batch.target[:, :-1] - SPEC.first).T[:, :, None].expand(-1, -1, 2))
    read = torch.cat([torch.zeros(1, SETS, 2), pointed])  # (T, B, 2)

    def forward() -> Tensor:
        e, state = encoder(embedding(points))
        d, _ = decoder(embedding(read), state)
        e, d = e.transpose(0, 1), d.transpose(0, 1)
        return v((query(d)[:, :, None] + key(e)[:, None]).tanh_())

    return floor_step([embedding, v, encoder, decoder, key, query], forward)


class WithoutState:
    """Beam search by `forward` alone: no state is carried from step to step but what the encoder gave."""

    def __init__(self, network: PointerNet, *, thrifty: bool) -> None:
        self.network, self.thrifty = network, thrifty

    @torch.no_grad()
    def __call__(self, batch: PointBatch) -> tuple[Tensor, Tensor]:
        """Ids (B, STEPS) of the best hypotheses and their log-probabilities (B,)."""
        network: Any = self.network  # one of its methods is replaced for a while
        count, encode = len(batch), network.encode
        memory, state = encode(batch)
        flat = torch.arange(count).repeat_interleave(BEAM)
        points, mask = batch.points[flat], batch.point_mask[flat]
        ids = torch.zeros(count, BEAM, 0, dtype=torch.long)
        live = torch.full((count, BEAM), -torch.inf)
        live[:, 0] = 0.0
        try:
            for position in range(1, STEPS + 1):
                written = torch.cat([ids, ids.new_full((count, BEAM, 1), SPEC.end)], 2).flatten(0, 1)
                copies = PointBatch(points, mask, target=written, target_mask=torch.ones_like(written).bool())
                network.encode = lambda _: (
                    {name: part[flat] for name, part in memory.items()},
                    tuple(part[:, flat] for part in state),
                )
                logits = self._last(copies, count * BEAM)
                scores = logits.log_softmax(-1).view(count, BEAM, -1) + live[:, :, None]
                forbidden = torch.ones(scores.shape[2], dtype=torch.bool)
                forbidden[SPEC.end] = False
                if position < STEPS:
                    forbidden = ~forbidden
                live, cells = scores.masked_fill(forbidden, -torch.inf).flatten(1).topk(BEAM)
                parents, tokens = cells // scores.shape[2], cells % scores.shape[2]
                ids = torch.cat([ids.gather(1, parents[:, :, None].expand_as(ids)), tokens[:, :, None]], 2)
        finally:
            del network.encode
        return ids[:, 0], live[:, 0]

    def _last(self, batch: PointBatch, rows: int) -> Tensor:
        """The logits (rows, V) of the last step of targets that are all of one length."""
        if not self.thrifty:
            return self.network(batch, need_weights=False).logits[-rows:]
        last = Packing.of(torch.ones(rows, 1, dtype=torch.bool))
        scored = zoo.models.pointer_net
        targets = batch.forced.packing

        def last_scores(score: Any, queries: Tensor, keys: Tensor, packing: Packing) -> Tensor:
            return scores_of(score, queries[-rows:], keys, last).repeat(len(packing.batch_sizes), 1)

        assert len(targets.batch_sizes) * rows == len(targets.cell)
        scored.scores_of = last_scores
        try:
            return self.network(batch, need_weights=False).logits[-rows:]
        finally:
            scored.scores_of = scores_of


def ways(batch: PointBatch) -> dict[str, Callable[[], Any]]:
    """The ways to decode `batch`. Raises AssertionError where beam search and the loops differ."""
    model = network().eval()
    beam, greedy = BeamSearch(beam_size=BEAM, **LENGTHS), Greedy(**LENGTHS)
    loop, thrifty_loop = (WithoutState(model, thrifty=thrifty) for thrifty in (False, True))
    found = beam(model, batch, SPEC)
    for slow in (loop, thrifty_loop):
        ids, log_probs = slow(batch)
        same = [best.ids == tuple(row) for (best, *_), row in zip(found, ids.tolist(), strict=True)]
        assert sum(same) >= 0.95 * len(same)  # rounding may separate equally good ones
        expected = torch.tensor([best.log_prob for best, *_ in found], dtype=log_probs.dtype)
        torch.testing.assert_close(expected, log_probs, rtol=1e-4, atol=1e-3)
    return {
        "beam": lambda: beam(model, batch, SPEC),
        "greedy": lambda: greedy(model, batch, SPEC),
        "loop": lambda: loop(batch),
        "thrifty_loop": lambda: thrifty_loop(batch),
    }


def step_by_floor(threads: int, rounds: int) -> list[float]:
    """Quartiles of the time of the step by that of the floor, in this process."""
    prepare(threads)
    batch = point_batch(0)
    seconds = paired({"step": whole_step(network(), batch), "floor": floor(batch)}, rounds=rounds)
    return ratio(seconds, "step", "floor")


def in_processes(threads: int, rounds: int, processes: int) -> list[list[float]]:
    """Repeat the measurement in separate processes, because the step's time differs between them."""
    words = [sys.executable, "-m", "benchmarks.pointer_net", "--threads", str(threads), "--rounds", str(rounds)]
    found = []
    for _ in range(processes):
        run = subprocess.run([*words, "--step-alone"], capture_output=True, text=True, check=True)
        found.append(json.loads(run.stdout))
        print(f"threads {threads}: step / floor {found[-1]}", flush=True)
    return found


def main() -> None:
    """Measure both, print and write the ratios to results/pointer_net.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds of the training step")
    parser.add_argument("--processes", type=int, default=4, help="in which the training step is timed, one by one")
    parser.add_argument("--decoding-rounds", type=int, default=3, help="timed rounds of decoding")
    parser.add_argument("--threads", type=int, default=2, help="the step is timed with one, too")
    parser.add_argument("--step-alone", action="store_true", help="time the step in this process, and write nothing")
    arguments = parser.parse_args()
    rounds, threads = arguments.rounds, arguments.threads
    if arguments.step_alone:
        print(json.dumps(step_by_floor(threads, rounds)))
        return
    result: dict[str, Any] = {
        "environment": prepare(threads),
        "rounds": rounds,
        "step_by_floor_of_each_process": {
            f"threads {count}": in_processes(count, rounds, arguments.processes) for count in sorted({1, threads})
        },
    }
    seconds = paired(ways(point_batch(0)), rounds=max(2, arguments.decoding_rounds), warmup=1)
    for name, to in (("loop", "beam"), ("thrifty_loop", "beam"), ("beam", "greedy")):
        result[f"{name}_by_{to}"] = ratio(seconds, name, to)
    result["sets_per_second"] = {
        name: round(SETS / sorted(times)[len(times) // 2], 1) for name, times in seconds.items()
    }
    print(result, flush=True)
    write("pointer_net", result)


if __name__ == "__main__":
    main()
