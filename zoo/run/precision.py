"""Precisions that the weights themselves have (`trainer.precision=bf16-true`, `64-true`)."""

from __future__ import annotations

from typing import Any, Literal

import torch
from lightning.pytorch.plugins import Precision
from torch import nn

from zoo.data.batch import Batch
from zoo.errors import ConfigError

Whole = Literal["bf16-true", "64-true"]
DTYPES: dict[Whole, torch.dtype] = {"bf16-true": torch.bfloat16, "64-true": torch.float64}


class WholePrecision(Precision):
    """Converts the network's weights and the floats of a batch to one dtype.

    Lightning's own plugins write into the fields of a batch, which are frozen here. They also let the metrics count in
    bfloat16, where 256 + 1 is 256. The network is built in float32 and converted, so that it starts as in other runs.
    """

    def __init__(self, precision: Whole) -> None:
        self.precision = precision
        self.dtype = DTYPES[precision]

    def convert_module(self, module: nn.Module) -> nn.Module:
        network = module.network
        assert isinstance(network, nn.Module)
        network.to(self.dtype)
        return module

    def convert_input(self, data: Any) -> Any:
        return data.cast(self.dtype) if isinstance(data, Batch) else data


def whole_precision(precision: Any) -> WholePrecision | None:
    """The plugin for a `trainer.precision`, or None for Lightning's own. Raises ConfigError for 16-true."""
    if precision == "16-true":
        raise ConfigError(
            "trainer.precision=16-true: in float16 the 1e-8 that Adam adds is 0, and training fails; use bf16-true, or "
            "16-mixed on a GPU"
        )
    if precision == "bf16-true":
        return WholePrecision("bf16-true")
    return WholePrecision("64-true") if str(precision) in ("64-true", "64") else None
