"""A small classifier of pictures that is trained in the same run, by which generated pictures are counted and compared.

It learns the classes of the training pictures. Where pictures have no classes, it learns by which of four mirrorings
each picture was changed. Its accuracy on the validation and a hash of its weights are its name, since a figure in its
features means nothing without them.
"""

from __future__ import annotations

import logging
from hashlib import blake2b
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.data.pictures.batch import PictureSpec, scaled
from zoo.data.rows import some

BATCH, RATE = 128, 2e-3
WIDTH = 128  # Features of a picture
MIRRORINGS = ((), (2,), (3,), (2, 3))  # Axes that are turned around

log = logging.getLogger(__name__)


class Judge(nn.Module):
    """Three convolutions and a hidden layer."""

    accuracy: Tensor
    scale: Tensor

    def __init__(self, spec: PictureSpec) -> None:
        super().__init__()
        self.levels, self.labelled = spec.levels, bool(spec.classes)
        self.convolutions = nn.Sequential(
            nn.Conv2d(spec.channels, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        places = -(-spec.height // 4) * -(-spec.width // 4)
        self.hidden = nn.Linear(64 * places, WIDTH)
        self.classes = nn.Linear(WIDTH, len(spec.classes) if spec.classes else len(MIRRORINGS))
        self.register_buffer("accuracy", torch.tensor(torch.nan))
        self.register_buffer("scale", torch.ones(()))
        self.requires_grad_(False)

    @property
    def trained(self) -> bool:
        """Whether it has learned already, in this run or in the one that a checkpoint is from."""
        return not bool(self.accuracy.isnan())

    @property
    def name(self) -> str:
        """Its targets, its accuracy and the hash of its weights."""
        hashed = blake2b(digest_size=4)
        for name, value in sorted(self.state_dict().items()):
            hashed.update(name.encode() + value.cpu().contiguous().numpy().tobytes())
        kind = "classes" if self.labelled else "mirrorings"
        return f"convolutions for {kind}, accuracy {float(self.accuracy):.4f}, weights {hashed.hexdigest()}"

    def features(self, image: Tensor) -> Tensor:
        """(N, C, H, W) levels -> (N, D), whose mean square over real pictures is 1."""
        return self._hidden(image) / self.scale

    def _hidden(self, image: Tensor) -> Tensor:
        return self.hidden(self.convolutions(self.scaled(image))).relu()

    def scaled(self, image: Tensor) -> Tensor:
        """The numbers, near -1 to 1, that the first convolution reads."""
        return scaled(image, self.levels, self.hidden.weight)

    def forward(self, image: Tensor) -> Tensor:
        """(N, C, H, W) levels -> (N, K) scores of the classes."""
        return self.classes(self._hidden(image))

    def learn(self, data: Any, steps: int) -> None:
        """Learn from the training pictures in so many steps, unless it has learned already. It always learns from the
        same start and in the same order."""
        if self.trained:
            return
        log.info(
            "a classifier learns from %s, to judge generated ones", some(data.sizes["train"], data.nouns.examples[:-1])
        )
        part, collate = data.part("train"), data.encoder.collate
        device = self.accuracy.device
        with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
            torch.manual_seed(0)
            for layer in self.modules():
                if isinstance(layer, nn.Conv2d | nn.Linear):
                    layer.reset_parameters()
            self.requires_grad_(True)
            optimizer = torch.optim.Adam(self.parameters(), RATE)
            schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
            for _ in range(steps):
                chosen = torch.randint(len(part), (BATCH,)).tolist()
                image, label = self.read(collate(part.__getitems__(chosen)).to(device))
                loss = F.cross_entropy(self(image), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        self.requires_grad_(False)
        self._measure(data)
        if dist.is_available() and dist.is_initialized():
            for value in self.state_dict().values():
                dist.broadcast(value, 0)
        log.info("classifier: %s", self.name)

    def read(self, batch: Any) -> tuple[Tensor, Tensor]:
        """The pictures to classify and their classes."""
        if self.labelled:
            assert batch.label is not None
            return batch.image, batch.label
        label = torch.arange(len(batch), device=batch.image.device) % len(MIRRORINGS)
        pairs = zip(batch.image, label.tolist(), strict=True)
        return torch.stack([one.flip([axis - 1 for axis in MIRRORINGS[turn]]) for one, turn in pairs]), label

    @torch.no_grad()
    def _measure(self, data: Any) -> None:
        """Measure the accuracy and the scale of the features on the validation."""
        part, right, squares = data.part("val"), 0, 0.0
        for numbers in torch.arange(len(part)).split(500):
            image, label = self.read(data.encoder.collate(part.__getitems__(numbers.tolist())).to(self.scale.device))
            right += int((self(image).argmax(1) == label).sum())
            squares += float(self._hidden(image).square().mean(1).sum())
        self.accuracy.fill_(right / len(part))
        self.scale.fill_((squares / len(part)) ** 0.5)
