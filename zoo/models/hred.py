"""Building End-To-End Dialogue Systems Using Generative Hierarchical Neural Network Models.

Iulian V. Serban, Alessandro Sordoni, Yoshua Bengio, Aaron Courville, Joelle Pineau. AAAI 2016.
https://arxiv.org/abs/1507.04808

Equations (as the authors' code, github.com/julianser/hed-dlg-truncated, runs them; w are words, m numbers turns):
- All three GRUs, reset gate before the product with U, and z mixes in the new candidate:
      r, z = sigmoid(W_rz x + U_rz h),  n = tanh(W x + U (r * h)),  h' = (1 - z) * h + z * n.
- Utterance encoder: u_m = the state after the last word of turn m, in two directions [forward u_m; backward u_m].
- Context: s_m = GRU(u_m, s_{m-1}), from s_0 = 0.
- Decoder of turn m + 1: the GRU with S s_m in all three sums, from d_0 = tanh(D_0 s_m + b_0), e(begin) = 0.
- Output: o = H_o d_n + E_o e(w_{n-1}) + S_o s_m + b_o, p(w_n) = softmax(V o + b). With `maxout`, o is twice as wide and
  the larger of each pair of neighbours is read.

The attention of `attention=hierarchical` is that of Chen Xing, Yu Wu, Wei Wu, Yalou Huang, Ming Zhou, Hierarchical
Recurrent Attention Network for Response Generation, AAAI 2018 (https://arxiv.org/abs/1701.07149), see
`zoo.attention.hierarchical`. Its query is d_{n-1}. A c_n of its context c_n joins the sums of the decoder, and A_o c_n
that of the output.

What differs from the paper:
- Only replies are predicted. The authors also train on the first turn of a dialogue, from s_0.
- The authors cut a dialogue after 80 words and carry the states to the next part; here a dialogue is a single example.
- Each GRU has torch's two biases.
- `init=orthogonal` keeps the paper's orthogonal U, draws embeddings from N(0, 1) and other matrices by Glorot and
  Bengio (2010). `init=paper` draws these from N(0, 0.01^2), from which a short run hardly moves.
- `dropout` (0 in the paper) acts on embeddings and on o.
- Xing et al. run a backward GRU over the vectors r_i of the turns at every step. Here the context GRU, which runs once,
  gives the keys of the turns. Their words also see the turn after them, by that GRU.

Notation: D dialogues, M turns of the longest, B replies, M' turns of all dialogues, N words of all turns, T target
tokens, N' real ones, K hypotheses, E embedding, H units of the encoder's directions and of the decoder, C of the
context, L of o, V words.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.hierarchical import HierarchicalAttention
from zoo.data.dialogues.batch import DialogueBatch, DialogueSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import orthogonal_
from zoo.layers.pooling import maxout
from zoo.layers.recurrent import GRU
from zoo.layers.state import MemoryPositions, State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Attention = Literal["none", "hierarchical"]
Init = Literal["orthogonal", "paper"]


class HRED(WritingNetwork):
    """A GRU reads each turn, a second one the turns of a dialogue, and a third one writes the reply to them.

    `attention=hierarchical` attends to the words and the turns before each word, and is trained by its `step`.
    """

    tasks = ("dialogue",)

    def __init__(
        self,
        spec: DialogueSpec,
        *,
        embedding_dim: Count = 300,
        hidden_dim: Count = 600,
        context_dim: Count = 300,
        output_dim: Count = 300,
        bidirectional: bool = True,
        maxout: bool = False,
        attention: Attention = "none",
        attention_dim: Count = 300,
        dropout: Share = 0.0,
        init: Init = "orthogonal",
    ) -> None:
        super().__init__()
        size, turn_dim, pieces = spec.target_size, hidden_dim * (1 + bidirectional), 1 + maxout
        self.embedding = TokenEmbedding(size, embedding_dim, padding_idx=spec.begin)  # e(begin) = 0
        self.encoder = GRU(embedding_dim, hidden_dim, bidirectional=bidirectional, reset="before", update="new")
        self.context = GRU(turn_dim, context_dim, reset="before", update="new")
        self.initial_state = nn.Linear(context_dim, hidden_dim)  # D_0
        self.decoder = GRU(embedding_dim, hidden_dim, reset="before", update="new")
        self.gates_context = nn.Linear(context_dim, 3 * hidden_dim, bias=False)  # S_r, S_z, S
        self.output_hidden = Linear(hidden_dim, pieces * output_dim)  # H_o
        self.output_token = Linear(embedding_dim, pieces * output_dim, bias=False)  # E_o
        self.output_context = nn.Linear(context_dim, pieces * output_dim, bias=False)  # S_o
        self.vocabulary = Linear(output_dim, size)  # V
        self.attention: HierarchicalAttention | None = None
        if attention == "hierarchical":
            self.attention = HierarchicalAttention(hidden_dim, turn_dim, context_dim, attention_dim)
            self.gates_attended = Linear(turn_dim, 3 * hidden_dim, bias=False)  # A_r, A_z, A
            self.output_attended = Linear(turn_dim, pieces * output_dim, bias=False)  # A_o
            self.attends = {"source": "memory_mask", "turn": None}  # type: ignore[misc]
        self.maxout = maxout
        self.dropout = nn.Dropout(dropout)
        self._initialise(init)

    def forward(self, batch: DialogueBatch, *, need_weights: bool = True) -> Output:
        """Scores (N', V) of the real target tokens; attention `source` (B, T, S) and `turn` (B, T, M)."""
        read, _, targets = batch.forced
        if self.attention is not None:
            start = self.start(batch)
            o, weights = walk(self._outputs, start, read, targets, need_weights=need_weights)  # (N', L), ...
            return Output(self._scores(o), weights, memories=start.memories)
        _, _, s = self._read(batch)
        y = self.dropout(self.embedding(targets.pack(read)))  # (N', E)
        d = self.initial_state(s).tanh()  # (B, H)
        d, _ = self.decoder(y, targets, d[None], context=self.gates_context(s))  # (N', H)
        return Output(self._scores(self._output(d, y, self.output_context(s).index_select(0, targets.row))))

    def start(self, batch: DialogueBatch) -> State:
        words, turns, s = self._read(batch)
        memory = {"gates": self.gates_context(s), "output": self.output_context(s)}  # (B, 3H), (B, L)
        hypotheses = {"hidden": self.initial_state(s).tanh()[:, None]}  # (B, 1, H)
        if self.attention is None:
            return State(memory, hypotheses)
        memory |= self._attended(batch, words, turns)
        return State(memory, hypotheses, memories={"turn": MemoryPositions.of(batch.history_mask)})

    def step(self, tokens: Tensor, state: State) -> Step:
        o, after, weights = self._outputs(tokens, state)
        return Step(log_probabilities(self._scores(o)), after, weights)

    def _outputs(self, tokens: Tensor, state: State) -> Step:
        """A step with o (B, K, L) in place of log-probabilities: in training the vocabulary is multiplied once."""
        d, memory = state.hypotheses["hidden"], state.memory
        y = self.dropout(self.embedding(tokens))  # (B, K, E)
        gates, output = memory["gates"][:, None], memory["output"][:, None]
        weights: dict[str, Tensor] = {}
        if self.attention is not None:
            c, weights = self.attention(d, memory)  # (B, K, H or 2H)
            gates, output = gates + self.gates_attended(c), output + self.output_attended(c)
        gates = gates.expand(*d.shape[:2], -1).flatten(0, 1)  # (B K, 3H)
        d = self.decoder.step(y.flatten(0, 1), d.flatten(0, 1)[None], context=gates)[0].view_as(d)
        return Step(self._output(d, y, output), State(memory, {"hidden": d}), weights)

    def _read(self, batch: DialogueBatch) -> tuple[Tensor, Tensor, Tensor]:
        """The states of all words (N, H or 2H) and of the context after each turn (D, M + 1, C), the first of them
        s_0, and the state s (B, C) after the last turn before each reply."""
        words, turns = batch.word_packing, batch.turn_packing
        x = self.dropout(self.embedding(batch.distinct))
        h, last = self.encoder(x, words, at=batch.word_at)  # (N, H or 2H), (1 or 2, D M, H)
        u = last.transpose(0, 1).reshape(*turns.shape, h.shape[-1])  # (D, M, H or 2H)
        context, _ = self.context(turns.pack(u), turns)  # (M', C)
        s = F.pad(turns.unpack(context), (0, 0, 1, 0))  # (D, M + 1, C)
        return h, s, s[batch.dialogue, batch.turn]

    def _attended(self, batch: DialogueBatch, words: Tensor, turns: Tensor) -> dict[str, Tensor]:
        """The memory of the attention of each reply."""
        assert self.attention is not None
        *of_words, turn_keys = self.attention.prepare(words, turns[:, 1:])  # (N, ...), (D, M, A)
        grids = [*map(batch.word_packing.unpack, of_words), turn_keys, batch.word_mask]  # (D, M, ...)
        found = dict(zip(("words", "word_keys", "turn_keys", "mask"), grids, strict=True))
        memory = {name: grid.index_select(0, batch.dialogue) for name, grid in found.items()}
        memory["mask"] = memory["mask"] & batch.history_mask[..., None]
        cells = torch.arange(batch.turns[0].numel(), device=words.device).view(batch.turns.shape[1:])
        return {**memory, "place": batch.laid_out(cells.expand(batch.turns.shape)), "real": batch.source_mask}

    def _output(self, d: Tensor, y: Tensor, context: Tensor) -> Tensor:
        """o (..., L) from the state d (..., H), the token's embedding y (..., E) and the context's part (..., L)."""
        o = self.output_hidden(d) + self.output_token(y) + context
        return maxout(o) if self.maxout else o

    def _scores(self, o: Tensor) -> Tensor:
        return self.vocabulary(self.dropout(o))  # (..., V)

    def _initialise(self, init: Init) -> None:
        matrices = [module.weight for module in self.modules() if isinstance(module, nn.Linear)]
        for rnn in (self.encoder, self.context, self.decoder):
            orthogonal_(rnn)
            for name, weight in rnn.named_parameters():
                matrices += weight.detach().chunk(3) if name.startswith("weight_ih") else ()
        for matrix in matrices:
            nn.init.xavier_uniform_(matrix) if init == "orthogonal" else nn.init.normal_(matrix, std=0.01)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        if init == "paper":
            self.embedding.weight.detach().mul_(0.01)  # torch drew it from N(0, 1), and one row is zero
