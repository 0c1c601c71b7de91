"""Seq2SeqLSTM's whole training step against library kernels. Run: python -m benchmarks.seq2seq_lstm

Floor: both embeddings, torch's LSTM of two layers as encoder and as decoder, the product of the vocabulary.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.pairs import HIDDEN, SPEC, VOCABULARY, floor_step, run, whole_step
from zoo.data.pairs.batch import PairBatch
from zoo.models.seq2seq_lstm import Seq2SeqLSTM

LAYERS = 2


def floor(batch: PairBatch) -> Callable[[], None]:
    """The library calls on the padded grid, time first."""
    assert batch.target_input is not None
    embeddings = [nn.Embedding(VOCABULARY, HIDDEN) for _ in range(2)]
    encoder, decoder = (nn.LSTM(HIDDEN, HIDDEN, num_layers=LAYERS) for _ in range(2))
    vocabulary = nn.Linear(HIDDEN, VOCABULARY)
    source, target = batch.source.T.contiguous(), batch.target_input.T.contiguous()

    def forward() -> Tensor:
        _, state = encoder(embeddings[0](source))
        return vocabulary(decoder(embeddings[1](target), state)[0])

    return floor_step([*embeddings, encoder, decoder, vocabulary], forward)


def steps(batch: PairBatch) -> dict[str, Callable[[], None]]:
    """The candidates on one batch."""
    torch.manual_seed(0)
    model = Seq2SeqLSTM(SPEC, embedding_dim=HIDDEN, hidden_dim=HIDDEN, num_layers=LAYERS)
    return {"step": whole_step(model, batch), "floor": floor(batch)}


if __name__ == "__main__":
    run("seq2seq_lstm", steps, {"step_by_floor": ("step", "floor")})
