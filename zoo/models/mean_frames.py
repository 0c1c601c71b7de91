"""Translating Videos to Natural Language Using Deep Recurrent Neural Networks.

Subhashini Venugopalan, Huijuan Xu, Jeff Donahue, Marcus Rohrbach, Raymond Mooney, Kate Saenko. NAACL 2015.
https://arxiv.org/abs/1412.4729

Equations:
- A clip is one vector, v = mean_i CNN(frame_i).
- Two layers of the LSTM read x_t = [E y_{t-1}; W_v v] at every step; p = softmax(W_p h_t).

What differs from the paper:
- CNN(frame) is the cells of any image encoder, concatenated; in the paper it is fc7 of AlexNet.
- v is projected to the width of a word, so that one LSTM reads both.
- `frames=first` reads the first frame alone, a baseline that no paper has: what a still picture tells.
- `dropout` acts on the input of the LSTM, between its layers and on h_t. The paper does not state it.

The network has no attention. The mean does not depend on the order of the frames.

Notation: I clips, B captions of T words, N real words of all, K hypotheses, F frames, D width of a frame's vector, E
embedding, n hidden units, L layers, V vocabulary.
"""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.clips.batch import ClipBatch, ClipSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.images.frames import FrameEncoder
from zoo.layers.init import STATE_GAIN, start_lstm_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.attending_lstm import masked_mean
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class MeanFrames(WritingNetwork):
    """An LSTM reads the mean of the frames, or the first one, together with every word, and writes the caption.

    `encoder` describes an `ImageEncoder`: its class as `_target_`, and its arguments. `frames` = mean (the paper's) |
    first.
    """

    tasks = ("clip_captioning",)

    def __init__(
        self,
        spec: ClipSpec,
        *,
        encoder: Mapping[str, Any],
        frames: Literal["mean", "first"] = "mean",
        embedding_dim: Count = 500,
        hidden_dim: Count = 1000,
        layers: Count = 2,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.frames = FrameEncoder(spec, encoder)
        self.only_first = frames == "first"
        self.clip = nn.Linear(self.frames.dim, embedding_dim)  # W_v
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)  # E
        self.lstm = LSTM(2 * embedding_dim, hidden_dim, num_layers=layers, dropout=dropout)
        self.vocabulary = Linear(hidden_dim, spec.target_size)  # W_p
        self.dropout = nn.Dropout(dropout)
        start_lstm_(self.lstm)
        nn.init.xavier_uniform_(self.clip.weight)
        nn.init.xavier_uniform_(self.vocabulary.weight, STATE_GAIN)

    def forward(self, batch: ClipBatch, *, need_weights: bool = True) -> Output:
        read, _, targets = batch.forced
        words = self.embedding(targets.pack(read))  # (N, E)
        x = torch.cat([words, self._see(batch).index_select(0, targets.row)], -1)  # (N, 2 E)
        h, _ = self.lstm(self.dropout(x), targets)  # (N, n)
        return Output(self.vocabulary(self.dropout(h)))

    def start(self, batch: ClipBatch) -> State:
        clip = self._see(batch)
        h = clip.new_zeros(self.lstm.num_layers, clip.shape[0], self.lstm.hidden_size)
        return State({"clip": clip}, self.lstm.hypotheses((h, h.clone())))

    def step(self, tokens: Tensor, state: State) -> Step:
        words = self.embedding(tokens)  # (B, K, E)
        x = torch.cat([words, state.memory["clip"][:, None].expand_as(words)], -1)  # (B, K, 2 E)
        h, after = self.lstm.read(self.dropout(x), state.hypotheses)  # (B, K, n)
        log_probs = log_probabilities(self.vocabulary(self.dropout(h)))  # (B, K, V)
        return Step(log_probs, State(state.memory, after), {})

    def _see(self, batch: ClipBatch) -> Tensor:
        """W_v v of each caption's clip, (B, E)."""
        vectors = self.frames(batch)  # (I, F, D)
        clip = vectors[:, 0] if self.only_first else masked_mean(vectors, batch.frame_mask)
        return self.clip(clip).index_select(0, batch.picture)
