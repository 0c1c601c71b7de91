"""The cost of halted positions in the Universal Transformer's encoder, forward and backward. Run: python -m
benchmarks.universal_transformer

B 32 sources of 20 tokens, D 256, 8 heads, 1024 units, 6 steps. One word halts after the first step, the other one
never. Half of the sources consist of the first word, against both halves as batches of their own, and against a batch
where no position halts; then half of the positions of each source. If halted positions cost nothing, these are 1, 7/12
and 7/12.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.timing import options, paired, prepare, ratio, write
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.models.universal_transformer import UniversalTransformer

BATCH, LENGTH, STEPS, HALTING, RUNNING = 32, 20, 6, 4, 5  # The last two are ids of words
SPEC = PairSpec(source_size=6, target_size=6, longest_source=LENGTH, longest_target=LENGTH)


def network() -> UniversalTransformer:
    """A network whose unit reads one number of a state, which is large for one word and small for the other."""
    made = UniversalTransformer(
        SPEC, hidden_dim=256, steps=STEPS, heads=8, feedforward_dim=1024, dropout=0.0, norm="pre"
    )
    unit = made.reader.pondering.unit
    assert unit is not None
    with torch.no_grad():
        unit.weight[0] = torch.eye(256)[0]
        made.source_embedding.weight[HALTING, 0], made.source_embedding.weight[RUNNING, 0] = 1e3, -1e3
    return made


def step(encoder: UniversalTransformer, source: Tensor) -> Callable[[], None]:
    """Forward and backward of the encoder on words (B, S)."""
    batch = PairBatch(source, torch.ones_like(source, dtype=torch.bool))

    def run() -> None:
        encoder.zero_grad()
        annotations, _ = encoder.encode(batch, False)
        annotations.vectors.sum().backward()

    return run


def main() -> None:
    """Print the ratios and write them."""
    arguments = options(str(__doc__), rounds=20, threads=1, examples="words")
    about, made = prepare(arguments.threads), network()
    for word, count in ((HALTING, 1), (RUNNING, STEPS)):
        alone = PairBatch(
            torch.full((1, 2), word),
            torch.ones(1, 2, dtype=torch.bool),
            target=torch.full((1, 1), 3),
            target_mask=torch.ones(1, 1, dtype=torch.bool),
            begin=SPEC.begin,
        )
        assert made(alone).steps["encoder"].tolist() == [[count] * 2]
    words = torch.full((BATCH, LENGTH), RUNNING)
    rows, positions = words.clone(), words.clone()
    rows[: BATCH // 2], positions[:, ::2] = HALTING, HALTING
    batches = {"all": words, "rows": rows, "positions": positions}
    batches |= {"halting": rows[: BATCH // 2], "running": rows[BATCH // 2 :]}
    seconds = paired({name: step(made, source) for name, source in batches.items()}, rounds=arguments.rounds)
    seconds["halves"] = [a + b for a, b in zip(seconds["halting"], seconds["running"], strict=True)]
    result = about | {
        "half of the rows halt, by both halves alone": ratio(seconds, "rows", "halves"),
        "half of the rows halt, by none": ratio(seconds, "rows", "all"),
        "half of the positions of each row halt, by none": ratio(seconds, "positions", "all"),
    }
    print(result)
    write("universal_transformer", result)


if __name__ == "__main__":
    main()
