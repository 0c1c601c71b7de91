"""Beam search over all hypotheses of all examples at once, with a stop that never gives up a better hypothesis.

At each step an example's K live hypotheses, ranked by log P, are extended by every token. Of the 2K best extensions
those that end, if among the first K, go to the finished ones with their final score; the first K that do not end stay
alive. The first step has a single live hypothesis. Equal extensions: that of the better parent first, then the lower
token id. An example is done, and leaves the batch, as soon as the worst of its n best finished hypotheses is at least
as good as the best that any live one can still become (`Ranking.reachable`).

Notation: B examples still in the batch, K beam, N n-best, V vocabulary, S positions of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.arguments import Count, Natural, NonNegative
from zoo.attention.source import source_attention
from zoo.decoding.best import best
from zoo.decoding.hypothesis import Hypothesis, as_hypotheses, heads_mean
from zoo.decoding.protocol import Decoding, Examples, Generating, Specials
from zoo.decoding.ranking import LengthForm, Ranking
from zoo.decoding.rules import Bound, Rules
from zoo.decoding.trace import Entry, Trace
from zoo.errors import ConfigError
from zoo.precision import precise_dtype


class Found(NamedTuple):
    """The hypotheses that ended, by score: (B, N) each. Unused places have the score -inf."""

    score: Tensor
    log_prob: Tensor
    position: Tensor
    """The number of the step at which each ended, from 1."""
    slot: Tensor
    """The place in the beam where each was before that step."""

    @classmethod
    def nothing(cls, count: int, size: int, like: Tensor) -> Found:
        """`count` examples with `size` unused places."""
        scores, zeros = like.new_full((count, size), -torch.inf), torch.zeros(count, size, dtype=torch.long)
        return cls(scores, scores, *[zeros.to(like.device)] * 2)

    def examples(self, rows: Tensor) -> Found:
        """Those of the examples `rows` (B',)."""
        return Found(*(part[rows] for part in self))

    def merge(self, others: Found) -> Found:
        """The N best of these and `others` (B, K); of equals those found first."""
        merged = Found(*(torch.cat(parts, 1) for parts in zip(self, others, strict=True)))
        order = merged.score.sort(dim=1, descending=True, stable=True).indices[:, : self.score.shape[1]]
        return Found(*(part.gather(1, order) for part in merged))

    def put(self, rows: Tensor, others: Found) -> Found:
        """These with `others` (B', N) in place of those of the examples `rows` (B',)."""
        return Found(*(part.index_copy(0, rows, other) for part, other in zip(self, others, strict=True)))


class BeamSearch(Decoding):
    """The `nbest` hypotheses of the best scores that a beam of `beam_size` finds, best first.

    The score and its options are explained in `zoo.decoding.ranking`, lengths and n-grams in `zoo.decoding.rules`. With
    `beam_size=1` and nothing but log P in the score this is greedy decoding. An example for which the rules and the
    network let nothing end gets its last live hypotheses, marked unfinished. Raises ConfigError where a value makes no
    sense, or where coverage is asked of a network without attention.
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
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
    ) -> None:
        if not 1 <= nbest <= beam_size:
            raise ConfigError(f"nbest={nbest}, beam_size={beam_size}: give at least 1, and no more than the beam holds")
        self.beam_size, self.nbest = beam_size, nbest
        self.ranking = Ranking(length_penalty, length_form, coverage_penalty, length_reward)
        self.rules = Rules(min_length, max_length, no_repeat_ngram)

    @torch.no_grad()
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """For each example its hypotheses, best score first: `nbest`, or fewer where no more exist."""
        if not len(batch):
            return []
        found, finished, trace = self._search(network, batch, specials)
        width = batch.memory_mask.shape[1]
        ids, attention = trace.back(
            found.position, found.slot, finished, padding=specials.padding, end=specials.end, width=width
        )
        return as_hypotheses(
            ids=ids,
            lengths=found.position - (~finished).long(),
            log_probs=found.log_prob,
            scores=found.score,
            finished=finished.expand_as(found.slot),
            attention=attention,
            memory_mask=batch.memory_mask,
        )

    def _search(self, network: Generating, batch: Examples, specials: Specials) -> tuple[Found, Tensor, Trace]:
        """The best hypotheses, whether those of an example end, (B, 1), and the steps."""
        ranking, size, content, count = self.ranking, self.beam_size, batch.content_mask, len(batch)
        device, trace, position = content.device, Trace(), 0
        lengths, rows = self.rules.lengths(batch.memory_length), torch.arange(count, device=device)
        longest = lengths.longest.to(device)
        state = network.start(batch)
        tokens = torch.full((count, 1), specials.begin, device=device)
        prefix = tokens.new_zeros(count, 1, 0)
        finished = torch.ones(count, 1, dtype=torch.bool, device=device)
        live: Tensor | None = None

        while len(rows):
            position += 1
            log_probs, state, attention = network.step(tokens, state)
            attention = heads_mean(attention)
            if live is None:
                dtype = precise_dtype(log_probs.dtype)  # sums of bfloat16 would lose too much
                live = log_probs.new_zeros(count, 1, dtype=dtype)  # (B, K) log P, falling; -inf: no hypothesis
                attended = live.new_zeros(count, 1, content.shape[1])  # (B, K, S) attention so far
                results = found = Found.nothing(count, self.nbest, like=live)
                penalties = ranking.length_penalties(int(lengths.longest.max()), like=live)
            covered = attended + self._seen(attention) if ranking.coverage_penalty else attended
            coverage = ranking.coverage(covered, content)  # (B, K)

            scores = live[:, :, None] + log_probs  # (B, K, V)
            self.rules.forbid(scores, prefix, lengths, specials)
            extended, cells = best(scores.flatten(1), 2 * size)  # (B, 2K)
            parents, tokens = cells // scores.shape[2], cells % scores.shape[2]
            ending = tokens == specials.end

            final = ranking.score(extended, penalties[position], coverage.gather(1, parents), position)
            at = torch.full_like(parents, position)
            ended = Found(final.masked_fill(~ending, -torch.inf), extended, at, parents)
            found = found.merge(Found(*(part[:, :size] for part in ended)))

            others = ending.int().sort(dim=1, stable=True).indices[:, :size]
            parents, tokens = parents.gather(1, others), tokens.gather(1, others)
            before, live = live, extended.masked_fill(ending, -torch.inf).gather(1, others)
            trace.append(Entry(rows, parents, tokens, attention))

            reachable = ranking.reachable(live[:, 0], penalties[longest], position, longest)
            done = (found.score[:, -1] >= reachable) | (longest == position)
            stuck = done & (found.score[:, 0] == -torch.inf)
            done, stuck = torch.stack([done, stuck]).cpu()  # the one wait for the device in a step
            if stuck.any():
                where = stuck.nonzero().squeeze(1).to(device)
                coverage = ranking.coverage(attended, content)
                score = ranking.score(before, penalties[position - 1], coverage, position - 1)
                slots = torch.arange(before.shape[1], device=device).expand_as(before)
                unfinished = Found(score, before, torch.full_like(slots, position), slots)
                found = found.put(where, found.merge(unfinished).examples(where))
                finished[rows[where]] = False
            if done.any():
                gone, keep = (part.nonzero().squeeze(1).to(device) for part in (done, ~done))
                results = results.put(rows[gone], found.examples(gone))
                lengths, found, state = lengths.examples(~done), found.examples(keep), state.examples(keep)
                rows, content, longest, live, tokens = (
                    rows[keep],
                    content[keep],
                    longest[keep],
                    live[keep],
                    tokens[keep],
                )
                parents, prefix, covered = parents[keep], prefix[keep], covered[keep]
            state = state.reorder(parents)
            row = torch.arange(len(rows), device=device)[:, None]
            prefix, attended = torch.cat([prefix[row, parents], tokens[:, :, None]], 2), covered[row, parents]
        return results, finished, trace

    @staticmethod
    def _seen(attention: Mapping[str, Tensor]) -> Tensor:
        """(B, K, S) the mean of a step's weights over its layers. Raises ConfigError where there are none."""
        weights = source_attention(attention)
        if weights is None:
            raise ConfigError("coverage_penalty: this network has no attention, so it has no coverage")
        return weights
