"""The pointer-generator in training and search, at the size of the paper. Run: python -m benchmarks.pointer_generator

16 sources of 400 words, a fortieth of them unknown; summaries of 20 to 100 words, 100 the longest; 50,000 words; E 128,
n 256, attention 512, with coverage. Step: forward, loss, backward. Floor: torch's LSTMs (the decoder's reads the word
alone); the keys; for each step of the longest summary, in the rows that have it, the sum of keys, a query and a
coverage, its tanh and product with v, the softmax and the context; and for all words at once the vocabulary's product,
the cross-entropy and the product of the weights with the positions of the true word. `straightforward` is
`benchmarks.pointer_generator_straightforward`, on the padded grid. Neither has an optimiser.

Beam: 4 hypotheses, 16 sources, 30 words. The loop without state encodes once, and reads for each hypothesis at each
step all that it has written. Both find the same.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.pointer_generator_straightforward import StraightforwardPointerGenerator
from benchmarks.timing import over_batches, paired, ratio
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.decoding import BeamSearch
from zoo.models.pointer_generator import PointerGenerator
from zoo.objectives import CrossEntropy

SOURCES, WORDS, LONGEST, SHORTEST, VOCABULARY = 16, 400, 100, 20, 50_000
EMBEDDING, WIDTH, ATTENTION = 128, 256, 512
BEAM, STEPS = 4, 30
SPEC = CopySpec(vocabulary_size=VOCABULARY, longest_source=WORDS, longest_target=LONGEST)
RATIOS = {
    "step_by_floor": ("step", "floor"),
    "straightforward_by_step": ("straightforward", "step"),
    "loop_by_beam": ("loop", "beam"),
}


def batch_of(seed: int) -> CopyBatch:
    """Random words; a tenth of each summary repeats its source."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (SOURCES,), generator=draw)
    lengths[0] = LONGEST
    mask = torch.arange(LONGEST) < lengths[:, None]
    extended = torch.randint(4, VOCABULARY, (SOURCES, WORDS), generator=draw)
    unknown = VOCABULARY + torch.arange(WORDS // 40)
    places = torch.rand(SOURCES, WORDS, generator=draw).argsort(1)[:, : len(unknown)]
    extended = extended.scatter(1, places, unknown.expand(SOURCES, -1))
    copied = torch.randint(4, VOCABULARY, mask.shape, generator=draw)
    repeated = extended.gather(1, torch.randint(0, WORDS, mask.shape, generator=draw))
    copied = torch.where(torch.rand(mask.shape, generator=draw) < 0.1, repeated, copied)
    copied = copied.scatter(1, lengths[:, None] - 1, SPEC.end).masked_fill(~mask, 0)
    source, target = (ids.masked_fill(ids >= VOCABULARY, SPEC.unknown) for ids in (extended, copied))
    return CopyBatch(
        source=source,
        source_mask=torch.ones_like(source, dtype=torch.bool),
        extended=extended,
        target=target,
        target_mask=mask,
        copied=copied,
    )


def whole_step(model: PointerGenerator, batch: CopyBatch) -> Callable[[], None]:
    """The zoo's step."""
    objective = CrossEntropy()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        term = objective(model, batch, spec=SPEC, step=0, need_weights=False).terms[0]
        (term.total / term.count).backward()

    return step


def floor_step(batch: CopyBatch) -> Callable[[], None]:
    """The library calls."""
    assert batch.target is not None and batch.target_mask is not None and batch.target_packing is not None
    embedding = nn.Embedding(VOCABULARY, EMBEDDING)
    encoder = nn.LSTM(EMBEDDING, WIDTH, bidirectional=True)
    decoder, keys = nn.LSTM(EMBEDDING, WIDTH), nn.Linear(2 * WIDTH, ATTENTION)
    v, cover = (nn.Parameter(torch.randn(ATTENTION) / 20) for _ in range(2))
    vocabulary = nn.Linear(WIDTH, VOCABULARY)
    parameters = [p for module in (embedding, encoder, decoder, keys, vocabulary) for p in module.parameters()]
    source, read = batch.source.T.contiguous(), batch.forced.read.T.contiguous().clamp(max=VOCABULARY - 1)
    packing, sizes = batch.target_packing, batch.target_packing.batch_sizes
    words, truth = batch.extended[packing.row], packing.pack(batch.copied)
    queries = torch.randn(len(truth), ATTENTION, requires_grad=True)
    before = torch.rand(len(truth), WORDS)

    def step() -> None:
        for parameter in (*parameters, v, cover, queries):
            parameter.grad = None
        h, _ = encoder(embedding(source))
        s, _ = decoder(embedding(read))
        h = h.transpose(0, 1).contiguous()
        k, found, contexts = keys(h), [], []
        for q, o in zip(queries.split(sizes), before.split(sizes), strict=True):
            inside = torch.addcmul(k[: len(q)] + q[:, None], o[:, :, None], cover).tanh()
            found.append((inside @ v).softmax(1))
            contexts.append(torch.bmm(found[-1][:, None], h[: len(q)])[:, 0])
        a = torch.cat(found)
        copies = (a * (words == truth[:, None])).sum() + torch.cat(contexts).sum()
        states = packing.pack(s.transpose(0, 1))
        (F.cross_entropy(vocabulary(states), packing.pack(batch.target)) + copies / len(truth)).backward()

    return step


def straightforward_step(batch: CopyBatch) -> Callable[[], None]:
    """The step of `pointer_generator_straightforward`."""
    model = StraightforwardPointerGenerator(VOCABULARY, EMBEDDING, WIDTH, ATTENTION)
    read = batch.forced.read.clamp(max=VOCABULARY - 1)
    inputs = batch.source, batch.extended, read, batch.copied, batch.target_mask

    def step() -> None:
        model.zero_grad(set_to_none=True)
        model(*inputs).backward()

    return step


def searches(model: PointerGenerator, batch: CopyBatch) -> dict[str, Callable[[], Any]]:
    """The beam, and the loop without state."""
    lengths: dict[str, Any] = {"min_length": (0, STEPS), "max_length": (0, STEPS)}
    search = BeamSearch(beam_size=BEAM, **lengths)
    alone = replace(batch, target=None, target_mask=None, target_input=None, target_packing=None, copied=None)
    rows = torch.arange(SOURCES).repeat_interleave(BEAM)

    @torch.no_grad()
    def loop() -> list[tuple[int, ...]]:
        model.eval()
        h, start = model._encode(alone)
        grid = alone.source_packing.unpack(h).index_select(0, rows)
        repeated = replace(
            alone,
            **{name: getattr(alone, name)[rows] for name in ("source", "source_mask", "extended", "index")},
            source_packing=None,
        )
        encoded = repeated.source_packing.pack(grid), tuple(part[rows] for part in start)
        live = torch.full((SOURCES, BEAM), -torch.inf)
        live[:, 0] = 0.0
        ids = torch.zeros(SOURCES, BEAM, 0, dtype=torch.long)
        encode, model._encode = model._encode, lambda _: encoded  # type: ignore[method-assign]
        try:
            for position in range(1, STEPS + 1):
                written = F.pad(ids, (0, 1), value=SPEC.end).flatten(0, 1)
                known = written.masked_fill(written >= VOCABULARY, SPEC.unknown)
                target = replace(
                    repeated, target=known, copied=written, target_mask=torch.ones_like(known, dtype=torch.bool)
                )
                logits = model(target, need_weights=False).logits
                last = logits[-SOURCES * BEAM :].view(SOURCES, BEAM, -1) + live[:, :, None]
                allowed = torch.zeros(last.shape[2], dtype=torch.bool)
                allowed[SPEC.end] = position == STEPS
                if position < STEPS:
                    allowed = ~allowed
                    allowed[[SPEC.padding, SPEC.begin, SPEC.end]] = False
                live, cells = last.masked_fill(~allowed, -torch.inf).flatten(1).topk(BEAM)
                parents, tokens = cells // last.shape[2], cells % last.shape[2]
                ids = torch.cat([ids.gather(1, parents[:, :, None].expand_as(ids)), tokens[:, :, None]], 2)
        finally:
            model._encode = encode  # type: ignore[method-assign]
        return [tuple(row.tolist()) for row in ids[:, 0]]

    def beam() -> list[tuple[int, ...]]:
        model.eval()
        return [best.ids for best, *_ in search(model, alone, SPEC)]

    return {"beam": beam, "loop": loop}


def measured(seed: int, rounds: int) -> dict[str, Any]:
    """The ratios of one batch."""
    torch.manual_seed(seed)
    batch = batch_of(seed)
    model = PointerGenerator(SPEC, embedding_dim=EMBEDDING, hidden_dim=WIDTH, attention_dim=ATTENTION, coverage=True)
    steps = {
        "step": whole_step(model, batch),
        "floor": floor_step(batch),
        "straightforward": straightforward_step(batch),
    }
    seconds = paired(steps, rounds=rounds, warmup=1, clock=time.process_time)
    both = searches(model, batch)
    assert both["beam"]() == both["loop"](), "the beam and the loop find different summaries"
    seconds |= paired(both, rounds=max(2, rounds // 3), warmup=0, clock=time.process_time)
    found: dict[str, Any] = {key: ratio(seconds, *names) for key, names in RATIOS.items()}
    found["milliseconds"] = {key: round(1000 * statistics.median(times)) for key, times in seconds.items()}
    return found


if __name__ == "__main__":
    over_batches("pointer_generator", __doc__ or "", measured, RATIOS, rounds=9, threads=1, examples="sources")
