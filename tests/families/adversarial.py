"""Small pictures and noise, for `adversarial`."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.families import Family, precise
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.models.output import Output

NOISE = 16
"""At least as wide as the noise of a network that is cut down for the contract."""


class NoisyPictures(Family):
    """Grey pictures with noise. They have no padding."""

    task_class = "zoo.tasks.adversarial.Adversarial"
    spec = PictureSpec(channels=1, height=12, width=12, levels=4, classes=("a", "b", "c"))
    singles = ("image", "label", "noise", "index")

    def batch(self, seed: int, *, empty: bool = True) -> PictureBatch:
        generator = torch.Generator().manual_seed(seed)
        image = torch.randint(0, self.spec.levels, (5, 1, 12, 12), generator=generator, dtype=torch.uint8)
        noise = torch.randn(5, NOISE, generator=generator)
        return PictureBatch(image, torch.tensor([0, 2, 1, 1, 0]), noise=noise)

    def long_batch(self) -> PictureBatch:
        return self.batch(2)

    def loss(self, output: Output, batch: PictureBatch) -> Tensor:
        real, made = precise(output.logits).unbind(1)
        return (F.relu(1 - real) + F.relu(1 + made)).mean()

    def started(self, network: nn.Module) -> nn.Module:
        """With attention that takes part: it begins with a share of 0, and then its weights get no gradient."""
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if name.rpartition(".")[2] == "gamma":
                    parameter.fill_(0.5)
        return network

    def terms(self, attends: bool) -> dict[str, Any]:
        return {"critic": {"_target_": "torch.optim.Adam"}}


FAMILY = NoisyPictures()
