"""The AoA reader's whole training step, relative to its library kernels. Run: python -m benchmarks.aoa_reader

Step: forward, loss, backward, clipping of the gradient norm, fused Adam with l2; the paper's sizes for CBT. Floor:
embedding, torch's two bidirectional GRUs and the two matrix products, of the states and of the attentions, forward and
backward alone on the same words. It is the faster of two forms: packed, or padded with two one-way GRUs per side. One
of these reads every row mirrored within its length, and its output is not mirrored back.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec
from zoo.layers.packing import Packing
from zoo.models.aoa_reader import AoAReader
from zoo.tasks.cloze import answer_losses

VOCABULARY, EMBEDDING, HIDDEN = 53_066, 384, 384
QUESTIONS, SHORTEST, LONGEST, QUERY, CANDIDATES = 32, 300, 500, (10, 40), 10
BLANK = 2


def story_batch(seed: int) -> ClozeBatch:
    """Documents of 300 to 500 words, queries of 10 to 40, words as frequent as in text; the candidates are words of the
    document and the last one is the answer."""
    generator = torch.Generator().manual_seed(seed)
    frequency = (torch.arange(VOCABULARY - 3, dtype=torch.float64) + 2.7) ** -1.15

    def texts(shortest: int, longest: int) -> tuple[Tensor, Tensor]:
        lengths = torch.randint(shortest, longest + 1, (QUESTIONS, 1), generator=generator)
        mask = torch.arange(int(lengths.max())) < lengths
        words = torch.multinomial(frequency, mask.numel(), replacement=True, generator=generator).view(mask.shape) + 3
        return words * mask, mask

    (document, document_mask), (query, query_mask) = texts(SHORTEST, LONGEST), texts(*QUERY)
    query[:, 0] = BLANK
    occurrence = torch.full_like(document, -1)
    for row, words in enumerate(document):
        named = words[document_mask[row]].unique()
        for number, word in enumerate(named[torch.randperm(len(named), generator=generator)[:CANDIDATES]]):
            occurrence[row][words == word] = number
    candidate_mask = torch.ones(QUESTIONS, CANDIDATES, dtype=torch.bool)
    answer = torch.full((QUESTIONS,), CANDIDATES - 1)
    return ClozeBatch(document, document_mask, query, query_mask, candidate_mask, occurrence, answer)


def reader_step(batch: ClozeBatch, kernel: str) -> tuple[Callable[[], None], AoAReader]:
    """The training step of the reader, its encoders running on `kernel`."""
    torch.manual_seed(0)
    model = AoAReader(ClozeSpec(VOCABULARY, BLANK), embedding_dim=EMBEDDING, hidden_dim=HIDDEN, dropout=0.1)
    model.document_encoder.kernel = model.query_encoder.kernel = kernel
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        losses, counted = answer_losses(model(batch).logits, batch)
        (losses.sum() / counted.sum()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

    return step, model


def floor_step(modules: list[nn.Module], states: Callable[[], tuple[Tensor, Tensor]]) -> Callable[[], None]:
    """Forward and backward of the two products of the states, (B, D, 2H) and (B, Q, 2H), and nothing else."""
    parameters = [parameter for module in modules for parameter in module.parameters()]
    gradient: list[Tensor] = []

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        h_document, h_query = states()
        matching = h_document @ h_query.transpose(1, 2)  # (B, D, Q)
        attended = matching @ matching.mean(1)[:, :, None]  # (B, D, 1)
        if not gradient:
            gradient.append(torch.randn_like(attended))
        attended.backward(gradient[0])

    return step


def packed_floor(batch: ClozeBatch) -> Callable[[], None]:
    """The library calls on packed rows."""
    embedding = nn.Embedding(VOCABULARY, EMBEDDING)
    grus = [nn.GRU(EMBEDDING, HIDDEN, bidirectional=True) for _ in range(2)]
    sides = [(batch.document_packing, batch.document), (batch.query_packing, batch.query)]
    inputs = [(packing, packing.pack(ids), torch.tensor(packing.batch_sizes)) for packing, ids in sides]

    def side(gru: nn.GRU, packing: Packing, ids: Tensor, sizes: Tensor) -> Tensor:
        return packing.unpack(gru(PackedSequence(embedding(ids), sizes))[0].data)

    def states() -> tuple[Tensor, Tensor]:
        document, query = (side(gru, *given) for gru, given in zip(grus, inputs, strict=True))
        return document, query

    return floor_step([embedding, *grus], states)


def padded_floor(batch: ClozeBatch) -> Callable[[], None]:
    """The library calls on padded rows, time first; the mirrored ids are prepared beforehand."""
    embedding = nn.Embedding(VOCABULARY, EMBEDDING)
    grus = [[nn.GRU(EMBEDDING, HIDDEN) for _ in range(2)] for _ in range(2)]

    def both_ways(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        grid, lengths, step = ids.T.contiguous(), mask.sum(1), torch.arange(ids.shape[1])[:, None]
        return grid, grid.gather(0, torch.where(step < lengths, lengths - 1 - step, step))

    inputs = both_ways(batch.document, batch.document_mask), both_ways(batch.query, batch.query_mask)

    def side(ways: list[nn.GRU], ids: tuple[Tensor, Tensor]) -> Tensor:
        outputs = [gru(embedding(way))[0] for gru, way in zip(ways, ids, strict=True)]
        return torch.cat(outputs, 2).transpose(0, 1)

    def states() -> tuple[Tensor, Tensor]:
        document, query = (side(*given) for given in zip(grus, inputs, strict=True))
        return document, query

    return floor_step([embedding, *grus[0], *grus[1]], states)


def faster(forms: dict[str, Callable[[], None]]) -> str:
    """The form that takes less time. At these lengths the packed one takes minutes: one step of each tells."""
    seconds = {}
    for name, step in forms.items():
        begin = time.perf_counter()
        step()
        seconds[name] = time.perf_counter() - begin
    return min(seconds, key=seconds.__getitem__)


def largest_difference(one: AoAReader, other: AoAReader, batch: ClozeBatch) -> float:
    """Largest difference of the gradients of the two models' losses, relative to the largest gradient."""
    gradients = []
    for model in (one.eval(), other.eval()):
        losses, _ = answer_losses(model(batch).logits, batch)
        gradients.append(torch.cat([g.flatten() for g in torch.autograd.grad(losses.mean(), list(model.parameters()))]))
        model.train()
    return float((gradients[0] - gradients[1]).abs().max() / gradients[1].abs().max())


