"""From the scores of classes to one class: the likeliest, or of two classes the second from a probability on."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from zoo.data.batch import Spec
from zoo.errors import ConfigError
from zoo.precision import precise
from zoo.predicting.predicting import Predicting

BEST_F1 = "f1"
"""The `threshold` that every validation chooses: the one with the best F1 of the second class."""


class Deciding(Predicting):
    """Predictions of one of the `classes` that the data's spec names.

    The option `threshold` is for two classes: the probability from which on the second one is predicted. With "f1" it
    is chosen by the validation, and checkpoints store it. Without it the likeliest class is predicted.
    """

    threshold: float | None = None  # None: the likeliest class, also until a validation has chosen a threshold

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        wanted, classes = self.options.get("threshold"), self.spec.classes
        if wanted is not None and len(classes) != 2:
            raise ConfigError(
                f"task.threshold={wanted}: a threshold decides between two classes, and the data have {len(classes)}; "
                "remove it"
            )
        self.threshold = None if wanted == BEST_F1 else wanted

    def decide(self, logits: Tensor) -> Tensor:
        """The predicted class (B,) for scores (B, C)."""
        if self.threshold is None:
            return precise(logits).argmax(1)
        return (precise(logits).softmax(1)[:, 1].double() >= self.threshold).long()

    def rule(self) -> dict[str, Any]:
        return super().rule() if self.threshold is None else {**super().rule(), "threshold": self.threshold}

    def follow(self, rule: Mapping[str, Any]) -> None:
        super().follow(rule)
        if self.options.get("threshold") == BEST_F1:
            self.threshold = rule.get("threshold", self.threshold)
