"""HAN's whole training step, relative to its unavoidable library kernels. Run: python -m benchmarks.han

Step: forward, loss, backward, clipping of the gradient norm, fused Adam; the paper's sizes. Floor: embedding, torch's
two bidirectional GRUs and the classifier, forward and backward alone on the same tokens. It is the faster of two forms:
packed, or padded with two one-way GRUs. One of these reads every row mirrored within its length.
"""

import math
import statistics
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.layers.packing import Packing
from zoo.models.han import HAN

VOCABULARY, EMBEDDING, HIDDEN, CLASSES = 20_000, 200, 50, 5
DOCUMENTS, SENTENCES, WORDS = 64, 25, 25


def review_batch(seed: int) -> DocumentBatch:
    """Documents as long as reviews and words as frequent as in text.

    The exponent gives as many distinct words in 9,500 as the movie reviews of Pang and Lee (2004) have: about 2,400.
    """
    generator = torch.Generator().manual_seed(seed)

    def lengths(count: int, mean: float, spread: float, longest: int) -> list[int]:
        normal = torch.randn(count, generator=generator) * spread + math.log(mean) - spread**2 / 2
        return normal.exp().round().clamp(1, longest).int().tolist()

    frequency = (torch.arange(VOCABULARY - 2, dtype=torch.float64) + 2.7) ** -1.15
    words = torch.zeros(DOCUMENTS, SENTENCES, WORDS, dtype=torch.long)
    for document, sentences in enumerate(lengths(DOCUMENTS, 9.6, 0.65, SENTENCES)):
        for sentence, count in enumerate(lengths(sentences, 19, 0.6, WORDS)):
            drawn = torch.multinomial(frequency, count, replacement=True, generator=generator)
            words[document, sentence, :count] = drawn + 2
    label = torch.randint(CLASSES, (DOCUMENTS,), generator=generator)
    return DocumentBatch(words, words > 0, label)


def han_step(batch: DocumentBatch, kernel: str) -> tuple[Callable[[], None], HAN]:
    """The training step of HAN, its encoders running on `kernel`."""
    torch.manual_seed(0)
    model = HAN(DocumentSpec(VOCABULARY, tuple(map(str, range(1, CLASSES + 1)))))
    model.word_encoder.kernel = model.sentence_encoder.kernel = kernel
    optimizer = torch.optim.Adam(model.parameters(), fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(batch).logits, batch.label).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step, model


def sentence_rank(packing: Packing) -> Tensor:
    """For each grid row its number in `packing.order`."""
    rank = torch.zeros(math.prod(packing.shape[:-1]), dtype=torch.long)
    rank[packing.order] = torch.arange(len(packing.order))
    return rank


def floor_step(modules: list[nn.Module], forward: Callable[[], Tensor]) -> Callable[[], None]:
    """Forward and backward of the logits, nothing else."""
    parameters = [parameter for module in modules for parameter in module.parameters()]
    gradient = torch.randn(DOCUMENTS, CLASSES)

    def step() -> None:
        for parameter in parameters:
            parameter.grad = None
        forward().backward(gradient)

    return step


def packed_floor(batch: DocumentBatch) -> Callable[[], None]:
    """The library calls on packed rows; a sentence and a document are their GRU's last states."""
    words, sentences = batch.word_packing, batch.sentence_packing
    embedding, classifier = nn.Embedding(VOCABULARY, EMBEDDING), nn.Linear(2 * HIDDEN, CLASSES)
    word_gru = nn.GRU(EMBEDDING, HIDDEN, bidirectional=True)
    sentence_gru = nn.GRU(2 * HIDDEN, HIDDEN, bidirectional=True)
    ids, pick = words.pack(batch.words), sentence_rank(words)[sentences.cell]
    word_sizes, sentence_sizes = torch.tensor(words.batch_sizes), torch.tensor(sentences.batch_sizes)

    def forward() -> Tensor:
        _, h = word_gru(PackedSequence(embedding(ids), word_sizes))
        s = h.transpose(0, 1).flatten(1).index_select(0, pick)
        _, h = sentence_gru(PackedSequence(s, sentence_sizes))
        return classifier(h.transpose(0, 1).flatten(1))

    return floor_step([embedding, word_gru, sentence_gru, classifier], forward)


