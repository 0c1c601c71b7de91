"""One paper, one file. Plain modules: they know nothing of Lightning, Hydra or wandb."""

from zoo.models.han import HAN
from zoo.models.output import Output

__all__ = ["HAN", "Output"]
