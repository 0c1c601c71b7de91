"""The pointer-generator as its equations are usually programmed: one step after the other by autograd, each with the
distribution over the extended vocabulary. It is what the benchmark compares with."""

import torch
from torch import Tensor, nn


class StraightforwardPointerGenerator(nn.Module):
    """Sources without padding; the sizes are those of `zoo.models.pointer_generator`."""

    def __init__(self, vocabulary: int, embedding: int, width: int, attention: int) -> None:
        super().__init__()
        self.size, self.width = vocabulary, width
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.encoder = nn.LSTM(embedding, width, batch_first=True, bidirectional=True)
        self.first_hidden, self.first_cell = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.input = nn.Linear(embedding + 2 * width, embedding)
        self.decoder = nn.LSTMCell(embedding, width)
        self.keys, self.query = nn.Linear(2 * width, attention), nn.Linear(2 * width, attention)
        self.cover, self.v = nn.Linear(1, attention, bias=False), nn.Linear(attention, 1, bias=False)
        self.output, self.vocabulary = nn.Linear(3 * width, width), nn.Linear(width, vocabulary)
        self.switch = nn.Linear(4 * width + embedding, 1)

    def forward(self, source: Tensor, extended: Tensor, read: Tensor, truth: Tensor, mask: Tensor) -> Tensor:
        """The mean surprisal of the words `truth` (B, T), columns of the extended vocabulary, that follow the words
        `read` (B, T); `mask` (B, T) is True at words."""
        h, (last_h, last_c) = self.encoder(self.embedding(source))
        s = torch.relu(self.first_hidden(torch.cat([last_h[0], last_h[1]], 1)))
        c = torch.relu(self.first_cell(torch.cat([last_c[0], last_c[1]], 1)))
        keys, more = self.keys(h), int(extended.max()) + 1 - self.size
        m, covered, losses = h.new_zeros(len(h), h.shape[2]), h.new_zeros(h.shape[:2]), []
        for t in range(read.shape[1]):
            x = self.input(torch.cat([self.embedding(read[:, t]), m], 1))
            s, c = self.decoder(x, (s, c))
            states = torch.cat([c, s], 1)
            inside = keys + self.query(states)[:, None] + self.cover(covered[:, :, None])
            a = self.v(inside.tanh()).squeeze(2).softmax(1)
            covered = covered + a
            m = (a[:, None] @ h).squeeze(1)
            p_gen = self.switch(torch.cat([m, states, x], 1)).sigmoid()
            words = p_gen * self.vocabulary(self.output(torch.cat([s, m], 1))).softmax(1)
            whole = torch.cat([words, words.new_zeros(len(words), more)], 1)
            whole = whole.scatter_add(1, extended, (1 - p_gen) * a)
            losses.append(-(whole.gather(1, truth[:, t, None]).squeeze(1) + 1e-12).log())
        return torch.stack(losses, 1)[mask].mean()
