"""Universal Transformers.

Mostafa Dehghani, Stephan Gouws, Oriol Vinyals, Jakob Uszkoreit, Łukasz Kaiser. ICLR 2019.
https://arxiv.org/abs/1807.03819

Equations: attention (1)-(3), the shared block (4), (5), the signals of position and time (6), (7), dynamic halting
section 2.2 and appendix C, stories section 3.1. At step t, with P^t the sum of both signals:
    A^t = LayerNorm(H^(t-1) + P^t + SelfAttention(H^(t-1) + P^t))
    H^t = LayerNorm(A^t + Transition(A^t))
In the decoder, attention to the encoder's output comes between the two. A position halts at the first step N at which
p^1 + ... + p^N > 1 - .01, where p^t = sigmoid(w (H^(t-1) + P^t) + b). Its weights are p^1, ..., p^(N-1) and the rest,
R = 1 - p^1 - ... - p^(N-1), so that they sum to 1. The ponder cost is the mean of N + R.

What differs from the paper; the authors' code (tensor2tensor) differs too:
- The state of a position that has halted is carried unchanged, as the text says. In the listing of appendix C and in
  that code the block goes on changing it, with weight 0. Later steps of other positions see its keys and values, made
  from the carried state with the signals of that step. It costs nothing else, and nothing at all once its whole row
  has halted: the row leaves the batch. While a network is compiled or exported, every row stays.
- `halting="accumulated"`: the output is the sum of w^t H^t (Graves 2016, https://arxiv.org/abs/1603.08983).
  `interpolated` is w^t H^t + (1 - w^t) output. `published` is the listing, w^t H^t + output - w^t, which is the sum
  less the constant 1. `none` takes the state after all steps; the text takes the last states with halting too.
- At the last step every running position halts with the rest. In that code its weights then sum to less than 1.
- The ponder cost is a mean over the real positions of each example, then over examples. That code counts padding too.
- The signal of time is sinusoidal, as in the paper; that code learns it by default. Positions count from 0, the paper's
  from 1. The transition is the feed-forward net, not the separable convolution.
- `norm`, `inner_dropout`, `tied` and the initial weights are those of `transformer`; dropout acts on the embeddings.
- Stories: positions are counted back from the question, whose state gives the answer. The paper names neither.
- After a position has halted, its attention is carried with its state, so that every step has weights for all.

Notation: B sentences, B' of them that are left, K hypotheses, S source positions, T target positions, N real positions
of one side, V vocabulary, D hidden_dim, H heads, E = D / H, n tokens read so far.
"""

from math import sqrt
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Natural, NonNegative, Share
from zoo.attention import MultiHeadAttention
from zoo.attention.softmax import needed
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.data.stories.batch import RealWords, StoryBatch, StorySpec
from zoo.layers.history import appended
from zoo.layers.packing import Packing
from zoo.layers.pondering import Halting, Pondering, Remaining, Thought, at, put
from zoo.layers.state import Annotations, State, Step, log_probabilities
from zoo.linear import Linear
from zoo.models.network import Network
from zoo.models.output import Output
from zoo.models.transformer import Layer, Norm, Tied, TransformerDecoder, end_norm, word_tables


