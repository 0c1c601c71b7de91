"""Neural Machine Translation by Jointly Learning to Align and Translate.

Dzmitry Bahdanau, Kyunghyun Cho, Yoshua Bengio. ICLR 2015. https://arxiv.org/abs/1409.0473

Equations (appendix A.1 and A.2, which also leave out biases):
- GRU, reset gate before the product with U, and z mixes in the new candidate:
      r, z = sigmoid(W_rz e(x) + U_rz h),  n = tanh(W e(x) + U (r * h)),  h' = (1 - z) * h + z * n.
- Encoder: h_j = [forward h_j; backward h_j].
- Attention, whose query is the state before the recurrence: e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j),
      a_i = softmax of e_i over the source,  c_i = sum_j a_ij h_j.
- Decoder: the same GRU with C c_i in all three sums, from s_0 = tanh(W_s backward h_1), e(begin) = 0.
- Output: t = the larger of each pair of neighbours in U_o s_{i-1} + V_o e(y_{i-1}) + C_o c_i, p = softmax(W_o t).

What differs from the paper:
- The encoder's GRUs have torch's two biases. In the decoder the token's product has a bias for each of r, z and n; the
  authors' code has only that of n. In the output the state's product has one, as in the code. W_s and W_o have none,
  unlike in the code.
- `score` can be any other score. If its keys must be as wide as the query (dot, scaled_dot, cosine), the key is the
  sum of the two directions' states.
- `init=orthogonal` keeps the paper's orthogonal U, draws embeddings from N(0, 1) and other matrices by Glorot and
  Bengio (2010), the decoder's three matrices of one input as one. `init=paper` draws all of these from N(0, 0.01^2),
  W_a and U_a from N(0, 0.001^2), and starts at v_a = 0, from which a short run hardly moves.
- `dropout` (0 in the paper) acts on embeddings and on t.

Notation: B sentences, S source and T target tokens, M and N real source and target tokens of the batch, K hypotheses,
E embedding, n hidden units, D width of an annotation h_j (2n here), l maxout units, V words.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.scores import Score, ScoreName, score_class
from zoo.attention.scores import score as score_called
from zoo.attention.softmax import masked_softmax
from zoo.data.batch import WritingBatch
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import orthogonal_, orthogonal_matrix_
from zoo.layers.loops.attention import AttendedSource, say_where_unknown
from zoo.layers.loops.attention_decoders import AttentionGRU
from zoo.layers.pooling import maxout
from zoo.layers.recurrent import GRU
from zoo.layers.state import Annotations, State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.linear import Linear, linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Init = Literal["orthogonal", "paper"]


class RNNSearchDecoder(WritingNetwork):
    """The decoder, which attends to the `Annotations` h of any source, D wide.

    A subclass encodes the source, and calls `_add_decoder` in its constructor.
    """

    attends = {"source": "memory_mask"}

    @abstractmethod
    def encode(self, batch: Any) -> tuple[Annotations, Tensor]:
        """The annotations h of the sources, and s_0 (B, n)."""

    def forward(self, batch: WritingBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`; attention `source` (B, T, S).

        The result equals that of calling `step` repeatedly. C c_i = sum_j a_ij C h_j, so that C is applied to each
        annotation once. With a score that the loop does not support, `step` computes the result, and the scores are
        log-probabilities.
        """
        read, _, targets = batch.forced
        h, s = self.encode(batch)
        start = self._begin(h, s)
        form = self.score.form(start.memory["keys"])
        if form is None:
            return Output(*walk(self.step, start, read, targets, need_weights=need_weights))
        y = self.dropout(self.target_embedding(targets.pack(read)))  # (N, E)

        values = h.laid_out(self.decoder_context(h.vectors))  # (B, S, 3n)
        scene = AttendedSource.of(form, values, h.mask.index_select(0, targets.row), targets)
        table, s, u = (
            part.to(scene.values.dtype)
            for part in (self.decoder_token(y), s.index_select(0, targets.order), self.decoder_state.weight)
        )
        s, a = AttentionGRU()(table, s, u, scene)  # s_{i-1} (N, n), (N, S)
        weights = targets.unpack(a.to(h.vectors.dtype))  # (B, T, S)
        c = targets.pack(weights @ start.memory["states"])  # (N, D)
        return Output(self._scores(s.to(h.vectors.dtype), y, c), {"source": weights})

    def start(self, batch: WritingBatch) -> State:
        return self._begin(*self.encode(batch))

    def _begin(self, h: Annotations, s: Tensor) -> State:
        keys = self.score.prepare(self._keys(h.vectors))
        memory = {"states": h.laid_out(h.vectors), "keys": h.laid_out(keys), "mask": h.mask}  # (B, S, ...)
        return State(memory, {"hidden": s[:, None]})  # (B, 1, n)

    def step(self, tokens: Tensor, state: State) -> Step:
        s, memory = state.hypotheses["hidden"], state.memory  # s_{i-1} (B, K, n)
        y = self.dropout(self.target_embedding(tokens))  # (B, K, E)

        weights = masked_softmax(self.score(s, memory["keys"]), memory["mask"][:, None])  # (B, K, S)
        c = weights @ memory["states"]  # (B, K, D)
        log_probs = log_probabilities(self._scores(s, y, c))  # (B, K, V)

        u, n = self.decoder_state.weight, s.shape[-1]  # U_r, U_z, U, one below the other
        sums = self.decoder_token(y) + self.decoder_context(c)  # (B, K, 3n)
        r, z = (sums[..., : 2 * n] + linear(s, u, rows=slice(0, 2 * n))).sigmoid().chunk(2, -1)
        candidate = (sums[..., 2 * n :] + linear(r * s, u, rows=slice(2 * n, 3 * n))).tanh()
        s = (1 - z) * s + z * candidate
        return Step(log_probs, State(memory, {"hidden": s}), {"source": weights})

    def _keys(self, h: Tensor) -> Tensor:
        """Keys of annotations (..., D), as the score reads them."""
        return h

    def _scores(self, s: Tensor, y: Tensor, c: Tensor) -> Tensor:
        """(..., V) from the state s_{i-1} (..., n), the token's embedding y (..., E) and the context c (..., D)."""
        t = maxout(self.output_state(s) + self.output_token(y) + self.output_context(c))  # (..., l)
        return self.vocabulary(self.dropout(t))

    def _add_decoder(
        self,
        score: Score,
        vocabulary: tuple[int, int],
        annotation_dim: int,
        sizes: tuple[int, int, int],
        dropout: float,
    ) -> None:
        """Adds the decoder's modules. `vocabulary` holds its size and its begin token, `sizes` are E, n and l."""
        (size, begin), (embedding_dim, hidden_dim, maxout_dim) = vocabulary, sizes
        self.score = score  # v_a, W_a, U_a
        say_where_unknown(self.score)
        self.target_embedding = TokenEmbedding(size, embedding_dim, padding_idx=begin)  # e(begin) = 0
        self.decoder_token = Linear(embedding_dim, 3 * hidden_dim)  # W_r, W_z, W
        self.decoder_state = Linear(hidden_dim, 3 * hidden_dim, bias=False)  # U_r, U_z, U
        self.decoder_context = Linear(annotation_dim, 3 * hidden_dim, bias=False)  # C_r, C_z, C
        self.output_state = Linear(hidden_dim, 2 * maxout_dim)  # U_o
        self.output_token = Linear(embedding_dim, 2 * maxout_dim, bias=False)  # V_o
        self.output_context = Linear(annotation_dim, 2 * maxout_dim, bias=False)  # C_o
        self.vocabulary = Linear(maxout_dim, size, bias=False)  # W_o
        self.dropout = nn.Dropout(dropout)

    def _initialise(self, init: Init, parts: Iterable[nn.Module]) -> None:
        """Initialises the weights of `parts`, the decoder's among them."""
        paper, modules = init == "paper", [module for part in parts for module in part.modules()]
        of_score = [part.detach() for part in self.score.parameters()]
        encoders = [module for module in modules if isinstance(module, GRU)]
        matrices = [module.weight.detach() for module in modules if isinstance(module, nn.Linear)]
        matrices += [part for part in of_score if part.dim() == 2]
        for encoder in encoders:
            for name, weight in encoder.named_parameters():
                matrices += weight.detach().chunk(3) if name.startswith("weight_ih") else ()
        for matrix in matrices:
            nn.init.normal_(matrix, std=0.01) if paper else nn.init.xavier_uniform_(matrix)
        for encoder in encoders:
            orthogonal_(encoder)
        for matrix in self.decoder_state.weight.detach().chunk(3):
            orthogonal_matrix_(matrix)
        for layer in (self.decoder_token, self.output_state):
            nn.init.zeros_(layer.bias)
        if paper:
            for part in of_score:
                nn.init.normal_(part, std=0.001) if part.dim() == 2 else nn.init.zeros_(part)  # W_a, U_a; v_a
            for module in modules:
                if isinstance(module, TokenEmbedding):
                    module.weight.detach().mul_(0.01)  # torch drew it from N(0, 1), and one row is zero


