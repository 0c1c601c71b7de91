"""The confusion matrix of the test set as a picture."""

from __future__ import annotations

from lightning import Callback, LightningModule, Trainer

from zoo.callbacks.pictures import keep_picture
from zoo.tasks.classification import Classification
from zoo.visualize import confusion_figure


class ConfusionPicture(Callback):
    """Draws `confusion.png` in the run folder when the test has ended, and shows it in wandb and TensorBoard.

    Tasks without classes have none.
    """

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not isinstance(pl_module, Classification):
            return
        assert pl_module.spec is not None
        matrix = pl_module.test_confusion.compute()  # by all ranks: it adds up theirs
        if trainer.is_global_zero:
            figure = confusion_figure(matrix.cpu(), pl_module.spec.classes)
            keep_picture(trainer, "test/confusion", figure, "confusion.png")
