"""The best checkpoint in wandb."""

from __future__ import annotations

from pathlib import Path

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import WandbLogger


class BestCheckpointArtifact(Callback):
    """Keeps the best checkpoint as the artifact `model-<run id>` of each wandb run when the training has ended.

    `WandbLogger(log_model=True)` refuses to work offline.
    """

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        loggers = [logger for logger in trainer.loggers if isinstance(logger, WandbLogger)]
        checkpoint = trainer.checkpoint_callback
        if not trainer.is_global_zero or not loggers or not isinstance(checkpoint, ModelCheckpoint):
            return
        path = Path(checkpoint.best_model_path)
        if not path.is_file():  # nothing was saved, as under fast_dev_run
            return
        import wandb

        score = checkpoint.best_model_score
        metadata = {"monitor": checkpoint.monitor, "score": None if score is None else float(score)}
        for logger in loggers:
            artifact = wandb.Artifact(f"model-{logger.experiment.id}", type="model", metadata=metadata)
            artifact.add_file(str(path), name=path.name)
            logger.experiment.log_artifact(artifact, aliases=["best"])
