"""Decoding without search: at each step one token for each hypothesis, chosen from the network's distribution.

Notation: B examples, K hypotheses of each, T tokens of the longest, S positions of a memory, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.decoding.hypothesis import Hypothesis, as_hypotheses, heads_mean
from zoo.decoding.progress import counted
from zoo.decoding.protocol import Examples, Generating, Specials, first_tokens
from zoo.decoding.rules import Rules
from zoo.layers.state import Memories, positions_of

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
