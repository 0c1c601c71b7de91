"""A task that writes from something else than tokens: the words for the regions of a picture, from left to right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torchmetrics import Metric

from zoo.attention import masked_softmax
from zoo.data.batch import Spec, WritingBatch
from zoo.decoding import Hypothesis
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.state import State, Step
from zoo.metrics import Share
from zoo.models.output import Output
from zoo.objectives.feeding import walk
from zoo.tasks import Generation

REGIONS, KINDS = 4, 5


@dataclass(frozen=True)
class RegionSpec(Spec):
    """Pictures of at most 4 regions, each of one of 5 kinds, which the tokens from 4 on name."""

    region_dim: int = KINDS + REGIONS
    words: int = 4 + KINDS
    longest_target: int = REGIONS + 1
    padding: int = 0
    begin: int = 2
    end: int = 3


SPEC = RegionSpec()


@dataclass(frozen=True)
class RegionBatch(WritingBatch):
    """B pictures of R regions, and the words for them."""

    regions: Tensor
    """(B, R, D) the kind and the position of each."""
    memory_mask: Tensor
    """(B, R) True at regions. Missing ones may be anywhere."""
    index: Tensor
    alignment: Tensor | None
    """(B, T, R)."""

    @property
    def content_mask(self) -> Tensor:
        return self.memory_mask

    @property
    def memory_length(self) -> Tensor:
        """A caption's length does not follow from the number of regions: it is measured by the picture."""
        return torch.ones(len(self), dtype=torch.long)

    def __len__(self) -> int:
        return len(self.regions)


def pictures(kinds: list[list[int]]) -> RegionBatch:
    """Pictures of regions of these kinds, -1 where there is none."""
    kind = torch.tensor(kinds)
    mask = kind >= 0
    what, where = nn.functional.one_hot(kind.clamp(min=0), KINDS), torch.eye(REGIONS).expand(len(kind), -1, -1)
    target = torch.full((len(kind), REGIONS + 1), SPEC.padding)
    alignment = torch.zeros(len(kind), REGIONS + 1, REGIONS, dtype=torch.bool)
    for b, row in enumerate(kinds):
        there = [r for r in range(REGIONS) if row[r] >= 0]
        target[b, : len(there) + 1] = torch.tensor([*(4 + row[r] for r in there), SPEC.end])
        alignment[b, range(len(there)), there] = True
    return RegionBatch(
        target=target,
        target_mask=target != SPEC.padding,
        regions=torch.cat([what, where], 2) * mask[..., None],
        memory_mask=mask,
        index=torch.arange(len(kind)),
        alignment=alignment,
    )


SEVERAL = pictures([[0, 1, 2, 3], [4, -1, 0, 0], [-1, 2, -1, 1], [3, 3, -1, -1], [1, 4, 2, -1], [-1, -1, -1, 2]])


class Namer(nn.Module):
    """A GRU cell over the words with dot attention on the regions."""

    tasks = ("naming",)
    attends: ClassVar[Mapping[str, str]] = {"source": "memory_mask"}

    def __init__(self, spec: RegionSpec, *, width: int = 24) -> None:
        super().__init__()
        self.region = nn.Linear(spec.region_dim, width)
        self.word = TokenEmbedding(spec.words, width)
        self.cell = nn.GRUCell(width, width)
        self.output = nn.Linear(2 * width, spec.words)

    def start(self, batch: RegionBatch) -> State:
        states = self.region(batch.regions)
        hidden = torch.zeros_like(states[:, :1])  # all that it knows of a picture comes by attention
        return State({"states": states, "mask": batch.memory_mask[:, None]}, {"hidden": hidden})

    def step(self, tokens: Tensor, state: State) -> Step:
        states, before = state.memory["states"], state.hypotheses["hidden"]
        hidden = self.cell(self.word(tokens).flatten(0, 1), before.flatten(0, 1)).view_as(before)
        weights = masked_softmax(hidden @ states.transpose(1, 2), state.memory["mask"])
        context = weights @ states
        log_probs = self.output(torch.cat([hidden, context], 2)).log_softmax(2)
        return Step(log_probs, State(state.memory, {"hidden": (hidden + context) / 2}), {"source": weights})

    def forward(self, batch: RegionBatch, *, need_weights: bool = True) -> Output:
        return walk(self, batch, lambda _, truth: truth, need_weights=need_weights)


class Naming(Generation):
    """All that a task of generation has to write down."""

    name = "naming"

    def metrics(self) -> dict[str, Metric]:
        return {**super().metrics(), "exact_match": Share()}

    def score_written(self, stage: str, batch: RegionBatch, hypotheses: list[Hypothesis]) -> None:
        rows = zip(hypotheses, batch.target, batch.forced.mask, strict=True)
        self.record(stage, "exact_match", [best.ids == tuple(row[mask].tolist()) for best, row, mask in rows])

    def predictions(self, batch: RegionBatch, words: list[Any]) -> list[Any]:
        return self.predict_step(batch)

    def examine(self, batch: RegionBatch) -> list[Any]:
        return self.predict_step(batch)


def naming(objective: Any = None, decoding: Any = None, regularizer: Any = None) -> Naming:
    """A new task with its network, seeded."""
    torch.manual_seed(0)
    task = Naming(
        model={"_target_": "tests.tasks.regions.Namer"},
        objective=objective or {"_target_": "zoo.objectives.CrossEntropy"},
        decoding=decoding or {"_target_": "zoo.decoding.Greedy"},
        regularizer=regularizer,
        optimizer={"_target_": "torch.optim.Adam", "lr": 0.03},
        monitor="val/loss",
        mode="min",
    )
    task.build(SPEC, None)
    task.prepare_training()
    return task
