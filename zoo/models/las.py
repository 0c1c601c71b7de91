"""Listen, Attend and Spell: A Neural Network for Large Vocabulary Conversational Speech Recognition.

William Chan, Navdeep Jaitly, Quoc V. Le, Oriol Vinyals. ICASSP 2016. https://arxiv.org/abs/1508.01211

Equations (x_t the frames, y_i the letters):
- Listener: h^0 = BLSTM(x), then pyramids that join neighbours, h^j_i = BLSTM([h^{j-1}_{2i}; h^{j-1}_{2i+1}]). Three of
  them leave an eighth of the frames, h_1 ... h_U.
- Speller: s_i = LSTM(s_{i-1}, y_{i-1}, c_{i-1}), two layers, s_0 = c_0 = 0.
- Attention: e_iu = <phi(s_i), psi(h_u)>, phi and psi perceptrons, a_i = softmax of e_i, c_i = sum_u a_iu h_u.
- Output: P(y_i) = softmax(MLP(s_i, c_i)).

`location` = [filters, width] is the location-aware attention of Attention-Based Models for Speech Recognition (Jan
Chorowski, Dzmitry Bahdanau, Dmitriy Serdyuk, Kyunghyun Cho, Yoshua Bengio. NIPS 2015. https://arxiv.org/abs/1506.07503):
    f_i = F * a_{i-1},  e_iu = w . tanh(W s_i + V h_u + U f_iu + b)   (their 8 and 9),  a_0 = 0,
and `smoothing` is their section 2.3: a_iu = sigmoid(e_iu) / sum_v sigmoid(e_iv).

What differs from the papers:
- The papers leave open: phi, psi and the MLP of the output have one layer with tanh, letters have embeddings, LSTMs
  have torch's two biases. An odd row of frames has zeros beside its last one.
- Chorowski et al. ask with the state before the recurrence, s_{i-1}; here all attention asks with s_i.
- `ctc` is the weight of a loss that neither has: a softmax of each h_u over the letters and a blank is trained by
  connectionist temporal classification (Graves et al. 2006), the mean over utterances of -log p per letter. Attention
  alone hardly begins to learn from little speech. It needs a position for each letter, and `step` does not use it.
- `init_range=None` is for short runs, see `zoo.layers.init.start_network_`. `dropout` (0 in the paper) acts between the
  layers of both, on embeddings and on the vector that the output reads.

Notation: B utterances, S frames, F features, U positions of the memory, T letters, N real ones of all, M real positions
of all memories, K hypotheses, E embedding, D width of h_u, n hidden units of the speller, A attention, V letters.
"""

from typing import Annotated

import torch
from annotated_types import Predicate
from pydantic import Field
from torch import Tensor, nn

from zoo.arguments import Count, Natural, NonNegative, Positive, Share
from zoo.attention.softmax import masked_softmax
from zoo.data.audio.batch import AudioBatch, AudioSpec
from zoo.layers.ctc import CTC
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_network_
from zoo.layers.packing import Packing
from zoo.layers.pyramid import PyramidLSTM
from zoo.layers.recurrent import LSTM
from zoo.layers.state import MemoryPositions, State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output
from zoo.precision import precise, precise_dtype

PAIR = "a list [filters,width] of whole numbers from 1 on with an odd width"


def has_middle(location: list[int]) -> bool:
    """Whether the width of [filters, width] is odd."""
    return location[1] % 2 == 1


Location = Annotated[list[Count], Field(min_length=2, max_length=2, description=PAIR), Predicate(has_middle)]


