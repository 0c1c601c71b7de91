"""The forms in which a graph is written: files of ONNX, and of `torch.export`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import torch
from torch import Tensor

from zoo.errors import ConfigError, alternatives
from zoo.export.graphs import Graph

LARGEST = 2**30  # Bytes of weights in one file of ONNX; its format ends at 2 GiB

Run = Callable[[Mapping[str, Tensor]], dict[str, Tensor]]
"""A written graph: from its inputs to its outputs, by their names."""


@dataclass(frozen=True)
class Target:
    """A form in which a graph is written."""

    suffix: str  # Of its files
    packages: tuple[str, ...]
    """The packages that it needs besides those that the zoo always has."""
    write: Callable[[Graph, Path], None]
    opened: Callable[[Path], Run]
    """Opens a written file."""

    def check(self) -> None:
        """Raises ConfigError if a package is missing."""
        if missing := [name for name in self.packages if find_spec(name) is None]:
            raise ConfigError(
                f"--to onnx: {alternatives(missing)} is not installed; pip install -e '.[export]', or use --to torch"
            )


def _write_onnx(graph: Graph, path: Path) -> None:
    weights = sum(one.numel() * one.element_size() for one in graph.program.state_dict.values())
    with _silent(), torch.no_grad():
        program = torch.onnx.export(
            graph.program,
            (),
            dynamo=True,
            input_names=list(graph.inputs),
            output_names=list(graph.outputs),
            verbose=False,
        )
        assert program is not None
        shape = import_module("onnx_ir").Shape
        for value in (*program.model.graph.inputs, *program.model.graph.outputs):  # torch calls its axes s27
            value.shape = shape({**graph.inputs, **graph.outputs}[str(value.name)].shape)
        program.save(path, external_data=weights > LARGEST)


def _open_onnx(path: Path) -> Run:
    onnxruntime = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    read = [value.name for value in session.get_inputs()]

    def run(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        found = session.run(None, {name: tensors[name].numpy() for name in read})
        return dict(zip(names, map(torch.from_numpy, found), strict=True))

    return run


def _write_torch(graph: Graph, path: Path) -> None:
    with _silent():
        torch.export.save(graph.program, path)


def _open_torch(path: Path) -> Run:
    module = torch.export.load(path).module()

    def run(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        with torch.no_grad():
            found: dict[str, Tensor] = module(**tensors)
            return found

    return run


@contextmanager
def _silent() -> Iterator[None]:
    """Without the notes of the exporter, which concern its own code."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


TARGETS = {
    "onnx": Target("onnx", ("onnx", "onnxscript", "onnxruntime"), _write_onnx, _open_onnx),
    "torch": Target("pt2", (), _write_torch, _open_torch),
}
"""The targets by the word after --to."""
