"""Generated tales: sentences of a small grammar, read as one stream of characters."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.utils.data import Dataset

from tiny_stream.batch import WindowBatch
from tiny_stream.spec import StreamSpec
from zoo.arguments import Count
from zoo.data.encoder import Encoder
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.data.order import Nouns
from zoo.data.serving import ServedData

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
