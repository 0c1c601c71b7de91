"""Get To The Point: Summarization with Pointer-Generator Networks.

Abigail See, Peter J. Liu, Christopher D. Manning. ACL 2017. https://arxiv.org/abs/1704.04368

Equations (sections 2.1 to 2.3; where the paper is silent, the authors' code):
- Encoder: h_i = [forward h_i; backward h_i] of an LSTM. The decoder's first (c, s) are relu(W [forward; backward] + b)
  of the last c and of the last h.
- Decoder: x_t = W_x [e(y_{t-1}); m_{t-1}] + b_x,  s_t, c_t = LSTM(x_t),  m_0 = 0.
- Attention after the recurrence (1) (2), with coverage (10) (11): o_t = sum over t' < t of a_t',
      e_i = v . tanh(W_h h_i + W_s [c_t; s_t] + w_c o_ti + b),  a_t = softmax of e,  m_t = sum_i a_ti h_i    (3).
- Vocabulary (4): P_vocab = softmax(V' (V [s_t; m_t] + b_V) + b').
- Switch (8): p_gen = sigmoid(w_m . m_t + w_s . [c_t; s_t] + w_x . x_t + b_p).
- Extended vocabulary (9): P(w) = p_gen P_vocab(w) + (1 - p_gen) sum over i with word w of a_ti. Each source has columns
  of its own for its unknown words, see `zoo.data.copying.batch`.

What differs from the paper:
- The loss is a mean over all target tokens of a batch; the paper takes the mean of each summary first. The coverage
  loss (12) is `regularizer=overlap`.
- While the authors' code decodes, its first step reads the context that the initial state attends to. Training reads 0
  there. Here m_0 = 0 in both.
- `init=glorot` draws matrices by Glorot and Bengio (2010), those of states orthogonal. `init=paper` draws the LSTMs
  from U(-0.02, 0.02), and everything else from a truncated normal with deviation 1e-4, which needs many steps.
- w_c starts at 0, so that `start_from` a run without coverage continues the same function.
- `dropout` (0 in the paper) acts on embeddings and on V [s_t; m_t].
- A source without tokens has nothing to copy: p_gen is 1.

Notation: B sources, S source and T target tokens, M and N real ones of the batch, K hypotheses, E embedding, n hidden
units, A attention, V vocabulary, U the most unknown words of a source.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.copying import CLOSED, Columns, true_log_probs
from zoo.attention.scores import Form
from zoo.attention.softmax import masked_softmax
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_lstm_
from zoo.layers.loops.attention import AttendedSource
from zoo.layers.loops.pointer import PointerLSTM
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM, sum_of_biases
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output
from zoo.precision import precise

Init = Literal["glorot", "paper"]


class PointerGenerator(WritingNetwork):
    """An LSTM that attends to a source, and at each step writes a word of the vocabulary or copies one of the source.

    `copy=false` leaves out the switch and the extended vocabulary: a sequence-to-sequence network with attention.
    `coverage` tells the attention what it has attended to.
    """

    tasks = ("summarization", "dialogue")
    attends = {"source": "memory_mask"}
    copies = True

    def __init__(
        self,
        spec: CopySpec,
        *,
        embedding_dim: Count = 128,
        hidden_dim: Count = 256,
        attention_dim: Count = 512,
        copy: bool = True,
        coverage: bool = False,
        dropout: Share = 0.0,
        init: Init = "glorot",
    ) -> None:
        super().__init__()
        n, size = hidden_dim, spec.vocabulary_size
        if "source" not in spec.inputs().tensors:
            self.not_exported = "reads dialogues as texts whose length follows from their turns"
        self.copies, self.size, self.unknown = copy, size, spec.unknown
        self.embedding = TokenEmbedding(size, embedding_dim, padding_idx=spec.padding)
        self.encoder = LSTM(embedding_dim, n, bidirectional=True)
        self.first_hidden, self.first_cell = (nn.Linear(2 * n, n) for _ in range(2))
        self.input = Linear(embedding_dim + 2 * n, embedding_dim)  # W_x
        self.decoder = LSTM(embedding_dim, n)
        self.keys = nn.Linear(2 * n, attention_dim)  # W_h, b
        self.query = Linear(2 * n, attention_dim, bias=False)  # W_s
        self.v = nn.Parameter(torch.empty(attention_dim))
        self.cover = nn.Parameter(torch.zeros(attention_dim)) if coverage else None  # w_c
        self.output = Linear(3 * n, n)  # V, b_V
        self.vocabulary = Linear(n, size)  # V', b'
        self.switch = Linear(4 * n + embedding_dim, 1) if copy else None  # w_m, w_s, w_x, b_p
        self.dropout = nn.Dropout(dropout)
        self._initialise(init)

    @property
    def surprises(self) -> bool:  # type: ignore[override]
        """With copying, the surprisals need no distribution over the extended vocabulary."""
        return self.copies

    def forward(self, batch: CopyBatch, *, need_weights: bool = True, need_scores: bool = True) -> Output:
        """Log-probabilities (N, V + U) of the real target tokens, or without copying scores (N, V), and attention
        `source` (B, T, S). Without `need_scores` there are surprisals in place of log-probabilities.

        The gates of views are `generate` (B, T), which is p_gen, and `copied`, the copied share of the probability of
        each true token.
        """
        read, _, targets = batch.forced
        h, start = self._encode(batch)
        y = self.dropout(self.embedding(targets.pack(self._known(read))))  # (N, E)
        states, m, a, x = self._decode(y, h, start, batch, targets)
        weights = {"source": targets.unpack(a)} if need_weights else {}
        logits = self._scores(states, m)  # (N, V)
        if self.switch is None:
            return Output(logits, weights)
        gate = self._gate(states, m, x, batch.source_mask.any(1)[targets.row])  # (N,)
        copied = batch.target if batch.copied is None else batch.copied
        assert copied is not None
        truth, words = targets.pack(copied), batch.extended.index_select(0, targets.row)
        log_p, share = true_log_probs(logits, gate, precise(a), words, truth)
        gates = {"generate": gate.sigmoid(), "copied": share} if need_weights else {}
        gates = {name: targets.unpack(part.detach()) for name, part in gates.items()}
        if not need_scores:
            return Output(logits[:, :0], weights, surprisal=-log_p, truth=truth, gates=gates)
        columns = Columns.of(batch.extended, batch.source_mask, self.size)
        scores = columns.rows(targets.row).log_probs(
            log_probabilities(logits)[:, None], gate[:, None], precise(a)[:, None]
        )
        return Output(scores[:, 0], weights, possible=columns.possible(self.size), truth=truth, gates=gates)

    def start(self, batch: CopyBatch) -> State:
        h, (hidden, cell) = self._encode(batch)
        states, keys = (batch.source_packing.unpack(part) for part in (h, self.keys(h)))  # (B, S, 2n), (B, S, A)
        memory = {"states": states, "keys": keys, "mask": batch.source_mask}
        hypotheses = self.decoder.hypotheses((hidden[None], cell[None]))
        hypotheses["context"] = torch.zeros_like(torch.cat([hidden, cell], 1))[:, None]  # m_0 (B, 1, 2n)
        if self.cover is not None:
            hypotheses["covered"] = torch.zeros_like(states[:, None, :, 0])  # o_1 (B, 1, S)
        if self.switch is None:
            return State(memory, hypotheses)
        columns = Columns.of(batch.extended, batch.source_mask, self.size)
        truth = None if batch.copied is None else batch.forced.packing.pack(batch.copied)
        return State({**memory, **columns._asdict()}, hypotheses, possible=columns.possible(self.size), truth=truth)

    def step(self, tokens: Tensor, state: State) -> Step:
        before, memory = state.hypotheses, state.memory
        y = self.dropout(self.embedding(self._known(tokens)))  # (B, K, E)
        x = self.input(torch.cat([y, before["context"]], -1))
        _, after = self.decoder.read(x, before)
        states = torch.cat([after["cell"], after["hidden"]], -1).flatten(2)  # [c_t; s_t] (B, K, 2n)
        inner = memory["keys"][:, None] + self.query(states)[:, :, None]  # (B, K, S, A)
        if self.cover is not None:
            inner = inner + before["covered"][..., None] * self.cover
        a = masked_softmax(inner.tanh() @ self.v, memory["mask"][:, None])  # (B, K, S)
        m = after["context"] = a @ memory["states"]
        if self.cover is not None:
            after["covered"] = before["covered"] + a
        log_probs = log_probabilities(self._scores(states, m))  # (B, K, V)
        if self.switch is not None:
            gate = self._gate(states, m, x, memory["mask"].any(1)[:, None])
            columns = Columns(*(memory[name] for name in Columns._fields))
            log_probs = columns.log_probs(log_probs, gate, precise(a))  # (B, K, V + U)
        return Step(log_probs, State(memory, after), {"source": a})

    def _encode(self, batch: CopyBatch) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """h (M, 2n), packed, and the first s and c of the decoder, (B, n) each."""
        sources = batch.source_packing
        h, last = self.encoder(self.dropout(self.embedding(sources.pack(batch.source))), sources)
        hidden, cell = (part.transpose(0, 1).flatten(1) for part in last)  # (B, 2n) each
        return h, (self.first_hidden(hidden).relu(), self.first_cell(cell).relu())

    def _decode(
        self, y: Tensor, h: Tensor, start: tuple[Tensor, Tensor], batch: CopyBatch, targets: Packing
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """[c_t; s_t] (N, 2n), m_t (N, 2n), a_t (N, S) and x_t (N, E) at all target positions.

        The gates read W_ih x_t, so that W_ih W_x is multiplied once, and the loop reads m_{t-1} alone.
        """
        decoder, (of_token, of_context) = self.decoder, self.input.weight.split([y.shape[1], h.shape[1]], 1)
        biases = sum_of_biases(*(getattr(decoder, f"bias_{side}_l0") for side in ("ih", "hh")))
        x = F.linear(y, of_token, self.input.bias)  # the token's part of x_t
        table = F.linear(x, decoder.weight_ih_l0, biases)  # (N, 4n)
        weight = torch.cat([decoder.weight_ih_l0 @ of_context, decoder.weight_hh_l0], 1)  # (4n, 3n)
        keys, values = (batch.source_packing.unpack(part) for part in (self.keys(h), h))
        seen = batch.source_mask.index_select(0, targets.row)
        form = Form(keys, self.query.weight, self.v)
        source = AttendedSource.of(form, values, seen, targets, cover=self.cover)
        dtype = source.values.dtype
        first = tuple(part.index_select(0, targets.order).to(dtype) for part in start)
        states, m, a = PointerLSTM()(table.to(dtype), first, weight.to(dtype), source)
        before = source.time_steps.previous(m.new_zeros(len(targets.order), m.shape[1]), m)
        states, m, a, before = (part.to(h.dtype) for part in (states, m, a, before))
        return states, m, a, x + F.linear(before, of_context)

    def _scores(self, states: Tensor, m: Tensor) -> Tensor:
        """(..., V) of the vocabulary, from [c_t; s_t] and m_t (..., 2n)."""
        s = states[..., states.shape[-1] // 2 :]
        return self.vocabulary(self.dropout(self.output(torch.cat([s, m], -1))))

    def _gate(self, states: Tensor, m: Tensor, x: Tensor, copies: Tensor) -> Tensor:
        """The sum in p_gen (...), in float32 at least; `copies` (...) is True where a source has a word."""
        assert self.switch is not None
        return precise(self.switch(torch.cat([m, states, x], -1)).squeeze(-1)).masked_fill(~copies, CLOSED)

    def _known(self, tokens: Tensor) -> Tensor:
        """Ids (...) or probabilities (..., V + U) in which unknown words of a source are the unknown word."""
        if not tokens.is_floating_point():
            return tokens.masked_fill(tokens >= self.size, self.unknown)
        known, others = tokens[..., : self.size], tokens[..., self.size :].sum(-1, keepdim=True)
        column = torch.full_like(others, self.unknown, dtype=torch.long)
        return known.scatter_add(-1, column, others)

    def _initialise(self, init: Init) -> None:
        if init == "glorot":
            for lstm in (self.encoder, self.decoder):
                start_lstm_(lstm)
        for name, weight in self.named_parameters():
            recurrent = name.startswith(("encoder.", "decoder."))
            if init == "paper" and name != "cover":
                nn.init.uniform_(weight, -0.02, 0.02) if recurrent else nn.init.trunc_normal_(weight, std=1e-4)
            elif name == "v":
                nn.init.uniform_(weight, -(len(weight) ** -0.5), len(weight) ** -0.5)
            elif weight.dim() == 2 and not recurrent and name != "embedding.weight":
                nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.embedding.weight[self.embedding.padding_idx])
