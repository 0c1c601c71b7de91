"""One task, one file: what a trained network answers to an input, beside what is true. Nothing here imports Lightning,
Hydra or a metric, so that `zoo predict` answers at once; `zoo.tasks` adds the training."""

from zoo.predicting.predicting import Examined, Predicting, Prediction

__all__ = ["Examined", "Predicting", "Prediction"]
