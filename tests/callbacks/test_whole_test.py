"""The confusion matrix of the test set as a picture."""

import torch
from matplotlib.figure import Figure

from tests.callbacks import runs
from tests.run.programs import ranks
from zoo.callbacks.pictures import AttentionMaps, WholeTestPictures
from zoo.visualize import confusion_figure
from zoo.visualize.classification import ClassificationView


def counts(task):
    """The matrix counted by hand."""
    matrix = [[0, 0], [0, 0]]
    for batch in runs.BATCHES:
        with torch.no_grad():
            predicted = task.network.eval()(batch).logits.argmax(1)
        for truth, guess in zip(batch.label.tolist(), predicted.tolist(), strict=True):
            matrix[truth][guess] += 1
    return matrix


def test_the_picture_holds_the_counts_of_the_test_set(tmp_path, monkeypatch):
    figures = []

    def draw(matrix, classes) -> Figure:
        figures.append((matrix.tolist(), classes))
        return confusion_figure(matrix, classes)

    monkeypatch.setattr("zoo.visualize.classification.confusion_figure", draw)
    task = runs.task()
    runs.trainer(tmp_path, [WholeTestPictures()]).test(task, runs.loader(), verbose=False)
    assert figures == [(counts(task), ("bad", "good"))]
    assert (tmp_path / "confusion.png").stat().st_size > 0


def test_a_view_can_draw_a_whole_validation_and_name_what_it_shows(tmp_path, monkeypatch):
    epochs = []

    def pictures(view, task):
        epochs.append(task.current_epoch)
        return {"samples": lambda: confusion_figure([[1, 0], [0, 1]], ["a", "b"])}

    monkeypatch.setattr(ClassificationView, "validation_pictures", pictures)
    monkeypatch.setattr(ClassificationView, "shows", "texts")
    trainer = runs.trainer(tmp_path, [WholeTestPictures(), AttentionMaps(1)], max_epochs=2)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert epochs == [0, 1], "not in the sanity check"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts", "val_samples.png"]
    assert [path.name for path in (tmp_path / "texts").iterdir()] == ["val_epoch01_1.png"]


TWO_RANKS = """
import sys
from lightning import Callback
from tests.callbacks import runs
from zoo.callbacks.pictures import AttentionMaps, WholeTestPictures
from zoo.callbacks.predictions_table import PredictionsTable
from zoo.visualize import classification

class Shard(Callback):
    def on_test_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        print(f"rank {trainer.global_rank} sees {batch.index.tolist()}", flush=True)

draw = classification.confusion_figure
def shown(matrix, classes):
    print("drawn", matrix.tolist(), flush=True)
    return draw(matrix, classes)
classification.confusion_figure = shown

callbacks = [WholeTestPictures(), AttentionMaps(2), PredictionsTable(), Shard()]
trainer = runs.trainer(sys.argv[1], callbacks, strategy="ddp", devices=2)
trainer.test(runs.task(), runs.loader(), verbose=False)
print(f"rank {trainer.global_rank} ended", flush=True)
"""


def test_two_ranks_draw_one_matrix_of_all_documents(tmp_path, program_env):
    script = tmp_path / "two_ranks.py"
    script.write_text(TWO_RANKS)
    outputs = [rank.stdout for rank in ranks([str(script), str(tmp_path / "run")], tmp_path, program_env)]
    assert f"drawn {counts(runs.task())}" in outputs[0] and outputs[0].count("drawn") == 1
    assert "drawn" not in outputs[1]
    assert [f"rank {rank} ended" in output for rank, output in enumerate(outputs)] == [True, True]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "attention",
        "confusion.png",
        "predictions.csv",
        "reliability.png",
    ]
    header, *rows = (tmp_path / "run" / "predictions.csv").read_text().splitlines()
    assert header.startswith("index,") and [int(row.split(",")[0]) for row in rows] == list(range(24))
