"""Show and Tell: A Neural Image Caption Generator.

Oriol Vinyals, Alexander Toshev, Samy Bengio, Dumitru Erhan. CVPR 2015. https://arxiv.org/abs/1411.4555

Equations:
- (4)-(9) the LSTM, p_{t+1} = LSTM(x_t):
      i, f, o = sigmoid(W x + U m),  g = tanh(W_c x + U_c m),  c' = f * c + i * g,  m' = o * c',  p = softmax(W_p m').
- (10)-(12) what it reads: the image once, x_{-1} = CNN(I), and then the words from the begin token on, x_t = W_e S_t.
- (13) the loss, -sum_t log p_t(S_t), is the task's.

What differs from the paper:
- m' = o * tanh(c') and biases (torch's two of each LSTM sum, one of the softmax), as in the authors' later code
  (im2txt, 2016); the paper's (8) has no tanh and its equations no biases.
- CNN(I) is the mean over the grid of any image encoder, projected to the width of a word; in the paper it is the last
  hidden layer of a GoogLeNet.
- `dropout` acts on what the LSTM reads, the image among it, and on m', as in that code, whose rate is 0.3; the paper
  names neither place nor rate.
- `init_range` = r starts all but the image encoder in [-r, r], in that code 0.08. None, for short runs, starts the LSTM
  orthogonal for states and by Glorot and Bengio (2010) for what it reads, embeddings from N(0, 1), and the softmax by
  Glorot and Bengio with a gain.

There is no attention: what it knows of the image while it writes is in its state.

Notation: I images, B captions of T words, N real words of all, K hypotheses, S cells, D numbers a cell, E embedding, n
hidden units, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.images.batch import ImageBatch
from zoo.data.images.spec import ImageSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.image_encoder import image_encoder
from zoo.layers.init import STATE_GAIN, start_lstm_, start_uniform_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.output import Output


class ShowAndTell(nn.Module):
    """An LSTM reads the image as its first word and writes the caption.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. Raises ValueError for an
    `init_range` that is none.
    """

    tasks = ("captioning",)
    attends: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        spec: ImageSpec,
        *,
        encoder: Mapping[str, Any],
        embedding_dim: Count = 512,
        hidden_dim: Count = 512,
        dropout: Share = 0.3,
        init_range: Positive | None = None,
    ) -> None:
        super().__init__()
        self.encoder = image_encoder(encoder, spec)
        self.image = nn.Linear(self.encoder.dim, embedding_dim, bias=False)
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)  # W_e
        self.lstm = LSTM(embedding_dim, hidden_dim)
        self.vocabulary = nn.Linear(hidden_dim, spec.target_size)  # W_p
        self.dropout = nn.Dropout(dropout)
        if init_range is None:
            start_lstm_(self.lstm)
            nn.init.xavier_uniform_(self.image.weight)
            nn.init.xavier_uniform_(self.vocabulary.weight, STATE_GAIN)
        else:
            for part in (self.image, self.embedding, self.lstm, self.vocabulary):
                start_uniform_(part, init_range)

    def forward(self, batch: ImageBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real words, in the order of `batch.target_packing`; no attention."""
        read, _, targets = batch.forced
        x = self.dropout(self.embedding(targets.pack(read)))  # (11) (N, E)
        m, _ = self.lstm(x, targets, self._see(batch))  # (12) (N, n)
        return Output(self.vocabulary(self.dropout(m)))  # (9)

    def start(self, batch: ImageBatch) -> State:
        """The state before the first word: the image has been read."""
        m, c = self._see(batch)  # (1, B, n)
        return State({}, {"hidden": m[0, :, None], "cell": c[0, :, None]})  # (B, 1, n)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read `tokens`, (B, K) ids or (B, K, V) probabilities."""
        parts = state.hypotheses["hidden"], state.hypotheses["cell"]  # (B, K, n)
        x = self.dropout(self.embedding(tokens))  # (11) (B, K, E)
        m, (_, c) = self.lstm.step(x.flatten(0, 1), (parts[0].flatten(0, 1)[None], parts[1].flatten(0, 1)[None]))
        m, c = m.view_as(parts[0]), c.view_as(parts[1])
        log_probs = log_probabilities(self.vocabulary(self.dropout(m)))  # (9) (B, K, V)
        return Step(log_probs, State(state.memory, {"hidden": m, "cell": c}), {})

    def _see(self, batch: ImageBatch) -> tuple[Tensor, Tensor]:
        """m and c of each caption, (1, B, n), when the LSTM has read the image."""
        image = self.image(self.encoder(batch.image).mean(1)).index_select(0, batch.picture)  # (B, E)
        x = self.dropout(image)  # (10)
        nothing = x.new_zeros(1, len(x), self.lstm.hidden_size)
        return self.lstm.step(x, (nothing, nothing))[1]
