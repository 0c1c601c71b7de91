"""Decoding without search: at each step one token for each hypothesis, the most probable one or a drawn one.

Notation: B examples, K hypotheses of each, T tokens of the longest, S positions of a memory, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, NamedTuple

import torch
from annotated_types import Gt, Le
from torch import Tensor

from zoo.arguments import Count, Natural, Positive
from zoo.attention.softmax import draw
from zoo.decoding.hypothesis import Hypothesis, as_hypotheses, heads_mean
from zoo.decoding.protocol import Decoding, Examples, Generating, Specials, counted, first_tokens
from zoo.decoding.rules import Bound, Rules
from zoo.layers.state import Memories, positions_of


class Greedy(Decoding):
    """Writes the most probable token at every step until the end; of equally probable ones that with the lowest id.

    A length (a, b) means a L + b tokens, the end counted, for a memory of length L. See `zoo.decoding.rules`.
    """

    def __init__(
        self,
        *,
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
    ) -> None:
        self.rules = Rules(min_length, max_length, no_repeat_ngram)

    def draw(self, network: Generating, batch: Examples, specials: Specials) -> Rollout:
        """Return one sequence for each example as tensors, with gradients where they are on."""
        return rollout(network, batch, specials, rules=self.rules, choose=_most_probable)

    @torch.no_grad()
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """A list of one hypothesis for each example."""
        if not len(batch):
            return []
        return self.draw(network, batch, specials).hypotheses(specials)


def _most_probable(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    tokens = log_probs.argmax(2)  # the first of equals
    return tokens, log_probs.gather(2, tokens[:, :, None]).squeeze(2)


class Sampling(Decoding):
    """Draws `samples` sequences for each example, token by token.

    Tokens that the rules forbid have probability 0. The log-probabilities are divided by `temperature`. Only the
    `top_k` most probable tokens remain (0: all of them), and of these the smallest set with at least `top_p` of their
    probability. The rest is scaled to sum to 1. Of equally probable tokens the lower ids remain.
    Lengths have the same meaning as in `Greedy`.
    """

    def __init__(
        self,
        *,
        samples: Count = 1,
        temperature: Positive = 1.0,
        top_k: Natural = 0,
        top_p: Annotated[float, Gt(0), Le(1)] = 1.0,
        min_length: Bound = (0.0, 0.0),
        max_length: Bound = (2.0, 10.0),
        no_repeat_ngram: Natural = 0,
    ) -> None:
        self.samples, self.temperature, self.top_k, self.top_p = samples, temperature, top_k, top_p
        self.rules = Rules(min_length, max_length, no_repeat_ngram)

    def draw(
        self, network: Generating, batch: Examples, specials: Specials, generator: torch.Generator | None = None
    ) -> Rollout:
        """Return the sequences as tensors. Their log-probabilities have gradients where these are on, for REINFORCE.

        `generator` is on the batch's device. By default torch's own generator is used.
        """

        def choose(log_probs: Tensor) -> tuple[Tensor, Tensor]:
            distribution = self.distribution(log_probs)
            tokens = draw(distribution.detach().exp(), generator)
            return tokens, distribution.gather(2, tokens[:, :, None]).squeeze(2)

        return rollout(network, batch, specials, rules=self.rules, choose=choose, samples=self.samples)

    @torch.no_grad()
    def __call__(
        self, network: Generating, batch: Examples, specials: Specials, generator: torch.Generator | None = None
    ) -> list[list[Hypothesis]]:
        """Return `samples` hypotheses for each example, the likeliest first. Two of them may be equal."""
        if not len(batch):
            return []
        drawn = self.draw(network, batch, specials, generator).hypotheses(specials)
        return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in drawn]

    def distribution(self, log_probs: Tensor) -> Tensor:
        """Log-probabilities (..., V), -inf at forbidden tokens -> those that tokens are drawn from."""
        log_probs = (log_probs / self.temperature).log_softmax(-1)
        if self.top_k == 0 and self.top_p == 1:
            return log_probs
        ordered, ids = log_probs.detach().sort(dim=-1, descending=True, stable=True)
        kept = torch.ones_like(ordered, dtype=torch.bool)
        if self.top_k:
            kept[..., self.top_k :] = False
        probabilities = ordered.masked_fill(~kept, -torch.inf).softmax(-1)
        kept &= probabilities.cumsum(-1) - probabilities < self.top_p  # what is more probable does not reach p yet
        kept = torch.zeros_like(kept).scatter(-1, ids, kept)
        return log_probs.masked_fill(~kept, -torch.inf).log_softmax(-1)


Choose = Callable[[Tensor], tuple[Tensor, Tensor]]
"""(B, K, V) log-probabilities, -inf at forbidden tokens -> (B, K) tokens, and the log-probabilities that decided on
them."""


class Rollout(NamedTuple):
    """K sequences for each of B examples, and the gradient of their probabilities where gradients are on."""

    tokens: Tensor
    """(B, K, T) ids, padding after the last token of each."""
    mask: Tensor
    """(B, K, T) True at tokens, the end included."""
    log_probs: Tensor
    """(B, K, T) log-probability of each token in the distribution that it was drawn from, which includes temperature,
    top-k, top-p and the rules; 0 after the last token. The gradient of its sum is the score function of REINFORCE."""
    network_log_probs: Tensor
    """(B, K, T) log-probability of each token in the network's own distribution; 0 after the last token."""
    attention: dict[str, Tensor]
    """(B, K, T, S) weights by name, the mean of the heads; 0 after the last token."""
    memories: Memories
    """The positions of each name in `attention`."""

    def hypotheses(self, specials: Specials) -> list[list[Hypothesis]]:
        """Return K hypotheses for each example, in the order drawn, scored by the network's log-probability."""
        log_probs = self.network_log_probs.detach().sum(2)
        return as_hypotheses(
            ids=self.tokens,
            lengths=self.mask.sum(2),
            log_probs=log_probs,
            scores=log_probs,
            finished=ends(self.tokens, specials).any(2),
            attention={name: weights.detach() for name, weights in self.attention.items()},
            memories=self.memories,
        )


