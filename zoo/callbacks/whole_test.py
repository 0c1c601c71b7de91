"""Pictures of a whole test, such as the confusion matrix."""

from __future__ import annotations

from lightning import Callback, LightningModule, Trainer

from zoo.callbacks.pictures import keep_picture
from zoo.tasks import Task
from zoo.visualize.view import view_of


class WholeTestPictures(Callback):
    """Draws what the task's view has of a whole test when it has ended, such as `confusion.png` in the run folder, and
    shows it in wandb and TensorBoard. Tasks without classes have none."""

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, Task)
        pictures = view_of(pl_module).test_pictures(pl_module)  # by all ranks: metrics add up theirs
        if trainer.is_global_zero:
            for name, draw in pictures.items():
                keep_picture(trainer, f"test/{name}", draw(), f"{name}.png")
