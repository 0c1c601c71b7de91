"""Base of the networks whose LSTM attends to the places of a picture, or to the frames of a clip, before each word.

Equations, as the authors' codes of Xu et al. 2015 and Yao et al. 2015 run them; a_i the annotation vectors:
    e_ti = u . tanh(P a_i + b + W_d h_{t-1}),  alpha_t = softmax of e_t,  beta_t = sigmoid(w . h_{t-1} + b'),
    z_t = beta_t sum_i alpha_ti a_i,
    i, f, o = sigmoid, g = tanh of W E y_{t-1} + Z z_t + U h_{t-1} + b'',  c' = f c + i g,  h' = o tanh(c'),  E y_0 = 0,
    s_t = tanh(L_h h_t + E y_{t-1} + L_z z_t + b_s), p = softmax(L_o s_t + b_o).
`init=orthogonal` has an orthogonal U, embeddings from N(0, 1), other matrices by Glorot and Bengio (2010).
`init=paper`, as the codes, has orthogonal square matrices (U among them, but not P and Z), others from N(0, 0.01^2).
Biases are 0.

Notation: I pictures or clips, B captions, R captions with a word, N real words of all, T words of the longest, K
hypotheses, S places or frames, D width of an annotation vector, A width of the attention, E embedding, n hidden units,
V vocabulary.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from zoo.attention.softmax import masked_softmax, needed
from zoo.data.captions.batch import CaptionBatch, CaptionSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import orthogonal_matrix_
from zoo.layers.loops.additive import additive_scores
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.loops.attention_viewer import AttendedImages, Look, ViewerOutput, attention_viewer
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output
from zoo.precision import precise_dtype

Energy = Literal["tanh", "deep_tanh", "relu"]
Gate = Literal["scalar", "vector", "none"]
Init = Literal["orthogonal", "paper"]


class Widths(NamedTuple):
    """The widths of a decoder."""

    vector: int  # D
    embedding: int  # E
    hidden: int  # n
    attention: int  # A


class AttendingLSTM(WritingNetwork):
    """An LSTM writes the caption and attends to annotation vectors before each word. A subclass builds its parts by
    `add_decoder`, and defines `annotations`."""

    attends = {"source": "memory_mask"}

    def add_decoder(
        self, spec: CaptionSpec, widths: Widths, *, gate: Gate, energy: Energy, deep_output: bool, shared: bool
    ) -> None:
        """Build the decoder. With `shared`, h_0 and c_0 are computed from m = relu(W_0 mean_i a_i + b_0), and else from
        the mean itself."""
        depth, embedding_dim, hidden_dim, attention_dim = widths
        self.energy = energy
        self.initial = nn.Linear(depth, depth) if shared else None  # W_0
        self.initial_hidden = nn.Linear(depth, hidden_dim)  # W_h
        self.initial_cell = nn.Linear(depth, hidden_dim)  # W_c
        self.key = nn.Linear(depth, attention_dim)  # P
        self.deep_key = nn.Linear(attention_dim, attention_dim) if energy == "deep_tanh" else None  # P_1
        self.query = Linear(hidden_dim, attention_dim, bias=False)  # W_d
        self.v = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim**0.5)  # u
        width = {"none": 0, "scalar": 1, "vector": depth}[gate]
        self.gate = nn.Linear(hidden_dim, width) if width else None  # w
        self.embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.begin)  # E, E y_0 = 0
        self.decoder_token = Linear(embedding_dim, 4 * hidden_dim)  # W
        self.decoder_context = Linear(depth, 4 * hidden_dim, bias=False)  # Z
        self.decoder_state = Linear(hidden_dim, 4 * hidden_dim, bias=False)  # U
        self.deep_output = deep_output
        if deep_output:
            self.output_hidden = Linear(hidden_dim, embedding_dim)  # L_h
            self.output_context = Linear(depth, embedding_dim, bias=False)  # L_z
        self.vocabulary = Linear(embedding_dim if deep_output else hidden_dim, spec.target_size)  # L_o

    dropout: nn.Dropout

    @abstractmethod
    def annotations(self, batch: Any) -> tuple[Tensor, Tensor | None]:
        """The annotation vectors (I, S, D), and the mask (I, S) of those that exist; None if all do."""

    def losses(self, batch: Any, logits: Tensor, seen: ViewerOutput) -> dict[str, Tensor]:
        """Further losses of a pass over a batch, by name."""
        return {}

    def look(self, *, whole_batch: bool) -> Look:
        """The kind of look; what is drawn in training is drawn once for a `whole_batch`."""
        return "mean"

    def forward(self, batch: CaptionBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real words in the order of `batch.target_packing`; attention `source` (B, T, S), the
        weights alpha.

        In evaluation it equals repeated calls of `step`, unless a place is drawn. What depends on a picture or a clip
        alone is computed once, for all its captions.
        """
        read, _, targets = batch.forced
        a, mask = self.annotations(batch)  # (I, S, D)
        y = self.embedding(targets.pack(read))  # (N, E)
        seen = self._view(a, mask, y, batch.picture.index_select(0, targets.order), targets)
        logits = self._scores(seen.hidden.to(y.dtype), y, seen.context.to(y.dtype))
        attention = {"source": targets.unpack(seen.weights)} if need_weights else {}
        return Output(logits, attention, self.losses(batch, logits, seen))

    def start(self, batch: CaptionBatch) -> State:
        a, mask = self.annotations(batch)  # (I, S, D)
        h, c = self._first_state(a, mask)  # (I, n)
        memory = {"vectors": a, "keys": self._keys(a)}
        if mask is not None:
            memory["mask"] = mask
        parts = {"hidden": h[:, None], "cell": c[:, None]}
        memory, hypotheses = (
            {name: part.index_select(0, batch.picture) for name, part in group.items()} for group in (memory, parts)
        )
        return State(memory, hypotheses)

    def step(self, tokens: Tensor, state: State) -> Step:
        h, c = state.hypotheses["hidden"], state.hypotheses["cell"]  # (B, K, n)
        y = self.embedding(tokens)  # (B, K, E)

        mask = state.memory["mask"][:, None] if "mask" in state.memory else None
        alpha = masked_softmax(self._energies(h, state.memory["keys"]), mask)  # (B, K, S)
        z = self._context(alpha.to(y.dtype), state.memory["vectors"])  # (B, K, D)
        if self.gate is not None:
            z = self.gate(h).sigmoid() * z
        i, f, g, o = (self.decoder_token(y) + self.decoder_context(z) + self.decoder_state(h)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        log_probs = log_probabilities(self._scores(h, y, z))  # (B, K, V)
        return Step(log_probs, State(state.memory, {"hidden": h, "cell": c}), {"source": alpha})

    def _view(self, a: Tensor, mask: Tensor | None, y: Tensor, picture: Tensor, targets: Packing) -> ViewerOutput:
        """All steps of the R captions that have a word, longest first.

        `a` (I, S, D) are the annotation vectors, `y` (N, E) the tokens read, `picture` (R,) the picture or clip of each
        caption.
        """
        dtype = precise_dtype(a.dtype)
        first = self._first_state(a, mask)
        keys, h, c = (part.index_select(0, picture).to(dtype) for part in (self._keys(a), *first))
        asks, gate_bias = self.query.weight, self.query.weight.new_empty(0)
        if self.gate is not None:
            asks, gate_bias = torch.cat([asks, self.gate.weight]), self.gate.bias
        weight = torch.cat([self.decoder_context.weight, self.decoder_state.weight], 1)  # (4n, D + n)
        values = a.index_select(0, picture).to(dtype)  # (R, S, D)
        exists = None if mask is None else needed(mask.index_select(0, picture))
        view = AttendedImages(keys, values, self.v.to(dtype), asks.to(dtype), gate_bias.to(dtype), exists)
        table = self.decoder_token(y).to(dtype)  # (N, 4n)
        energy: Literal["tanh", "relu"] = "relu" if self.energy == "relu" else "tanh"
        return attention_viewer(
            table, (h, c), weight.to(dtype), view, TimeSteps.of(targets), energy, self.look(whole_batch=True)
        )

    def _context(self, alpha: Tensor, a: Tensor) -> Tensor:
        """Contexts (B, K, D) from weights (B, K, S) and annotation vectors (B, S, D)."""
        return alpha @ a

    def _first_state(self, a: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """h_0 and c_0 (I, n) by the annotation vectors (I, S, D) and their mask."""
        m = a.mean(1) if mask is None else masked_mean(a, mask)
        if self.initial is not None:
            m = self.dropout(self.initial(m).relu())
        return self.initial_hidden(m).tanh(), self.initial_cell(m).tanh()

    def _keys(self, a: Tensor) -> Tensor:
        """(..., S, D) -> (..., S, A)."""
        keys = self.key(a)
        return keys if self.deep_key is None else self.deep_key(keys).tanh()

    def _energies(self, h: Tensor, keys: Tensor) -> Tensor:
        """e (B, K, S) of states (B, K, n) with keys (B, S, A), in float32 at least."""
        query = self.query(h)
        if self.energy != "relu":
            return additive_scores(query, keys, self.v)
        dtype = precise_dtype(query.dtype)
        return (query[:, :, None] + keys[:, None]).relu().to(dtype) @ self.v.to(dtype)

    def _scores(self, h: Tensor, y: Tensor, z: Tensor) -> Tensor:
        """(..., V) from h_t (..., n), E y_{t-1} (..., E) and z_t (..., D)."""
        s = self.dropout(h)
        if self.deep_output:
            s = self.dropout((self.output_hidden(s) + y + self.output_context(z)).tanh())
        return self.vocabulary(s)

    def _initialise(self, init: Init) -> None:
        paper, linears = init == "paper", [part for part in self.children() if isinstance(part, nn.Linear)]
        never_orthogonal = self.key, self.decoder_context
        for linear in linears:
            gates = 4 if linear in (self.decoder_token, self.decoder_context, self.decoder_state) else 1
            for matrix in linear.weight.detach().chunk(gates):
                square = matrix.shape[0] == matrix.shape[1]
                if linear is self.decoder_state or (paper and square and linear not in never_orthogonal):
                    orthogonal_matrix_(matrix)
                else:
                    nn.init.normal_(matrix, std=0.01) if paper else nn.init.xavier_uniform_(matrix)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)
        if paper:
            nn.init.normal_(self.v, std=0.01)
            self.embedding.weight.detach().mul_(0.01)  # torch drew it from N(0, 1), and one row is zero


def masked_mean(a: Tensor, mask: Tensor) -> Tensor:
    """(I, S, D) -> (I, D) the mean over the places where the mask (I, S) is True; 0 where none is."""
    count = mask.sum(1, keepdim=True).clamp(min=1)
    return (a * mask[..., None]).sum(1) / count
