"""Pictures of a whole validation or test, such as the confusion matrix."""

from __future__ import annotations

from lightning import Callback, LightningModule, Trainer

from zoo.callbacks.pictures import keep_picture
from zoo.tasks import Task
from zoo.visualize.view import view_of


class WholeTestPictures(Callback):
    """Draws the view's pictures of a whole split after a validation or a test.

    A picture of the test is e.g. `confusion.png` in the run folder and `test/confusion` in wandb and TensorBoard. A
    picture of the validation is e.g. `val_samples.png` and `val/samples`; the next validation replaces it.
    """

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        assert isinstance(pl_module, Task)
        pictures = view_of(pl_module).validation_pictures(pl_module)
        if trainer.is_global_zero:
            for name, draw in pictures.items():
                keep_picture(trainer, f"val/{name}", draw(), f"val_{name}.png")

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, Task)
        pictures = view_of(pl_module).test_pictures(pl_module)  # on all ranks: metrics add up the ranks
        if trainer.is_global_zero:
            for name, draw in pictures.items():
                keep_picture(trainer, f"test/{name}", draw(), f"{name}.png")
