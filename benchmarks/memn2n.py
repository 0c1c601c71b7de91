"""MemN2N's whole training step against the library calls it cannot do without. Run: python -m benchmarks.memn2n

Step: forward, loss, backward, clip of each matrix of gradients at 40, SGD; three hops, 50 numbers, 175 words, batches
of 32 questions about stories of 50 sentences, and about stories as long as bAbI's twenty tasks have them. Floor: the
sums of embeddings of the four tables, once each, and the two products of each hop with the answer's, forward and
backward alone: no position encoding, no times, no softmax. The sums are taken in the faster of two forms, bags of the
real words or the padded grid. Besides, ten networks side by side against ten steps of one.
"""

import statistics
from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.models.memn2n import MemN2N
from zoo.tasks.clipping import clip_matrices
from zoo.tasks.restarts import Restarts

SPEC = StorySpec(vocabulary_size=175, longest_sentence=11, tasks=("joint",))
QUESTIONS, MEMORY, WIDTH, HOPS, RESTARTS = 32, 50, 50, 3, 10


def story_batch(seed: int, *, full: bool) -> StoryBatch:
    """Random words in sentences of 3 to 11; stories of 50 sentences, or of lengths with the mean of bAbI, about 9."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.full((QUESTIONS,), MEMORY)
    if not full:
        lengths = (torch.empty(QUESTIONS).exponential_(1 / 8, generator=generator).long() + 2).clamp(max=MEMORY)
    words_in = torch.randint(3, SPEC.longest_sentence + 1, (QUESTIONS, int(lengths.max())), generator=generator)
    words_in[torch.arange(words_in.shape[1]) >= lengths[:, None]] = 0
    mask = torch.arange(SPEC.longest_sentence) < words_in[..., None]
    words = torch.randint(2, SPEC.vocabulary_size, mask.shape, generator=generator).masked_fill(~mask, 0)
    question = torch.randint(2, SPEC.vocabulary_size, (QUESTIONS, 5), generator=generator)
    answer = torch.randint(2, SPEC.vocabulary_size, (QUESTIONS,), generator=generator)
    return StoryBatch(words, mask, question, question > 0, answer)


def training_step(parameters: list[nn.Parameter], loss: Callable[[], Tensor]) -> Callable[[], None]:
    """Forward, backward, clip, SGD."""
    optimizer = torch.optim.SGD(parameters, lr=0.005, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        clip_matrices(parameters, 40.0)
        optimizer.step()

    return step


def one_step(batch: StoryBatch) -> Callable[[], None]:
    """The training step of one network."""
    torch.manual_seed(0)
    model = MemN2N(SPEC)
    answer = batch.answer
    assert answer is not None
    return training_step(
        list(model.parameters()), lambda: F.cross_entropy(model(batch).logits, answer, reduction="sum")
    )


def restarts_step(batch: StoryBatch) -> Callable[[], None]:
    """The training step of ten networks side by side."""
    torch.manual_seed(0)
    restarts = Restarts(MemN2N(SPEC), lambda: MemN2N(SPEC), RESTARTS)
    assert batch.answer is not None
    answer = batch.answer.repeat(RESTARTS)
    return training_step(
        list(restarts.parameters()),
        lambda: F.cross_entropy(restarts(batch).logits.flatten(0, 1), answer, reduction="sum"),
    )


def floor_step(batch: StoryBatch, *, bags: bool) -> Callable[[], None]:
    """Sums of embeddings and products, forward and backward."""
    tables = [nn.Parameter(torch.randn(SPEC.vocabulary_size, WIDTH) * 0.1) for _ in range(HOPS + 1)]
    shape, real = batch.words.shape, batch.word_mask
    begin = F.pad(real.sum(2).flatten().cumsum(0), (1, 0))
    ids, weight = batch.words[real], real[..., None].float()
    gradient = torch.randn(QUESTIONS, SPEC.vocabulary_size)

    def sums(table: Tensor) -> Tensor:
        if bags:
            return F.embedding_bag(ids, table, begin, mode="sum", include_last_offset=True).view(*shape[:2], WIDTH)
        return (F.embedding(batch.words, table) * weight).sum(2)

    def step() -> None:
        for table in tables:
            table.grad = None
        memories = [sums(table) for table in tables]
        u = F.embedding(batch.question, tables[0]).sum(1)
        for m, c in pairwise(memories):
            u = u + (torch.bmm(u[:, None], m.mT) @ c).squeeze(1)
        (u @ tables[-1].T).backward(gradient)

    return step


def measure(seed: int, rounds: int, *, full: bool) -> dict[str, object]:
    """Ratios on one batch."""
    batch = story_batch(seed, full=full)
    steps = {
        "step": one_step(batch),
        "restarts": restarts_step(batch),
        "bags": floor_step(batch, bags=True),
        "padded": floor_step(batch, bags=False),
    }
    seconds = paired(steps, rounds=rounds)
    floor = min(("bags", "padded"), key=lambda name: statistics.median(seconds[name]))
    ten = [time / RESTARTS for time in seconds["restarts"]]
    return {
        "shape": {
            "questions": QUESTIONS,
            "sentences": int(batch.sentence_mask.sum()),
            "words": len(batch.story_words.at),
            "distinct_words": len(batch.distinct),
        },
        "floor": floor,
        "step_by_floor": ratio(seconds, "step", floor),
        "one_of_ten_restarts_by_step": ratio({"restarts": ten, "step": seconds["step"]}, "restarts", "step"),
        "questions_per_second": round(QUESTIONS / statistics.median(seconds["step"])),
        "questions_per_second_and_restart": round(QUESTIONS / statistics.median(ten)),
    }


def main() -> None:
    """Measure on several batches, print and write the result."""
    arguments = options(__doc__, rounds=60, threads=1, examples="stories")
    result: dict[str, object] = {"environment": prepare(arguments.threads), "rounds": arguments.rounds}
    for name, full in (("full", True), ("babi", False)):
        batches = [measure(seed, arguments.rounds, full=full) for seed in range(arguments.batches)]
        middle = statistics.median([batch["step_by_floor"][1] for batch in batches])  # type: ignore[index]
        print(*batches, f"{name}: step / floor, median of the batches: {middle} (bar 1.5)", sep="\n", flush=True)
        result[name] = {"step_by_floor": middle, "batches": batches}
    write("memn2n", result)


if __name__ == "__main__":
    main()