class Recurrence(nn.Module):
    """One side of the network: the shared block, and when each position halts."""

    def __init__(self, block: Layer, pondering: Pondering) -> None:
        super().__init__()
        self.block, self.pondering = block, pondering

    def read(
        self,
        x: Tensor,
        packing: Packing,
        mask: Tensor,
        places: Tensor,
        *,
        source: Annotations | None = None,
        need_weights: bool = True,
    ) -> tuple[Thought, list[list[Tensor]]]:
        """Think about all real positions x (N, D) of a batch at once; `places` (N, D) are the signals of position.

        Without a `source` positions see the whole row, `mask` (B, T); with a source they see none after their own.
        Returns the attention of each step to the own side (B, H, T, T), and to the source (B, H, T, S).
        """
        attention: list[list[Tensor]] = []
        own, before = self.block.self_attention, self.block.self_attention_residual.before
        memory = () if source is None else source_heads(self.block, source)  # (B, H, S, E) each

        def think(signalled: Tensor, state: Tensor, running: Tensor) -> Tensor:
            left = Remaining.of(packing, running)
            k, v = own.split_heads(left.seen_cells.unpack(own.keys_values(before(at(signalled, left.seen)))))
            seen = at(mask, left.rows)[:, None, None] if source is None else None

            def attend_self(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
                (q,) = module.split_heads(left.run_cells.unpack(module.queries(y)))  # (B', H, T, E)
                context, a = module.attend(q, k, v, seen, causal=source is not None, need_weights=need_weights)
                return module.output(left.run_cells.pack(context)), a

            def attend_source(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
                assert source is not None
                (q,) = module.split_heads(left.run_cells.unpack(module.queries(y)))
                keys, values, there = (at(part, left.rows) for part in (*memory, source.mask))
                context, a = module.attend(q, keys, values, there[:, None, None], need_weights=need_weights)
                return module.output(left.run_cells.pack(context)), a

            new, weights = self.block(at(signalled, left.run), attend_self, None if source is None else attend_source)
            if need_weights:
                last = attention[-1] if attention else [None] * len(weights)
                attention.append([left.carried(a, b, running) for a, b in zip(weights, last, strict=True)])
            new = torch.where(at(running, left.run)[:, None], new, at(state, left.run))
            return put(state, left.run, new)

        thought = self.pondering(x, places, think, stops=not torch.compiler.is_compiling())
        return thought, [attention[min(t, len(attention) - 1)] for t in range(self.pondering.steps * need_weights)]


def source_heads(block: Layer, source: Annotations) -> tuple[Tensor, ...]:
    """Keys and values (B, H, S, E) of the source, which are the same in all steps."""
    attention = block.cross_attention
    return attention.split_heads(source.laid_out(attention.keys_values(source.vectors)))


def ponder_cost(thought: Thought, packing: Packing) -> Tensor:
    """The mean over examples of the mean cost of an example's real positions."""
    counts = packing.sum(torch.ones_like(thought.cost)).clamp(min=1)
    return (packing.sum(thought.cost) / counts).mean()


class UniversalTransformer(TransformerDecoder):
    """Encoder and decoder that repeat one block each; every position decides how often.

    `steps` is the number of steps, the largest one unless `halting` is none. `ponder_weight` is the weight of the
    ponder cost of each side. In training the first position of a batch has a random number up to `random_start`, so
    that longer sequences have known numbers. `norm` = post (the paper's) | pre. `tied` as in `Transformer`.

    Raises ValueError for `tied=all` without a shared vocabulary, and for an odd width, or one that the number of heads
    does not divide.
    """

    tasks = ("translation",)
    attends = {"source": "memory_mask", "encoder": "memory_mask", "decoder": "target_mask"}

    def __init__(
        self,
        spec: PairSpec,
        *,
        hidden_dim: Count = 512,
        steps: Count = 6,
        heads: Count = 8,
        feedforward_dim: Count = 2048,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        tied: Tied = "none",
        halting: Halting = "accumulated",
        ponder_weight: NonNegative = 0.01,
        random_start: Natural = 0,
    ) -> None:
        super().__init__()
        self.dim, self.neighbourhood = hidden_dim, None
        self.ponders = () if halting == "none" else ("encoder", "decoder")
        self.ponder_weight, self.random_start = ponder_weight, random_start
        self.target_embedding, self.source_embedding = word_tables(spec, hidden_dim, tied)
        self.reader, self.writer = (
            Recurrence(
                Layer(hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm, cross=cross),
                Pondering(hidden_dim, steps=steps, halting=halting),
            )
            for cross in (False, True)
        )
        self.encoder_norm, self.decoder_norm = (end_norm(norm, hidden_dim) for _ in range(2))
        self.vocabulary = Linear(hidden_dim, spec.target_size)
        self.dropout = nn.Dropout(dropout)
        self._initialise([self.source_embedding, self.target_embedding], tied=tied != "none")

    def encode(self, batch: PairBatch, need_weights: bool) -> tuple[Annotations, dict[str, Tensor]]:
        """The encoder's output at the real tokens of the source, and its attention `encoder.<step>` (B, H, S, S)."""
        source, attention, _ = self._encode(batch, need_weights)
        return source, attention

    def _encode(self, batch: PairBatch, need_weights: bool) -> tuple[Annotations, dict[str, Tensor], Thought]:
        packing = batch.source_packing
        x, places = self._embedded(self.source_embedding, packing.pack(batch.source)), self._places(packing)
        thought, attention = self.reader.read(x, packing, batch.source_mask, places, need_weights=need_weights)
        source = Annotations.of_tokens(self.encoder_norm(thought.output), packing, batch.source_mask)
        return source, {f"encoder.{t}": weights for t, (weights,) in enumerate(attention)}, thought

    def forward(self, batch: Any, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of every real target position; attention `decoder.<step>` (B, H, T, T) and `source.<step>`
        (B, H, T, S), with that of the encoder; and the steps of both sides."""
        read, rows, target = batch.forced
        source, found, thought = self._encode(batch, need_weights)
        x, places = self._embedded(self.target_embedding, target.pack(read)), self._places(target)
        written, attention = self.writer.read(x, target, rows, places, source=source, need_weights=need_weights)
        for t, (own, to_source) in enumerate(attention):
            found |= {f"decoder.{t}": own, f"source.{t}": to_source}
        losses = {}
        if self.training and self.ponder_weight and self.ponders:
            cost = ponder_cost(thought, batch.source_packing) + ponder_cost(written, target)
            losses["ponder"] = self.ponder_weight * cost
        steps = {"encoder": batch.source_packing.unpack(thought.steps), "decoder": target.unpack(written.steps)}
        return Output(self.vocabulary(self.decoder_norm(written.output)), found, losses, steps=steps)

    def start(self, batch: Any) -> State:
        """Encodes the sources, and projects keys and values, once for all steps."""
        source, _ = self.encode(batch, False)
        keys, values = (part.contiguous() for part in source_heads(self.writer.block, source))  # (B, H, S, E)
        memory = {"mask": source.mask, "keys": keys, "values": values}
        count = keys.shape[0]
        position = source.mask.new_zeros(count, 1, dtype=torch.long)
        hypotheses = {"position": position, "own": position.new_zeros(count, 1, 0)}  # (B, 1), (B, 1, 0)
        nothing = keys.new_zeros(count, 0, 2 * self.dim)  # (B, 0, 2D)
        return State(memory, hypotheses, history={f"read.{t}": nothing for t in range(self.writer.pondering.steps)})

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads one token of each hypothesis: (B, K) ids or (B, K, V) probabilities.

        Each step of the recurrence has a history of its own: the keys and values (B, n, 2D) of all tokens that the
        hypotheses of an example read. A token that has halted is in the later ones too, with its carried state.
        """
        before, position = state.hypotheses, state.hypotheses["position"]
        block, pondering = self.writer.block, self.writer.pondering
        own, visible, _ = self._own(before["own"], tokens, state.history["read.0"].shape[1])
        module, normed = block.self_attention, block.self_attention_residual.before
        mask = needed(state.memory["mask"][:, None, None])  # (B, 1, 1, S)
        history: dict[str, Tensor] = {}
        attention: list[Tensor] = []

        def remember(signalled: Tensor) -> Tensor:
            name = f"read.{len(history)}"
            history[name] = appended(state.history[name], module.keys_values(normed(signalled)))
            return history[name]

        def think(signalled: Tensor, carried: Tensor, running: Tensor) -> Tensor:
            k, v = module.split_heads(remember(signalled))  # (B, H, n + K, E)

            def attend_self(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, None]:
                (q,) = module.split_heads(module.queries(y))  # (B, H, K, E): the hypotheses are the queries
                context, _ = module.attend(q, k, v, visible, need_weights=False)
                return module.output(context), None

            def attend_source(module: MultiHeadAttention, y: Tensor) -> tuple[Tensor, Tensor | None]:
                (q,) = module.split_heads(module.queries(y))
                context, a = module.attend(q, state.memory["keys"], state.memory["values"], mask)
                return module.output(context), a

            new, (_, a) = block(signalled, attend_self, attend_source)
            a = a.transpose(1, 2)  # (B, K, H, S)
            attention.append(torch.where(running[..., None, None], a, attention[-1]) if attention else a)
            return torch.where(running[..., None], new, carried)

        x, places = self._embedded(self.target_embedding, tokens), pondering.signal(position)  # (B, K, D)
        stops = tokens.device.type == "cpu" and not torch.compiler.is_compiling()  # elsewhere a look costs as much
        thought = pondering(x, places, think, stops=stops)
        for time in pondering.time(range(len(history), pondering.steps), x):
            remember(thought.state + places + time)
        logits = self.vocabulary(self.decoder_norm(thought.output))  # (B, K, V)
        after = State(state.memory, {"position": position + 1, "own": own}, history=history)
        weights = {f"source.{t}": attention[min(t, len(attention) - 1)] for t in range(pondering.steps)}
        return Step(log_probabilities(logits), after, weights)

    def _embedded(self, embedding: nn.Module, tokens: Tensor) -> Tensor:
        return self.dropout(embedding(tokens) * sqrt(self.dim))

    def _places(self, packing: Packing) -> Tensor:
        """The signals of position (N, D)."""
        number = torch.arange(packing.shape[-1], device=packing.cell.device)
        if self.training and self.random_start:
            number = number + torch.randint(self.random_start + 1, (1,), device=number.device)
        return self.reader.pondering.signal(number).index_select(0, packing.time)


class UniversalTransformerEncoder(Network):
    """Reads the sentences of a story and the question as one sequence; the state of the question gives the answer.

    A sentence is the sum of its words' embeddings, each times a learned vector for its place in the sentence (Henaff et
    al. 2017, https://arxiv.org/abs/1612.03969). `hop.<step>` is the question's attention to the sentences, the mean of
    the heads. The arguments are those of `UniversalTransformer`.

    Raises ValueError for an odd width, or one that the number of heads does not divide.
    """

    tasks = ("answering",)
    attends = {"hop": "sentence_mask"}
    adapts = True

    def __init__(
        self,
        spec: StorySpec,
        *,
        hidden_dim: Count = 128,
        steps: Count = 6,
        heads: Count = 4,
        feedforward_dim: Count = 512,
        dropout: Share = 0.1,
        inner_dropout: Share = 0.0,
        norm: Norm = "post",
        halting: Halting = "accumulated",
        ponder_weight: NonNegative = 0.01,
    ) -> None:
        super().__init__()
        self.ponders, self.ponder_weight = () if halting == "none" else ("question", "sentence"), ponder_weight
        self.embedding = nn.Embedding(spec.vocabulary_size, hidden_dim, padding_idx=spec.padding)
        self.places = nn.Parameter(torch.ones(max(1, spec.longest_sentence), hidden_dim))
        block = Layer(hidden_dim, heads, feedforward_dim, (dropout, inner_dropout), norm, cross=False)
        self.reader = Recurrence(block, Pondering(hidden_dim, steps=steps, halting=halting))
        self.norm, self.dropout = end_norm(norm, hidden_dim), nn.Dropout(dropout)
        self.answer = nn.Linear(hidden_dim, spec.vocabulary_size)

    @property
    def unnormalised(self) -> tuple[str, ...]:
        """Attention whose rows sum to less than 1: the rest lies on the question itself."""
        return tuple(f"hop.{t}" for t in range(self.reader.pondering.steps))

    def forward(self, batch: StoryBatch) -> Output:
        """Scores of the words as answers (B, V); attention `hop.0` ... to the sentences (B, S); and the steps of the
        sentences and of the question."""
        mask = F.pad(batch.sentence_mask, (1, 0), value=True)  # (B, 1 + S), the question first
        packing, shape = Packing.of(mask), batch.sentence_mask.shape
        table = self.embedding(batch.distinct)  # (U, D)
        question = self._sums(table, batch.question_words, shape[0])
        sentences = self._sums(table, batch.story_words, shape[0] * shape[1]).view(*shape, -1)
        x = packing.pack(torch.cat([question[:, None], sentences], 1))  # (N, D)
        number = torch.arange(1 + shape[1], device=mask.device)
        age = (mask.sum(1, keepdim=True) - number).where(number > 0, 0)  # (B, 1 + S), 1 is the newest sentence
        places = self.reader.pondering.signal(number).index_select(0, packing.pack(age).clamp(min=0))
        thought, attention = self.reader.read(self.dropout(x), packing, mask, places)
        hops = {f"hop.{t}": weights.mean(1)[:, 0, 1:] for t, (weights,) in enumerate(attention)}  # (B, S)
        losses = {}
        if self.training and self.ponder_weight and self.ponders:
            losses["ponder"] = self.ponder_weight * ponder_cost(thought, packing)
        asked, steps = packing.unpack(thought.output)[:, 0], packing.unpack(thought.steps)
        return Output(
            self.answer(self.norm(asked)), hops, losses, steps={"question": steps[:, :1], "sentence": steps[:, 1:]}
        )

    def _sums(self, table: Tensor, words: RealWords, rows: int) -> Tensor:
        """The vectors (rows, D) of sentences; `table` (U, D) has the embeddings of the distinct words."""
        weights = self.places.index_select(0, words.place.clamp(max=len(self.places) - 1))
        products = table.index_select(0, words.at) * weights  # (words, D)
        return products.new_zeros(rows, products.shape[1]).index_add(0, words.row, products)
