"""The base classes of specs and batches, where a family's data and its networks meet, and of encoders, which make
batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self, get_type_hints

import torch
from torch import Tensor

from zoo.data.inputs import Inputs
from zoo.dotted import class_at, name_of, named_by_a_checkpoint
from zoo.errors import CheckpointError, ConfigError
from zoo.layers.packing import Forced, Packing
from zoo.values import hold


@dataclass(frozen=True)
class Spec:
    """The facts about data that a network is built from; each family has its own. Only plain values (numbers, text,
    tuples of them): a spec is stored in every checkpoint. Raises ConfigError for a value that its field does not allow.
    """

    limits: ClassVar[tuple[str, ...]] = ()
    """Fields that measure the available examples, such as the longest text. They may differ for another test set of the
    same data."""

    def __post_init__(self) -> None:
        cls: Any = type(self)
        for name, hint in _annotations(cls).items():
            hold(name, getattr(self, name), hint)

    def inputs(self) -> Inputs | None:
        """The tensors from which a network predicts, for `zoo export`; None if the family does not declare them."""
        return None


@cache
def _annotations(cls: type[Any]) -> dict[str, Any]:
    """The annotation of each field of a spec, with its bounds."""
    hints = get_type_hints(cls, include_extras=True)
    return {one.name: hints[one.name] for one in fields(cls)}


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"class": name_of(type(spec)), **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote. Raises CheckpointError if its class is missing, is not a Spec, has other
    fields, or a field has another type."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    with named_by_a_checkpoint():
        cls = class_at(state.pop("class"), Spec)
    try:
        return cls(**state)
    except (TypeError, ConfigError) as error:
        raise CheckpointError(f"its spec does not fit: {error}") from error


def derived(formula: Callable[[Any], Any], *, sliced: bool = False) -> Any:
    """A field of a batch that follows from other fields: `formula` computes it from the batch if it is not given.

    `first` computes it anew for the first examples, unless it can be `sliced`.
    """
    return field(default=None, metadata={"formula": formula, "anew": not sliced})


class Batch(ABC):
    """B examples as named tensors with boolean masks, True = real. A family's batch is a frozen dataclass that derives
    from this class and declares its `derived` fields."""

    kept: ClassVar[tuple[str, ...]] = ()
    """Fields that `cast` does not change, because metrics read them."""
    unit: ClassVar[str] = "examples"
    """The name of the units that a rate of training counts, such as characters."""
    index: Tensor
    """(B,) number of each example in its split."""

    def __post_init__(self) -> None:
        for part in fields(self):  # type: ignore[arg-type]
            if "formula" in part.metadata and getattr(self, part.name) is None:
                object.__setattr__(self, part.name, part.metadata["formula"](self))

    @abstractmethod
    def __len__(self) -> int:
        """B."""

    @property
    def units(self) -> int | Tensor:
        """The number of `unit` in the batch, as a number or a tensor ()."""
        return len(self)

    @property
    def rate_share(self) -> float:
        """The factor of the learning rate in a step of training on this batch."""
        return 1.0

    @property
    def shown(self) -> int:
        """The number of examples for tables and pictures: B, or fewer if several belong to one picture."""
        return len(self)

    def first(self, count: int) -> Self:
        """The first `count` of the shown examples, copied to the CPU."""
        names = [part.name for part in fields(self) if not part.metadata.get("anew")]  # type: ignore[arg-type]
        return type(self)(**{name: _first(getattr(self, name), count) for name in names})

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The batch on `device`, without a copy if it is there already."""
        if self.index.device == torch.device(device):
            return self
        return self._changed(lambda part: part.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """The batch in page-locked memory."""
        return self._changed(lambda part: part.pin_memory())

    def cast(self, dtype: torch.dtype) -> Self:
        """The batch with its real numbers in `dtype`. Integers, masks, packings and the fields of `kept` stay."""
        changed = self._changed(
            lambda part: part.to(dtype) if isinstance(part, Tensor) and part.is_floating_point() else part
        )
        return replace(changed, **{name: getattr(self, name) for name in self.kept})  # type: ignore[type-var]

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        """Apply `change` to the tensors, also inside tuples, lists, dicts and dataclasses such as packings."""
        return _changed(self, change)


def _shifted(batch: WritingBatch) -> Tensor | None:
    if batch.target is None:
        return None
    return torch.cat([batch.target.new_full((len(batch.target), 1), batch.begin), batch.target[:, :-1]], 1)


@dataclass(frozen=True, kw_only=True)
class WritingBatch(Batch):
    """B examples with a sequence of at most T tokens to write. All fields of targets are None when predicting."""

    without_targets: ClassVar[str] = "let a search of zoo.decoding write"
    """Advice for a batch without targets."""

    target: Tensor | None = None
    """(B, T) token ids to predict at each position."""
    target_mask: Tensor | None = None
    """(B, T) True at tokens, the end included; a prefix of each row."""
    begin: int = 2
    """The token before the first one of a target."""
    target_input: Tensor | None = derived(_shifted)
    """(B, T) the token before each one of `target`: begin, then the targets shifted right."""
    target_packing: Packing | None = derived(
        lambda batch: None if batch.target_mask is None else Packing.of(batch.target_mask)
    )
    """Packs (B, T): scores of all target positions are (N, V) in this order."""

    @property
    def forced(self) -> Forced:
        """Decoder inputs for teacher forcing. Raises ValueError if the batch has no targets."""
        if self.target_input is None or self.target_mask is None or self.target_packing is None:
            raise ValueError(f"this batch has no targets: {self.without_targets}")
        return Forced(self.target_input, self.target_mask, self.target_packing)

    @property
    def true_tokens(self) -> Tensor:
        """(N,) the real tokens of `target` in the order of `target_packing`. Raises ValueError without targets."""
        packing = self.forced.packing
        assert self.target is not None
        return packing.pack(self.target)


class Encoder(ABC):
    """Encodes inputs as the training examples were encoded. It is stored in every checkpoint, as plain data."""

    takes: str = "an input in the form of its data"
    """An input in words, such as `a document as text`."""

    @abstractmethod
    def __call__(self, inputs: Sequence[Any]) -> Batch:
        """A batch of these inputs, in order, without targets."""

    @abstractmethod
    def display(self, one: Any) -> Any:
        """An input as it is shown beside its prediction, such as its words in their positions in the batch."""

    def entries(self, field: str) -> Sequence[str] | None:
        """The words that a field of the spec counts, such as `vocabulary_size`, in the order of their ids; None where
        the field counts no words."""
        return None

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""

    def files(self) -> dict[str, str]:
        """The texts of files, by their names, from which a program without this package can make a batch; by default
        none. A file of JSON may say under `about` what it is; else it is a vocabulary."""
        return {}


def _first(part: Any, count: int) -> Any:
    if isinstance(part, Tensor):
        return part[:count].cpu().clone()
    return part[:count] if isinstance(part, tuple) else part


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(part, Tensor):
        return change(part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{f.name: _changed(getattr(part, f.name), change) for f in fields(part) if f.init})
    if isinstance(part, dict):
        return {key: _changed(value, change) for key, value in part.items()}
    if isinstance(part, list | tuple):
        if not any(isinstance(value, Tensor | list | tuple | dict) or is_dataclass(value) for value in part):
            return part  # such as the words of a text
        values = [_changed(value, change) for value in part]
        return type(part)(*values) if hasattr(part, "_fields") else type(part)(values)
    return part
