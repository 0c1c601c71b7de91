"""Shallow fusion: while a network writes, a language model has its say on every token (Gulcehre et al. 2015,
https://arxiv.org/abs/1503.03535). It wraps any network for decoding.

    log p(y_t | source, y_<t) + weight * log p_LM(y_t | y_<t)

is what a search ranks by, in the place of the first term alone. These sums are not log-probabilities of any
distribution: of tokens that the sum of two makes unlikely, nothing is given to the others.

Notation: B examples, K hypotheses of each, V tokens of the network, W tokens of the language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from zoo.decoding.protocol import Generating, Specials
from zoo.errors import ConfigError
from zoo.layers.state import State, Step

WEIGHT = 0.3  # By default
OWN = "language."
"""Prefix of the names of the language model's parts of a state."""
LINE_ENDS = ("<eos>", "\n")
"""The tokens of a language model that may end a line."""


@dataclass(frozen=True)
class Prompts:
    """The end of the line before, which a language model reads first: `prompt` and its mask (B, 1)."""

    prompt: Tensor
    prompt_mask: Tensor
    index: Tensor  # (B,)


@dataclass(frozen=True)
class LanguageModel:
    """A language model, and its token for each token of another network."""

    network: Any  # A `StreamNetwork`
    columns: Tensor  # (V,)
    line_end: int
    """The token that ends a line. It is read first, and is the end of what is written."""
    weight: float

    @classmethod
    def of(
        cls, network: Any, known: Sequence[str], words: Sequence[str], specials: Specials, weight: float
    ) -> LanguageModel:
        """The model with the tokens `known` (W,), the first of them the unknown one, for a network that writes `words`
        (V,). Raises ConfigError where the two have hardly any tokens in common."""
        number = {word: place for place, word in reversed(list(enumerate(known)))}
        line_end = next((number[end] for end in LINE_ENDS if end in number), None)
        if line_end is None:
            raise ConfigError(
                "decoding.language_model: it has no token that ends a line; train it on text with line breaks"
            )
        ends = (specials.begin, specials.end)
        written = [word for place, word in enumerate(words) if place not in (*ends, specials.padding)]
        missing = [word for word in written if word not in number]
        if 2 * len(missing) > len(written):
            some = ", ".join(map(repr, missing[:5]))
            raise ConfigError(
                f"decoding.language_model: it lacks {len(missing):,} of {len(written):,} tokens, such as {some}; "
                "train it with the tokenizer of the network, on text like that which is to be written"
            )
        columns = [line_end if place in ends else number.get(word, 0) for place, word in enumerate(words)]
        return cls(network, torch.tensor(columns), line_end, weight)


class Fused:
    """A `network` that writes with a language model. Its attention is its own."""

    def __init__(self, network: Generating, language: LanguageModel) -> None:
        self.network, self.language = network, language

    def start(self, batch: Any) -> State:
        """Return the network's state together with that of the language model."""
        state = self.network.start(batch)
        device = state.device
        rows = len(batch)
        self.language.network.to(device)
        prompt = torch.full((rows, 1), self.language.line_end, device=device)
        own = self.language.network.start(Prompts(prompt, prompt == prompt, torch.arange(rows, device=device)))
        return _joined(state, own)

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read `tokens` (B, K) and return the sums (B, K, V) of the next ones."""
        if tokens.dim() != 2:
            raise ValueError(f"a language model reads tokens (B, K); got a tensor {tuple(tokens.shape)}")
        columns = self.language.columns.to(tokens.device)
        network, language = (_of(state, own=own) for own in (False, True))
        log_probs, after, attention = self.network.step(tokens, network)
        inside = tokens < len(columns)  # else it is copied from a source, and unknown here
        said, own, _ = self.language.network.step(columns[tokens * inside].where(inside, 0), language)
        known = said.index_select(2, columns)
        more = log_probs.shape[2] - known.shape[2]  # columns of single examples, such as copied words
        if more:
            known = torch.cat([known, said[..., :1].expand(-1, -1, more)], 2)
        return Step(log_probs + self.language.weight * known.to(log_probs.dtype), _joined(after, own), attention)


def _of(state: State, *, own: bool) -> State:
    """The state of the language model, or that of the network."""

    def some(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name.removeprefix(OWN): part for name, part in parts.items() if name.startswith(OWN) == own}

    return State(some(state.memory), some(state.hypotheses), history=some(state.history))


def _joined(state: State, language: State) -> State:
    def both(parts: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {**parts, **{f"{OWN}{name}": part for name, part in others.items()}}

    return replace(
        state,
        memory=both(state.memory, language.memory),
        hypotheses=both(state.hypotheses, language.hypotheses),
        history=both(state.history, language.history),
    )
