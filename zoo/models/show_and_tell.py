"""Show and Tell: A Neural Image Caption Generator.

Oriol Vinyals, Alexander Toshev, Samy Bengio, Dumitru Erhan. CVPR 2015. https://arxiv.org/abs/1411.4555

Equations:
- (4)-(9) the LSTM, p_{t+1} = LSTM(x_t):
      i, f, o = sigmoid(W x + U m),  g = tanh(W_c x + U_c m),  c' = f * c + i * g,  m' = o * c',  p = softmax(W_p m').
- (10)-(12) the inputs: the image once, x_{-1} = CNN(I), then the words from the begin token on, x_t = W_e S_t.
- (13) the loss, -sum_t log p_t(S_t), is computed by the task.
With `feed=every_step`, the LSTM starts from zeros, and (10), (11) become x_t = [W_e S_t; CNN(I)].

What differs from the paper:
- m' = o * tanh(c') and biases (torch's two of each LSTM sum, one of the softmax), as in the authors' later code
  (im2txt, 2016). The paper's (8) has no tanh, and its equations have no biases.
- CNN(I) is the mean over the grid of any image encoder, projected to the width of a word; in the paper it is the last
  hidden layer of a GoogLeNet.
- `dropout` acts on the inputs of the LSTM, including the image, and on m', as in that code, whose rate is 0.3. The
  paper names neither place nor rate.
- `init_range=r` starts everything but the image encoder in [-r, r]; r is 0.08 in that code. That code starts the LSTM's
  biases at 0, with a forget bias of 1; here they start in [-r, r] too. None is for short runs: the LSTM starts
  orthogonal for states, by Glorot and Bengio (2010) for inputs and at 0 for biases. Embeddings then start from N(0, 1),
  and the softmax by Glorot and Bengio with a gain.
- `feed=once` is the paper's. The authors tried the image at every step too and report worse results, as it overfits.

There is no attention: the image is a single vector, in the state (`once`) or in every input (`every_step`).

Notation: I images, B captions of T words, N real words of all, K hypotheses, S cells, D width of a cell, E embedding, n
hidden units, V vocabulary.
"""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.images.encoder import image_encoder
from zoo.layers.init import STATE_GAIN, start_lstm_, start_uniform_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Feed = Literal["once", "every_step"]


class ShowAndTell(WritingNetwork):
    """An LSTM reads the image as its first word, or together with every word, and writes the caption.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments.
    """

    tasks = ("captioning",)

    def __init__(
        self,
        spec: ImageSpec,
        *,
        encoder: Mapping[str, Any],
        embedding_dim: Count = 512,
        hidden_dim: Count = 512,
        feed: Feed = "once",
        dropout: Share = 0.3,
        init_range: Positive | None = None,
    ) -> None:
        super().__init__()
        self.encoder = image_encoder(encoder, spec)
        self.image = nn.Linear(self.encoder.dim, embedding_dim, bias=False)
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)  # W_e
        self.at_every_step = feed == "every_step"
        self.lstm = LSTM(embedding_dim * (2 if self.at_every_step else 1), hidden_dim)
        self.vocabulary = Linear(hidden_dim, spec.target_size)  # W_p
        self.dropout = nn.Dropout(dropout)
        if init_range is None:
            start_lstm_(self.lstm)
            nn.init.xavier_uniform_(self.image.weight)
            nn.init.xavier_uniform_(self.vocabulary.weight, STATE_GAIN)
        else:
            for part in (self.image, self.embedding, self.lstm, self.vocabulary):
                start_uniform_(part, init_range)

    def forward(self, batch: ImageBatch, *, need_weights: bool = True) -> Output:
        read, _, targets = batch.forced
        words = self.embedding(targets.pack(read))  # (N, E)
        if self.at_every_step:
            x = self.dropout(torch.cat([words, self._see(batch).index_select(0, targets.row)], -1))  # (N, 2 E)
            m, _ = self.lstm(x, targets)  # (N, n)
        else:
            x = self.dropout(words)  # (11) (N, E)
            m, _ = self.lstm(x, targets, self._first(self._see(batch)))  # (12) (N, n)
        return Output(self.vocabulary(self.dropout(m)))  # (9)

    def start(self, batch: ImageBatch) -> State:
        image = self._see(batch)
        if self.at_every_step:
            return State({"image": image}, self.lstm.hypotheses(self._nothing(image)))
        return State({}, self.lstm.hypotheses(self._first(image)))

    def step(self, tokens: Tensor, state: State) -> Step:
        x = self.embedding(tokens)  # (B, K, E)
        if self.at_every_step:
            x = torch.cat([x, state.memory["image"][:, None].expand_as(x)], -1)  # (B, K, 2 E)
        m, after = self.lstm.read(self.dropout(x), state.hypotheses)  # (11), (12) (B, K, n)
        log_probs = log_probabilities(self.vocabulary(self.dropout(m)))  # (9) (B, K, V)
        return Step(log_probs, State(state.memory, after), {})

    def _see(self, batch: ImageBatch) -> Tensor:
        """CNN(I) of each caption's image, (B, E)."""
        return self.image(self.encoder(batch.image).mean(1)).index_select(0, batch.picture)

    def _first(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """m and c of each caption, (1, B, n), after the LSTM has read the image (B, E)."""
        return self.lstm.step(self.dropout(image), self._nothing(image))[1]  # (10)

    def _nothing(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """m and c of each caption before anything is read."""
        m = image.new_zeros(1, image.shape[0], self.lstm.hidden_size)
        return m, m.clone()
