"""Which character is next? One LSTM over the whole text.

The authors of attention-zoo. 2026. https://example.org/tiny-stream

Equations: none of a paper; h_t, c_t = LSTM(e_t, h_{t-1}, c_{t-1}), p_t = softmax(W h_t).

What differs from the paper: there is none.

Notation: B windows, T characters, V symbols, H hidden.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from tiny_stream.batch import WindowBatch
from tiny_stream.spec import StreamSpec
from zoo.arguments import Count
from zoo.models.output import Output


class CharLSTM(nn.Module):
    """Scores of the next character at each position, from all characters before it."""

    tasks = ("language_modelling",)
    attends: ClassVar[dict[str, str]] = {}
    carries: ClassVar[bool] = True

    def __init__(self, spec: StreamSpec, *, hidden_dim: Count = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.symbols, hidden_dim)
        self.recurrent = nn.LSTM(hidden_dim, hidden_dim, batch_first=True)
        self.scores = nn.Linear(hidden_dim, spec.symbols)

    def forward(self, batch: WindowBatch, carried: dict[str, Tensor] | None = None) -> Output:
        """Scores (B, T, V), and the state after the last character of each row."""
        state = None
        if carried is not None:
            state = carried["hidden"][None], carried["cell"][None]  # (1, B, H)
        embedded = self.embedding(batch.read).to(self.scores.weight.dtype)
        lengths = batch.mask.sum(1).clamp(min=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        packed, (hidden, cell) = self.recurrent(packed, state)
        states, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=batch.read.shape[1])
        return Output(self.scores(states), carried={"hidden": hidden[0], "cell": cell[0]})


def continued(network: CharLSTM, read: Tensor, carried: dict[str, Tensor] | None) -> tuple[Tensor, dict[str, Tensor]]:
    """Log-probabilities (V,) after reading ids (T,), and the state then."""
    output = network(WindowBatch(read[None], None, torch.ones_like(read[None], dtype=torch.bool), read[:1]), carried)
    return output.logits[0, -1].log_softmax(0), output.carried
