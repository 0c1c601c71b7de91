"""Pictures, the table and the best checkpoint arrive in TensorBoard and wandb."""

import json

import numpy as np
import pytest
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from matplotlib.image import imread

from tests.callbacks import runs
from tests.callbacks.wandb_records import finished_records, history
from zoo.callbacks.checkpoint import BestCheckpoint, BestCheckpointArtifact
from zoo.callbacks.pictures import AttentionMaps, WholeTestPictures
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.visualize.classification import ClassificationView

DOCUMENT_COLUMNS = ClassificationView().examined_columns()


def run(folder, logger, epochs=2):
    watching = [AttentionMaps(2), WholeTestPictures(), PredictionsTable(5), BestCheckpointArtifact()]
    trainer = runs.trainer(
        folder,
        [*watching, BestCheckpoint("val/accuracy", "max")],
        logger=logger,
        max_epochs=epochs,
        enable_checkpointing=True,
        log_every_n_steps=1,
    )
    task = runs.task()
    trainer.fit(task, runs.loader(), runs.loader())
    trainer.test(task, runs.loader(), ckpt_path="best", verbose=False)
    return trainer


def test_tensorboard_holds_the_pictures(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run(tmp_path, TensorBoardLogger(tmp_path, name="", version="tensorboard")).logger.finalize("success")
    events = EventAccumulator(str(tmp_path / "tensorboard"), size_guidance={"images": 0}).Reload()
    assert set(events.Tags()["images"]) == {
        *("val/attention_1", "val/attention_2", "test/attention_1", "test/attention_2"),
        *("test/confusion", "test/reliability"),
    }
    (last,) = events.Images("val/attention_1")
    assert last.step == 8
    (tmp_path / "logged.png").write_bytes(last.encoded_image_string)
    file = imread(tmp_path / "attention" / "val_epoch01_1.png")
    np.testing.assert_allclose(imread(tmp_path / "logged.png")[..., :3], file[..., :3], atol=1 / 255)


def test_wandb_offline_holds_pictures_table_and_best_checkpoint(tmp_path):
    import wandb

    run(tmp_path, WandbLogger(project="test", save_dir=tmp_path, offline=True))
    wandb.finish()
    found = finished_records(tmp_path)
    rows = history(found)

    def steps(key):
        return [row["trainer/global_step"] for row in rows if any(name.startswith(key) for name in row)]

    assert steps("val/accuracy") == [3, 7]
    assert steps("val/attention_1/") == [7]  # the pictures have the x axis of the metrics
    assert len(steps("test/attention_2/")) == len(steps("test/confusion/")) == len(steps("test/predictions/")) == 1

    media = next(tmp_path.rglob("media"))
    assert len(list(media.glob("images/val/attention_*.png"))) == 2
    (table,) = media.glob("table/test/*.json")
    logged = json.loads(table.read_text())
    assert (logged["columns"], len(logged["data"])) == (DOCUMENT_COLUMNS, 5)

    artifacts = {record.artifact.name: record.artifact for record in found if record.HasField("artifact")}
    (model,) = [artifact for name, artifact in artifacts.items() if name.startswith("model-")]
    assert model.type == "model"
    assert "best" in model.aliases
    assert json.loads(model.metadata)["monitor"] == "val/accuracy"
    (entry,) = model.manifest.contents
    assert (entry.path, entry.size) == ("best.ckpt", (tmp_path / "checkpoints" / "best.ckpt").stat().st_size)


def test_without_wandb_there_is_no_artifact_and_no_complaint(tmp_path):
    trainer = run(tmp_path, False, epochs=1)
    assert trainer.loggers == []
    assert (tmp_path / "checkpoints" / "best.ckpt").is_file()
