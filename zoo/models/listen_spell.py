"""Sequence to Sequence Learning with Neural Networks, for sounds: `las` without attention.

Ilya Sutskever, Oriol Vinyals, Quoc V. Le. NIPS 2014. https://arxiv.org/abs/1409.3215

Equations (x_t the frames, y_i the letters):
- v = the last states of both directions of the pyramid of LSTMs that reads x, see `las`.
- s_0 = tanh(W v), s_i = LSTM(s_{i-1}, [y_{i-1}; v]), P(y_i) = softmax(V s_i).

What differs from the paper:
- It translates texts with unidirectional LSTMs. Here the input is a sound and the listener that of `las`, so that both
  differ in the attention alone. v is also read before each letter, as by Cho et al. (2014), and W makes h and c of s_0.
- `ctc`, `dropout` and `init_range` are those of `las`.

Notation: B utterances, N real letters of all, K hypotheses, E embedding, D width of v, L layers, n hidden units of the
speller, V letters.
"""

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Natural, NonNegative, Positive, Share
from zoo.data.audio.batch import AudioBatch, AudioSpec
from zoo.layers.ctc import CTC
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_network_
from zoo.layers.packing import Packing
from zoo.layers.pyramid import PyramidLSTM
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class ListenSpell(WritingNetwork):
    """A pyramid of bidirectional LSTMs makes one vector of a sound, and a stack of LSTMs spells what is in it."""

    tasks = ("transcription",)

    def __init__(
        self,
        spec: AudioSpec,
        *,
        hidden_dim: Count = 256,
        pyramids: Natural = 3,
        embedding_dim: Count = 256,
        decoder_dim: Count = 512,
        decoder_layers: Count = 2,
        ctc: NonNegative = 0.0,
        dropout: Share = 0.0,
        init_range: Positive | None = 0.1,
    ) -> None:
        super().__init__()
        self.listener = PyramidLSTM(spec.features, hidden_dim, pyramids, dropout)
        self.joins, width = self.listener.joins, self.listener.width
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        between = dropout if decoder_layers > 1 else 0.0
        self.speller = LSTM(embedding_dim + width, decoder_dim, num_layers=decoder_layers, dropout=between)
        self.first = Linear(width, 2 * decoder_layers * decoder_dim)  # W
        self.vocabulary = Linear(decoder_dim, spec.target_size)  # V
        self.ctc = CTC(width, spec.target_size, spec.padding, ctc) if ctc else None
        self.dropout = nn.Dropout(dropout)
        start_network_(self, init_range, self.first, self.vocabulary)

    def forward(self, batch: AudioBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real letters in the order of `batch.target_packing`."""
        read, _, targets = batch.forced
        h, heard, v = self._listen(batch)
        x = torch.cat([self.dropout(self.embedding(targets.pack(read))), v.index_select(0, targets.row)], 1)
        s, _ = self.speller(x, targets, self._first(v))  # (N, n)
        losses = {}
        if self.training and self.ctc is not None and batch.target is not None and batch.target_mask is not None:
            losses["ctc"] = self.ctc(h, heard, batch.target, batch.target_mask)
        return Output(self.vocabulary(self.dropout(s)), losses=losses)

    def start(self, batch: AudioBatch) -> State:
        *_, v = self._listen(batch)
        return State({"sound": v}, self.speller.hypotheses(self._first(v)))

    def step(self, tokens: Tensor, state: State) -> Step:
        y = self.dropout(self.embedding(tokens))  # (B, K, E)
        v = state.memory["sound"][:, None].expand(-1, y.shape[1], -1)
        s, after = self.speller.read(torch.cat([y, v], -1), state.hypotheses)  # (B, K, n)
        log_probs = log_probabilities(self.vocabulary(self.dropout(s)))  # (B, K, V)
        return Step(log_probs, State(state.memory, after), {})

    def _listen(self, batch: AudioBatch) -> tuple[Tensor, Packing, Tensor]:
        """The states of the listener and their packing, and v (B, D)."""
        frames = batch.frame_packing.pack(batch.frames).to(self.vocabulary.weight.dtype)
        return self.listener(frames, batch.frame_packing)

    def _first(self, v: Tensor) -> tuple[Tensor, Tensor]:
        """(h, c), (L, B, n) each, of s_0."""
        states = self.first(v).tanh().unflatten(1, (2, self.speller.num_layers, -1))  # (B, 2, L, n)
        h, c = states.transpose(0, 2).unbind(1)
        return h.contiguous(), c.contiguous()
