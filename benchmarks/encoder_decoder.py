"""EncoderDecoder's whole training step against library kernels. Run: python -m benchmarks.encoder_decoder

Floor: both embeddings, torch's GRU as encoder and as decoder, the products of the output and the vocabulary.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.encoder_decoder import EncoderDecoder

MAXOUT = HIDDEN // 2


def floor(batch: PairBatch) -> Callable[[], None]:
    """The library calls on the padded grid, time first."""
    assert batch.target_input is not None
    embeddings = [nn.Embedding(VOCABULARY, HIDDEN) for _ in range(2)]
    encoder, decoder = nn.GRU(HIDDEN, HIDDEN), nn.GRU(HIDDEN, HIDDEN)
    outputs = [nn.Linear(HIDDEN, 2 * MAXOUT) for _ in range(2)]  # of the state and of the token
    rank, vocabulary = nn.Linear(MAXOUT, HIDDEN, bias=False), nn.Linear(HIDDEN, VOCABULARY)
    source, target = batch.source.T.contiguous(), batch.target_input.T.contiguous()

    def forward() -> Tensor:
        _, c = encoder(embeddings[0](source))
        y = embeddings[1](target)
        h, _ = decoder(y, c)
        s = outputs[0](h) + outputs[1](y)
        return vocabulary(rank(torch.maximum(s[..., :MAXOUT], s[..., MAXOUT:])))

    return floor_step([*embeddings, encoder, decoder, *outputs, rank, vocabulary], forward)


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The candidates on one batch."""
    torch.manual_seed(0)
    model = EncoderDecoder(SPEC, embedding_dim=HIDDEN, hidden_dim=HIDDEN, maxout_dim=MAXOUT)
    return {"step": whole_step(model, batch), "floor": floor(batch)}


if __name__ == "__main__":
    run("encoder_decoder", steps, {"step_by_floor": ("step", "floor")})
