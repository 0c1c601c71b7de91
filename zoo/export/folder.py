"""Exports a trained network to a folder: its graphs, its vocabulary, and what a program has to know to run them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zoo import __version__
from zoo.data.inputs import Inputs
from zoo.errors import CheckpointError, ConfigError
from zoo.export.graphs import Graph, Written, check_exportable, graphs_of, joined_by
from zoo.export.readme import readme
from zoo.export.targets import TARGETS, Run, Target
from zoo.layers.modes import evaluating

TOLERANCE = 1e-5
"""The largest difference between a graph and its network, relative to the largest number of an output and at least to
1."""
MANIFEST = "manifest.json"


def check_folder(folder: Path) -> None:
    """Raises ConfigError unless a folder can be written: it does not exist, or is empty."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        found = "is not empty" if folder.is_dir() else "is a file"
        raise ConfigError(f"{folder} {found}: remove it, or choose another folder with --out DIR")


def export(predictor: Any, to: str, folder: Path) -> dict[str, float]:
    """Write the network of a predictor, whole or not at all; return the largest difference of each graph from it.

    Raises CheckpointError if the network cannot be exported, or if a graph differs from it by more than TOLERANCE.
    """
    task, target = predictor.task, TARGETS[to]
    network, inputs = task.network, task.spec.inputs()
    check_exportable(network, inputs, type(task.spec).__name__)
    graphs = graphs_of(network, inputs)
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        unfinished.mkdir(parents=True)
        differences = {}
        for graph in graphs:
            path = unfinished / f"{graph.name}.{target.suffix}"
            target.write(graph, path)
            differences[graph.name] = _checked(graph, target.opened(path), network, inputs)
        files = predictor.encoder.files()
        about = manifest(predictor, graphs, target, list(files))
        text = json.dumps(about, ensure_ascii=False, indent=1) + "\n"
        files |= {MANIFEST: text, "README.md": readme(about, to, files)}
        for name, text in files.items():
            (unfinished / name).write_text(text, encoding="utf-8")
        unfinished.replace(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error}); choose another folder with --out DIR") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return differences


def manifest(predictor: Any, graphs: list[Graph], target: Target, files: list[str]) -> dict[str, Any]:
    """Return the facts that a program needs to run the graphs, as plain values."""
    task = predictor.task
    inputs: Inputs = task.spec.inputs()
    return {
        "network": type(task.network).__name__,
        "task": task.name,
        "versions": {"attention-zoo": __version__, "torch": str(torch.__version__)},
        "graphs": {
            graph.name: {
                "file": f"{graph.name}.{target.suffix}",
                "about": graph.about,
                "inputs": {
                    name: {"dtype": port.dtype, "shape": list(port.shape), **_values(name, inputs)}
                    for name, port in graph.inputs.items()
                },
                "outputs": {
                    name: {"dtype": port.dtype, "shape": list(port.shape)} for name, port in graph.outputs.items()
                },
            }
            for graph in graphs
        },
        "spec": asdict(task.spec),
        "rule": task.rule(),
        "files": files,
    }


def _values(name: str, inputs: Inputs) -> dict[str, str]:
    return {"values": inputs.tensors[name].values} if name in inputs.tensors else {}


def _checked(graph: Graph, run: Run, network: Any, inputs: Inputs) -> float:
    """The largest difference of a written graph from the network, for inputs of other sizes than the traced ones."""
    name = type(network).__name__
    try:
        largest = max(difference(graph, run, tensors) for tensors in samples(graph, network, inputs))
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise CheckpointError(
            f"{name} cannot be exported: `{graph.name}` does not run for inputs of other sizes ({reason}); nothing was "
            "written"
        ) from error
    if largest > TOLERANCE:
        raise CheckpointError(
            f"{name} cannot be exported: `{graph.name}` differs from the network by {largest:.1g}, "
            f"expected at most {TOLERANCE:g}; nothing was written"
        )
    return largest


def samples(graph: Graph, network: Any, inputs: Inputs) -> Iterator[dict[str, Tensor]]:
    """Random inputs of a graph, of other sizes than the traced ones; among them batches of one example."""
    joins = joined_by(network)
    every = dict.fromkeys(inputs.axes, 2 * joins)
    for size in (1, len(inputs.axes) + 3):
        sizes = {**every, "batch": 1} if size == 1 else dict.fromkeys(every, size * joins)
        if graph.name == "step":
            with evaluating(network):
                yield Written(network, inputs, sizes, hypotheses=size, steps=size - 1).step
        else:
            yield inputs.drawn(sizes, seed=size)
            yield inputs.drawn(dict.fromkeys(every, 1))


def difference(graph: Graph, run: Run, tensors: dict[str, Tensor]) -> float:
    """The largest difference of a written graph from the network, relative to the largest number of each output and at
    least to 1; infinite where shapes differ or one of them is not finite."""
    with evaluating(graph.face):
        expected = graph.face(**tensors)
        found = run(tensors)
        return max(_difference(found[name], part) for name, part in expected.items())


def _difference(found: Tensor, expected: Tensor) -> float:
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return float("inf")
    if not expected.is_floating_point():
        return 0.0 if torch.equal(found, expected) else float("inf")
    finite = expected.isfinite()
    if not (torch.equal(found.isfinite(), finite) and torch.equal(found[~finite], expected[~finite])):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = expected[finite].abs().max().clamp(min=1)
    return float((found[finite] - expected[finite]).abs().max() / scale)