class RNNSearch(RNNSearchDecoder):
    """A bidirectional GRU reads the source; a GRU writes the target and attends to the source before each word.

    `score` = additive (the paper's) | any other of `zoo.attention.SCORES` | the dotted name of your own `Score`.
    """

    tasks = ("translation",)

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 620,
        hidden_dim: Count = 1000,
        attention_dim: Count = 1000,
        maxout_dim: Count = 500,
        score: ScoreName = "additive",
        dropout: Share = 0.0,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.encoder = GRU(embedding_dim, hidden_dim, bidirectional=True, reset="before", update="new")
        self.initial_state = nn.Linear(hidden_dim, hidden_dim, bias=False)  # W_s
        self.sum_directions = score_class(score).equal_widths
        key_dim = hidden_dim if self.sum_directions else 2 * hidden_dim
        self._add_decoder(
            score_called(score, hidden_dim, key_dim, attention_dim, spec.longest_source),
            (spec.target_size, spec.begin),
            2 * hidden_dim,
            (embedding_dim, hidden_dim, maxout_dim),
            dropout,
        )
        self._initialise(init, self.children())

    def encode(self, batch: PairBatch) -> tuple[Annotations, Tensor]:
        sources = batch.source_packing
        h, last = self.encoder(self.dropout(self.source_embedding(sources.pack(batch.source))), sources)
        s = self.initial_state(last[1]).tanh()  # the backward direction ends at the first word
        return Annotations.of_tokens(h, sources, batch.source_mask), s

    def _keys(self, h: Tensor) -> Tensor:
        """(M, 2n) -> (M, n or 2n), as wide as the score requires."""
        return h.unflatten(-1, (2, -1)).sum(-2) if self.sum_directions else h
