"""Pointer Networks: the sequence to sequence baseline.

Oriol Vinyals, Meire Fortunato, Navdeep Jaitly. NIPS 2015. https://arxiv.org/abs/1506.03134

Equations: (1) of section 2.1, as Sutskever et al. (2014) compute it. e_n, the encoder LSTM's state after the last
point, starts the decoder LSTM, which reads the position predicted before: p(C_i | ...) = softmax(W d_i + b) over a
fixed dictionary of n positions and the end.

What differs from the paper:
- Positions and begin are read as learned embeddings, points as W p + b; the paper does not say how it reads them.
- The paper trains a network for each n. Here the dictionary has as many positions as the largest set of the data, and
  the softmax of a set leaves out the positions that it does not have. With sets of one size this equals the paper.
- Each LSTM has torch's two biases, and the softmax has one.
- `init_range=None` is for short runs: weights start as by `zoo.layers.init.start_network_`, the softmax with the gain.
  The paper draws all weights from U(-0.08, 0.08).

Notation: B sets, V = 3 + the points of the data's largest set, M and N real points and target tokens of the batch, K
hypotheses, E embedding, H hidden units.
"""

from torch import Tensor, nn

from zoo.arguments import Count, Positive
from zoo.attention.scores import AdditiveScore
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.layers.pointing import PositionEmbedding, PositionVocabulary, start_pointing_
from zoo.layers.recurrent import LSTM
from zoo.layers.state import State, Step, log_probabilities
from zoo.models.network import WritingNetwork
from zoo.models.output import Output


class PositionLSTM(WritingNetwork):
    """An LSTM reads the points; a second LSTM starts from its last state and predicts positions. No attention.

    All weights start in [-init_range, init_range]. Raises DataError for a set with more points than the data had
    when the network was built.
    """

    tasks = ("pointing",)

    def __init__(
        self,
        spec: PointSpec,
        *,
        embedding_dim: Count = 256,
        hidden_dim: Count = 256,
        init_range: Positive | None = 0.08,
    ) -> None:
        super().__init__()
        context_dim = hidden_dim if self.attends else 0  # width of d', in model=position_attention
        self.point_embedding = nn.Linear(spec.width, embedding_dim)
        self.encoder = LSTM(embedding_dim, hidden_dim)
        self.position_embedding = PositionEmbedding(spec.longest, embedding_dim, padding=spec.padding)
        self.decoder = LSTM(embedding_dim + context_dim, hidden_dim)
        if self.attends:
            self.score = AdditiveScore(hidden_dim, hidden_dim, hidden_dim)  # v, W_2, W_1
        self.vocabulary = PositionVocabulary(hidden_dim + context_dim, spec.longest)  # W, b
        start_pointing_(self, init_range, self.vocabulary)

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`, -inf at padding, at begin and
        at points that a set does not have."""
        read, _, targets = batch.forced
        y = self.position_embedding(targets.pack(read))  # (N, E)
        d, _ = self.decoder(y, targets, self.encode(batch)[1])  # (N, H)
        logits = self.vocabulary.logits(d, batch.memory_mask.index_select(0, targets.row))
        return Output(logits, possible=self.vocabulary.possible(batch.memory_mask))

    def start(self, batch: PointBatch) -> State:
        hypotheses, possible = (
            self.decoder.hypotheses(self.encode(batch)[1]),
            self.vocabulary.possible(batch.memory_mask),
        )
        return State({"mask": batch.memory_mask}, hypotheses, possible=possible)

    def step(self, tokens: Tensor, state: State) -> Step:
        d, after = self.decoder.read(self.position_embedding(tokens), state.hypotheses)  # (B, K, H)
        log_probs = log_probabilities(self.vocabulary.logits(d, state.memory["mask"][:, None]))  # (B, K, V)
        return Step(log_probs, State(state.memory, after), {})

    def encode(self, batch: PointBatch) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The states e of the points (M, H), and the last (h, c), (1, B, H) each."""
        self.vocabulary.check(batch.memory_mask)
        points = batch.point_packing
        return self.encoder(self.point_embedding(points.pack(batch.points).to(self.vocabulary.bias.dtype)), points)
