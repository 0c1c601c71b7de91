"""Numbers in their order (Vinyals, Bengio, Kudlur 2016, section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def target(points: NDArray[Any]) -> list[int]:
    """Which of (n, 1) numbers is the smallest, which the next, and so on."""
    return np.argsort(points[:, 0], kind="stable").tolist()
