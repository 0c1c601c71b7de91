"""Luong's whole training step against library kernels, with and without input feeding. Run: python -m benchmarks.luong

Floor of both: both embeddings; torch's LSTM of one layer as encoder and as decoder, which reads the token alone; one
general attention of all target positions at once (the projection of the keys, two batched products, softmax); the
product W_c and the vocabulary. The product with what is fed, which input feeding also needs, is left out.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.luong import Luong


def floor(batch: PairBatch) -> Callable[[], None]:
    """The library calls on the padded grid, time first in the LSTMs."""
    assert batch.target_input is not None
    embeddings = [nn.Embedding(VOCABULARY, HIDDEN) for _ in range(2)]
    encoder, decoder = nn.LSTM(HIDDEN, HIDDEN), nn.LSTM(HIDDEN, HIDDEN)
    key, attentional = nn.Linear(HIDDEN, HIDDEN, bias=False), nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
    vocabulary = nn.Linear(HIDDEN, VOCABULARY)
    source, target = batch.source.T.contiguous(), batch.target_input.T.contiguous()

    def forward() -> Tensor:
        memory, state = encoder(embeddings[0](source))
        h, _ = decoder(embeddings[1](target), state)
        h, memory = h.transpose(0, 1).contiguous(), memory.transpose(0, 1).contiguous()  # (B, T, n), (B, S, n)
        c = torch.bmm(torch.bmm(h, key(memory).transpose(1, 2)).softmax(-1), memory)
        return vocabulary(attentional(torch.cat([c, h], 2)).tanh())

    return floor_step([*embeddings, encoder, decoder, key, attentional, vocabulary], forward)


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The candidates on one batch."""
    found = {"floor": floor(batch)}
    for name, input_feeding in (("step", False), ("step with feeding", True)):
        torch.manual_seed(0)
        sizes = {"embedding_dim": HIDDEN, "hidden_dim": HIDDEN, "num_layers": 1}
        found[name] = whole_step(Luong(SPEC, **sizes, score="general", input_feeding=input_feeding), batch)
    return found


if __name__ == "__main__":
    run(
        "luong",
        steps,
        {"step_by_floor": ("step", "floor"), "step_with_feeding_by_floor": ("step with feeding", "floor")},
    )
