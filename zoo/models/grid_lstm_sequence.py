"""Grid Long Short-Term Memory in two dimensions, time and depth: it reads a sequence and then writes another one.

Nal Kalchbrenner, Ivo Danihelka, Alex Graves. ICLR 2016. https://arxiv.org/abs/1507.01526

Equations: sections 3.1 and 3.2 for two dimensions, with H = [h_1, h_2] of time and depth and depth in priority:
    (h'_1, m'_1) = LSTM_1([h_1, h_2], m_1),  (h'_2, m'_2) = LSTM_2([h'_1, h_2], m_2),  h' = tanh(o m').
A token enters the first layer along depth, (h_2, m_2) = W E(x). The same blocks read the source and then write the
target, from the states along time that the source left. The next token has a softmax over the h_2 of the top layer.

What differs from the paper:
- Source and target have embeddings and projections of their own. The paper writes both as one sequence of one alphabet.
- `tied` shares one block between layers. Without it each layer has its own, as in the paper's comparison.
- `dropout` acts on what enters and on the h before the softmax; the paper names none for these tasks.
- The paper's network for parity reads all bits at once by one projection. This one reads them bit by bit.
- The matrices between dimensions start orthogonal, with a gain of 2, and biases of forget gates at 1; the paper draws
  weights uniformly.

Notation: B sequences, N real target tokens, K hypotheses, L layers, E embedding_dim, d hidden_dim, V tokens.
"""

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.grid_lstm import GridSequences, States
from zoo.layers.packing import Packing
from zoo.layers.state import State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class GridLSTMSequence(WritingNetwork):
    """Blocks of two dimensions, time and depth. No attention.

    With `tied`, all layers have the same weights.
    """

    tasks = ("translation",)

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 400,
        hidden_dim: Count = 400,
        num_layers: Count = 18,
        tied: bool = True,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        self.source_entry = Linear(embedding_dim, 2 * hidden_dim)
        self.target_entry = Linear(embedding_dim, 2 * hidden_dim)
        self.grid = GridSequences(hidden_dim, num_layers, tied=tied)
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        read, _, targets = batch.forced
        h, _ = self._write(targets.pack(read), targets, self._read(batch))  # (N, d)
        return Output(self.vocabulary(self.dropout(h)))

    def start(self, batch: PairBatch) -> State:
        h, m = self._read(batch)
        return State({}, {"hidden": h[:, None], "cell": m[:, None]})  # (B, 1, L, d) each

    def step(self, tokens: Tensor, state: State) -> Step:
        rows, count = tokens.shape[:2]
        before = States(*(state.hypotheses[name].flatten(0, 1) for name in ("hidden", "cell")))  # (B K, L, d)
        flat = tokens.flatten(0, 1)
        h, after = self._write(flat, Packing.of_one_step(flat.shape[0], tokens.device), before)
        log_probs = log_probabilities(self.vocabulary(self.dropout(h))).view(rows, count, -1)
        parts = {name: part.unflatten(0, (rows, count)) for name, part in zip(("hidden", "cell"), after, strict=True)}
        return Step(log_probs, State(state.memory, parts), {})

    def _read(self, batch: PairBatch) -> States:
        """The states along time (B, L, d) after each source."""
        sources = batch.source_packing
        x = self.source_entry(self.dropout(self.source_embedding(sources.pack(batch.source))))
        _, after = self.grid(sources, States.of(x), None)
        return after

    def _write(self, tokens: Tensor, packing: Packing, before: States) -> tuple[Tensor, States]:
        """The h of the top layer (N, d) after tokens (N,) of targets, and the states along time (B, L, d)."""
        y = self.target_entry(self.dropout(self.target_embedding(tokens)))
        return self.grid(packing, States.of(y), before)
