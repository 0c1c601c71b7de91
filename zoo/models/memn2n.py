"""End-To-End Memory Networks.

Sainbayar Sukhbaatar, Arthur Szlam, Jason Weston, Rob Fergus. NIPS 2015. https://arxiv.org/abs/1503.08895

Equations: match, read and answer (1)-(3), hops (4). Without numbers: sentence representations, temporal and position
encoding, the two kinds of tying, linear start (sections 2.2 and 4.1).

What differs from the paper; the authors' code (facebookarchive/MemNN), which gave the published numbers, differs too:
- `encoding="position_code"` is the position encoding of that code, 1 + 4 (k - (d + 1) / 2) (j - (J + 1) / 2) / (d J).
  Its J is the length of the longest sentence plus one: it is about twice the paper's, and equal in sentences of all
  lengths. `position_paper` is the paper's. Time embeddings are added unweighted; in that code they are the last word
  of a sentence.
- `empty="sink"`: empty places of the memory take part in the softmax with score 0 and value 0. In short stories most
  places are empty, and the published numbers need them. `mask` leaves them out.
- The answer is one of all words; in that code it is one of the words and the 50 times.
- The row of padding is zero in all tables. That code sets it to zero in `emb_query`, the table that each hop matches;
  the last table, which is only read, keeps a trained vector for padding.

Notation: B questions, S sentences of a story, M places of the memory, d width of the embeddings, V words, K hops, U
distinct words of the batch, L places and T times in use, C = U + T table rows in use, P parts of a position encoding;
x, q, m, c, u, o, p as in the paper.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Probability
from zoo.attention import masked_softmax
from zoo.data.stories.batch import StoryBatch, StorySpec
from zoo.layers.bags import Bags
from zoo.models.network import Network
from zoo.models.output import Output

SentenceEncoding = Literal["bag", "position_code", "position_paper"]
INIT_STD = 0.1


class MemN2N(Network):
    """Attends to the sentences of a story in K hops and adds what each hop reads to the question.

    `tying` = adjacent: the table that is read at a hop is matched at the next, and the last one scores the answers;
    layer_wise: all hops share two tables, and u is multiplied by H. `value` = own: the embedding that is read differs
    from the one that is matched; same: they are one. `encoding`: a sentence is the plain sum of its words, or a sum
    weighted by position. `times`: add an embedding of the age of a sentence, counted back from the question.
    `time_noise`: the share of empty places that training inserts between sentences. `nonlinearity`: a ReLU after each
    hop.

    While `linear` is true, the memory has no softmax. Training sets it for linear start; checkpoints hold it.
    """

    tasks = ("answering",)
    attends = {"hop": "sentence_mask"}
    zero_rows: ClassVar[tuple[str, ...]] = ("tables", "question_table", "answer_table")
    """Parameters whose first row, the padding, must be set to zero after each optimiser step."""

    stacks = True
    """Parameters may have additional leading axes, one network per index."""
    linear = False
    question_table: nn.Parameter | None
    answer_table: nn.Parameter | None
    hop: nn.Parameter | None
    slope: Tensor

    def __init__(
        self,
        spec: StorySpec,
        *,
        embedding_dim: Count = 50,
        hops: Count = 3,
        memory_size: Count = 50,
        encoding: SentenceEncoding = "position_code",
        tying: Literal["adjacent", "layer_wise"] = "adjacent",
        value: Literal["own", "same"] = "own",
        empty: Literal["sink", "mask"] = "sink",
        times: bool = True,
        time_noise: Probability = 0.1,
        nonlinearity: bool = False,
    ) -> None:
        super().__init__()
        self.vocabulary_size, self.longest = spec.vocabulary_size, spec.longest_sentence
        self.hops, self.memory_size, self.encoding = hops, memory_size, encoding
        self.times, self.time_noise, self.nonlinearity = times, time_noise, nonlinearity
        self.parts = 1 if encoding == "bag" else 2
        self.sink = empty == "sink"
        adjacent = tying == "adjacent"
        own = value == "own"
        # (table that is matched, table that is read) at each hop
        self.order = [(k * (adjacent and own), k * adjacent + 1 if own else 0) for k in range(hops)]
        rows = spec.vocabulary_size + (memory_size if times else 0)
        self.tables = nn.Parameter(torch.empty(1 + max(read for _, read in self.order), rows, embedding_dim))
        own_shapes = {
            "question_table": (spec.vocabulary_size, embedding_dim),
            "answer_table": (spec.vocabulary_size, embedding_dim),
            "hop": (embedding_dim, embedding_dim),
        }
        for name, shape in own_shapes.items():
            self.register_parameter(name, None if adjacent else nn.Parameter(torch.empty(shape)))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=INIT_STD)
        for name in self.zero_rows:
            if (table := getattr(self, name)) is not None:
                table.data[..., 0, :] = 0
        self.register_buffer("slope", self._slope(embedding_dim), persistent=False)

    def get_extra_state(self) -> Tensor:
        """Return `linear`, for a checkpoint."""
        return torch.tensor(self.linear)

    def set_extra_state(self, state: Tensor) -> None:
        """Restore what `get_extra_state` returned."""
        self.linear = bool(state)

    @property
    def unnormalised(self) -> tuple[str, ...]:
        """Attention whose rows sum to less than 1: the rest lies on the empty places."""
        return tuple(f"hop.{k}" for k in range(self.hops)) if self.sink else ()

    def forward(self, batch: StoryBatch) -> Output:
        """Scores of the words as answers (B, V); attention `hop.0` ... to the sentences (B, S)."""
        memory, vocabulary = self._memory(batch), self.vocabulary_size
        times = torch.arange(vocabulary, vocabulary + memory.times, device=batch.distinct.device)
        used, tables = torch.cat([batch.distinct, times]), self.tables.unbind(-3)
        rows = [table.index_select(-2, used) for table in tables]  # (C, d) each
        asked, answers = rows[0], tables[-1][..., :vocabulary, :]
        if self.question_table is not None and self.answer_table is not None:
            asked, answers = self.question_table.index_select(-2, batch.distinct), self.answer_table

        u = self._together(self._question(batch, asked.shape[-2]).to(asked.dtype) @ asked)  # (B, d)
        attention = {}
        for k, (matched, read) in enumerate(self.order):
            products = self._apart(u) @ rows[matched].mT  # (P B, C)
            scores = memory.bags.times(products.flatten(-2)).unflatten(-1, memory.real.shape)  # u m_i
            p = self._weights(scores, memory)  # (B, L + 1)    (1)
            attention[f"hop.{k}"] = memory.to_sentences(p)
            weights = memory.bags.transposed_times(p.flatten(-2)).unflatten(-1, products.shape[-2:])  # (P B, C)
            o = self._together(weights.to(u.dtype) @ rows[read])  # (B, d)    sum_i p_i c_i (2)
            u = (u if self.hop is None else u @ self.hop.mT) + o  # (4)
            u = u.relu() if self.nonlinearity else u
        return Output(u @ answers.mT, attention)  # (3)

    def _weights(self, scores: Tensor, memory: _Memory) -> Tensor:
        """Scores (B, L + 1) -> weights. During linear start they are the scores, and 0 at empty places."""
        if self.linear:
            return scores.masked_fill(~memory.real, 0.0)
        return masked_softmax(scores + memory.log_places, memory.real)

    # A sentence is sum_j l_j E x_j + T, but this vector is never computed. With l_kj = first_j + slope_k second_j, the
    # score u m is a sum of entries of E u, E (slope u) and T u, which are computed once for the distinct words of a
    # batch. The output sum_i p_i c_i is a weighted sum of rows of E and T; the weights of a row are added first.

    def _apart(self, u: Tensor) -> Tensor:
        """(..., B, d) -> (..., P B, d). For P = 2: the input, then the input times the slope of the encoding."""
        return u if self.parts == 1 else torch.cat([u, u * (self.slope / len(self.slope)).to(u.dtype)], -2)

    def _together(self, sums: Tensor) -> Tensor:
        """Sums by the first and by the second weights (..., P B, d) -> (..., B, d)."""
        if self.parts == 1:
            return sums
        first, second = sums.unflatten(-2, (2, -1)).unbind(-3)
        return first + second * (self.slope / len(self.slope)).to(sums.dtype)

    def _slope(self, width: int) -> Tensor:
        """Slope (d,) of a position encoding, times d so that it is exact in every precision.

        l_kj = first_j + slope_k / d second_j.
        """
        k = torch.arange(1.0, width + 1)
        return 4 * k - 2 * (width + 1) if self.encoding == "position_code" else k

    def _places(self, place: Tensor, length: Tensor) -> list[Tensor]:
        """First and second weight of the words at `place`, counted from 0, in sentences of `length`."""
        j = (place + 1).to(self.slope.dtype)
        if self.encoding == "bag":
            return [torch.ones_like(j)]
        if self.encoding == "position_code":
            longest = self.longest + 1
            return [torch.ones_like(j), (j - (longest + 1) / 2) / longest]
        share = j / length.clamp(min=1)
        return [1 - share, 2 * share - 1]

    def _padding(self, length: Tensor) -> list[Tensor]:
        """Sum of the weights of the padding after sentences of `length`.

        The embedding of padding stays zero, but in the authors' code its gradient is part of the norm that is clipped.
        """
        missing = (self.longest - length).clamp(min=0).to(self.slope.dtype)
        if self.encoding == "position_paper":
            return [torch.zeros_like(missing)] * 2
        if self.encoding == "bag":
            return [missing]
        longest = self.longest + 1
        return [missing, missing * ((self.longest + length + 1) / 2 - (longest + 1) / 2) / longest]

    def _question(self, batch: StoryBatch, columns: int) -> Tensor:
        """Weights (P B, C) of each distinct word in each question; C = `columns`."""
        words, length = batch.question_words, batch.question_mask.sum(1)
        weights = self._places(words.place, length.index_select(0, words.row))
        nothing, found = self.slope.new_zeros(batch.question.shape[0], columns), []
        for weight, pad in zip(weights, self._padding(length), strict=True):
            part = nothing.index_put((words.row, words.at), weight, accumulate=True)
            part[:, 0] += pad
            found.append(part)
        return torch.cat(found)

    def _memory(self, batch: StoryBatch) -> _Memory:
        """The newest M sentences of each story as sums of rows."""
        shape = batch.sentence_mask.shape
        used, distinct = min(shape[1], self.memory_size), batch.distinct.shape[0]
        number = batch.sentence_mask.sum(1, keepdim=True)  # (B, 1)
        age = number - 1 - torch.arange(shape[1], device=number.device)  # (B, S), 0 is the newest
        here = (age >= 0) & (age < self.memory_size)
        age = age.where(here, used)  # sentences outside the memory go to the sink, with weight 0
        time, times = self._times(age, number.clamp(max=self.memory_size), used)

        columns = distinct + times
        part = shape[0] * columns  # from a column of the first weights to that of the second
        example = torch.arange(shape[0], device=number.device)
        begin = example * columns  # (B,) the first column of each example
        cell = (example[:, None] * (used + 1) + age).flatten()  # (B S,) row of each sentence
        begin_of = begin[:, None].expand(shape).flatten()  # (B S,)
        length = batch.word_mask.sum(2).flatten()  # (B S,)

        words = batch.story_words
        present = here.flatten().index_select(0, words.row).to(self.slope.dtype)
        weights = self._places(words.place, length.index_select(0, words.row))
        row, column = cell.index_select(0, words.row), begin_of.index_select(0, words.row) + words.at
        entries = [(row, column + n * part, weight * present) for n, weight in enumerate(weights)]
        held = here.flatten().nonzero().squeeze(1)
        row, column = cell.index_select(0, held), begin_of.index_select(0, held)
        padding = enumerate(self._padding(length.index_select(0, held)))
        entries += [(row, column + n * part, weight) for n, weight in padding]
        if times:
            column = column + distinct + time.flatten().index_select(0, held)
            entries.append((row, column, torch.ones_like(column, dtype=present.dtype)))
        sink = example * (used + 1) + used
        if self.encoding != "position_paper":
            entries.append((sink, begin, torch.full_like(begin, self.longest + 1, dtype=present.dtype)))
        row, column, weight = map(torch.cat, zip(*entries, strict=True))

        empty = (self.memory_size - number).clamp(min=0)  # (B, 1) places
        real = torch.arange(used, device=number.device) < number
        log_places = torch.cat([present.new_zeros(real.shape), empty.clamp(min=1).to(present.dtype).log()], 1)
        return _Memory(
            bags=Bags.of(row, column, weight, (shape[0] * (used + 1), self.parts * part)),
            real=torch.cat([real, (empty > 0) & self.sink], 1),
            log_places=log_places,
            age=age,
            here=here,
            times=times,
        )

    def _times(self, age: Tensor, number: Tensor, used: int) -> tuple[Tensor, int]:
        """Time index (B, S) of sentences with `age`, and the number of possible times.

        Training inserts r empty places between the n sentences of a story, r drawn from 0 to `time_noise` n. The
        sentences keep their order.
        """
        if not self.times or not self.training or not self.time_noise or not used:
            return age.clamp(max=max(used - 1, 0)), used if self.times else 0
        most = used + int(-(-used * self.time_noise // 1))
        blanks = (torch.rand_like(number, dtype=torch.float) * ((number * self.time_noise).ceil() + 1)).long()
        place = torch.arange(most, device=age.device)
        draw = torch.rand(len(age), most, device=age.device).masked_fill(place >= number + blanks, 2.0)
        last = draw.sort(1).values.gather(1, (number - 1).clamp(min=0))
        chosen = (draw <= last) & (number > 0)  # (B, most), n of them in each row
        nth = (chosen.cumsum(1) - 1).where(chosen, used)  # the sentence that gets the place
        times = nth.new_zeros(len(age), used + 1).scatter(1, nth, place.expand_as(nth))
        return times.gather(1, age).clamp(max=self.memory_size - 1), min(most, self.memory_size)


class _Memory(NamedTuple):
    """The stories of a batch as sums of table rows, the newest sentence first, the sink of the empty places last."""

    bags: Bags
    """(B (L + 1), P B C): columns are the words and times of an example, first with first, then with second weights."""
    real: Tensor  # (B, L + 1) True at places that take part in the softmax
    log_places: Tensor  # (B, L + 1) logarithm of the number of places that each column represents
    age: Tensor  # (B, S) the place of each sentence; L if it is not in the memory
    here: Tensor  # (B, S) True at sentences in the memory
    times: int  # Number of time rows

    def to_sentences(self, p: Tensor) -> Tensor:
        """Weights (B, L + 1) by place -> (B, S) by sentence."""
        return p.gather(-1, self.age.expand(*p.shape[:-2], *self.age.shape)).masked_fill(~self.here, 0.0)
