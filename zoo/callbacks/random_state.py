"""Random numbers: a stream of its own for each rank, which continues exactly after a resume."""

import random
from typing import Any

import numpy as np
import torch
from lightning import Callback, Trainer

from zoo.arguments import Natural
from zoo.tasks.remembering import from_all_ranks


class RandomState(Callback):
    """Seeds each rank with `seed` + rank, and keeps every rank's random state in the checkpoint.

    Equal streams on all ranks would give all of them the same dropout masks, samples and coins.
    """

    def __init__(self, seed: Natural) -> None:
        self.seed = seed
        self._saved: list[dict[str, Any]] | None = None

    def on_fit_start(self, trainer: Trainer, pl_module: Any) -> None:
        seed = self.seed + trainer.global_rank
        torch.manual_seed(seed)
        np.random.seed(seed % 2**32)
        random.seed(seed)

    def on_train_start(self, trainer: Trainer, pl_module: Any) -> None:
        # after the sanity check, so that nothing draws between the restored state and the first step
        if self._saved is not None and trainer.global_rank < len(self._saved):
            set_random_state(self._saved[trainer.global_rank])
        self._saved = None

    def state_dict(self) -> dict[str, Any]:
        return {"ranks": from_all_ranks(random_state())}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._saved = state_dict["ranks"]


def random_state() -> dict[str, Any]:
    """The states of this process's random generators, as tensors and plain data."""
    _, keys, position, has_gauss, gauss = np.random.get_state()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [np.asarray(keys).tolist(), int(position), int(has_gauss), float(gauss)],
        "python": random.getstate(),
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Set this process's random generators to the states that `random_state` returned."""
    torch.set_rng_state(state["torch"].cpu())
    if state["cuda"] and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([part.cpu() for part in state["cuda"]])
    keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state(("MT19937", np.array(keys, dtype=np.uint32), position, has_gauss, gauss))
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
