"""Weights of a network that was trained on other data, as a start (`start_from`).

What depends on the data is found by building the network for data that are a little larger: the axes that grow are
those of a vocabulary, of classes or of positions. A table in the log says what was taken.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zoo.data.batch import Encoder, Spec
from zoo.dotted import built
from zoo.errors import CheckpointError, ZooError
from zoo.layers.pretrained import not_pretrained

How = Literal["taken", "adapted", "new"]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Data:
    """The data that a network was built for."""

    spec: Spec
    encoder: Encoder

    def entries(self, field: str) -> Sequence[Any] | None:
        """The entries of an axis that a field of the spec counts, in order: words, classes or positions.

        None where equal numbers of two data sets do not mean the same, such as channels.
        """
        value = getattr(self.spec, field)
        if isinstance(value, tuple):
            return value
        words = self.encoder.entries(field)
        return range(value) if words is None and field.startswith("longest") else words


@dataclass(frozen=True)
class Outcome:
    """The outcome of a transfer for one tensor of the network."""

    name: str
    how: How
    detail: str = ""


def transfer(
    network: nn.Module, weights: Mapping[str, Tensor], model: Mapping[str, Any], old: Data, new: Data
) -> list[Outcome]:
    """Copy the weights that fit into `network`, which was built for the data `new`.

    Rows of words that both vocabularies have are copied; other rows keep their values. Rows of classes are copied if
    all classes are equal.

    Args:
        network: the network to fill.
        weights: those of the checkpoint, by name.
        model: the hyperparameters of the network, with its `_target_`.
        old: the data of the checkpoint.
        new: the data of this run.

    Raises:
        CheckpointError: a tensor that does not depend on the data has another shape, so that the sizes differ.
    """
    own, outcomes = network.state_dict(), []
    axes = data_axes(model, new.spec)
    for name, tensor in own.items():
        if name not in weights:
            outcomes.append(Outcome(name, "new", "not in the checkpoint"))
            continue
        outcomes.append(_filled(name, tensor, weights[name], axes.get(name, {}), old, new))
    network.load_state_dict(own)
    outcomes += [Outcome(name, "new", "not in this network") for name in weights.keys() - own.keys()]
    return outcomes


def _filled(name: str, own: Tensor, weight: Tensor, axes: Mapping[int, str], old: Data, new: Data) -> Outcome:
    """Copy a tensor of a checkpoint into that of the network, row by row where an axis depends on the data."""
    if own.dim() != weight.dim() or any(own.shape[d] != weight.shape[d] for d in range(own.dim()) if d not in axes):
        raise CheckpointError(
            f"start_from: the checkpoint has the weights of another network: {name} is {tuple(weight.shape)} there, "
            f"{tuple(own.shape)} here; use the same model= and sizes"
        )
    chosen: list[tuple[list[int], list[int]]] = []
    for dim in range(own.dim()):
        pairs = _shared(axes[dim], old, new, weight.shape[dim], own.shape[dim]) if dim in axes else None
        if pairs is None:
            pairs = list(range(weight.shape[dim])), list(range(own.shape[dim]))
        if not pairs[0]:
            return Outcome(name, "new", f"other {_noun(axes[dim])}")
        chosen.append(pairs)
    there = weight[torch.meshgrid(*(torch.tensor(one) for one, _ in chosen), indexing="ij")] if chosen else weight
    if chosen:
        own[torch.meshgrid(*(torch.tensor(one) for _, one in chosen), indexing="ij")] = there.to(own)
    else:
        own.copy_(there)
    parts = [
        f"{len(chosen[dim][0]):,} of {own.shape[dim]:,} {_noun(field)}"
        for dim, field in axes.items()
        if chosen[dim][0] != list(range(own.shape[dim])) or chosen[dim][1] != chosen[dim][0]
    ]
    return Outcome(name, "adapted", ", ".join(dict.fromkeys(parts))) if parts else Outcome(name, "taken")


def _shared(field: str, old: Data, new: Data, there: int, here: int) -> tuple[list[int], list[int]] | None:
    """The positions, in the old and the new tensor, of the entries of an axis that both have; None: all of them.

    An axis that is a fixed number longer than its entries, for an end mark or a padding, keeps these at its end.
    """
    before, after = old.entries(field), new.entries(field)
    if before is None or after is None or list(before) == list(after):
        return None if there == here else ([], [])
    if isinstance(getattr(new.spec, field), tuple) or there - len(before) != here - len(after):
        return [], []
    number = {entry: place for place, entry in enumerate(before)}
    pairs = [(number[entry], place) for place, entry in enumerate(after) if entry in number]
    pairs += [(len(before) + k, len(after) + k) for k in range(there - len(before))]
    return [one for one, _ in pairs], [one for _, one in pairs]


def _noun(field: str) -> str:
    return "words" if field.endswith("_size") else "positions" if field.startswith("longest") else field


def data_axes(model: Mapping[str, Any], spec: Spec) -> dict[str, dict[int, str]]:
    """The axes of each tensor that depend on the data: tensor -> {dimension: field of the spec}."""
    found: dict[str, dict[int, str]] = {}
    usual = _shapes(model, spec)
    for field, larger in _larger(spec):
        try:
            shapes = _shapes(model, larger)
        except (RuntimeError, ValueError, ZooError):
            continue  # no data of this kind
        for name in usual.keys() & shapes.keys():
            for dim, (before, after) in enumerate(zip(usual[name], shapes[name], strict=False)):
                if before != after:
                    found.setdefault(name, {})[dim] = field
    return found


def _larger(spec: Spec) -> Iterator[tuple[str, Spec]]:
    """Specs in which one number is larger by one, or one list of names is longer."""
    for one in fields(spec):
        value = getattr(spec, one.name)
        if isinstance(value, int) and not isinstance(value, bool):
            yield one.name, replace(spec, **{one.name: value + 1})
        elif isinstance(value, tuple) and value and all(isinstance(part, str) for part in value):
            yield one.name, replace(spec, **{one.name: (*value, "one more")})


def _shapes(model: Mapping[str, Any], spec: Spec) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"), not_pretrained(), torch.random.fork_rng(devices=[]):
        return {name: tuple(tensor.shape) for name, tensor in built(model, nn.Module, spec).state_dict().items()}


def report(outcomes: Sequence[Outcome], network: nn.Module) -> None:
    """Log what was taken, adapted and new."""
    shapes = {name: " x ".join(map(str, tensor.shape)) for name, tensor in network.state_dict().items()}
    taken = sum(one.how == "taken" for one in outcomes)
    log.info("start_from: %d of %d tensors are taken as they are", taken, len(shapes))
    for one in outcomes:
        if one.how != "taken":
            log.info("start_from: %-7s %s (%s): %s", one.how, one.name, shapes.get(one.name, "-"), one.detail)
