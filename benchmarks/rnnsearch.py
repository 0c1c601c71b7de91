"""RNNSearch's whole training step against library kernels. Run: python -m benchmarks.rnnsearch

Floor: both embeddings; torch's GRU as bidirectional encoder and as decoder, which reads the token alone; one additive
attention of all target positions at once (two projections, the sum with its tanh, the product with v, softmax,
context); the products of the output and the vocabulary. C c, which the model also needs, is left out.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.rnnsearch import RNNSearch

MAXOUT = HIDDEN // 2


def floor(batch: PairBatch) -> Callable[[], None]:
    """The library calls on the padded grid, time first in the GRUs."""
    assert batch.target_input is not None
    embeddings = [nn.Embedding(VOCABULARY, HIDDEN) for _ in range(2)]
    encoder, decoder = nn.GRU(HIDDEN, HIDDEN, bidirectional=True), nn.GRU(HIDDEN, HIDDEN)
    query, key = nn.Linear(HIDDEN, HIDDEN, bias=False), nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
    v = nn.Linear(HIDDEN, 1, bias=False)
    outputs = [nn.Linear(width, 2 * MAXOUT) for width in (HIDDEN, HIDDEN, 2 * HIDDEN)]
    vocabulary = nn.Linear(MAXOUT, VOCABULARY, bias=False)
    source, target = batch.source.T.contiguous(), batch.target_input.T.contiguous()

    def forward() -> Tensor:
        h, last = encoder(embeddings[0](source))
        y = embeddings[1](target)
        s, _ = decoder(y, last[1:])
        memory = h.transpose(0, 1).contiguous()  # (B, S, 2n)
        scores = v((query(s.transpose(0, 1))[:, :, None] + key(memory)[:, None]).tanh_())[..., 0]  # (B, T, S)
        c = torch.bmm(scores.softmax(-1), memory).transpose(0, 1)
        t = outputs[0](s) + outputs[1](y) + outputs[2](c)
        return vocabulary(torch.maximum(t[..., :MAXOUT], t[..., MAXOUT:]))

    return floor_step([*embeddings, encoder, decoder, query, key, v, *outputs, vocabulary], forward)


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The candidates on one batch."""
    torch.manual_seed(0)
    model = RNNSearch(SPEC, embedding_dim=HIDDEN, hidden_dim=HIDDEN, attention_dim=HIDDEN, maxout_dim=MAXOUT)
    return {"step": whole_step(model, batch), "floor": floor(batch)}


if __name__ == "__main__":
    run("rnnsearch", steps, {"step_by_floor": ("step", "floor")})
