"""The mu-law (ITU-T G.711): real samples as 256 levels that are narrow near silence and wide where a sound is loud.

Van den Oord et al. 2016, section 2.2: f(x) = sgn(x) ln(1 + mu |x|) / ln(1 + mu) with mu = 255. A level is the nearest
of 256 equal steps of f from -1 to 1. Each level is the code of its own real sample, and silence is level 128.
"""

from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LEVELS = 256
MU = LEVELS - 1
SILENCE = LEVELS // 2  # The level of a sample 0


def encode(samples: Tensor) -> Tensor:
    """Real samples from -1 to 1, of any shape, as levels from 0 to 255 (uint8). Louder samples are cut."""
    samples = samples.clamp(-1, 1)
    compressed = samples.sign() * (MU * samples.abs()).log1p() / log(1 + MU)
    return ((compressed + 1) / 2 * MU + 0.5).floor().to(torch.uint8)


def decode(levels: Tensor) -> Tensor:
    """Levels of any shape as real samples from -1 to 1 (float32)."""
    compressed = 2 * levels.to(torch.float64) / MU - 1
    return (compressed.sign() * ((1 + MU) ** compressed.abs() - 1) / MU).float()


def borders() -> NDArray[np.float64]:
    """(255,) the real samples at which a level ends and the next one begins."""
    compressed = 2 * (np.arange(MU) + 0.5) / MU - 1
    return np.sign(compressed) * ((1 + MU) ** np.abs(compressed) - 1) / MU
