"""Random batches for the contract tests: one file per task, with its `FAMILY`. Nothing lists them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from hydra.utils import get_class
from torch import Tensor, nn

from zoo.models.output import Output
from zoo.tasks import Task

LONG = 400
"""Positions of a long row: bfloat16 cannot count beyond 256."""
IMPOSSIBLE = -1000.0
"""Replaces the log-probability of impossible tokens: a finite number can be compared and summed."""
MORE = 2
"""Padding that is added to every axis."""


class Family:
    """The facts about a task's data that the contracts need.

    Most batches are padded tensors: `grids` names the mask of each, and cutting, padding and scribbling follow from it.
    """

    spec: Any
    task_class: str
    """The dotted name of the task."""
    encoder: Any = None
    """As much of the data's encoder as a task's training asks for."""
    generates = False
    """Its networks write a sequence, token after token: `start` and `step` beside `forward`."""
    sampled = False
    """Its networks predict the samples of a sound: `start` and `step` of a sample beside `forward`."""
    ordered = False
    """Its networks predict the values of a picture in an order: `start` and `step` of a pixel beside `forward`."""
    in_order = False
    """Its networks predict values in an order that are neither tokens nor pixels: `forward` reads none too early."""
    grids: ClassVar[dict[str, str]] = {}
    """The mask of each padded tensor of a batch, (B, ...) as far as the axes of the mask go."""
    singles: ClassVar[tuple[str, ...]] = ()
    """Tensors with a row for each example, (B, ...)."""
    padding: ClassVar[dict[str, int]] = {}
    """The number at the padding of a tensor, where it is not 0."""
    scribble: ClassVar[dict[str, float]] = {}
    """Other content for the padding of a tensor, where it is not 7; masks are left as they are."""

    sizes: ClassVar[Sequence[Any]]
    """The unequal sizes of the examples of a batch, as `of_sizes` reads them."""
    nothing: ClassVar[Sequence[Any]]
    """The sizes of the examples that hold nothing at all."""
    long: ClassVar[Sequence[Any]]
    """Sizes with rows of hundreds of positions to attend to: sums in half precision go wrong there."""
    targets: ClassVar[tuple[str, ...]] = ()
    """The fields of a batch that are None when predicting."""
    of_sizes: Callable[[Any, int], Any]
    """Returns a random batch with targets, from the sizes of its examples and a seed."""
    loss: Callable[[Output, Any], Tensor]
    """The task's loss, from the output for a batch."""

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        """Examples of unequal size with targets; one or more of them hold nothing at all where `empty`."""
        return self.of_sizes([*self.sizes, *(self.nothing if empty else ())], seed)

    def long_batch(self) -> Any:
        return self.of_sizes(self.long, 1)

    def without_targets(self, batch: Any) -> Any:
        """The examples of a batch in the form of a prediction."""
        return replace(batch, **dict.fromkeys(self.targets))

    def started(self, network: nn.Module) -> nn.Module:
        """The network with its parts at work. A part whose share begins at 0 would leave others without a gradient."""
        return network

    def exported(self, batch: Any) -> Any:
        """The examples of a batch in the form that an exported network reads."""
        return self.without_targets(batch)

    def made(self, tensors: dict[str, Tensor], like: Any) -> Any:
        """A batch like another one, of `grids`, their masks and `singles`."""
        return type(like)(**tensors)

    def part(self, batch: Any, rows: Sequence[int]) -> Any:
        """The examples `rows` of `batch` in that order, padded no more than they need."""
        tensors = {name: part[list(rows)] for name, part in self._tensors(batch).items()}
        for name, mask in self._masks(tensors):
            axes = range(1, mask.dim())
            width = [1 + int(mask.transpose(0, axis).flatten(1).any(1).nonzero().amax()) for axis in axes if mask.any()]
            tensors[name] = tensors[name][(slice(None), *map(slice, width or [1] * len(axes)))]
        return self.made(tensors, batch)

    def padded(self, batch: Any) -> Any:
        """The examples of `batch` with more padding on every axis."""
        tensors = self._tensors(batch)
        for name, mask in self._masks(tensors):
            others = (0, 0) * (tensors[name].dim() - mask.dim())
            more = (*others, *(0, MORE) * (mask.dim() - 1))
            tensors[name] = F.pad(tensors[name], more, value=self.padding.get(name, 0))
        return self.made(tensors, batch)

    def scribbled(self, batch: Any) -> Any:
        """The examples of `batch` with other content under the padding."""
        tensors = self._tensors(batch)
        for name, mask in self._masks(tensors):
            if tensors[name].dtype != torch.bool:
                shape = (*mask.shape, *[1] * (tensors[name].dim() - mask.dim()))
                tensors[name] = tensors[name].masked_fill(~mask.view(shape), self.scribble.get(name, 7))
        return self.made(tensors, batch)

    def _tensors(self, batch: Any) -> dict[str, Tensor]:
        """The tensors of a batch; it may lack targets."""
        names = [*self.grids, *self.grids.values(), *self.singles]
        return {name: part for name in dict.fromkeys(names) if (part := getattr(batch, name)) is not None}

    def _masks(self, tensors: dict[str, Tensor]) -> list[tuple[str, Tensor]]:
        """Each tensor and each mask with its mask."""
        masks = {**self.grids, **{mask: mask for mask in self.grids.values()}}
        return [(name, tensors[mask]) for name, mask in masks.items() if name in tensors]

    def rows(self, batch: Any, kind: str, mask: Tensor) -> Tensor:
        """Mask (..., S) of the positions that each row of attention called `kind` may attend to, given the memory's
        `mask`.

        For the network's own memory it is (..., 1), True at rows that attend to something.
        """
        return mask

    def scores(self, output: Output, batch: Any) -> Tensor:
        """The logits with an example a row, (B, ...), zero at padding, and finite: where the network rules something
        out they are log-probabilities of at least `IMPOSSIBLE`. Of values that are predicted in an order (B, T, ...),
        row t for value t."""
        return output.logits

    def task(self, model: dict[str, Any], *, attends: bool) -> Task:
        """A task around the network that `model` describes, with all possible terms of its loss: a penalty if the
        network `attends`."""
        return get_class(self.task_class)(model=model, monitor="val/loss", mode="min", **self.terms(attends))

    def terms(self, attends: bool) -> dict[str, Any]:
        """The arguments of the task that describe its loss."""
        return {}


