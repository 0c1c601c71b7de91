"""A network for bits with fixed outputs."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.models.output import Output


class Undecided(nn.Module):
    """Every bit is 1 with chance 1/2, but for a bias that never learns, and its memory has as many rows as steps."""

    tasks = ("algorithmic",)
    attends: ClassVar[dict[str, str]] = {"read": "step_mask", "write": "step_mask"}

    def __init__(self, spec: BitSpec, *, bias: float = 0.0, trace: bool = False) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.full((spec.out_width,), bias))
        if trace:
            self.memory_trace = self._memory_trace

    def forward(self, batch: BitBatch) -> Output:
        mask = batch.step_mask[..., None]
        return Output(self.bias * mask, {name: self._weights(batch) for name in ("read", "write")})

    def _weights(self, batch: BitBatch) -> Tensor:
        """(B, 1, T, T) step t looks at row t."""
        return (torch.eye(batch.inputs.shape[1]) * batch.step_mask[..., None])[:, None]

    def _memory_trace(self, batch: BitBatch) -> dict[str, Tensor]:
        sizes: tuple[Any, ...] = len(batch), 1, batch.inputs.shape[1], 2
        parts = {"erase": torch.full(sizes, 0.5), "add": -torch.ones(sizes)}
        memory = torch.arange(float(sizes[2] * 2)).reshape(1, -1, 2).expand(len(batch), -1, -1)
        return {"read": self._weights(batch), "write": self._weights(batch), **parts, "memory": memory}
