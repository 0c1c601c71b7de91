"""The training step of t_dmca by that of the same decoder with full attention. Run: python -m benchmarks.t_dmca

One article with 1,024 to 8,192 tokens of documents and a summary of 64, vocabulary 1,000, no dropout, no loss of the
documents. The sizes are those of conf/model/t_dmca.yaml: D 64, 5 layers, 4 heads, 128 units, blocks of 64. Step:
forward, cross-entropy, backward. Both networks are `CompressedDecoder`, once with LMLML and once with FFFFF, whose
attention is torch's causal kernel. Processor time.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.models.t_dmca import CompressedDecoder

LENGTHS, SUMMARY, VOCABULARY = (1024, 2048, 4096, 8192), 64, 1000
SPEC = CopySpec(vocabulary_size=VOCABULARY, longest_source=max(LENGTHS), longest_target=SUMMARY)
LAYERS = {"compressed": "LMLML", "full": "FFFFF"}


def article(length: int) -> CopyBatch:
    """Random tokens."""
    draw = torch.Generator().manual_seed(length)
    source, target = (torch.randint(4, VOCABULARY, (1, size), generator=draw) for size in (length, SUMMARY))
    masks = torch.ones_like(source, dtype=torch.bool), torch.ones_like(target, dtype=torch.bool)
    return CopyBatch(source=source, source_mask=masks[0], target=target, target_mask=masks[1])


def steps(batch: CopyBatch) -> dict[str, Callable[[], object]]:
    """The steps that are timed on one article."""

    def step_of(layers: str) -> Callable[[], None]:
        torch.manual_seed(0)
        sizes: dict[str, Any] = {"hidden_dim": 64, "heads": 4, "feedforward_dim": 128, "block": 64}
        model = CompressedDecoder(SPEC, layers=layers, dropout=0.0, source_loss=0.0, **sizes)

        def step() -> None:
            model.zero_grad(set_to_none=True)
            F.cross_entropy(model(batch, need_weights=False).logits, batch.true_tokens).backward()

        return step

    return {name: step_of(layers) for name, layers in LAYERS.items()}


def main() -> None:
    """Measure, print and write results/t_dmca.json."""
    arguments = options(
        "The training step of t_dmca by that with full attention", rounds=7, threads=1, examples="articles"
    )
    environment = prepare(arguments.threads)
    found: dict[str, Any] = {}
    for length in LENGTHS:
        seconds = paired(steps(article(length)), rounds=arguments.rounds, warmup=1, clock=time.process_time)
        milliseconds = {name: round(1000 * median(times), 1) for name, times in seconds.items()}
        found[str(length)] = {"compressed_by_full": ratio(seconds, "compressed", "full"), "milliseconds": milliseconds}
        print(length, found[str(length)], flush=True)
    write("t_dmca", {"environment": environment, "rounds": arguments.rounds, "tokens": found})


if __name__ == "__main__":
    main()