def padded_floor(batch: DocumentBatch) -> Callable[[], None]:
    """The library calls on padded rows of the real sentences, time first; the mirrored ids are prepared beforehand."""
    packing = batch.word_packing
    embedding, classifier = nn.Embedding(VOCABULARY, EMBEDDING), nn.Linear(2 * HIDDEN, CLASSES)
    word_grus = [nn.GRU(EMBEDDING, HIDDEN) for _ in range(2)]
    sentence_grus = [nn.GRU(2 * HIDDEN, HIDDEN) for _ in range(2)]

    def mirrored(grid: Tensor, lengths: Tensor) -> Tensor:
        step = torch.arange(len(grid))[:, None]
        return grid.gather(0, torch.where(step < lengths, lengths - 1 - step, step))

    lengths = batch.word_mask.flatten(0, 1).sum(1)[packing.order]
    ids = batch.words.flatten(0, 1)[packing.order, : len(packing.batch_sizes)].T.contiguous()
    counts = batch.sentence_mask.sum(1)
    slots = sentence_rank(packing).view(DOCUMENTS, -1)[:, : int(counts.max())].T.contiguous()
    word_inputs, sentence_inputs = (ids, mirrored(ids, lengths)), (slots, mirrored(slots, counts))
    word_ends, sentence_ends = (lengths - 1, torch.arange(len(lengths))), (counts - 1, torch.arange(DOCUMENTS))

    def forward() -> Tensor:
        s = [gru(embedding(side))[0][word_ends] for gru, side in zip(word_grus, word_inputs, strict=True)]
        s = torch.cat(s, 1)
        v = [gru(s[side])[0][sentence_ends] for gru, side in zip(sentence_grus, sentence_inputs, strict=True)]
        return classifier(torch.cat(v, 1))

    return floor_step([embedding, *word_grus, *sentence_grus, classifier], forward)


def largest_difference(one: HAN, other: HAN, batch: DocumentBatch) -> float:
    """Largest difference of the gradients of the two models' losses, relative to the largest gradient."""
    gradients = []
    for model in (one, other):
        loss = nn.functional.cross_entropy(model(batch).logits, batch.label)
        gradients.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))]))
    return float((gradients[0] - gradients[1]).abs().max() / gradients[1].abs().max())


def measure(seed: int, rounds: int) -> dict[str, object]:
    """Ratios on one batch."""
    batch = review_batch(seed)
    ours, model = han_step(batch, "auto")
    plain, plain_model = han_step(batch, "torch")
    difference = largest_difference(model, plain_model, batch)
    if difference > 1e-4:
        raise AssertionError(f"the two kernels give different gradients: {difference}")
    steps = {"step": ours, "step with nn.GRU": plain, "packed": packed_floor(batch), "padded": padded_floor(batch)}
    seconds = paired(steps, rounds=rounds)
    floor = min(("packed", "padded"), key=lambda name: statistics.median(seconds[name]))
    return {
        "shape": {
            "documents": DOCUMENTS,
            "sentences": len(batch.sentence_packing.cell),
            "tokens": len(batch.word_at),
            "distinct_words": len(batch.distinct),
        },
        "floor": floor,
        "step_by_floor": ratio(seconds, "step", floor),
        "step_with_nn_gru_by_floor": ratio(seconds, "step with nn.GRU", floor),
        "step_by_step_with_nn_gru": ratio(seconds, "step", "step with nn.GRU"),
        "documents_per_second": round(DOCUMENTS / statistics.median(seconds["step"])),
        "largest_gradient_difference": difference,
    }


def main() -> None:
    """Measure on several batches, print and write the result."""
    arguments = options(__doc__, rounds=60, threads=2, examples="documents")
    environment = prepare(arguments.threads)
    batches = []
    for seed in range(arguments.batches):
        batches.append(measure(seed, arguments.rounds))
        print(batches[-1], flush=True)
    middle = statistics.median([batch["step_by_floor"][1] for batch in batches])
    print(f"step / floor, median of the batches: {middle} (bar 0.95, aim 0.75)")
    write("han", {"environment": environment, "rounds": arguments.rounds, "step_by_floor": middle, "batches": batches})


if __name__ == "__main__":
    main()