class Writing(Family):
    """The part that families of a `WritingBatch` share."""

    generates = True
    targets = ("target", "target_input", "target_mask", "target_packing")
    objective: ClassVar[dict[str, Any]] = {"_target_": "zoo.objectives.CrossEntropy"}
    penalty: ClassVar[dict[str, Any]] = {}
    """The penalty on attention, if the task has one."""

    def terms(self, attends: bool) -> dict[str, Any]:
        penalty = {"regularizer": self.penalty if attends else None} if self.penalty else {}
        return {"objective": self.objective, "decoding": {"_target_": "zoo.decoding.Greedy"}, **penalty}

    def made(self, tensors: dict[str, Tensor], like: Any) -> Any:
        return type(like)(**tensors, begin=self.spec.begin)

    def changed(self, batch: Any, place: int) -> tuple[Any, Tensor]:
        """The batch with another token at `place` of each target, and (B,) True at the examples where that could be
        done and where another token follows."""
        other = self.readable(batch).scatter(1, batch.target[:, place, None], False)
        rows = other.any(1) & (batch.target_mask.sum(1) > place + 1)
        read = batch.target_input.clone()
        read[rows, place + 1] = other[rows].int().argmax(1)
        return replace(batch, target_input=read), rows

    def readable(self, batch: Any) -> Tensor:
        """(B, V) True at the tokens of each example that a network can read after begin."""
        return (torch.arange(self.spec.target_size) > self.spec.end).expand(len(batch), -1)

    def with_target(self, batch: Any, ids: Sequence[int]) -> Any:
        """A batch of one example with `ids` as what is to be written."""
        target = torch.tensor([ids])
        written = {"target": target, "target_mask": torch.ones_like(target, dtype=torch.bool)}
        return self.made(self._tensors(batch) | written, batch)

    def rows(self, batch: Any, kind: str, mask: Tensor) -> Tensor:
        read = batch.source_mask if kind == "encoder" else batch.forced.mask
        seen = read[:, :, None] & mask[:, None]
        return seen.tril() if kind == "decoder" else seen

    def scores(self, output: Output, batch: Any) -> Tensor:
        return batch.forced.packing.unpack(output.logits)

    def loss(self, output: Output, batch: Any) -> Tensor:
        return F.cross_entropy(precise(output.logits), output.true_tokens(batch)) + sum(output.losses.values())


def mask_of(lengths: Sequence[int]) -> Tensor:
    """(B, T) True at the first of so many positions of each row."""
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def nested_mask(lengths: Sequence[Sequence[int]]) -> Tensor:
    """(B, S, W) True at the first of so many words of each sentence of each text."""
    longest = max(map(len, lengths))
    flat = mask_of([length for text in lengths for length in (*text, *[0] * (longest - len(text)))])
    return flat.view(len(lengths), longest, -1)


def precise(scores: Tensor) -> Tensor:
    """In float32 at least."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


@cache
def family_of(task: str) -> Family:
    """The data of a task, for the contract."""
    return import_module(f"tests.families.{task}").FAMILY
