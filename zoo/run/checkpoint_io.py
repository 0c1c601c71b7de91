"""How a run writes its checkpoints: whole or not at all."""

import os
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO

from zoo.errors import CheckpointError
from zoo.run.checkpoint import read_checkpoint
from zoo.run.folder import temporary


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes to a temporary name beside the target, then renames it, so that a kill or a full disk never damages the
    last good file."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        target = Path(path)
        unfinished = temporary(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(unfinished, "wb") as file:
                torch.save(checkpoint, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except (OSError, RuntimeError) as error:  # torch reports a failed write as RuntimeError
            kept = f"; {target} is the last good one, unchanged" if target.is_file() else ""
            raise CheckpointError(
                f"{target}: could not write the checkpoint ({error}){kept}. "
                "Make room or choose another folder with hydra.run.dir=..., then resume with ckpt_path=last"
            ) from error
        finally:
            if unfinished.exists():
                unfinished.unlink()

    def load_checkpoint(self, path: Any, map_location: Any = "cpu", weights_only: bool | None = None) -> dict[str, Any]:
        """Read a checkpoint, or the folder of an included network, in the form that Lightning expects."""
        return {"pytorch-lightning_version": lightning.__version__} | read_checkpoint(path)