def rollout(
    network: Generating, batch: Examples, specials: Specials, *, rules: Rules, choose: Choose, samples: int = 1
) -> Rollout:
    """Write `samples` sequences for each example, token by token, until each has written its end.

    An example leaves the batch when all of its sequences have ended. A sequence stops unfinished where nothing may
    follow, and at the longest length without an end.
    """
    start, count = network.start(batch), len(batch)
    device, whole = start.device, start.first is None
    lengths, rows = (
        rules.lengths(positions_of("source", start.memories, batch).length),
        torch.arange(count, device=device),
    )
    state = start.reorder(torch.zeros(count, samples, dtype=torch.long, device=device))
    prefix = torch.zeros(count, samples, 0, dtype=torch.long, device=device)
    tokens = first_tokens(start, specials, count).expand(count, samples)
    over = torch.zeros(count, samples, dtype=torch.bool, device=device)
    memories: Memories = {}
    steps: list[Rollout] = []  # of one token each

    for position in counted(lengths.longest):
        if not len(rows):
            break
        log_probs, state, attention = network.step(tokens, state)
        if position == 1:
            memories = {name: positions_of(name, start.memories, batch, one) for name, one in attention.items()}
        allowed = log_probs.clone()
        rules.forbid(allowed, prefix, lengths, specials, whole=whole)
        over = over | (allowed.amax(2) == -torch.inf)
        tokens, chosen_log_probs = choose(allowed.masked_fill(over[:, :, None], 0.0))
        own_log_probs = log_probs.gather(2, tokens[:, :, None]).squeeze(2)
        tokens = tokens.masked_fill(over, specials.padding)

        def everywhere(values: Tensor, rows: Tensor = rows, over: Tensor = over) -> Tensor:
            """Values of the examples still in the batch -> those of all B, 0 where a sequence is over."""
            values = values.masked_fill(over.view(*over.shape, *[1] * (values.dim() - 2)), 0)
            return values.new_zeros(count, *values.shape[1:]).index_copy(0, rows, values)

        ids = torch.full((count, samples), specials.padding, device=device).index_copy(0, rows, tokens)
        seen = {name: everywhere(weights) for name, weights in heads_mean(attention).items()}
        steps.append(Rollout(ids, everywhere(~over), everywhere(chosen_log_probs), everywhere(own_log_probs), seen, {}))

        prefix = torch.cat([prefix, tokens[:, :, None]], 2)
        longest = lengths.longest.to(device)[:, None] <= prefix.shape[2]
        over = over | ends(tokens, specials) | longest
        running = (~over.all(1)).cpu().nonzero().squeeze(1)  # the one wait for the device in a step
        if len(running) < len(rows):
            lengths, keep = lengths.examples(running), running.to(device)
            rows, tokens, over, prefix = rows[keep], tokens[keep], over[keep], prefix[keep]
            state = state.examples(keep)

    def together(parts: Iterable[Tensor]) -> Tensor:
        return torch.stack(list(parts), 2)

    return Rollout(
        tokens=together(step.tokens for step in steps),
        mask=together(step.mask for step in steps),
        log_probs=together(step.log_probs for step in steps),
        network_log_probs=together(step.network_log_probs for step in steps),
        attention={name: together(step.attention[name] for step in steps) for name in steps[0].attention},
        memories=memories,
    )


def ends(tokens: Tensor, specials: Specials) -> Tensor:
    """True at the end token; nowhere where there is none."""
    return torch.zeros_like(tokens, dtype=torch.bool) if specials.end is None else tokens == specials.end
