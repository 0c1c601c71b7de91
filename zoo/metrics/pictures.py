"""Distances between real and generated pictures in the features of a named network.

The features of a network that anyone can train are not those of Inception, so that none of these numbers is an FID.

Notation: N pictures, D features.
"""

import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.image.fid import FrechetInceptionDistance
from torchmetrics.image.kid import KernelInceptionDistance

SUBSETS, LARGEST_SUBSET = 100, 1000
"""KID is a mean over so many subsets, each of at most so many pictures, and of at most half of all."""
NEIGHBOURS = 3  # The neighbour whose distance is the radius of a picture's sphere


class FrechetDistance(FrechetInceptionDistance):
    """FD: the Fréchet distance between two normal distributions with the means and covariances of the features, by
    torchmetrics (Heusel et al. 2017)."""

    higher_is_better = False

    def __init__(self, width: int) -> None:
        """`width` is D."""
        super().__init__(feature=nn.Identity(), input_img_size=(width,))  # type: ignore[arg-type]

    def update(self, features: Tensor, real: bool) -> None:
        """Count features (N, D) of real or of generated pictures."""
        super().update(features, real)


class KernelDistance(KernelInceptionDistance):
    """KID: the squared maximum mean discrepancy of the kernel (x . y / D + 1)^3, without bias, by torchmetrics
    (Binkowski et al. 2018). The subsets are drawn by a fixed seed."""

    higher_is_better = False

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that all features are kept
            super().__init__(feature=nn.Identity(), subsets=SUBSETS, subset_size=LARGEST_SUBSET)

    def update(self, features: Tensor, real: bool) -> None:
        """Count features (N, D) of real or of generated pictures."""
        super().update(features, real)

    def compute(self) -> Tensor:  # type: ignore[override]
        """The mean over the subsets."""
        for name in ("real_features", "fake_features"):
            features = torch.cat(_listed(getattr(self, name)))
            setattr(self, name, [features[features.sum(1).argsort()]])  # the same order for any number of ranks
        count = min(len(self.real_features[0]), len(self.fake_features[0]))
        self.subset_size = max(2, min(LARGEST_SUBSET, count // 2))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            mean, _ = super().compute()
        return mean


class Manifold(Metric):
    """The share of pictures of one set that lie within the sphere of some picture of the other set, whose radius is the
    distance to its third nearest neighbour (Kynkaanniemi et al. 2019).

    Precision asks this of the generated pictures, recall of the real ones.
    """

    full_state_update = False
    higher_is_better = True
    real_features: list[Tensor]
    fake_features: list[Tensor]

    def __init__(self, *, recall: bool) -> None:
        super().__init__()
        self.recall = recall
        for name in ("real_features", "fake_features"):
            self.add_state(name, [], dist_reduce_fx=None)

    def update(self, features: Tensor, real: bool) -> None:
        """Count features (N, D) of real or of generated pictures."""
        (self.real_features if real else self.fake_features).append(features)

    def compute(self) -> Tensor:
        """The share; NaN with too few pictures."""
        real, fake = (torch.cat(_listed(part)).double() for part in (self.real_features, self.fake_features))
        inside, around = (real, fake) if self.recall else (fake, real)
        if len(around) <= NEIGHBOURS:
            return torch.tensor(torch.nan)
        radius = torch.cdist(around, around).kthvalue(NEIGHBOURS + 1, 1).values  # the nearest is the picture itself
        return (torch.cdist(inside, around) <= radius).any(1).double().mean()


def _listed(parts: Any) -> list[Tensor]:
    """The tensors of a list state, which is one tensor after a reduction over ranks."""
    return [parts] if isinstance(parts, Tensor) else list(parts)
