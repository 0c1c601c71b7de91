"""Batch normalisation of pictures by the statistics of the whole batch, with a gain and a bias for each class.

Ioffe and Szegedy 2015, https://arxiv.org/abs/1502.03167; one gain per class: Dumoulin et al. 2017,
https://arxiv.org/abs/1610.07629. The equation is y = gain (x - mean) / sqrt(variance + eps) + bias.

In training, mean and variance are those of the batch over all processes, which may hold different numbers of examples.
In eval mode they are running means.

Notation: B pictures of this process, C channels, H rows, W columns, K classes.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from zoo.arguments import Count, Natural, Positive, Probability
from zoo.precision import precise


class BatchNorm(nn.Module):
    """Batch normalisation; with `classes`, each class has its own gain and bias (conditional batch normalisation).

    In one process without classes it equals torch.nn.BatchNorm2d. The result has the wider of the precisions of the
    pictures and of the weights. It is computed in float32 at least.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, channels: Count, classes: Natural = 0, *, eps: Positive = 1e-5, momentum: Probability = 0.1
    ) -> None:
        """
        Args:
            channels: C.
            classes: K, the number of gains of each channel; 0 for one that all pictures share.
            eps: added to the variance.
            momentum: weight of the newest batch in the running means.
        """
        super().__init__()
        self.classes, self.eps, self.momentum = classes, eps, momentum
        shape = (classes, channels) if classes else (channels,)
        self.gain = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor, label: Tensor | None = None) -> Tensor:
        """(B, C, H, W) -> (B, C, H, W). `label` (B,) numbers the class of each picture."""
        if self.classes and label is None:
            raise ValueError("conditional batch normalisation needs the label of each picture")
        dtype = torch.promote_types(x.dtype, self.gain.dtype)
        x = precise(x)
        if self.training and in_several_processes():
            y = self._normalised_together(x)
        else:
            gain, bias = (None, None) if self.classes else (precise(self.gain), precise(self.bias))
            # Weights and statistics may be bfloat16. The kernel takes one precision and updates its own copy in place.
            mean, variance = precise(self.running_mean), precise(self.running_var)
            y = F.batch_norm(x, mean, variance, gain, bias, self.training, self.momentum, self.eps)
            if mean is not self.running_mean:
                self.running_mean.copy_(mean)
                self.running_var.copy_(variance)
            if not self.classes:
                return y.to(dtype)
        gains, biases = (
            table[None] if label is None or not self.classes else F.embedding(label, table)
            for table in (self.gain, self.bias)
        )  # (B or 1, C)
        return torch.addcmul(biases[..., None, None], y, gains[..., None, None]).to(dtype)

    def _normalised_together(self, x: Tensor) -> Tensor:
        """Normalises by the statistics of all processes, without gain and bias."""
        own = torch.cat([x.sum((0, 2, 3)), x.new_tensor([x.numel() / x.shape[1]])])
        *_, count = sums = AllReduce.apply(own)
        mean = sums[:-1] / count  # (C,)
        centred = x - mean[:, None, None]
        variance = AllReduce.apply(centred.square().sum((0, 2, 3))) / count
        with torch.no_grad():
            unbiased = variance * (count / (count - 1))  # as in torch
            for running, newest in ((self.running_mean, mean), (self.running_var, unbiased)):
                running.copy_(precise(running).lerp(newest, self.momentum))
        return centred * (variance + self.eps).rsqrt()[:, None, None]


class AllReduce(torch.autograd.Function):
    """The sum of a tensor over all processes, whose gradient is the sum of the gradients of all processes.

    The function of this name in torch.distributed.nn.functional is deprecated.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:
        total = own.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total


def in_several_processes() -> bool:
    """Whether torch.distributed runs with more than one process."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
