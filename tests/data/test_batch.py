"""The base class of batches: every tensor is moved, cast and shortened, also in nested fields."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
import torch

from zoo.data.batch import Batch
from zoo.data.bits.batch import BitBatch
from zoo.data.pairs.batch import PairBatch
from zoo.data.points.batch import PointBatch
from zoo.layers.packing import Packing


class Edges(NamedTuple):
    parents: torch.Tensor
    children: torch.Tensor


@dataclass(frozen=True)
class Level:
    nodes: torch.Tensor
    name: str


@dataclass(frozen=True)
class Forest(Batch):
    index: torch.Tensor
    levels: tuple[Level, ...]
    edges: Edges
    weights: dict[str, list[torch.Tensor]]
    packing: Packing
    words: tuple[tuple[str, ...], ...]

    def __len__(self):
        return len(self.index)

    def first(self, count):
        return replace(self, index=self.index[:count].clone())


def forest():
    return Forest(
        index=torch.arange(2),
        levels=(Level(torch.ones(3), "leaves"), Level(torch.zeros(1), "root")),
        edges=Edges(torch.tensor([0]), torch.tensor([1])),
        weights={"left": [torch.rand(2)], "right": []},
        packing=Packing.of(torch.tensor([[True, True], [True, False]])),
        words=(("a", "b"),),
    )


def test_tensors_inside_tuples_dicts_and_dataclasses_are_moved():
    moved = forest().to("meta")
    nodes = [level.nodes for level in moved.levels]
    tensors = [moved.index, *nodes, *moved.edges, *moved.weights["left"], moved.packing.row]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert isinstance(moved.edges, Edges) and moved.weights["right"] == []
    assert (moved.levels[1].name, moved.words) == ("root", (("a", "b"),))


def test_real_numbers_inside_are_cast_and_others_are_not():
    cast = forest().cast(torch.bfloat16)
    assert {level.nodes.dtype for level in cast.levels} == {cast.weights["left"][0].dtype} == {torch.bfloat16}
    assert cast.edges.parents.dtype == torch.int64
    assert torch.equal(cast.packing.cell, forest().packing.cell) and cast.words == forest().words


def test_what_results_are_judged_by_is_not_cast():
    """The three corners of a flat triangle, whose area has no bits left in bfloat16."""
    points = torch.tensor([[[0.5, 0.5], [0.75, 0.5], [0.7501, 0.5001]]])
    batch = PointBatch(points, torch.ones(1, 3, dtype=torch.bool), scale=torch.tensor([1715.0]))
    cast = batch.cast(torch.bfloat16)
    assert cast.points is points and cast.scale.item() == 1715
    bits = BitBatch(points, torch.ones(1, 3) > 0, torch.ones(1, 3) > 0, optimal_bits=torch.tensor([146.878]))
    cast = bits.cast(torch.bfloat16)
    assert cast.inputs.dtype == torch.bfloat16 and cast.optimal_bits is bits.optimal_bits


@pytest.mark.parametrize("targets", [True, False])
def test_the_first_examples_are_built_like_the_batch(targets):
    ids, mask = torch.tensor([[4, 5, 3], [6, 3, 0]]), torch.tensor([[True, True, True], [True, True, False]])
    written = {"target": ids, "target_mask": mask, "begin": 9, "target_text": ("a", "b")} if targets else {}
    batch = PairBatch(ids, mask, **written, index=torch.tensor([7, 8]))
    first = batch.first(1)
    assert first.source.tolist() == [[4, 5, 3]] and first.index.tolist() == [7]
    assert first.source_packing.cell.tolist() == [0, 1, 2]
    assert first.source.data_ptr() != ids.data_ptr()
    if targets:
        assert (first.target_input.tolist(), first.target_text) == ([[9, 4, 5]], ("a",))
    else:
        assert first.target is first.target_packing is first.target_text is None


def test_a_batch_that_is_there_is_not_copied():
    batch = forest()
    assert batch.to("cpu") is batch
