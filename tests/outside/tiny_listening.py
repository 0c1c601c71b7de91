"""Sounds to tones, as someone outside the package would write it: networks that choose what they attend to.

Frames with lengths come in, and a tone for each stretch of equal frames is written.

`Listener` is a reader with a pyramid encoder (Chan et al., Listen, Attend and Spell, 2016): each layer joins two
neighbouring frames, so that the memory has a quarter of the frames. `TwoLevels` attends to the frames and to turns of
four frames each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torchmetrics import Metric

from zoo.arguments import Count
from zoo.attention import masked_softmax
from zoo.data.batch import Encoder, Spec, WritingBatch, derived
from zoo.data.order import Nouns
from zoo.data.streams import Made, Make, StreamData
from zoo.decoding import Hypothesis
from zoo.errors import UnusableInput
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.state import Memories, MemoryPositions, State, Step, log_probabilities
from zoo.metrics import Share
from zoo.models.output import Output
from zoo.objectives.feeding import walk
from zoo.tasks import Generation
from zoo.tasks.task import Examined, Prediction
from zoo.visualize.view import View


@dataclass(frozen=True)
class SoundSpec(Spec):
    """Token 4 + i is tone i."""

    tones: int
    longest_target: int
    padding: int = 0
    begin: int = 2
    end: int = 3

    @property
    def tokens(self) -> int:
        return 4 + self.tones


def _alignment(batch: SoundBatch) -> Tensor | None:
    if batch.target is None or batch.target_mask is None:
        return None
    said = batch.target[:, :, None] == 4 + batch.frames.argmax(2)[:, None]
    return said & batch.frame_mask[:, None]


@dataclass(frozen=True)
class SoundBatch(WritingBatch):
    """B sounds of at most S frames."""

    frames: Tensor
    """(B, S, F) the strength of each tone."""
    frame_mask: Tensor
    """(B, S) True at frames."""
    index: Tensor
    alignment: Tensor | None = derived(_alignment, sliced=True)
    """(B, T, S) True at the frames of each token's tone; None when predicting."""

    @classmethod
    def padded(
        cls,
        frames: Sequence[Tensor],
        targets: Sequence[Sequence[int]] | None = None,
        index: Sequence[int] | None = None,
    ) -> SoundBatch:
        """A batch of sounds (S_i, F) and the tokens to write for them, ends included."""
        mask = pad_sequence([torch.ones(len(one), dtype=torch.bool) for one in frames], batch_first=True)
        numbers = torch.arange(len(frames)) if index is None else torch.tensor(index)
        target = None if targets is None else pad_sequence([torch.tensor(row) for row in targets], batch_first=True)
        real = None if target is None else target > 0
        return cls(pad_sequence(list(frames), batch_first=True), mask, numbers, target=target, target_mask=real)

    @property
    def memory_mask(self) -> Tensor:
        return self.frame_mask

    @property
    def content_mask(self) -> Tensor:
        return self.frame_mask

    @property
    def memory_length(self) -> Tensor:
        return self.frame_mask.sum(1)

    def __len__(self) -> int:
        return len(self.frames)

    def targets(self) -> list[list[int]]:
        """The tokens of each sound."""
        assert self.target is not None and self.target_mask is not None
        return [row[mask].tolist() for row, mask in zip(self.target, self.target_mask, strict=True)]


TONES = "abcdef"
LONGEST = 6
"""Tones of the longest melody."""
NOISE = 0.1


class Sound(NamedTuple):
    """One generated sound."""

    frames: Tensor
    """(S, F)."""
    tones: str


