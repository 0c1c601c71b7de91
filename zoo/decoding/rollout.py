"""Decoding without search: at each step one token for each hypothesis, the most probable one or a drawn one.

Notation: B examples, K hypotheses of each, T tokens of the longest, S positions of a memory, V vocabulary.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, NamedTuple, Unpack

import torch
from annotated_types import Gt, Le
from torch import Tensor

from zoo.arguments import Count, Natural, Positive
from zoo.attention.softmax import draw
from zoo.decoding.hypothesis import Hypothesis, as_hypotheses, heads_mean
from zoo.decoding.protocol import Examples, Generating, Specials, counted, first_tokens, say
from zoo.decoding.rules import Decoding, RuleArguments
from zoo.layers.state import Memories, State, positions_of
from zoo.linear import packed_matrices


class Rollout(NamedTuple):
    """K sequences for each of B examples, and the gradient of their probabilities where gradients are on."""

    tokens: Tensor  # (B, K, T) ids, padding after the last token of each
    mask: Tensor  # (B, K, T) True at tokens, the end included
    log_probs: Tensor
    """(B, K, T) log-probability of each token in the distribution that it was drawn from, which includes temperature,
    top-k, top-p and the rules; 0 after the last token. The gradient of its sum is the score function of REINFORCE."""
    network_log_probs: Tensor
    """(B, K, T) log-probability of each token in the network's own distribution; 0 after the last token."""
    attention: dict[str, Tensor]
    """(B, K, T, S) weights by name, the mean of the heads; 0 after the last token."""
    memories: Memories
    """The positions of each name in `attention`."""
    truth: Tensor | None = None
    """(N,) the true tokens as the network writes them, if these are not those of the batch; see `State.truth`."""

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


class Writing(Decoding):
    """Writes `samples` sequences for each example, token by token, until each has written its end."""

    samples = 1

    @abstractmethod
    def choose(self, log_probs: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (B, K, V), -inf at forbidden tokens -> tokens (B, K), and the log-probabilities that
        decided on them."""

    @torch.no_grad()
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """Return `samples` hypotheses for each example, the likeliest first. Two of them may be equal."""
        if not len(batch):
            return []
        start = network.start(batch)
        with packed_matrices():
            drawn = self._write(network, start, batch, specials).hypotheses(specials)
        return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in drawn]

    def draw(self, network: Generating, batch: Examples, specials: Specials) -> Rollout:
        """Return the sequences as tensors. Their log-probabilities have gradients where these are on, for REINFORCE.

        An example leaves the batch when all of its sequences have ended. A sequence stops unfinished where nothing may
        follow, and at the longest length without an end.
        """
        return self._write(network, network.start(batch), batch, specials)

    def _write(self, network: Generating, start: State, batch: Examples, specials: Specials) -> Rollout:
        """The sequences that follow the state `start`."""
        count, samples = len(batch), self.samples
        device, whole = start.device, start.first is None
        lengths = self.rules.lengths(positions_of("source", start.memories, batch).length)
        rows = torch.arange(count, device=device)
        state = start.reorder(torch.zeros(count, samples, dtype=torch.long, device=device))
        prefix = torch.zeros(count, samples, 0, dtype=torch.long, device=device)
        tokens = first_tokens(start, specials, count).expand(count, samples)
        over = torch.zeros(count, samples, dtype=torch.bool, device=device)
        memories: Memories = {}
        steps: list[tuple[Tensor, ...]] = []
        attention: dict[str, list[Tensor]] = {}

        for position in counted(lengths.longest):
            if not len(rows):
                break
            log_probs, state, weights = network.step(tokens, state)
            if position == 1:
                memories = {name: positions_of(name, start.memories, batch, one) for name, one in weights.items()}
            allowed = log_probs.clone()
            self.rules.forbid(allowed, position, prefix, lengths, specials, whole=whole)
            over = over | (allowed.amax(2) == -torch.inf)
            tokens, chosen_log_probs = self.choose(allowed.masked_fill(over[:, :, None], 0.0))
            own_log_probs = log_probs.gather(2, tokens[:, :, None]).squeeze(2)
            tokens = tokens.masked_fill(over, specials.padding)

            def everywhere(values: Tensor, rows: Tensor = rows, over: Tensor = over) -> Tensor:
                """Values of the examples still in the batch -> those of all B, 0 where a sequence is over."""
                values = values.masked_fill(over.view(*over.shape, *[1] * (values.dim() - 2)), 0)
                if len(rows) == count:
                    return values
                return values.new_zeros(count, *values.shape[1:]).index_copy(0, rows, values)

            ids = torch.full((count, samples), specials.padding, device=device).index_copy(0, rows, tokens)
            say(ids)
            steps.append((ids, everywhere(~over), everywhere(chosen_log_probs), everywhere(own_log_probs)))
            for name, one in heads_mean(weights).items():
                attention.setdefault(name, []).append(everywhere(one))

            prefix = torch.cat([prefix, tokens[:, :, None]], 2)
            longest = lengths.longest.to(device)[:, None] <= prefix.shape[2]
            over = over | ends(tokens, specials) | longest
            running = (~over.all(1)).cpu().nonzero().squeeze(1)  # the one wait for the device in a step
            if len(running) < len(rows):
                lengths, keep = lengths.examples(running), running.to(device)
                rows, tokens, over, prefix = rows[keep], tokens[keep], over[keep], prefix[keep]
                state = state.examples(keep)

        ids, mask, log_probs, own = (torch.stack(parts, 2) for parts in zip(*steps, strict=True))
        looked = {name: torch.stack(parts, 2) for name, parts in attention.items()}
        return Rollout(ids, mask, log_probs, own, looked, memories, start.truth)


class Greedy(Writing):
    """Writes the most probable token at every step until the end; of equally probable ones that with the lowest id."""

    def choose(self, log_probs: Tensor) -> tuple[Tensor, Tensor]:
        tokens = log_probs.argmax(2)  # the first of equals
        return tokens, log_probs.gather(2, tokens[:, :, None]).squeeze(2)


class Sampling(Writing):
    """Draws `samples` sequences for each example, token by token.

    Tokens that the rules forbid have probability 0. The log-probabilities are divided by `temperature`. Only the
    `top_k` most probable tokens remain (0: all of them), and of these the smallest set with at least `top_p` of their
    probability. The rest is scaled to sum to 1. Of equally probable tokens the lower ids remain.
    """

    def __init__(
        self,
        *,
        samples: Count = 1,
        temperature: Positive = 1.0,
        top_k: Natural = 0,
        top_p: Annotated[float, Gt(0), Le(1)] = 1.0,
        **rules: Unpack[RuleArguments],
    ) -> None:
        super().__init__(**rules)
        self.samples, self.temperature, self.top_k, self.top_p = samples, temperature, top_k, top_p

    def choose(self, log_probs: Tensor) -> tuple[Tensor, Tensor]:
        distribution = self.distribution(log_probs)
        tokens = draw(distribution.detach().exp())
        return tokens, distribution.gather(2, tokens[:, :, None]).squeeze(2)

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


def ends(tokens: Tensor, specials: Specials) -> Tensor:
    """True at the end token; nowhere where there is none."""
    return torch.zeros_like(tokens, dtype=torch.bool) if specials.end is None else tokens == specials.end
