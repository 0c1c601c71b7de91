"""One rank of two whose batch normalisation, alone and in SAGAN, equals that of one process with the whole batch.

Run by test_batch_norm.py in two processes with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
"""

import copy
import os
import sys
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn

from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.layers.batch_norm import BatchNorm
from zoo.models.sagan import SAGAN

SHARES = (slice(0, 4), slice(4, 5))
"""The examples of each rank: their numbers differ."""
CLASSES = ("a", "b", "c")


Loss = Callable[[nn.Module, Tensor], Tensor]
"""The loss of each example, from a module and the numbers of the examples."""


class Found:
    """Results for the examples of a module, its gradients, and its buffers after the pass."""

    def __init__(self, module: nn.Module, examples: Tensor, loss: Loss) -> None:
        module = copy.deepcopy(module)
        self.result = loss(module, examples)
        self.gradients = torch.autograd.grad(self.result.sum(), list(module.parameters()))
        self.buffers = dict(module.named_buffers())


def cases() -> dict[str, tuple[nn.Module, Loss]]:
    """Modules and their losses, by name."""
    torch.manual_seed(0)
    x = torch.randn(5, 3, 4, 6, dtype=torch.float64) * 2 + 1
    slope, label = torch.randn_like(x), torch.tensor([0, 1, 1, 2, 0])
    image = torch.randint(256, (5, 3, 12, 12), dtype=torch.uint8)
    noise, slopes = torch.randn(5, 4, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)

    def normalised(module: nn.Module, rows: Tensor) -> Tensor:
        part = x[rows].requires_grad_()
        y = module(part, label[rows])
        (gradient,) = torch.autograd.grad((y * slope[rows]).sum(), part, retain_graph=True)
        return (y * slope[rows]).flatten(1).sum(1) + gradient.detach().flatten(1).sum(1) ** 2

    def scored(module: nn.Module, rows: Tensor) -> Tensor:
        output = module(PictureBatch(image[rows], label[rows], noise=noise[rows]))
        return (output.logits * slopes[rows]).sum(1)

    found: dict[str, tuple[nn.Module, Loss]] = {
        "batch norm": (BatchNorm(3).double(), normalised),
        "batch norm of classes": (BatchNorm(3, 3).double(), normalised),
    }
    for condition in ("label", "none"):
        spec = PictureSpec(3, 12, 12, classes=CLASSES)
        sizes = {"noise_dim": 4, "generator_dim": 8, "discriminator_dim": 8, "attention_size": 6}
        found[f"sagan, {condition}"] = (SAGAN(spec, condition=condition, **sizes).double(), scored)
    for module, _ in found.values():
        for parameter in module.parameters():
            parameter.data.add_(torch.randn_like(parameter), alpha=0.2)
    return found


def main() -> None:
    rank, every = int(os.environ["RANK"]), cases()
    numbers = torch.arange(5)
    alone = {name: Found(module, numbers, loss) for name, (module, loss) in every.items()}
    dist.init_process_group("gloo")
    for name, (module, loss) in every.items():
        mine, whole = Found(module, numbers[SHARES[rank]], loss), alone[name]
        torch.testing.assert_close(mine.result, whole.result[SHARES[rank]], rtol=1e-10, atol=1e-11)
        for own, expected in zip(mine.gradients, whole.gradients, strict=True):
            total = own.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            torch.testing.assert_close(total, expected, rtol=1e-9, atol=1e-10)
        for key, buffer in mine.buffers.items():
            torch.testing.assert_close(buffer, whole.buffers[key], rtol=1e-12, atol=1e-12)
        print(name, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