def make_sound(seed: int, number: int) -> Sound:
    """The sound of a seed and a number: different tones, each held for 3 to 6 frames."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    count = int(torch.randint(2, LONGEST + 1, (), generator=generator))
    tones = torch.randperm(len(TONES), generator=generator)[:count]
    held = tones.repeat_interleave(torch.randint(3, 7, (count,), generator=generator))
    noise = NOISE * torch.randn(len(held), len(TONES), generator=generator)
    return Sound(torch.eye(len(TONES))[held] + noise, "".join(TONES[tone] for tone in tones))


def tokens(tones: str) -> list[int]:
    """The tokens to write, the end included."""
    return [*(4 + TONES.index(tone) for tone in tones), 3]


class SoundEncoder(Encoder):
    """Reads sounds without noise, typed as one letter per frame: `aaaabbbb`."""

    def display(self, text: str) -> str:
        if unknown := set(text) - set(TONES):
            raise UnusableInput(f"{text!r}: expected letters from a to {TONES[-1]}, found {min(unknown)!r}")
        return text

    def __call__(self, texts: Sequence[str]) -> SoundBatch:
        return SoundBatch.padded([torch.eye(len(TONES))[[TONES.index(tone) for tone in text]] for text in texts])

    def text(self, ids: Sequence[int]) -> str:
        """The tones of written tokens."""
        return "".join(TONES[token - 4] for token in ids if token >= 4)

    def state(self) -> dict[str, Any]:
        return {"tones": TONES}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SoundEncoder:
        return cls()


class Sounds(StreamData):
    """Generated sounds, in training never the same one twice."""

    name = "sounds"
    tasks: ClassVar[tuple[str, ...]] = ("listening",)
    nouns: ClassVar[Nouns] = Nouns("sounds", "frames")
    spec: SoundSpec
    encoder: SoundEncoder

    def setup(self, stage: str | None = None) -> None:
        self.spec, self.encoder = SoundSpec(tones=len(TONES), longest_target=LONGEST + 1), SoundEncoder()

    def generator(self) -> Make:
        return make_sound

    @property
    def _collate(self) -> Callable[[Made], SoundBatch]:
        return collate


def collate(made: Made) -> SoundBatch:
    """Sounds of a stream as a batch."""
    return SoundBatch.padded(
        [one.frames for one in made.examples], [tokens(one.tones) for one in made.examples], made.numbers
    )


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


@dataclass(frozen=True)
class HeardSound(Prediction):
    """The tones of a sound, and the attention of each step by name."""

    sound: str
    tones: str
    log_prob: float
    attention: dict[str, list[list[float]]]


class Listening(Generation):
    """Any network that serves `listening`."""

    name = "listening"
    headline = (*Generation.headline, "exact_match")
    monitors: ClassVar[dict[str, str]] = {**Generation.monitors, "exact_match": "max"}
    view = "tiny_listening.ListeningView"

    def metrics(self) -> dict[str, Metric]:
        return {**super().metrics(), "exact_match": Share()}

    def score_written(self, stage: str, batch: SoundBatch, hypotheses: list[Hypothesis]) -> None:
        rows = zip(hypotheses, batch.targets(), strict=True)
        self.record(stage, "exact_match", [self.encoder.text(best.ids) == self.encoder.text(row) for best, row in rows])

    def predictions(self, batch: SoundBatch, words: list[str]) -> list[HeardSound]:
        found = [best for best, *_ in self.predict_step(batch)]
        return [
            HeardSound(
                sound,
                self.encoder.text(best.ids),
                best.log_prob,
                {name: weights.tolist() for name, weights in best.attention.items()},
            )
            for sound, best in zip(words, found, strict=True)
        ]

    def examine(self, batch: SoundBatch) -> list[Examined]:
        heard = zip(batch.frames.argmax(2), batch.frame_mask, strict=True)
        sounds = ["".join(TONES[tone] for tone in tones[mask].tolist()) for tones, mask in heard]
        truths = map(self.encoder.text, batch.targets())
        found = zip(batch.index.tolist(), self.predictions(batch, sounds), truths, strict=True)
        return [Examined(*one) for one in found]


class ListeningView(View):
    """Sounds with the tones that were heard."""

    noun: ClassVar[str] = "sound"
    typed: ClassVar[str] = "aaaabbbb"
    columns: ClassVar[tuple[str, ...]] = ("sound", "tones")

    def row(self, prediction: HeardSound) -> list[Any]:
        return [prediction.sound, prediction.tones]

    def picture(self, prediction: HeardSound, examined: Examined | None = None) -> Figure:
        figure = Figure(figsize=(5, 2 * len(prediction.attention)), layout="constrained")
        for number, (name, weights) in enumerate(prediction.attention.items(), 1):
            axes = figure.add_subplot(len(prediction.attention), 1, number)
            axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(name)
            axes.set_yticks(range(len(weights)), [*prediction.tones, "end"][: len(weights)])
            share = len(prediction.sound) / len(weights[0])  # frames per column
            axes.set_xticks(range(len(weights[0])), [prediction.sound[int(share * s)] for s in range(len(weights[0]))])
        return figure
