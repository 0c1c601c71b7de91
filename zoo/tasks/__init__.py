"""One task, one LightningModule: loss, metrics, optimiser, what predicting returns. Any network that fits goes
inside."""

from zoo.tasks.classification import Classification
from zoo.tasks.generation import Generation
from zoo.tasks.single_label import SingleLabel
from zoo.tasks.task import Examined, Task
from zoo.tasks.translation import Translation

__all__ = ["Classification", "Examined", "Generation", "SingleLabel", "Task", "Translation"]
