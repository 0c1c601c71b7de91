"""What batches of all families share. A family's own, in its `batch.py`, is where its data and its networks meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from zoo.layers.packing import Forced, Packing


class Batch(ABC):
    """B examples as named tensors with boolean masks, True = real. A family's batch is a frozen dataclass of this
    class."""

    kept: ClassVar[tuple[str, ...]] = ()
    """Fields that `cast` leaves alone, since results are judged by them or counted from them."""
    unit: ClassVar[str] = "examples"
    """The name of the units that a rate of training counts, such as characters."""
    index: Tensor
    """(B,) number of each example in its split."""

    @abstractmethod
    def __len__(self) -> int:
        """B."""

    @property
    def units(self) -> int | Tensor:
        """How many `unit` the batch holds, as a number or a tensor ()."""
        return len(self)

    @property
    def shown(self) -> int:
        """How many examples there are for tables and pictures: B, or fewer where several are of one thing."""
        return len(self)

    @abstractmethod
    def first(self, count: int) -> Self:
        """The first `count` of the examples that are shown, in memory of their own on the CPU."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The batch on `device`; itself where it is there."""
        if self.index.device == torch.device(device):
            return self
        return self._changed(lambda part: part.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """The batch in page-locked memory."""
        return self._changed(lambda part: part.pin_memory())

    def cast(self, dtype: torch.dtype) -> Self:
        """The batch with its real numbers in `dtype`; whole numbers, masks, packings and what is `kept` are left
        alone."""
        changed = self._changed(
            lambda part: part.to(dtype) if isinstance(part, Tensor) and part.is_floating_point() else part
        )
        return replace(changed, **{name: getattr(self, name) for name in self.kept})  # type: ignore[type-var]

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        """The batch with `change` made to its tensors and packings, and to those in its tuples, lists and dicts."""
        return _changed(self, change)


@dataclass(frozen=True)
class WritingBatch(Batch):
    """B examples for each of which a sequence of at most T tokens is to be written. Without targets, as when
    predicting, all that speaks of them is None."""

    without_targets: ClassVar[str] = "let a search of zoo.decoding write"
    """What to do where there are no targets."""

    target: Tensor | None
    """(B, T) token ids: what is to be predicted at each position."""
    target_input: Tensor | None
    """(B, T) the token before each of `target`: begin, then the target without its last."""
    target_mask: Tensor | None
    """(B, T) True at tokens, the end included; a prefix of each row."""
    target_packing: Packing | None
    """Packs (B, T): a model's scores of all target positions are (N, V) in this order."""

    @staticmethod
    def writing(target: Tensor | None, mask: Tensor | None, begin: int) -> dict[str, Any]:
        """The four fields, from padded ids and their mask, (B, T) each."""
        read = None if target is None else torch.cat([target.new_full((len(target), 1), begin), target[:, :-1]], 1)
        packing = None if mask is None else Packing.of(mask)
        return {"target": target, "target_input": read, "target_mask": mask, "target_packing": packing}

    @property
    def forced(self) -> Forced:
        """What a network reads that is told the truth. Raises ValueError where the batch has no targets."""
        if self.target_input is None or self.target_mask is None or self.target_packing is None:
            raise ValueError(f"this batch has no targets: {self.without_targets}")
        return Forced(self.target_input, self.target_mask, self.target_packing)

    @property
    def true_tokens(self) -> Tensor:
        """(N,) the real tokens of `target` in the order of `target_packing`. Raises ValueError as `forced`."""
        packing = self.forced.packing
        assert self.target is not None
        return packing.pack(self.target)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(part, Tensor | Packing):
        return change(part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{f.name: _changed(getattr(part, f.name), change) for f in fields(part) if f.init})
    if isinstance(part, dict):
        return {key: _changed(value, change) for key, value in part.items()}
    if isinstance(part, list | tuple):
        if not any(isinstance(value, Tensor | Packing | list | tuple | dict) or is_dataclass(value) for value in part):
            return part  # such as the words of a text
        values = [_changed(value, change) for value in part]
        return type(part)(*values) if hasattr(part, "_fields") else type(part)(values)
    return part
