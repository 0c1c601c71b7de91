"""Which character is next? One LSTM over the whole text.

The authors of attention-zoo. 2026. https://example.org/tiny-stream

"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset
from torchmetrics import MeanMetric, Metric

from zoo.arguments import Count
from zoo.data.batch import Batch, Encoder, Spec
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Nouns
from zoo.data.serving import ServedData
from zoo.models.output import Output
from zoo.tasks.task import Examined, Prediction, Task
from zoo.visualize.view import View


@dataclass(frozen=True)
class StreamSpec(Spec):
    """A text of characters."""

    symbols: int
    """Rows of the embedding: the characters, and 0 for padding and for the beginning of the text."""


@dataclass(frozen=True)
class WindowBatch(Batch):
    """B windows of at most T characters."""

    unit: ClassVar[str] = "characters"

    read: Tensor
    """(B, T) ids of the characters before the targets; 0 at the beginning of the text, and at padding."""
    target: Tensor | None
    """(B, T) ids of the characters to be predicted, 0 at padding; None when predicting."""
    mask: Tensor
    """(B, T) True at characters."""
    index: Tensor
    """(B,) number of each window in its split."""

    @classmethod
    def padded(cls, windows: Sequence[Tensor], index: Tensor | None = None) -> WindowBatch:
        """A padded batch of windows; the first id of each is the character before it."""
        padded = torch.nn.utils.rnn.pad_sequence(list(windows), batch_first=True)
        index = torch.arange(len(windows)) if index is None else index
        return cls(padded[:, :-1], padded[:, 1:], padded[:, 1:] > 0, index)

    def __len__(self) -> int:
        return len(self.read)

    @property
    def units(self) -> Tensor:
        return self.mask.sum()


CHARACTERS = " .abcdefghijklmnopqrstuvwxyz"
WHO, DID = ("the fox", "a hen", "the old owl"), ("saw", "met", "fled from")


def tale(sentences: int, *, seed: int) -> str:
    """A text of that many sentences."""
    draw = random.Random(seed)
    return "".join(f"{draw.choice(WHO)} {draw.choice(DID)} {draw.choice(WHO)}. " for _ in range(sentences))


class CharacterEncoder(Encoder):
    """Texts to batches of one window each."""

    def __call__(self, inputs: Sequence[str]) -> WindowBatch:
        return WindowBatch.padded([ids(text) for text in inputs])

    def display(self, one: str) -> str:
        return one

    def state(self) -> dict[str, Any]:
        return {"characters": CHARACTERS}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> CharacterEncoder:
        return cls()


def ids(text: str) -> Tensor:
    """(T + 1,) the ids of a text after that of its beginning, 0. Unknown characters are read as blanks."""
    return torch.tensor([0, *(max(CHARACTERS.find(one), 0) + 1 for one in text)])


class Windows(Dataset[WindowBatch]):
    """A text as windows of `length` characters."""

    def __init__(self, text: str, length: int) -> None:
        self.ids, self.length = ids(text), length

    def __len__(self) -> int:
        return -(-(len(self.ids) - 1) // self.length)

    def __getitems__(self, numbers: list[int]) -> WindowBatch:
        starts = [number * self.length for number in numbers]
        return WindowBatch.padded([self.ids[at : at + self.length + 1] for at in starts], torch.tensor(numbers))


class Tales(ServedData[Windows]):
    """Three generated texts, one for each split; sizes are in sentences."""

    name = "tales"
    tasks: ClassVar[tuple[str, ...]] = ("language_modelling",)
    continues: ClassVar[bool] = True
    nouns: ClassVar[Nouns] = Nouns("windows", "characters")
    spec: StreamSpec
    encoder: CharacterEncoder

    def __init__(
        self,
        *,
        window: Count = 16,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        super().__init__(loader=loader)
        self.window, self.sample = window, SampleOptions.of(sample)

    def setup(self, stage: str | None = None) -> None:
        self.spec, self.encoder = StreamSpec(len(CHARACTERS) + 1), CharacterEncoder()

    def part(self, split: str) -> Windows:
        number = ("train", "val", "test").index(split)
        return Windows(tale(getattr(self.sample, split), seed=3 * self.sample.seed + number), self.window)

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate

    @property
    def sizes(self) -> dict[str, int]:
        return {split: len(self.part(split)) for split in ("train", "val", "test")}

    def describe(self) -> dict[str, Any]:
        splits = {split: {"windows": size} for split, size in self.sizes.items()}
        return {"name": self.name, "source": "sample: generated tales", "splits": splits, "notes": []}


def collate(batch: WindowBatch) -> WindowBatch:
    """The windows are a batch already."""
    return batch


class CharLSTM(nn.Module):
    """Scores of the next character at each position, from all characters before it."""

    tasks = ("language_modelling",)
    attends: ClassVar[dict[str, str]] = {}
    carries: ClassVar[bool] = True

    def __init__(self, spec: StreamSpec, *, hidden_dim: Count = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.symbols, hidden_dim)
        self.recurrent = nn.LSTM(hidden_dim, hidden_dim, batch_first=True)
        self.scores = nn.Linear(hidden_dim, spec.symbols)

    def forward(self, batch: WindowBatch, carried: dict[str, Tensor] | None = None) -> Output:
        """Scores (B, T, V), and the state after the last character of each row."""
        state = None
        if carried is not None:
            state = carried["hidden"][None], carried["cell"][None]  # (1, B, H)
        embedded = self.embedding(batch.read).to(self.scores.weight.dtype)
        lengths = batch.mask.sum(1).clamp(min=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        packed, (hidden, cell) = self.recurrent(packed, state)
        states, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=batch.read.shape[1])
        return Output(self.scores(states), carried={"hidden": hidden[0], "cell": cell[0]})


def continued(network: CharLSTM, read: Tensor, carried: dict[str, Tensor] | None) -> tuple[Tensor, dict[str, Tensor]]:
    """Log-probabilities (V,) after reading ids (T,), and the state then."""
    output = network(WindowBatch(read[None], None, torch.ones_like(read[None], dtype=torch.bool), read[:1]), carried)
    return output.logits[0, -1].log_softmax(0), output.carried


LENGTH = 20
"""Characters that are written after a beginning."""


@dataclass(frozen=True)
class Writing(Prediction):
    """A beginning and what follows, or a window and how well it was predicted."""

    text: str
    written: str
    bits: float | None = None
    """Bits per character of a window."""


class LanguageModelling(Task):
    """Any network that serves `language_modelling`."""

    name = "language_modelling"
    headline = ("bits_per_character",)
    monitors: ClassVar[dict[str, str]] = {"bits_per_character": "min"}
    view = "tiny_stream.WritingView"

    def metrics(self) -> dict[str, Metric]:
        return {"bits_per_character": MeanMetric()}

    def training_step(self, batch: WindowBatch, batch_idx: int) -> Tensor:
        total = self.surprisal(batch).sum()
        return self.global_mean(total, batch.mask.sum())

    def evaluate(self, batch: WindowBatch, stage: str) -> None:
        count = batch.mask.sum()
        bits = self.surprisal(batch).sum() / count / math.log(2)
        self.record(stage, "bits_per_character", bits, count)

    def surprisal(self, batch: WindowBatch) -> Tensor:
        """(B, T) negative log-probability of each character in nats, 0 at padding."""
        assert batch.target is not None
        logits = self.read(batch).logits.float()
        nats = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), reduction="none")
        return nats.view_as(batch.target).masked_fill(~batch.mask, 0.0)

    def predictions(self, batch: WindowBatch, words: list[Any]) -> list[Writing]:
        """Each beginning and the likeliest characters after it, one by one."""
        found = []
        for text in words:
            log_probs, carried = continued(self.network, ids(text), None)  # type: ignore[arg-type]
            written = ""
            for _ in range(LENGTH):
                token = int(log_probs[1:].argmax()) + 1
                written += CHARACTERS[token - 1]
                log_probs, carried = continued(self.network, torch.tensor([token]), carried)  # type: ignore[arg-type]
            found.append(Writing(text, written))
        return found

    def examine(self, batch: WindowBatch) -> list[Examined]:
        assert batch.target is not None
        bits = self.surprisal(batch).sum(1) / batch.mask.sum(1).clamp(min=1) / math.log(2)
        texts = ["".join(CHARACTERS[one - 1] for one in row if one) for row in batch.target.tolist()]
        rows = zip(batch.index.tolist(), texts, bits.tolist(), strict=True)
        return [Examined(number, Writing(text, "", value), text) for number, text, value in rows]


class WritingView(View):
    """Beginnings and continuations."""

    noun: ClassVar[str] = "beginning"
    typed: ClassVar[str] = "'the old '"
    columns: ClassVar[tuple[str, ...]] = ("text", "written", "bits")

    def row(self, prediction: Writing) -> list[Any]:
        return [prediction.text, prediction.written, prediction.bits]