class LAS(WritingNetwork):
    """A pyramid of bidirectional LSTMs listens, and a stack of LSTMs attends to it and spells.

    `hidden_dim` counts the listener's units per direction, `pyramids` its layers that halve the length. The memory has
    a position for each 2 ** `pyramids` frames: the network, and not the batch, knows which exist.
    """

    tasks = ("transcription",)
    attends = {"source": None}

    def __init__(
        self,
        spec: AudioSpec,
        *,
        hidden_dim: Count = 256,
        pyramids: Natural = 3,
        embedding_dim: Count = 256,
        decoder_dim: Count = 512,
        decoder_layers: Count = 2,
        attention_dim: Count = 512,
        location: Location | None = None,
        smoothing: bool = False,
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
        self.query = Linear(decoder_dim, attention_dim)  # phi, or W
        self.key = Linear(width, attention_dim, bias=location is None)  # psi, or V
        self.location = None
        if location is not None:
            filters, reach = location
            self.location = nn.Conv1d(1, filters, reach, padding="same", bias=False)  # F
            self.of_location = Linear(filters, attention_dim, bias=False)  # U
            self.v = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim**0.5)  # w
        self.smoothing = smoothing
        self.readout = Linear(decoder_dim + width, decoder_dim)
        self.vocabulary = Linear(decoder_dim, spec.target_size)
        self.ctc = CTC(width, spec.target_size, spec.padding, ctc) if ctc else None
        self.dropout = nn.Dropout(dropout)
        start_network_(self, init_range, self.readout, self.vocabulary)

    def forward(self, batch: AudioBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real letters in the order of `batch.target_packing`; attention `source` (B, T, U)."""
        read, _, targets = batch.forced
        h, heard = self._listen(batch)  # (M, D)
        start = self._start(h, heard)
        found, weights = walk(self._spell, start, read, targets, need_weights=need_weights)  # (N, n + D)
        losses = {}
        if self.training and self.ctc is not None and batch.target is not None and batch.target_mask is not None:
            losses["ctc"] = self.ctc(h, heard, batch.target, batch.target_mask)
        return Output(self._scores(found), weights, losses, memories=start.memories)

    def start(self, batch: AudioBatch) -> State:
        return self._start(*self._listen(batch))

    def step(self, tokens: Tensor, state: State) -> Step:
        found, after, weights = self._spell(tokens, state)
        return Step(log_probabilities(self._scores(found)), after, weights)

    def _listen(self, batch: AudioBatch) -> tuple[Tensor, Packing]:
        """h (M, D), packed, and its packing of (B, U)."""
        frames = batch.frame_packing.pack(batch.frames).to(self.vocabulary.weight.dtype)
        h, heard, _ = self.listener(frames, batch.frame_packing)
        return h, heard

    def _start(self, h: Tensor, heard: Packing) -> State:
        """The state before the first letter, from what `_listen` gives."""
        mask = heard.numbers() > 0  # (B, U)
        keys = self.key(h) if self.location is not None else self.key(h).tanh()
        memory = {"states": heard.unpack(h), "keys": heard.unpack(keys), "mask": mask}
        rows, width = mask.shape[0], h.shape[1]
        nothing = h.new_zeros(self.speller.num_layers, rows, self.speller.hidden_size)
        hypotheses = {**self.speller.hypotheses((nothing, nothing)), "context": h.new_zeros(rows, 1, width)}
        if self.location is not None:
            hypotheses["before"] = torch.zeros_like(mask, dtype=precise_dtype(h.dtype))[:, None]  # a_0 (B, 1, U)
        positions = MemoryPositions.of(mask, joins=self.joins)
        return State(memory, hypotheses, {"source": positions})

    def _spell(self, tokens: Tensor, state: State) -> Step:
        """[s; c] (B, K, n + D) after reading a letter, in the place of the log-probabilities."""
        memory, before = state.memory, state.hypotheses
        y = self.dropout(self.embedding(tokens))  # (B, K, E)
        s, after = self.speller.read(torch.cat([y, before["context"]], -1), before)  # (B, K, n)
        weights = self._weights(s, memory["keys"], memory["mask"], before.get("before"))  # (B, K, U)
        c = weights.to(s.dtype) @ memory["states"]  # (B, K, D)
        after["context"] = c
        if self.location is not None:
            after["before"] = weights
        return Step(torch.cat([s, c], -1), State(memory, after), {"source": weights})

    def _weights(self, s: Tensor, keys: Tensor, mask: Tensor, before: Tensor | None) -> Tensor:
        """Weights (B, K, U) of states (B, K, n) on keys (B, U, A), and the weights `before` them (B, K, U)."""
        query, mask = self.query(s), mask[:, None]
        if self.location is None or before is None:
            energies = precise(query.tanh() @ keys.transpose(1, 2))
        else:
            weight = self.location.weight
            f = self.location(before.flatten(0, 1)[:, None].to(weight.dtype)).transpose(1, 2)  # (B K, U, filters)
            near = self.of_location(f).unflatten(0, before.shape[:2])  # (B, K, U, A)
            inner = (query[:, :, None] + keys[:, None] + near).tanh()
            energies = precise(inner @ self.v)
        if not self.smoothing:
            return masked_softmax(energies, mask)
        alike = energies.sigmoid().masked_fill(~mask, 0.0)
        return alike / alike.sum(-1, keepdim=True).clamp(min=torch.finfo(alike.dtype).tiny)

    def _scores(self, found: Tensor) -> Tensor:
        """[s; c] (..., n + D) -> (..., V)."""
        return self.vocabulary(self.dropout(self.readout(found).tanh()))
