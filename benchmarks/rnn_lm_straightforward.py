"""A language model of LSTMs as tutorials write it: torch's own layers, a log-softmax, a loop over the parameters.

The reference is word_language_model of pytorch/examples: time first, the state detached before each window, dropout
after the embedding, between the layers and before the vocabulary, `NLLLoss` of log-probabilities, `clip_grad_norm_`,
and gradient descent as `p -= lr * gradient` for one parameter at a time.
"""

from typing import cast

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor]
RATE = 1.0


class StraightforwardLanguageModel(nn.Module):
    """An embedding, torch's LSTM and a linear layer, with dropout between them."""

    def __init__(self, vocabulary: int, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, dropout=dropout)
        self.vocabulary = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """(T, B) ids -> (T * B, V) log-probabilities of the next tokens, and the state after them."""
        hidden, state = self.lstm(self.drop(self.embedding(tokens)), state)
        scores = self.vocabulary(self.drop(hidden)).view(-1, self.vocabulary.out_features)
        return torch.log_softmax(scores, dim=1), state

    def start(self, rows: int) -> State:
        """The state before the first token of `rows` columns."""
        zeros = torch.zeros(self.lstm.num_layers, rows, self.lstm.hidden_size)
        return zeros, zeros.clone()


def train_step(model: StraightforwardLanguageModel, inputs: Tensor, target: Tensor, state: State, clip: float) -> State:
    """One step of training on a window (T, B); returns the state after it."""
    state = cast(State, tuple(part.detach() for part in state))
    model.zero_grad()
    log_probabilities, state = model(inputs, state)
    nn.functional.nll_loss(log_probabilities, target.reshape(-1)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    with torch.no_grad():
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.add_(parameter.grad, alpha=-RATE)
    return state
