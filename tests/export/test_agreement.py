"""Every network of the catalogue either exports and agrees with onnxruntime, or says why it cannot be exported."""

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.onnx._internal.exporter._registration import ONNXRegistry

from tests.catalogue import MODELS
from tests.families import Family, family_of
from tests.test_contract import small
from zoo.errors import CheckpointError
from zoo.export.folder import TOLERANCE, difference, samples
from zoo.export.graphs import Graph, check_exportable, graphs_of, joined_by
from zoo.export.targets import TARGETS

LAYERS = {"layers": 1, "encoder_layers": 1, "decoder_layers": 1, "num_layers": 1, "layers_per_block": 2}
"""The most layers of each kind. Those of one recurrent network hand a state to the next one: `DEEP`."""
DEEP = "rnn_lm"
STEPS = ("hops", "steps", "process_steps")


def shallow(model: Any) -> dict[str, Any]:
    """Small arguments of a model with few layers: their number does not change how one of them is exported."""
    most = {**LAYERS, "num_layers": 2} if model.name == DEEP else LAYERS

    def cut(name: str, value: Any) -> Any:
        if not value or name not in (*LAYERS, *STEPS):
            return value
        return value[:2] if isinstance(value, str) else min(value, most.get(name, 2))

    return {name: cut(name, value) for name, value in small(model.arguments).items()}


def cases() -> Iterator[Any]:
    for model in MODELS.values():
        for task in model.cls.tasks:
            yield pytest.param(model, family_of(task), id=f"{model.name}-{task}")


def given(family: Family, batch: Any) -> dict[str, Any]:
    """The tensors of a batch that an exported network reads."""
    return {name: getattr(batch, name) for name in family.spec.inputs().tensors}


ALONE = ("han", "memn2n")
"""Networks of two tasks whose files are also run by a program that has torch alone."""
RUN = """
import sys, torch
module = torch.export.load(sys.argv[1]).module()
with torch.no_grad():
    torch.save([module(**tensors) for tensors in torch.load(sys.argv[2])], sys.argv[3])
assert not any(name.split(".")[0] == "zoo" for name in sys.modules)
"""


def runs_without_this_package(graph: Graph, family: Family, tmp_path: Path) -> None:
    """Torch runs the file of a graph for one row and for four."""
    TARGETS["torch"].write(graph, tmp_path / "network.pt2")
    batches = [family.part(family.without_targets(family.batch(2)), range(rows)) for rows in (1, 4)]
    inputs = [given(family, batch) for batch in batches]
    torch.save(inputs, tmp_path / "in.pt")
    names = [tmp_path / name for name in ("network.pt2", "in.pt", "out.pt")]
    subprocess.run([sys.executable, "-I", "-c", RUN, *map(str, names)], check=True, cwd=tmp_path)
    for tensors, found in zip(inputs, torch.load(tmp_path / "out.pt"), strict=True):
        assert difference(graph, lambda _, found=found: found, tensors) <= TOLERANCE


@pytest.fixture(scope="module", autouse=True)
def _operators_listed_once() -> Iterator[None]:
    """The exporter lists all operators for each graph, in a fifth of the time of an export. tests/run exports without
    this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(functools.cache(ONNXRegistry.from_torchlib)))
        yield


@pytest.mark.parametrize(("model", "family"), list(cases()))
def test_a_network_agrees_with_onnxruntime_or_says_why_it_cannot(model: Any, family: Family, tmp_path: Path) -> None:
    torch.manual_seed(1)
    network, inputs = model.cls(family.spec, **shallow(model)), family.spec.inputs()
    if network.not_exported is not None:
        with pytest.raises(
            CheckpointError, match=rf"^{model.cls.__name__} cannot be exported: it {network.not_exported}"
        ):
            check_exportable(network, inputs, "")
        return
    check_exportable(network, inputs, "")
    for graph in graphs_of(network, inputs):
        path = tmp_path / f"{graph.name}.onnx"
        TARGETS["onnx"].write(graph, path)
        run = TARGETS["onnx"].opened(path)
        tried = list(samples(graph, network, inputs))
        if graph.name != "step":  # batches with empty rows, and with other content under the padding
            batches = [family.batch(seed) for seed in (1, 2)]
            batches.append(family.scribbled(batches[0]))
            tried += [given(family, family.exported(batch)) for batch in batches]
        for tensors in tried:
            assert difference(graph, run, tensors) <= TOLERANCE
        if joined_by(network) > 1:  # by itself torch refuses sizes with a memory of one position
            TARGETS["torch"].write(graph, tmp_path / "joins.pt2")
            run = TARGETS["torch"].opened(tmp_path / "joins.pt2")
            assert all(difference(graph, run, tensors) <= TOLERANCE for tensors in tried)
        attended = {name.split("_")[1] for name in graph.outputs if name.startswith("attention_")}
        kinds = set(network.attends)
        if family.generates:  # a step shows only the attention to what is not written
            kinds = {kind for kind in kinds - {"encoder"} if network.attends[kind] != "target_mask"}
        assert attended == (set() if graph.name == "start" else kinds)
        if model.name in ALONE:
            runs_without_this_package(graph, family, tmp_path)
