"""Pictures or clips with captions: the facts that a network is built from, and batches with boolean masks, True =
real."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Spec, WritingBatch, derived


@dataclass(frozen=True)
class CaptionSpec(Spec):
    """Pictures, or the features of a frozen encoder, and the captions to write. An image encoder is built from it."""

    limits = ("longest_target",)

    channels: Count
    """C of a picture in a batch: 3 for pixels, else the width of the features."""
    height: Count
    """H of a picture in a batch."""
    width: Count
    """W of a picture in a batch."""
    target_size: Count
    """Rows of the word embedding and scores per target position, with the special tokens."""
    longest_target: Natural
    """Tokens of the longest caption, with its end."""
    grid: tuple[int, int] = (14, 14)
    """Rows and columns of the cells of a picture. Cell (i, j) is centred at ((i + 1/2) / rows, (j + 1/2) / columns) of
    the picture, for any encoder."""
    encoded: bool = False
    """Whether a batch holds features instead of pixels: C numbers for each of H = rows by W = columns cells."""
    padding: Natural = 0
    unknown: Natural = 1
    begin: Natural = 2
    """The input of a decoder before the first word; never predicted."""
    end: Natural = 3
    """The last token of every caption."""

    @property
    def cells(self) -> int:
        """S, the number of cells of the grid."""
        return self.grid[0] * self.grid[1]


@dataclass(frozen=True)
class Description(ABC):
    """The facts about a picture or a clip of a batch besides its pixels, for metrics, tables and drawings."""

    name: str
    captions: tuple[str, ...] = ()
    """All captions, as written in their file."""
    facts: Any = None
    """Known facts as plain data; None where the data do not describe the picture or the clip."""
    file: str | None = None
    """Path to the pixels, if a batch has features instead of pixels and the pixels are in a file."""

    def is_true(self, caption: str) -> bool | None:
        """Whether a caption is true by the facts; None without facts."""
        return self.judged(caption) if self.facts else None

    @abstractmethod
    def judged(self, caption: str) -> bool:
        """Whether a caption is true by the facts, which are known."""

    @abstractmethod
    def places(self, words: Sequence[str]) -> list[tuple[float, ...] | None]:
        """For each word of a caption, the place of the thing that it names by the facts, which are known; None for all
        other words."""


@dataclass(frozen=True, kw_only=True)
class CaptionBatch(WritingBatch):
    """B captions of at most T tokens to write about I pictures or clips.

    A batch holds each of the I once, for any number of its captions, so that it is loaded and encoded once. Every
    caption ends with the end token and has no begin token.
    """

    given: ClassVar[tuple[str, ...]]
    """The fields with a row for each picture or clip."""

    picture: Tensor = derived(lambda batch: torch.arange(batch.shown, device=batch.pixels.device), sliced=True)
    """(B,) the picture or clip of each caption, from 0 to I - 1; by default each has one."""
    index: Tensor = derived(lambda batch: batch.picture, sliced=True)
    """(B,) number of each caption's picture or clip in its split."""
    alignment: Tensor | None = None
    """(B, T, S) True at the positions that hold the thing that a word names; only for evaluation and generated data."""
    about: tuple[Any, ...] | None = None
    """The `Description` of each of the I pictures or clips, only for evaluation."""

    @property
    @abstractmethod
    def pixels(self) -> Tensor:
        """The tensor of the pixels or features, (I, ...)."""

    @property
    @abstractmethod
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions that can be attended."""

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions with content: every one that can be attended."""
        return self.memory_mask

    @property
    def memory_length(self) -> Tensor:
        """(B,) 1: the length of a caption does not follow from the size of a picture or a clip."""
        return torch.ones_like(self.picture)

    def _parts(self) -> dict[str, Any]:
        """The fields besides those of the captions, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if not one.kw_only}

    def each_image(self) -> Self:
        """The pictures or clips without targets, for a search that writes one caption of each: B = I."""
        first = torch.full((self.shown,), len(self), device=self.picture.device)
        rows = torch.arange(len(self), device=self.picture.device)
        first = first.scatter_reduce(0, self.picture, rows, "amin")  # the first caption of each
        return type(self)(**self._parts(), index=self.index[first], about=self.about)

    def __len__(self) -> int:
        return len(self.picture)

    @property
    def shown(self) -> int:
        """I: tables and drawings show each picture or clip once."""
        return self.pixels.shape[0]

    def first(self, count: int) -> Self:
        """The first `count` pictures or clips and all their captions, copied to the CPU."""
        rows = (self.picture < count).cpu().nonzero()[:, 0]
        names = ("target", "target_mask", "picture", "index", "alignment")
        parts: dict[str, Any] = {
            name: None if (part := getattr(self, name)) is None else part.cpu()[rows].clone() for name in names
        }
        given = {name: getattr(self, name)[:count].cpu().clone() for name in self.given}
        about = self.about and self.about[:count]
        return type(self)(**self._parts() | given, **parts, begin=self.begin, about=about)
