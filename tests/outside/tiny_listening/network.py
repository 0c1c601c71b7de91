"""Networks that choose what their attention looks at.

`Listener` is a reader with a pyramid encoder (Chan et al., Listen, Attend and Spell, 2016): each layer joins two
neighbouring frames, so that the memory has a quarter of the frames. `TwoLevels` attends to the frames and to turns of
four frames each.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tiny_listening.batch import SoundBatch
from tiny_listening.spec import SoundSpec
from zoo.arguments import Count
from zoo.attention import masked_softmax
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.state import Memories, MemoryPositions, State, Step, log_probabilities
from zoo.models.output import Output
from zoo.objectives.feeding import walk


def joined(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """(B, S, D) and (B, S) -> neighbours side by side, (B, S', 2 D) and (B, S'), S' = S / 2 rounded up."""
    odd = states.shape[1] % 2
    states, mask = F.pad(states * mask[..., None], (0, 0, 0, odd)), F.pad(mask, (0, odd))
    return states.unflatten(1, (-1, 2)).flatten(2), mask.unflatten(1, (-1, 2)).any(2)


class Writer(nn.Module, ABC):
    """A GRU cell over the tokens that attends to one memory or more. A subclass encodes these memories."""

    tasks = ("listening",)
    attends: ClassVar[Mapping[str, str | None]]

    def __init__(self, spec: SoundSpec, *, hidden_dim: Count = 32) -> None:
        super().__init__()
        self.encoder = nn.ModuleList(nn.Linear(width, hidden_dim) for width in (spec.tones, *[2 * hidden_dim] * 2))
        self.token = TokenEmbedding(spec.tokens, hidden_dim)
        self.cell = nn.GRUCell(hidden_dim, hidden_dim)
        self.vocabulary = nn.Linear(hidden_dim * (1 + len(self.attends)), spec.tokens)

    @abstractmethod
    def encode(self, batch: SoundBatch) -> dict[str, tuple[Tensor, Tensor]]:
        """States (B, S, D) and mask (B, S) of each memory by name."""

    def levels(self, batch: SoundBatch) -> list[tuple[Tensor, Tensor]]:
        """States and mask of all frames, of a half of them and of a quarter."""
        frames = batch.frames.to(self.vocabulary.weight.dtype)
        found = [(self.encoder[0](frames).tanh(), batch.frame_mask)]
        for layer in list(self.encoder)[1:]:
            states, mask = joined(*found[-1])
            found.append((layer(states).tanh(), mask))
        return found

    def start(self, batch: SoundBatch) -> State:
        encoded = self.encode(batch)
        memories: Memories = {
            name: MemoryPositions.of(mask) for name, (_, mask) in encoded.items() if self.attends[name] is None
        }
        memory = {f"{name}.states": states for name, (states, _) in encoded.items()}
        masks = {f"{name}.mask": mask[:, None] for name, (_, mask) in encoded.items()}
        hidden = memory["source.states"].new_zeros(len(batch), 1, self.token.embedding_dim)
        return State({**memory, **masks}, {"hidden": hidden}, memories)

    def step(self, tokens: Tensor, state: State) -> Step:
        memory, before = state.memory, state.hypotheses["hidden"]
        hidden = self.cell(self.token(tokens).flatten(0, 1), before.flatten(0, 1)).view_as(before)  # (B, K, D)
        weights = {
            name: masked_softmax(hidden @ memory[f"{name}.states"].transpose(1, 2), memory[f"{name}.mask"])
            for name in self.attends
        }
        contexts = [one @ memory[f"{name}.states"] for name, one in weights.items()]
        scores = self.vocabulary(torch.cat([hidden, *contexts], 2))
        return Step(log_probabilities(scores), State(memory, {"hidden": hidden + sum(contexts)}), weights)

    def forward(self, batch: SoundBatch, *, need_weights: bool = True) -> Output:
        return walk(self, batch, lambda _, truth: truth, need_weights=need_weights)


class Listener(Writer):
    """Attends to a quarter of the frames."""

    attends: ClassVar[Mapping[str, str | None]] = {"source": None}

    def encode(self, batch: SoundBatch) -> dict[str, tuple[Tensor, Tensor]]:
        return {"source": self.levels(batch)[2]}


class TwoLevels(Writer):
    """Attends to the frames, and to turns of four frames."""

    attends: ClassVar[Mapping[str, str | None]] = {"source": "memory_mask", "turn": None}

    def encode(self, batch: SoundBatch) -> dict[str, tuple[Tensor, Tensor]]:
        frames, _, turns = self.levels(batch)
        return {"source": frames, "turn": turns}
