"""A baseline for the likelihood of pictures: a logistic regression of each value on all values before it.

Frey, Hinton, Dayan 1996, "Does the wake-sleep algorithm produce good density estimators?": the fully visible sigmoid
belief network. For L levels it is a softmax of L.

Notation: N pictures, T values of each, L levels.
"""

import logging
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.data.pictures.batch import PictureSpec
from zoo.data.rows import some

MOST_WEIGHTS = 4_000_000  # T * T * L: larger pictures have no such baseline
STEPS, PATIENCE, BATCH, RATE = 2000, 2, 256, 1e-2

log = logging.getLogger(__name__)


class EarlierPixels(nn.Module):
    """The scores of each value, linear in the values before it."""

    def __init__(self, values: int, levels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(levels, values, values))
        self.bias = nn.Parameter(torch.zeros(levels, values))
        self.levels = levels

    def forward(self, values: Tensor) -> Tensor:
        """(N, T) levels -> (N, L, T)."""
        x = values.to(self.weight.dtype) * (2 / (self.levels - 1)) - 1
        return torch.einsum("nt,lst->nls", x, self.weight.tril(-1)) + self.bias


def logistic_regression(data: Any, spec: PictureSpec) -> float | None:
    """The nats of a test picture by a regression that learns from the training pictures; the validation chooses the
    epoch. None for pictures that are too large."""
    if spec.dimensions**2 * spec.levels > MOST_WEIGHTS:
        log.info("baselines: pictures of %d values are too large for a logistic regression", spec.dimensions)
        return None
    log.info("baselines: a logistic regression learns from %s", some(data.sizes["train"], "picture"))
    train, val, test = (pixels(data, split) for split in ("train", "val", "test"))
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(1)
        model = EarlierPixels(spec.dimensions, spec.levels)
        optimizer = torch.optim.Adam(model.parameters(), RATE)
        best, state, waited = nats(model, val), dict(model.state_dict()), 0
        for _ in range(-(-STEPS // -(-len(train) // BATCH))):
            for batch in train[torch.randperm(len(train))].split(BATCH):
                loss = F.cross_entropy(model(batch), batch.long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            found, waited = nats(model, val), waited + 1
            if found < best:
                best, waited = found, 0
                state = {name: value.clone() for name, value in model.state_dict().items()}
            if waited > PATIENCE:
                break
    model.load_state_dict(state)
    return nats(model, test)


@torch.no_grad()
def nats(model: EarlierPixels, pictures: Tensor) -> float:
    """The mean surprisal of a picture."""
    total = sum(
        F.cross_entropy(model(batch), batch.long(), reduction="sum").double().item() for batch in pictures.split(500)
    )
    return total / len(pictures)


def pixels(data: Any, split: str) -> Tensor:
    """(N, T) the levels of all pictures of a split, with the colours of a pixel side by side."""
    part = data.part(split)
    images = data.encoder.collate(part.__getitems__(list(range(len(part))))).image
    return images.permute(0, 2, 3, 1).flatten(1)
