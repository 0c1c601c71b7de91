"""Beam search over all hypotheses of all examples at once, with a stop that never gives up a better hypothesis.

At each step an example's K live hypotheses, ranked by log P, are extended by every token. Of the 2K best extensions
those that end, if among the first K, join the finished ones with their final score. The first K that do not end stay
alive. The first step has a single live hypothesis. Of equal extensions that of the better parent comes first, then that
with the lower token id. An example is done, and leaves the batch, as soon as the worst of its n best finished
hypotheses is at least as good as the best that a live one can still become (`reachable`). Where the end is not
forced at the maximum length, the hypotheses that are alive there are ranked among the finished ones.

A hypothesis Y is ranked by log P(Y) / lp(|Y|) + cp(Y) + r |Y|. |Y| counts the end token, here and everywhere. At the
maximum length too, log P(Y) includes the end token. Other programs differ here: CTranslate2 cuts a hypothesis at the
maximum length, without an end and its probability, so that another hypothesis can be the best. The probabilities are
the network's. CTranslate2 scales them to sum to 1 without the tokens that the rules forbid.

- lp, form `gnmt` (Wu et al. 2016, equation 14): (5 + |Y|)^alpha / 6^alpha. Form `average`: |Y|^alpha, with alpha = 1
  the mean log-probability of a token (Gehring et al. 2017). With alpha = 0 both are 1.
- cp (Wu et al. 2016): beta * sum over positions i of the memory with content of log min(sum over target positions j of
  p_ij, 1). p_ij is the mean of the attention over layers and heads; the end token of the target has one, too. In the
  paper the content is the words of a source. A position without any attention counts as LEAST.
- r: a reward for each token.

Notation: B examples, B' of them still in the batch at a step, K beam, N n-best, T steps, V vocabulary, S positions of
a memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Unpack

import torch
from torch import Tensor

from zoo.arguments import Count, NonNegative
from zoo.decoding.hypothesis import Hypothesis, as_hypotheses, heads_mean
from zoo.decoding.protocol import Examples, Generating, Specials, counted, first_tokens
from zoo.decoding.rollout import ends
from zoo.decoding.rules import Decoding, RuleArguments
from zoo.errors import ConfigError
from zoo.layers.state import MemoryPositions, State, positions_of, source_attention
from zoo.linear import packed_matrices
from zoo.precision import precise_dtype

LEAST = 1e-10
LengthForm = Literal["gnmt", "average"]


class Found(NamedTuple):
    """The hypotheses that stopped, by score: (B, N) each. Unused places have the score -inf."""

    score: Tensor
    log_prob: Tensor
    position: Tensor  # The number of the step at which each stopped, from 1
    slot: Tensor  # The place in the beam of each before that step
    finished: Tensor  # True where that step wrote its end, and False where it wrote nothing

    @classmethod
    def nothing(cls, count: int, size: int, like: Tensor) -> Found:
        """`count` examples with `size` unused places."""
        scores, zeros = like.new_full((count, size), -torch.inf), like.new_zeros(count, size, dtype=torch.long)
        return cls(scores, scores, zeros, zeros, torch.ones_like(zeros, dtype=torch.bool))

    @classmethod
    def at(cls, position: int, score: Tensor, log_prob: Tensor, slot: Tensor, *, finished: bool) -> Found:
        """Hypotheses that all stopped at the step `position`."""
        return cls(score, log_prob, torch.full_like(slot, position), slot, torch.full_like(slot, finished).bool())

    def examples(self, rows: Tensor) -> Found:
        """The hypotheses of the examples `rows` (B',)."""
        return Found(*(part[rows] for part in self))

    def merge(self, others: Found) -> Found:
        """The N best of these and `others` (B, K). Of equal ones the earlier comes first."""
        merged = Found(*(torch.cat(parts, 1) for parts in zip(self, others, strict=True)))
        order = merged.score.sort(dim=1, descending=True, stable=True).indices[:, : self.score.shape[1]]
        return Found(*(part.gather(1, order) for part in merged))

    def put(self, rows: Tensor, others: Found) -> Found:
        """A copy with `others` (B', N) at the examples `rows` (B',)."""
        return Found(*(part.index_copy(0, rows, other) for part, other in zip(self, others, strict=True)))


class Entry(NamedTuple):
    """The record of one step. Between steps a hypothesis is in one slot of the beam, and not stored as a whole."""

    rows: Tensor  # (B',) numbers of the examples
    parents: Tensor  # (B', K) by the slot after the step: the slot before it
    tokens: Tensor  # (B', K) by the slot after the step: the token that was added
    attention: dict[str, Tensor]
    """(B', K, S) by the slot before the step: the weights with which the token was chosen, by name."""


class Trace(list[Entry]):
    """The steps in their order: entry t - 1 is the step that wrote token t, the first token being number 1."""

    def back(
        self, position: Tensor, slot: Tensor, finished: Tensor, *, padding: int, end: int | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Tokens (B, N, T) of hypotheses and their attention (B, N, T, S) by name.

        A hypothesis is given by the place where it stopped: before step `position` (B, N) it was in `slot` (B, N). If
        it is `finished` (B, N) it wrote its end in that step, and otherwise nothing.
        """
        number, count = torch.arange(1, len(self) + 1, device=slot.device), len(slot)
        inside = position[:, :, None] > number  # (B, N, T)
        ended = (position[:, :, None] == number) & finished[:, :, None]

        def everywhere(values: Tensor, rows: Tensor) -> Tensor:
            """Values of the examples `rows` -> those of all B, 0 for the others."""
            if len(rows) == count:
                return values
            return values.new_zeros(count, *values.shape[1:]).index_copy(0, rows, values)

        written: list[Tensor] = []
        seen: dict[str, list[Tensor]] = {name: [] for name in self[0].attention}
        for (rows, parents, tokens, weights), going_on in zip(reversed(self), reversed(inside.unbind(2)), strict=True):
            after, going_on = (part if len(rows) == count else part[rows] for part in (slot, going_on))
            before = parents.gather(1, after).where(going_on, after)
            written.append(everywhere(tokens.gather(1, after), rows))
            for name, values in weights.items():
                read = values.gather(1, before[:, :, None].expand(-1, -1, values.shape[-1]))
                seen[name].append(everywhere(read, rows))
            slot = before if len(rows) == count else slot.index_copy(0, rows, before)

        ids = torch.stack(written[::-1], 2).where(inside, padding)
        ids = ids if end is None else ids.masked_fill(ended, end)
        real = (inside | ended)[..., None]
        return ids, {name: torch.stack(parts[::-1], 2) * real for name, parts in seen.items()}


class BeamSearch(Decoding):
    """The `nbest` hypotheses with the best scores that a beam of `beam_size` finds, best first.

    `length_penalty` is the exponent alpha of lp, `coverage_penalty` the weight beta of cp, `length_reward` r. With
    `beam_size=1` and the score log P this is greedy decoding. If the rules and the network allow no end for an example,
    it gets its last live hypotheses, marked unfinished. Raises ConfigError for coverage of a network without
    attention.
    """

    def __init__(
        self,
        *,
        beam_size: Count = 5,
        nbest: Count = 1,
        length_penalty: NonNegative = 0.0,
        length_form: LengthForm = "gnmt",
        coverage_penalty: NonNegative = 0.0,
        length_reward: float = 0.0,
        **rules: Unpack[RuleArguments],
    ) -> None:
        super().__init__(**rules)
        if nbest > beam_size:
            raise ConfigError(f"nbest={nbest}, beam_size={beam_size}: expected nbest from 1 to beam_size")
        self.beam_size, self.nbest = beam_size, nbest
        self.length_penalty, self.length_form = length_penalty, length_form
        self.coverage_penalty, self.length_reward = coverage_penalty, length_reward

    @torch.no_grad()
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """Return the hypotheses of each example, best score first: `nbest`, or fewer where no more exist."""
        if not len(batch):
            return []
        start = network.start(batch)
        source = positions_of("source", start.memories, batch)
        # Not the start: a batch keeps what it computes for it, and training may read that later.
        with torch.inference_mode(), packed_matrices():
            found, trace = self._search(network, start, source, specials)
        memories = {name: positions_of(name, start.memories, batch, one) for name, one in trace[0].attention.items()}
        ids, attention = trace.back(
            found.position, found.slot, found.finished, padding=specials.padding, end=specials.end
        )
        return as_hypotheses(
            ids=ids,
            lengths=found.position - (~found.finished).long(),
            log_probs=found.log_prob,
            scores=found.score,
            finished=found.finished,
            attention=attention,
            memories=memories,
        )

    def _search(
        self, network: Generating, start: State, source: MemoryPositions, specials: Specials
    ) -> tuple[Found, Trace]:
        """The best hypotheses and the steps."""
        size, count, trace, state = self.beam_size, len(source.length), Trace(), start
        device, whole = start.device, start.first is None and specials.end is not None
        lengths, rows, content = self.rules.lengths(source.length), torch.arange(count, device=device), source.content
        longest, soonest = lengths.longest.to(device), int(lengths.longest.min())
        tokens = first_tokens(start, specials, count)
        prefix = tokens.new_zeros(count, 1, 0)
        eventful = False  # whether a hypothesis has stopped, or an example can be done

        for position in counted(lengths.longest):
            if not len(rows):
                break
            log_probs, state, attention = network.step(tokens, state)
            attention = heads_mean(attention)
            if position == 1:
                dtype = precise_dtype(log_probs.dtype)  # sums of bfloat16 would lose too much
                live = log_probs.new_zeros(count, 1, dtype=dtype)  # (B, K) log P, falling; -inf: no hypothesis
                attended = live.new_zeros(count, 1, content.shape[1])  # (B, K, S) attention so far
                results = found = Found.nothing(count, self.nbest, like=live)
                penalties = self.length_penalties(int(lengths.longest.max()), like=live)
            covered = attended + self._seen(attention) if self.coverage_penalty else attended

            scores = live[:, :, None] + log_probs  # (B, K, V)
            self.rules.forbid(scores, position, prefix, lengths, specials, whole=whole)
            extended, cells = best(scores.flatten(1), 2 * size)  # (B, 2K)
            parents, tokens = cells // scores.shape[2], cells % scores.shape[2]
            ending = ends(tokens, specials)
            eventful = eventful or position == soonest or bool((ending | (extended == -torch.inf)).any())
            if eventful:
                coverage = self.coverage(covered, content).expand_as(live)  # (B, K)
                final = self.score(extended, penalties[position], coverage.gather(1, parents), position)
                ended = Found.at(position, final.masked_fill(~ending, -torch.inf), extended, parents, finished=True)
                found = found.merge(Found(*(part[:, :size] for part in ended)))
                others = ending.int().sort(dim=1, stable=True).indices
                extended = extended.masked_fill(ending, -torch.inf)
                parents, tokens, extended, final = (
                    part.gather(1, others) for part in (parents, tokens, extended, final)
                )

            before, live, parents, tokens = live, *(part[:, :size] for part in (extended, parents, tokens))
            trace.append(Entry(rows, parents, tokens, attention))
            if eventful:
                last = longest == position
                if not whole:
                    cut = final[:, :size].masked_fill(~last[:, None] | (live == -torch.inf), -torch.inf)
                    found = found.merge(Found.at(position + 1, cut, live, _slots(live), finished=False))
                reachable = self.reachable(live[:, 0], penalties[longest], position, longest)
                done = (found.score[:, -1] >= reachable) | last
                stuck = done & (found.score[:, 0] == -torch.inf)
                done, stuck = torch.stack([done, stuck]).cpu()
                if stuck.any():
                    where = stuck.nonzero().squeeze(1).to(device)
                    score = self.score(before, penalties[position - 1], self.coverage(attended, content), position - 1)
                    unfinished = Found.at(position, score, before, _slots(before), finished=False)
                    found = found.put(where, found.merge(unfinished).examples(where))
                if done.any():
                    gone, keep = (part.nonzero().squeeze(1).to(device) for part in (done, ~done))
                    results = results.put(rows[gone], found.examples(gone))
                    lengths, found, state = lengths.examples(~done), found.examples(keep), state.examples(keep)
                    rows, content, longest, live = rows[keep], content[keep], longest[keep], live[keep]
                    parents, tokens, prefix, covered = parents[keep], tokens[keep], prefix[keep], covered[keep]
            state = state.reorder(parents)
            if self.rules.no_repeat_ngram:
                prefix = torch.cat([_of_parents(prefix, parents), tokens[:, :, None]], 2)
            attended = _of_parents(covered, parents) if self.coverage_penalty else covered
        return results, trace

    def length_penalties(self, longest: int, like: Tensor) -> Tensor:
        """(longest + 1,) lp of each length, in the type of `like`. No hypothesis has length 0; its lp equals that of
        1."""
        lengths = torch.arange(longest + 1, device=like.device, dtype=like.dtype).clamp(min=1)
        return ((5 + lengths) / 6 if self.length_form == "gnmt" else lengths) ** self.length_penalty

    def coverage(self, attended: Tensor, content: Tensor) -> Tensor:
        """cp (B, K) of the attention summed over target positions (B, K, S); `content` (B, S) is True at positions with
        content."""
        logs = attended.clamp(LEAST, 1.0).log().masked_fill(~content[:, None], 0.0)
        return self.coverage_penalty * logs.sum(2)

    def score(self, log_prob: Tensor, penalty: Tensor, coverage: Tensor, length: int) -> Tensor:
        """The score of hypotheses of `length` tokens; `penalty` is lp of that length."""
        return log_prob / penalty + coverage + self.length_reward * length

    def reachable(self, log_prob: Tensor, highest_penalty: Tensor, length: int, longest: Tensor) -> Tensor:
        """(B,) an upper bound of the score of all continuations of live hypotheses with `length` tokens and this log P.

        log P can only fall, lp can only grow up to `highest_penalty`, the lp of `longest` (B,), and cp is at most 0.
        """
        reward = (self.length_reward * longest.to(log_prob.dtype)).clamp(min=self.length_reward * (length + 1))
        return log_prob / highest_penalty + reward

    @staticmethod
    def _seen(attention: Mapping[str, Tensor]) -> Tensor:
        """(B, K, S) the mean of a step's weights over its layers. Raises ConfigError if there are none."""
        weights = source_attention(attention)
        if weights is None:
            raise ConfigError("coverage_penalty: this network has no attention, so it has no coverage")
        return weights


def _of_parents(values: Tensor, parents: Tensor) -> Tensor:
    """Values (B, K, ...) of the hypotheses that continue `parents` (B, K')."""
    row = torch.arange(len(parents), device=parents.device)[:, None]
    return values[row, parents]


def _slots(live: Tensor) -> Tensor:
    """(B, K) the number of each place in the beam."""
    return torch.arange(live.shape[1], device=live.device).expand_as(live)


def best(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the values and columns (B, count) of the `count` largest entries of each row of `scores` (B, M). Unlike
    `torch.topk` it defines the order of equal entries.

    The largest comes first, and of equal ones the lower column. Where M is less than `count`, all entries are returned.
    """
    entries = scores.shape[1]
    size = int((entries / max(count, 1)) ** 0.5)
    blocks = entries // max(size, 1)
    if size < 2 or blocks <= 2 * count:
        return _sorted(scores, count)
    # Only the `count` blocks with the largest maxima can hold one of the `count` largest entries: the maximum of each
    # of these comes before any entry of another block. Entries after the last whole block are candidates, too.
    whole, device = blocks * size, scores.device
    maxima = scores[:, :whole].unflatten(1, (blocks, size)).amax(2)
    chosen = _largest(maxima, count)[1].sort(1).values  # columns stay in order
    inside = (chosen[:, :, None] * size + torch.arange(size, device=device)).flatten(1)
    after = torch.arange(whole, entries, device=device).expand(len(scores), -1)
    candidates = torch.cat([inside, after], 1)
    values, order = _largest(scores.gather(1, candidates), count)
    return values, candidates.gather(1, order)


def _sorted(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`best` by sorting each row."""
    values, columns = scores.sort(dim=1, descending=True, stable=True)
    return values[:, :count], columns[:, :count]


def _largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`best` of rows with more than `count` entries by `torch.topk`, unless an entry that it leaves out equals one that
    it chooses."""
    values, columns = scores.topk(count + 1, dim=1)
    if (values[:, -1] == values[:, -2]).any():
        return _sorted(scores, count)
    columns = columns[:, :count].sort(1).values
    values, order = _sorted(scores.gather(1, columns), count)
    return values, columns.gather(1, order)
