"""Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation.

Kyunghyun Cho, Bart van Merrienboer, Caglar Gulcehre, Dzmitry Bahdanau, Fethi Bougares, Holger Schwenk, Yoshua Bengio.
EMNLP 2014. https://arxiv.org/abs/1406.1078

Equations (appendix A, which also leaves out biases):
- Encoder, from h = 0, reset gate before the product:
      r, z = sigmoid(W_rz e(x) + U_rz h),  n = tanh(W e(x) + U (r * h)),  h' = z * h + (1 - z) * n.
- Summary of the source: c = tanh(V h) of the last h.
- Decoder, from h = tanh(V' c), reset gate after the product and c in all three sums, e(begin) = 0:
      r, z = sigmoid(W_rz e(y) + U_rz h + C_rz c),  n = tanh(W e(y) + r * (U h + C c)),  h' = z * h + (1 - z) * n.
- Output: s = O_h h' + O_y e(y) + O_c c, t = the larger of each pair of neighbours in s, p = softmax(G_l G_r t).

What differs from the paper:
- Each GRU has torch's two biases, and every other sum has one, except C c.
- `init=orthogonal` keeps the paper's orthogonal U, draws embeddings from N(0, 1) and other matrices by Glorot and
  Bengio (2010), C_rz and C as one. `init=paper` draws all of these from N(0, 0.01^2), from which a short run hardly
  moves.
- `dropout` (0 in the paper) acts on embeddings and on t.
- `shared` = true lets one GRU read and write. Its reset gate then acts after the product on both
  sides, and C c is absent while it reads.
- The paper's network scores phrase pairs for another system; here it also translates.

Notation: B sentences, S source and T target tokens, N real target tokens of the batch, K hypotheses, E embedding, n
hidden units, l maxout units, V words.
"""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import orthogonal_
from zoo.layers.pooling import maxout
from zoo.layers.recurrent import GRU
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Init = Literal["orthogonal", "paper"]


class EncoderDecoder(WritingNetwork):
    """A GRU encodes the source as one vector c; a GRU that reads c at every step writes the target. No attention.

    With `shared`, both GRUs are the same module; embeddings are separate, as the two vocabularies are.
    """

    tasks = ("translation",)

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 100,
        hidden_dim: Count = 1000,
        maxout_dim: Count = 500,
        shared: bool = False,
        dropout: Share = 0.0,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.encoder = GRU(embedding_dim, hidden_dim, reset="after" if shared else "before")
        self.summary = nn.Linear(hidden_dim, hidden_dim)  # V
        self.initial_state = nn.Linear(hidden_dim, hidden_dim)  # V'
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.begin)  # e(begin) = 0
        self.decoder = self.encoder if shared else GRU(embedding_dim, hidden_dim)
        self.gates_context = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)  # C_r, C_z, C
        self.output_hidden = Linear(hidden_dim, 2 * maxout_dim)  # O_h
        self.output_token = Linear(embedding_dim, 2 * maxout_dim, bias=False)  # O_y
        self.output_context = nn.Linear(hidden_dim, 2 * maxout_dim, bias=False)  # O_c
        self.bottleneck = Linear(maxout_dim, embedding_dim, bias=False)  # G_r
        self.vocabulary = Linear(embedding_dim, spec.target_size)  # G_l
        self.dropout = nn.Dropout(dropout)
        self._initialise(init, (self.encoder,) if shared else (self.encoder, self.decoder))

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        read, _, targets = batch.forced
        c = self._encode(batch)  # (B, n)
        y = self.dropout(self.target_embedding(targets.pack(read)))  # (N, E)
        h = self.initial_state(c).tanh()  # (B, n)
        h, _ = self.decoder(y, targets, h[None], context=self.gates_context(c))  # (N, n)
        return Output(self._scores(h, y, self.output_context(c).index_select(0, targets.row)))

    def start(self, batch: PairBatch) -> State:
        c = self._encode(batch)
        memory = {"gates": self.gates_context(c), "output": self.output_context(c)}  # (B, 3n), (B, 2l)
        return State(memory, {"hidden": self.initial_state(c).tanh()[:, None]})  # (B, 1, n)

    def step(self, tokens: Tensor, state: State) -> Step:
        h = state.hypotheses["hidden"]  # (B, K, n)
        y = self.dropout(self.target_embedding(tokens))  # (B, K, E)
        gates = state.memory["gates"][:, None].expand(*h.shape[:2], -1).flatten(0, 1)  # (B K, 3n)
        h = self.decoder.step(y.flatten(0, 1), h.flatten(0, 1)[None], context=gates)[0].view_as(h)
        log_probs = log_probabilities(self._scores(h, y, state.memory["output"][:, None]))  # (B, K, V)
        return Step(log_probs, State(state.memory, {"hidden": h}), {})

    def _encode(self, batch: PairBatch) -> Tensor:
        """The summary c (B, n) of each source."""
        sources = batch.source_packing
        _, h = self.encoder(self.dropout(self.source_embedding(sources.pack(batch.source))), sources)  # (1, B, n)
        return self.summary(h[0]).tanh()

    def _scores(self, h: Tensor, y: Tensor, context: Tensor) -> Tensor:
        """(..., V) from the state h (..., n), the token's embedding y (..., E) and O_c c (..., 2l)."""
        t = maxout(self.output_hidden(h) + self.output_token(y) + context)  # (..., l)
        return self.vocabulary(self.bottleneck(self.dropout(t)))

    def _initialise(self, init: str, rnns: Sequence[GRU]) -> None:
        matrices = [module.weight for module in self.modules() if isinstance(module, nn.Linear)]
        for rnn in rnns:
            orthogonal_(rnn)
            matrices += rnn.weight_ih_l0.detach().chunk(3)
        for matrix in matrices:
            nn.init.xavier_uniform_(matrix) if init == "orthogonal" else nn.init.normal_(matrix, std=0.01)
        for linear in (self.summary, self.initial_state, self.output_hidden, self.vocabulary):
            nn.init.zeros_(linear.bias)
        if init == "paper":
            for embedding in (self.source_embedding, self.target_embedding):
                embedding.weight.detach().mul_(0.01)  # torch drew it from N(0, 1), and one row is zero