def measure(seed: int, rounds: int, floor: str | None) -> dict[str, Any]:
    """Ratios on one batch, to the `floor` of that name or else to the faster one."""
    batch = story_batch(seed)
    ours, model = reader_step(batch, "auto")
    difference = largest_difference(model, reader_step(batch, "torch")[1], batch.first(2))
    if difference > 1e-4:
        raise AssertionError(f"the two kernels give different gradients: {difference}")
    floors = {"packed": packed_floor(batch), "padded": padded_floor(batch)}
    floor = floor or faster(floors)
    seconds = paired({"step": ours, floor: floors[floor]}, rounds=rounds, warmup=1)
    return {
        "shape": {
            "questions": QUESTIONS,
            "document_words": len(batch.document_at),
            "query_words": len(batch.query_at),
            "distinct_words": len(batch.distinct),
        },
        "floor": floor,
        "step_by_floor": ratio(seconds, "step", floor),
        "questions_per_second": round(QUESTIONS / statistics.median(seconds["step"]), 1),
        "largest_gradient_difference": difference,
    }


def main() -> None:
    """Measure on several batches, print and write the result."""
    arguments = options(__doc__, rounds=12, threads=2, examples="questions")
    environment = prepare(arguments.threads)
    batches: list[dict[str, Any]] = []
    for seed in range(arguments.batches):
        batches.append(measure(seed, arguments.rounds, batches[0]["floor"] if batches else None))
        print(batches[-1], flush=True)
    middle = statistics.median([batch["step_by_floor"][1] for batch in batches])
    print(f"step / floor, median of the batches: {middle} (bar 0.9, aim 0.6)")
    result = {"environment": environment, "rounds": arguments.rounds, "step_by_floor": middle, "batches": batches}
    write("aoa_reader", result)


if __name__ == "__main__":
    main()
