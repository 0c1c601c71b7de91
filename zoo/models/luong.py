"""Effective Approaches to Attention-based Neural Machine Translation.

Minh-Thang Luong, Hieu Pham, Christopher D. Manning. EMNLP 2015. https://arxiv.org/abs/1508.04025

Equations (h_t the top layer of the decoder after it has read y_{t-1}, h_s that of the encoder):
- Attentional vector (5) and prediction (6): h~_t = tanh(W_c [c_t; h_t]), p = softmax(W_s h~_t).
- Global: a_t(s) = softmax of score(h_t, h_s) over the source (7), score = dot, general or concat, or location:
  a_t = softmax(W_a h_t) (8); c_t = sum_s a_t(s) h_s.
- Local: the same within a window of D positions to each side of p_t. local_m: p_t = t. local_p:
  p_t = S sigmoid(v_p . tanh(W_p h_t)) (9), and weights times exp(-(s - p_t)^2 / (2 (D/2)^2)) (10).
- Input feeding (3.3): the decoder's lowest layer reads [e(y_{t-1}); h~_{t-1}], h~_0 = 0.

What differs from the paper:
- The encoder reads the end token of the source. This is our choice; the authors' code does not. As in that code, the
  end token is not attended, and S of local_p does not count it. Its state has read the whole sentence: a decoder that
  may attend to it attends to nothing else.
- `reverse_source` reverses the whole source for the encoder alone, so that it reads the end first. This is our choice
  too. Attention positions and p_t are those of the source as written, as in the authors' code.
- LSTMs have torch's two biases, and the softmax has one. States inside the LSTM are not clipped.
- `score` can be any other score. The whole matrix of concat is learned; the authors' code keeps the source's part at
  the identity. concat and additive are `hidden_dim` wide inside.
- `init_range=None` is for short runs: weights start as by `zoo.layers.init.start_network_`, W_c and W_s with the gain.
- `dropout` acts on embeddings, between layers, and on h~ before it is fed back and scored (Zaremba et al. 2014).
- As in the authors' code, p_t learns through (10) alone, and (10) is not renormalised: the weights of local_p sum to
  less than 1.

Notation: B sentences, S source and T target tokens, M and N real source and target tokens of the batch, K hypotheses, L
layers, E embedding, n hidden units, V words.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.attention.local import MonotonicWindow, PredictedWindow
from zoo.attention.scores import Form, ScoreName
from zoo.attention.scores import score as score_called
from zoo.attention.softmax import masked_softmax
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_network_
from zoo.layers.loops.attention import AttendedSource, say_where_unknown
from zoo.layers.loops.attention_decoders import AttentionLSTM
from zoo.layers.packing import Packing
from zoo.layers.recurrent import LSTM, sum_of_biases
from zoo.layers.state import State, Step, log_probabilities
from zoo.layers.walk import walk
from zoo.linear import Linear
from zoo.models.network import WritingNetwork
from zoo.models.output import Output

Where = Literal["global", "local_m", "local_p"]


class Luong(WritingNetwork):
    """Stacked LSTMs read the source; a second stack starts from their last states, writes the target and attends.

    `score` is one of `zoo.attention.SCORES`, or the dotted name of your own `Score`. `attention` = global | local_m |
    local_p, the last two with `window` D. All weights start in [-init_range, init_range], as in the paper.
    """

    tasks = ("translation",)
    attends = {"source": "content_mask"}

    def __init__(
        self,
        spec: PairSpec,
        *,
        embedding_dim: Count = 1000,
        hidden_dim: Count = 1000,
        num_layers: Count = 4,
        score: ScoreName = "general",
        attention: Where = "global",
        window: Count = 10,
        input_feeding: bool = True,
        reverse_source: bool = False,
        dropout: Share = 0.0,
        init_range: Positive | None = 0.1,
    ) -> None:
        super().__init__()
        between = dropout if num_layers > 1 else 0.0
        self.source_embedding = TokenEmbedding(spec.source_size, embedding_dim, padding_idx=spec.padding)
        self.encoder = LSTM(embedding_dim, hidden_dim, num_layers=num_layers, dropout=between)
        self.target_embedding = TokenEmbedding(spec.target_size, embedding_dim, padding_idx=spec.padding)
        self.input_feeding = input_feeding
        input_dim = embedding_dim + hidden_dim if input_feeding else embedding_dim
        self.decoder = LSTM(input_dim, hidden_dim, num_layers=num_layers, dropout=between)
        self.score = score_called(score, hidden_dim, hidden_dim, hidden_dim, spec.longest_source)  # W_a, v_a
        if input_feeding:
            say_where_unknown(self.score)
        self.window: MonotonicWindow | PredictedWindow | None = None
        if attention == "local_m":
            self.window = MonotonicWindow(window)
        if attention == "local_p":
            self.window = PredictedWindow(hidden_dim, window)  # W_p, v_p
        self.attentional = Linear(2 * hidden_dim, hidden_dim, bias=False)  # W_c
        self.vocabulary = Linear(hidden_dim, spec.target_size)  # W_s
        self.dropout = nn.Dropout(dropout)
        self.reverse_source = reverse_source
        start_network_(self, init_range, self.attentional, self.vocabulary)

    @property
    def unnormalised(self) -> tuple[str, ...]:
        """The attention whose rows sum to less than 1."""
        return ("source",) if isinstance(self.window, PredictedWindow) else ()

    def forward(self, batch: PairBatch, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens in the order of `batch.target_packing`; attention `source` (B, T, S).

        The result equals that of calling `step` repeatedly. With input feeding and a score that the loop does not
        support, `step` computes it, and the scores are log-probabilities.
        """
        read, _, targets = batch.forced
        memory, state = self._encode(batch)  # (M, n), (L, B, n) twice
        keys = batch.source_packing.unpack(self.score.prepare(memory))  # (B, S, A)
        form = self.score.form(keys) if self.input_feeding else None
        if self.input_feeding and form is None:
            return Output(*walk(self.step, self._start(memory, keys, state, batch), read, targets))
        y = self.dropout(self.target_embedding(targets.pack(read)))  # (N, E)
        if form is None:
            attentional, weights = self._decode_unfed(y, memory, keys, state, batch, targets)
        else:
            attentional, weights = self._decode_fed(y, memory, form, state, batch, targets)  # (N, n), (B, T, S)
        return Output(self.vocabulary(attentional), {"source": weights})

    def start(self, batch: PairBatch) -> State:
        memory, state = self._encode(batch)
        return self._start(memory, batch.source_packing.unpack(self.score.prepare(memory)), state, batch)

    def _start(self, states: Tensor, keys: Tensor, state: tuple[Tensor, Tensor], batch: PairBatch) -> State:
        """The state before the first target token, from what `_encode` gives and the prepared keys (B, S, A)."""
        memory = {"states": batch.source_packing.unpack(states), "keys": keys, "mask": batch.content_mask}
        hypotheses = self.decoder.hypotheses(state)
        if self.input_feeding:
            hypotheses["fed"] = torch.zeros_like(state[0][-1])[:, None]  # h~_0 (B, 1, n)
        if isinstance(self.window, MonotonicWindow):
            hypotheses["position"] = batch.source_mask.new_zeros(batch.source.shape[0], 1, dtype=torch.long)  # t (B, 1)
        return State(memory, hypotheses)

    def step(self, tokens: Tensor, state: State) -> Step:
        before, memory = state.hypotheses, state.memory
        y = self.dropout(self.target_embedding(tokens))  # (B, K, E)
        x = torch.cat([y, before["fed"]], -1) if self.input_feeding else y
        top, after = self.decoder.read(x, before)  # h_t (B, K, n)
        weights = self._weights(top, memory["keys"], memory["mask"], before.get("position"))  # (B, K, S)
        context = weights @ memory["states"]  # (B, K, n)
        attentional = self.dropout(self.attentional(torch.cat([context, top], -1)).tanh())  # h~_t (B, K, n)    (5)
        log_probs = log_probabilities(self.vocabulary(attentional))  # (B, K, V)    (6)

        if self.input_feeding:
            after["fed"] = attentional
        if "position" in before:
            after["position"] = before["position"] + 1
        return Step(log_probs, State(memory, after), {"source": weights})

    def _weights(self, queries: Tensor, keys: Tensor, mask: Tensor, position: Tensor | None) -> Tensor:
        """Weights (B, K, S) of queries (B, K, n); local_m reads their `position` (K,) or (B, K) in the target."""
        scores = self.score(queries, keys)
        if isinstance(self.window, PredictedWindow):
            return self.window(scores, mask, queries)
        if self.window is not None:
            return self.window(scores, mask, position)
        return masked_softmax(scores, mask[:, None])

    def _encode(self, batch: PairBatch) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The top layer's states of the source tokens (M, n), packed, and the last (h, c) of all, (L, B, n) each."""
        sources = batch.source_packing
        x = self.dropout(self.source_embedding(sources.pack(batch.source)))  # (M, E)
        if not self.reverse_source:
            return self.encoder(x, sources)
        h, state = self.encoder(x.index_select(0, sources.flip), sources)
        return h.index_select(0, sources.flip), state

    def _decode_unfed(
        self, y: Tensor, memory: Tensor, keys: Tensor, state: tuple[Tensor, Tensor], batch: PairBatch, targets: Packing
    ) -> tuple[Tensor, Tensor]:
        """h~ (N, n) and weights (B, T, S) without input feeding: all LSTM steps first, then attention at once."""
        h, _ = self.decoder(y, targets, state)  # (N, n)
        queries = targets.unpack(h)  # (B, T, n)
        position = torch.arange(queries.shape[1], device=h.device)
        weights = self._weights(queries, keys, batch.content_mask, position).to(h.dtype)  # (B, T, S)
        c = targets.pack(weights @ batch.source_packing.unpack(memory))  # (N, n)
        attentional = self.dropout(self.attentional(torch.cat([c, h], -1)).tanh())
        return attentional, targets.unpack(targets.pack(weights))

    def _decode_fed(
        self, y: Tensor, memory: Tensor, form: Form, state: tuple[Tensor, Tensor], batch: PairBatch, targets: Packing
    ) -> tuple[Tensor, Tensor]:
        """h~ (N, n) and weights (B, T, S) with input feeding; W_c c_t = sum_s a_t(s) W_c h_s."""
        of_context, of_hidden = self.attentional.weight.chunk(2, 1)
        of_token, of_fed = self.decoder.weight_ih_l0.split([y.shape[1], memory.shape[1]], 1)
        inputs, states, input_biases, state_biases = (
            [getattr(self.decoder, f"{kind}_l{layer}") for layer in range(self.decoder.num_layers)]
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        biases = sum_of_biases(torch.stack(input_biases), torch.stack(state_biases))  # (L, 4n)
        weights = torch.cat([torch.stack([of_fed, *inputs[1:]]), torch.stack(states)], 2)  # (L, 4n, 2n)

        values = batch.source_packing.unpack(nn.functional.linear(memory, of_context))  # (B, S, n)
        window = self.window if isinstance(self.window, PredictedWindow) else None
        scene = AttendedSource.of(form, values, self._seen(batch.content_mask, targets), targets, window)
        dtype = scene.values.dtype
        drops = None
        if self.training and self.dropout.p:
            drops = self.dropout(scene.values.new_ones(len(inputs), len(y), memory.shape[1]))  # (L, N, n)
        h, c = (part.index_select(1, targets.order).to(dtype) for part in state)
        table = nn.functional.linear(y, of_token, biases[0]).to(dtype)
        decoder = weights.to(dtype), biases[1:].to(dtype), of_hidden.to(dtype)
        attentional, found = AttentionLSTM()(table, (h, c), *decoder, scene, drops)
        if drops is not None:
            attentional = attentional * drops[-1]
        return attentional.to(memory.dtype), targets.unpack(found.to(memory.dtype))

    def _seen(self, mask: Tensor, targets: Packing) -> Tensor:
        """Mask (N, S) of the source positions that a target position may attend to; local_p's window is not in it."""
        if not isinstance(self.window, MonotonicWindow):
            return mask.index_select(0, targets.row)
        equal = torch.zeros(*targets.shape, mask.shape[1], device=mask.device)  # equal scores exclude no position
        return targets.pack(self.window(equal, mask, torch.arange(targets.shape[1], device=mask.device)) > 0)
