"""Traces the faces of a network by `torch.export`: graphs with named inputs, outputs and axes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.utils._sympy.value_ranges import ValueRanges

from zoo.data.batch import WritingBatch
from zoo.data.inputs import Axes, Inputs
from zoo.errors import CheckpointError
from zoo.export.faces import TOKENS, Face, Start, Step, Whole, parts_of
from zoo.layers.modes import evaluating

WRITTEN = 2  # Tokens that are read before a step is traced


@dataclass(frozen=True)
class Port:
    """An input or an output of a graph."""

    dtype: str
    shape: Axes
    """Sizes that may vary have a name, or are a sum such as `points + 1`."""


@dataclass(frozen=True)
class Graph:
    """A function of a network, traced."""

    name: str
    about: str
    """A sentence that says what it computes."""
    face: Face
    program: ExportedProgram
    inputs: dict[str, Port]
    outputs: dict[str, Port]


class Written:
    """Random tensors for all graphs of a network that writes, for sizes of the axes of its inputs."""

    def __init__(self, network: Any, inputs: Inputs, sizes: Mapping[str, int], hypotheses: int, steps: int) -> None:
        self.start = inputs.drawn(sizes)
        batch = inputs.of(self.start)
        state = network.start(batch)
        self.tokens = torch.full((len(batch), hypotheses), batch.begin)
        state = state.reorder(torch.zeros_like(self.tokens))
        for _ in range(steps):
            state = network.step(self.tokens, state).state
        self.state, self.step = state, {TOKENS: self.tokens, **parts_of(state)}


def check_exportable(network: nn.Module, inputs: Inputs | None, spec: str) -> None:
    """Raises CheckpointError, with the reason, for a network that declares that it cannot be exported, and for data
    whose `spec` does not declare the inputs of a network."""
    name = type(network).__name__
    reason = getattr(network, "not_exported", None)
    if getattr(network, "carries", False) and not hasattr(network, "start"):
        reason = "carries a state from batch to batch"
    if reason is not None:
        raise CheckpointError(f"{name} cannot be exported: it {reason}")
    if inputs is None:
        raise CheckpointError(
            f"{name} cannot be exported: {spec} does not declare what a network reads; it needs a method `inputs`, as "
            "DocumentSpec has one in zoo/data/documents/batch.py"
        )


def joined_by(network: nn.Module) -> int:
    """The positions of the input that each position of a network's memory joins; a network that says nothing joins
    none."""
    return int(getattr(network, "joins", 1))


def graphs_of(network: Any, inputs: Inputs) -> list[Graph]:
    """Trace a network in evaluation: `network`, or `start` and `step` of one that writes.

    Raises CheckpointError where the operations depend on the values or the sizes of the inputs.
    """
    with evaluating(network):
        joins = joined_by(network)
        sizes = {axis: number * joins for number, axis in enumerate(inputs.axes, 3)}
        axes = {
            name: {axis: size for axis, size in enumerate(given.axes) if isinstance(size, str)}
            for name, given in inputs.tensors.items()
        }
        if not issubclass(inputs.batch, WritingBatch):
            about = "Predicts a batch."
            return [_traced("network", about, Whole(network, inputs), inputs.drawn(sizes), axes)]
        larger = {axis: size + joins for axis, size in sizes.items()}
        small, large = Written(network, inputs, sizes, 2, WRITTEN), Written(network, inputs, larger, 3, 0)
        about = "Encodes a batch; its outputs are the state before the first token, with one hypothesis per example."
        start = _traced("start", about, Start(network, inputs), small.start, axes)
        axes = {
            name: {
                axis: _name_in_state(name, axis, start.outputs)
                for axis, (size, other) in enumerate(zip(part.shape, large.step[name].shape, strict=True))
                if size != other
            }
            for name, part in small.step.items()
        }
        about = "Reads one token of each hypothesis, and scores the next ones."
        return [start, _traced("step", about, Step(network, small.state), small.step, axes)]


def _name_in_state(name: str, axis: int, start: Mapping[str, Port]) -> str:
    """The name of an axis that varies: in a part of the state that `start` gives, or else of what the steps change."""
    if axis == 1 and (name == TOKENS or name.startswith("hypotheses_")):
        return "hypotheses"
    size = "batch" if name == TOKENS else start[name].shape[axis]
    return size if isinstance(size, str) else "written"


def _traced(
    name: str, about: str, face: Face, example: dict[str, Tensor], axes: Mapping[str, Mapping[int, str]]
) -> Graph:
    """Trace a face. `axes` names the axes of each input that may vary."""
    dynamic = {key: dict.fromkeys(axes[key], Dim.DYNAMIC) for key in example}
    try:
        program = torch.export.export(face, (), example, dynamic_shapes=dynamic)
    except Exception as error:
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        raise CheckpointError(
            f"{type(face.network).__name__} cannot be exported: torch.export cannot trace `{name}` ({reason}); change "
            "operations that depend on values, or on a size as a Python number, such as len(x) instead of x.shape[0], "
            "or declare the reason as the network's `not_exported`"
        ) from error
    program._guards_code = []  # they refuse sizes of 1, for which the graph is right; `zoo.export.folder` checks it
    for symbol, found in program.range_constraints.items():  # so do these, and sizes with a memory of one position
        program.range_constraints[symbol] = ValueRanges(min(found.lower, 1), found.upper)
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    given = program.call_spec.in_spec.unflatten(list(program.graph_signature.user_inputs))[1]
    found = program.call_spec.out_spec.unflatten(list(program.graph_signature.user_outputs))
    names: dict[str, str] = {}
    for key, node in given.items():
        for axis, size in axes[key].items():
            names.setdefault(str(values[node].shape[axis]), size if size.isidentifier() else f"({size})")

    def ports(nodes: Mapping[str, str]) -> dict[str, Port]:
        return {key: _port(values[node], names) for key, node in nodes.items()}

    return Graph(name, about, face, program, ports(given), ports(found))


def _port(value: Tensor, names: Mapping[str, str]) -> Port:
    """The type and shape of a tensor; `names` are those of torch's symbols of sizes."""
    shape = (re.sub(r"[a-z]+\d+", lambda found: names.get(found[0], found[0]), str(size)) for size in value.shape)
    sums = (ast.unparse(ast.parse(size, mode="eval")) for size in shape)  # without the parentheses of parentheses
    return Port(
        str(value.dtype).removeprefix("torch."), tuple(int(size) if size.isdecimal() else size for size in sums)
    )
